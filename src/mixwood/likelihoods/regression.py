"""Clusters of linear relations: a target that depends on predictors, in each cluster otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import positive_number, shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import real_array, real_matrix
from mixwood.likelihoods.base import Column, Likelihood, Parameters, TargetTerms
from mixwood.likelihoods.far_entries import bulk_shares
from mixwood.likelihoods.learned import C0, LearnedScale, base_of_clusters, centre_spread
from mixwood.likelihoods.learned_base import LearnsVariances
from mixwood.likelihoods.learned_scale import (
    check_learned,
    check_nu_of_variances,
    check_r_and_nu,
    explicit_r_and_nu,
    laws,
    learned_variance,
    learns,
    scalars_learned,
)
from mixwood.likelihoods.normal_wishart import vector
from mixwood.likelihoods.spread import (
    present_variances,
    rounding,
    shrunk_covariance,
    warn_of_far_rows,
)

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Regression"]

#: The prior variance of a slope, in units of the deviations of target and predictors.
SLOPES = 4.0


@dataclass(frozen=True, eq=False)
class Regression(LearnsVariances, Likelihood):
    """A target that is linear in other columns: clusters differ in intercept, slopes and noise.

    The variance of the noise that clusters are expected to have is learned along with them by
    default. Only the target is modelled: the predictors are taken as they are, and say nothing
    about clusters by themselves. Where they should, put this beside a `Gaussian` of the
    predictors in a `Product`.

    Parameters
    ----------
    target : int or str
        The column to be explained, by its number or its name; the last by default.
    on : sequence of int or str, optional
        The predictors; by default all other columns. In a `Product`, names, or numbers that count
        the part's own columns.
    r : float or distribution, optional
        How many observations the prior of the intercept is worth; None, the default, ties it to
        the learned variance. As for `SphericalGaussian`, and so is `nu`.
    nu : float or distribution, optional
        Degrees of freedom of the variance of the noise. Large: nearly the same in all clusters.
    slopes : float
        The variance of slopes that the prior expects, those of whitened predictors and in units of
        the target's deviation: with one predictor, that of slopes over ``(s_y/s_x)^2``. Where
        `scale` is a number, over the variance of the noise instead.
    scale : {"learn"} or float
        ``"learn"`` samples the variance of the noise that clusters are expected to have. A number
        fixes the prior scale ``psi``, in squared units of the target.
    mean : array of shape (p + 1,), optional
        The centres of the predictors and, last, of the target; the sample means by default.
    covariance : array of shape (p, p), optional
        That of the predictors; the sample's, shrunk a little to its diagonal, by default.
    columns : int, optional
        How many columns the data have. Not for you to give.

    Notes
    -----
    With the predictors ``x`` centred and whitened by their covariance, and the target ``y`` centred
    and in units of its deviation, in each cluster::

        y = a + b'x + e,    e ~ N(0, v),    v ~ psi / chi-squared(nu)
        a ~ N(0, v/r),      b ~ N(0, v/g I)

    so that the posterior does not depend on units, nor on which linear combinations of predictors
    are the columns. With ``Z = (1, x)``, ``A = diag(r, g, ..., g) + Z'Z`` over the ``n`` rows of a
    cluster and ``psi_n = psi + y'y - y'Z A^-1 Z'y``::

        P(y | x) = pi^(-n/2) (r g^p / |A|)^(1/2) psi^(nu/2) psi_n^(-(nu+n)/2)
                   Gamma((nu+n)/2) / Gamma(nu/2)

    With ``scale="learn"`` and ``nu' = nu - 2``, ``omega`` is the variance of the noise that is
    expected, over that of the target, and has the law that it has for `SphericalGaussian` in one
    column::

        psi = nu' omega,    g = omega / slopes,    r = omega / tau

    ``tau``, the variance of intercepts over that of the target, has a narrow law about 2,292. Where
    `scale` is a number, that is ``psi``, and ``g`` is ``1/slopes``.

    A row whose target is missing (NaN) says nothing, and is in any cluster of its own accord;
    predictors must be there. `Posterior.predict_target` predicts targets of new rows.

    Examples
    --------
    >>> Regression("y", on=["x"], nu=8).on
    ('x',)
    """

    target: Any = -1
    on: Any = None
    r: Any = None
    nu: Any = None
    slopes: float = SLOPES
    scale: Any = "learn"
    mean: Any = None
    covariance: Any = None
    columns: int | None = None
    skips_missing = True
    scales = ("learn",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", _plain_column(self.target, "target"))
        if self.on is not None:
            if isinstance(self.on, str) or not hasattr(self.on, "__iter__"):
                raise TypeError(f"on must be a sequence of columns, got {shown(self.on)}")
            on = tuple(_plain_column(one, "on") for one in self.on)
            if not on or len(set(on)) < len(on) or self.target in on:
                raise ValueError(
                    f"on must name columns other than the target, each once, got {shown(self.on)}"
                )
            object.__setattr__(self, "on", on)
        r, nu = check_r_and_nu(self.r, self.nu, self.scale)
        check_nu_of_variances(nu, self.scale)
        object.__setattr__(self, "r", r)
        object.__setattr__(self, "nu", nu)
        object.__setattr__(self, "slopes", positive_number(self.slopes, "slopes"))
        if isinstance(self.scale, LearnedScale):
            check_learned(self.scale, 0)
        elif isinstance(self.scale, str):
            if self.scale != "learn":
                raise ValueError(f"scale must be 'learn' or a number, got {shown(self.scale)}")
        else:
            object.__setattr__(self, "scale", positive_number(self.scale, "scale"))
        self._check_centre()

    def _check_centre(self) -> None:
        if self.mean is not None:
            object.__setattr__(self, "mean", vector(self.mean, "mean"))
        if self.covariance is None:
            return
        covariance = real_array(self.covariance, "covariance")
        square = covariance.ndim == 2 and covariance.shape[0] == covariance.shape[1] > 0
        if not square or np.linalg.eigvalsh(covariance)[0] <= 0:
            raise ValueError(
                f"covariance must be a positive definite matrix, got {shown(self.covariance)}"
            )
        object.__setattr__(self, "covariance", covariance)
        if self.mean is not None and len(self.mean) != len(covariance) + 1:
            raise ValueError(
                f"mean must have {len(covariance) + 1} entries, one for each predictor and one for "
                f"the target, got {len(self.mean)}"
            )

    # --- columns

    @property
    def width(self) -> int | None:
        """How many columns the data have, or None while open."""
        return self.columns

    @property
    def own_columns(self) -> int:
        """How many columns are modelled: the target."""
        return 1

    def placed(self, names: Sequence[Any] | None) -> Regression:
        """Return a copy with numbers for the columns that are named."""
        wanted = [one for one in (self.target, *(self.on or ())) if isinstance(one, str)]
        if not wanted:
            return self
        if names is None:
            raise ValueError(
                f"target and on name the columns {shown(wanted)}, but X has no names; give a "
                "table, or the numbers of columns"
            )
        lacking = [name for name in wanted if list(names).count(name) != 1]
        if lacking:
            raise ValueError(
                f"target and on must name columns of X, each there once, got {shown(lacking)}; X "
                f"has {shown(list(names))}"
            )
        place = {name: k for k, name in enumerate(names)}
        numbers = [place[one] if isinstance(one, str) else one for one in self.on or ()]
        target = place[self.target] if isinstance(self.target, str) else self.target
        return replace(self, target=target, on=None if self.on is None else tuple(numbers))

    def _places(self, width: int, name: str = "X") -> tuple[list[int], int]:
        """Return the numbers of the predictors and of the target, out of `width`."""
        given = [self.target, *(self.on or ())]
        if any(isinstance(one, str) for one in given):
            self.placed(None)  # raises: there were no names
        if not all(-width <= one < width for one in given):
            raise ValueError(
                f"target and on must be columns of {name}, which has {width}, got {shown(given)}"
            )
        target, *on = (one % width for one in given)
        if self.on is None:
            on = [k for k in range(width) if k != target]
        if not on or target in on or len(set(on)) < len(on):
            raise ValueError(f"{name} must have columns besides the target, each named once")
        return on, target

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of floats; only targets, and columns not named, may be missing."""
        width = width if width is not None else self.width
        located = self.placed(self.names_in(X))
        matrix = real_matrix(X, name=name, width=width, missing=True)
        on, _ = located._places(matrix.shape[1], name)
        missing = np.isnan(matrix[:, on])
        if missing.any():
            row, k = (int(place[0]) for place in np.nonzero(missing))
            raise ValueError(
                f"{name} has a missing value (NaN) in row {row}, column {on[k]}, a predictor; fill "
                "it in or drop its row: only the target of Regression may be missing"
            )
        return matrix

    def given_columns(self, width: int) -> tuple[int, ...]:
        """Return the predictors, and columns that are not named."""
        target = self._places(width)[1]
        return tuple(k for k in range(width) if k != target)

    @property
    def target_column(self) -> int | None:
        """The number of the column that is predicted; explicit."""
        return int(self.target)

    def relations_in(self, X: Data) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Return the target and the predictors."""
        on, target = self._places(int(X.shape[1]))
        return {"": (target, tuple(on))}

    # --- from the data

    def resolve(self, X: Data) -> Regression:
        """Return a copy with everything explicit, from `X` where open."""
        assert isinstance(X, np.ndarray)
        on, target = self._places(X.shape[1])
        y = X[:, target][np.isfinite(X[:, target])][:, None]
        if len(y) == 0:
            raise ValueError(f"X has no target at all in column {target}")
        mean = self.mean
        if mean is None:
            mean = np.append(X[:, on].mean(axis=0), y.mean())
        covariance = shrunk_covariance(X[:, on]) if self.covariance is None else self.covariance
        scale = self.scale
        if isinstance(scale, str):
            variance = float(present_variances(y, y.mean(axis=0))[0])
            rounded = rounding(y)
            bulk = float(bulk_shares(y, np.array([variance]))[0])
            scale = learned_variance(variance, rounded.steps, float(rounded.ties[0]) + 1.0, bulk)
        return self._explicit(on, target, mean, covariance, scale, X.shape[1])

    def resolve_standard(self, width: int) -> Regression:
        """Return a copy whose open parameters are those of standardized data."""
        on, target = self._places(width)
        mean = np.zeros(len(on) + 1) if self.mean is None else self.mean
        covariance = np.eye(len(on)) if self.covariance is None else self.covariance
        scale = learned_variance(1.0, np.zeros(1)) if self.scale == "learn" else self.scale
        return self._explicit(on, target, mean, covariance, scale, width)

    def _explicit(
        self, on: list[int], target: int, mean: Any, covariance: Any, scale: Any, width: int
    ) -> Regression:
        if len(mean) != len(on) + 1 or len(covariance) != len(on):
            raise ValueError(
                f"mean must have {len(on) + 1} entries and covariance {len(on)} rows for "
                f"{len(on)} predictors, got {len(mean)} and {len(covariance)}"
            )
        r, nu = explicit_r_and_nu(self.r, self.nu, self.scale, 7.0)
        return replace(
            self, target=target, on=tuple(on), r=r, nu=nu, scale=scale, mean=mean,
            covariance=covariance, columns=width,
        )  # fmt: skip

    @property
    def _unit(self) -> float:
        """The deviation in units of which the core has the target."""
        learned = isinstance(self.scale, LearnedScale)
        return float(np.sqrt(self.scale.covariance if learned else self.scale))

    @property
    def _whitening(self) -> FloatArray:
        """The matrix W with ``W C W' = 1``, lower triangular."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.covariance)))

    def _standard(self, X: Data) -> FloatArray:
        """Return the rows as the core has them: whitened predictors and the target last."""
        x = (X[:, list(self.on)] - self.mean[:-1]) @ self._whitening.T
        return np.column_stack([x, (X[:, self.target] - self.mean[-1]) / self._unit])

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over `X`, centred, whitened and in units of the target's."""
        from mixwood import _core

        rows = np.ascontiguousarray(warn_of_far_rows(self._standard(X)))
        if not learns(self.scale):
            r, g, nu, psi = self._prior(np.empty((1, 0)))
            return _core.regression(rows, float(r), float(g), float(nu), float(psi))
        square = self.scale.covariance
        return _core.regression_learned(
            rows,
            self.scale.floor / square,
            self.scale.tie_floor / square,
            C0,
            centre_spread(1),
            self.slopes,
            *laws(self.r, self.nu, self.scale),
            self.start_base(),
        )

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log Jacobian of the target's unit, where it is not missing."""
        assert isinstance(X, np.ndarray)
        return np.where(np.isnan(X[:, self.target]), 0.0, -np.log(self._unit))

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return predictors and target, whitened; the mean where a target is missing."""
        return [np.nan_to_num(self._standard(X))]

    # --- the base measure

    def _prior(self, base: FloatArray) -> tuple[Any, Any, Any, Any]:
        """Return r, g, nu and psi as the core has them, for each base measure (C, base_size)."""
        if not learns(self.scale):
            return self.r, 1 / self.slopes, self.nu, 1.0
        share, excess, free = np.moveaxis(np.exp(base), -1, 0)
        r = free * share / centre_spread(1) if self.r is None else free
        return r, share / self.slopes, excess + 2, excess * share

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return the expected ``variance`` of the noise, ``nu``, and ``r`` or ``tau``."""
        if not learns(self.scale):
            return {}
        variance = np.exp(base[..., 0]) * self.scale.covariance
        return {"variance": variance, **scalars_learned(self.r, self.nu, base, 1, 2)}

    # --- clusters

    @property
    def statistic_size(self) -> int:
        """The size, the means and the scatter of predictors and target."""
        d = len(self.mean)
        return 1 + d + d * (d + 1) // 2

    @property
    def means_in_statistic(self) -> NDArray[np.bool_]:
        """The means."""
        place = np.arange(self.statistic_size)
        return (place >= 1) & (place <= len(self.mean))

    def _posterior(self, statistics: FloatArray, base: FloatArray | None) -> _Posterior:
        """Return what is known of the coefficients of each cluster, in the core's units."""
        C, d = len(statistics), len(self.mean)
        r, g, nu, psi = (
            np.broadcast_to(one, C)
            for one in self._prior(base_of_clusters(base, C, self.base_size))
        )
        n, centre = statistics[:, 0], statistics[:, 1 : 1 + d]
        whole = np.zeros((C, d, d))
        column, row = np.triu_indices(d)  # the lower triangle, column by column
        whole[:, row, column] = whole[:, column, row] = statistics[:, 1 + d :]
        whole += (r * n / (r + n))[:, None, None] * centre[:, :, None] * centre[:, None, :]
        inside = whole[:, :-1, :-1] + g[:, None, None] * np.eye(d - 1)
        slopes = np.asarray(np.linalg.solve(inside, whole[:, :-1, -1:])[:, :, 0], np.float64)
        scale = psi + np.maximum(whole[:, -1, -1] - (slopes * whole[:, :-1, -1]).sum(axis=1), 0.0)
        return _Posterior(nu + n, scale, inside, slopes, (n / (r + n))[:, None] * centre, r + n)

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``parameters`` (C, p + 2): the intercept, the slopes, the noise's deviation."""
        found = self._posterior(statistics, base)
        C, p = found.slopes.shape
        deviation = np.sqrt(found.scale / rng.chisquare(found.degrees))
        root = np.linalg.cholesky(np.linalg.inv(found.inside))
        noise = (root @ rng.standard_normal((C, p, 1)))[:, :, 0]
        b = found.slopes + deviation[:, None] * noise
        middle = found.centre[:, -1] + deviation * rng.standard_normal(C) / np.sqrt(found.kappa)
        a = middle - (b * found.centre[:, :-1]).sum(axis=1)
        slopes = self._unit * b @ self._whitening
        intercept = self.mean[-1] + self._unit * a - slopes @ self.mean[:-1]
        return {"parameters": np.column_stack([intercept, slopes, self._unit * deviation])}

    def target_terms(self, statistics: FloatArray, base: FloatArray | None, X: Data) -> TargetTerms:
        """Return the distribution of the target of each row of `X` in each cluster.

        Zeros are the statistic of a new cluster.
        """
        found, x = self._posterior(statistics, base), self._standard(X)[:, :-1]
        away = x[:, None, :] - found.centre[:, :-1]  # (m, C, p)
        solved = np.einsum("cij,mcj->mci", np.linalg.inv(found.inside), away)
        spread = 1 + 1 / found.kappa + (solved * away).sum(axis=2)
        location = found.centre[:, -1] + (away * found.slopes).sum(axis=2)
        scale = np.sqrt(found.scale / found.degrees * spread)
        return TargetTerms(found.degrees, self.mean[-1] + self._unit * location, self._unit * scale)

    def parameter_columns(self, columns: list[Column]) -> list[Column]:
        """Return what the parameters are: an intercept, a slope for each predictor, a deviation."""
        target = columns[self.target].name
        slopes = [Column(f"slope of {columns[k].name}") for k in self.on]
        return [Column(f"{target} intercept"), *slopes, Column(f"{target} sd")]

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means (C, columns) of rows with a target, NaN of columns not named."""
        d = len(self.mean)
        centre = statistics[:, 1 : 1 + d]
        means = np.full((len(statistics), self.columns or d), np.nan)
        root = np.linalg.cholesky(self.covariance)
        means[:, list(self.on)] = self.mean[:-1] + centre[:, :-1] @ root.T
        means[:, self.target] = self.mean[-1] + self._unit * centre[:, -1]
        means[statistics[:, 0] == 0] = np.nan
        return means

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw targets; the predictors are those of `like`, or normal where there is none."""
        n, drawn = len(labels), parameters["parameters"][labels]
        if like is None:
            rows = np.zeros((n, self.columns or 0))
            root = np.linalg.cholesky(self.covariance)
            rows[:, list(self.on)] = (
                self.mean[:-1] + rng.standard_normal((n, len(self.on))) @ root.T
            )
        else:
            given = like if len(like) == n else like[rng.integers(len(like), size=n)]
            rows = np.array(given, dtype=np.float64)
        expected = drawn[:, 0] + (drawn[:, 1:-1] * rows[:, list(self.on)]).sum(axis=1)
        rows[:, self.target] = rng.normal(expected, drawn[:, -1])
        return rows


class _Posterior(NamedTuple):
    """Of C clusters: the noise's degrees and scale, and the slopes' precision and mean.

    ``centre`` is the posterior mean of predictors and target, ``kappa`` what it is worth.
    """

    degrees: FloatArray
    scale: FloatArray
    inside: FloatArray
    slopes: FloatArray
    centre: FloatArray
    kappa: FloatArray


def _plain_column(value: Any, name: str) -> str | int:
    """Return a column as a name or a number, or raise."""
    if isinstance(value, (str, int, np.integer)) and not isinstance(value, bool):
        return value if isinstance(value, str) else int(value)
    raise TypeError(f"{name} must be made of names or numbers of columns, got {shown(value)}")
