"""Gaussian clusters whose covariances are full, diagonal or round, as the data ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.types import Data, FloatArray
from mixwood._support.warn import warn
from mixwood.input.matrices import real_matrix
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.diagonal_gaussian import DiagonalGaussian
from mixwood.likelihoods.gaussian import Gaussian
from mixwood.likelihoods.missing import has_missing
from mixwood.likelihoods.spherical_gaussian import SphericalGaussian
from mixwood.likelihoods.student_t import StudentT

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["AutoGaussian"]

#: Beyond this many columns a full covariance is not tried: a pilot takes minutes.
MOST_FULL = 100
#: Beyond this many, nothing is tried: a pilot would take longer than a run should wait.
MOST_TRIED = 500
#: Beyond this many rows heavy tails are not tried: each draw keeps a scale for each row, and with
#: so many rows Gaussian clusters describe tails themselves.
MOST_ROWS_WITH_TAILS = 10_000
#: In fewer rows, nothing but 0 and 1 may well be numbers.
FEWEST_TOLD = 10


@dataclass(frozen=True, eq=False)
class AutoGaussian(Likelihood):
    """Gaussian clusters with full, diagonal or round covariances, whichever fits.

    The default of `mixwood.Mixture`. `mixwood.sample` tries the three in short pilot chains,
    compares how well they predict rows that they have not seen, and runs the best:
    ``post.resolved`` says which, ``post.settings["structure"]`` why. Where covariances are full,
    heavy tails (`StudentT`) are tried, too, and taken if they clearly predict better. Where nothing
    is tried (trees, streams, simulation) covariances are full, or diagonal with more columns than
    rows for them.

    Examples
    --------
    >>> AutoGaussian()
    AutoGaussian()
    >>> import numpy as np
    >>> [type(one).__name__ for one in AutoGaussian().candidates(np.diag([1.0, 2.0]))]
    ['Gaussian', 'DiagonalGaussian', 'SphericalGaussian']
    """

    is_open = True
    scales = ("learn",)
    continuous = True
    skips_missing = True
    draws_missing = True

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of finite floats, NaN where missing."""
        return real_matrix(X, name=name, width=width, missing=True)

    def with_scale(self, name: str) -> Likelihood:
        """Return itself: it is learned."""
        return self if name in self.scales else super().with_scale(name)

    def candidates(self, X: Data) -> list[Likelihood]:
        """Return the likelihoods that come into question for checked `X`, explicit.

        Full covariances alone where columns are exact combinations of others: they are not
        independent then. No round ones where entries are missing.
        """
        assert isinstance(X, np.ndarray)
        _warn_of_yes_and_no(X)
        d = X.shape[1]
        if d > MOST_TRIED:
            return [DiagonalGaussian().resolve(X)]
        full = Gaussian().resolve(X) if d <= MOST_FULL else None
        if full is not None and (d == 1 or "combination" in full.left_out.values()):
            return [full]
        few: list[Likelihood] = [DiagonalGaussian().resolve(X)]
        if not has_missing(X):  # which round ones do not take
            few.append(SphericalGaussian().resolve(X))
        return few if full is None else [full, *few]

    def with_heavy_tails(self, chosen: Likelihood, X: Data) -> Likelihood | None:
        """Return t clusters in place of Gaussian ones with full covariances."""
        assert isinstance(X, np.ndarray)
        many = len(X) > MOST_ROWS_WITH_TAILS
        if many or not isinstance(chosen, Gaussian) or has_missing(X):
            return None
        return StudentT().resolve(X)

    def stands_for(self, other: Likelihood) -> bool:
        """Tell whether it is one of the three, or has heavy tails."""
        return isinstance(other, (Gaussian, DiagonalGaussian, SphericalGaussian, StudentT))

    def resolve(self, X: Data) -> Likelihood:  # type: ignore[override]
        """Return the one that is taken untried."""
        n, d = X.shape
        full = d <= MOST_FULL and n > 2 * d
        return Gaussian().resolve(X) if full or d == 1 else DiagonalGaussian().resolve(X)

    def resolve_standard(self, width: int) -> Likelihood:  # type: ignore[override]
        """Return the one with full covariances, for standardized data."""
        return Gaussian().resolve_standard(width)

    @property
    def width(self) -> int | None:
        """None: all is open."""
        return None

    def bind(self, X: Data) -> _core.Family:
        """Raise: it stands for others."""
        raise self._stands_for_others()

    def row_constants(self, X: Data) -> FloatArray:
        """Raise: it stands for others."""
        raise self._stands_for_others()

    def _stands_for_others(self) -> TypeError:
        return TypeError("AutoGaussian stands for others: resolve it first")


def _warn_of_yes_and_no(X: FloatArray) -> None:
    if len(X) < FEWEST_TOLD or not np.any(X == 1):
        return
    if np.all((X == 0) | (X == 1) | np.isnan(X)):
        warn(
            "X has no entries but 0 and 1, and clusters are Gaussian unless a likelihood is given: "
            "for yes and no there is mw.Mixture(mw.Bernoulli())",
            UserWarning,
        )
