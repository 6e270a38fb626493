"""A user's own conjugate family: two functions of plain Python, compiled by numba."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixwood._support.checks import shown, whole_number
from mixwood._support.numbers import count
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.hyper import Beta
from mixwood.input.matrices import real_matrix
from mixwood.likelihoods.base import Column, Likelihood, Parameters
from mixwood.likelihoods.compiled import CompiledFamily, compiled_family, plain_function
from mixwood.likelihoods.custom_arguments import (
    OPTIONAL,
    bounds_of,
    checked_names,
    checked_parameters,
    coordinate,
)
from mixwood.likelihoods.learned import base_of_clusters, centre, draw, is_learned, law

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["CustomFamily", "conjugate_family"]

#: How many rows are looked at to see whether `accumulate` adds.
_ROWS_TRIED = 20


def conjugate_family(
    stat_dim: int,
    accumulate: Callable[..., None],
    log_marginal: Callable[..., float],
    *,
    name: str = "custom",
    parameters: Any = (),
    columns: int | None = None,
    check: Callable[[FloatArray], None] | None = None,
    row_constant: Callable[[FloatArray], float] | None = None,
    log_predictive: Callable[..., float] | None = None,
    draw_parameters: Callable[..., Any] | None = None,
    draw_rows: Callable[..., Any] | None = None,
    log_density: Callable[..., float] | None = None,
    parameter_names: Sequence[str] | None = None,
) -> CustomFamily:
    """Make a likelihood of your own, which runs in the core like those of mixwood.

    `accumulate`, `log_marginal`, `row_constant`, `log_predictive` and `log_density` are compiled by
    numba (install ``mixwood[numba]``), so they may use numbers, loops, ``math`` and numpy's basics.
    Test what you made with `mixwood.testing.check_family`.

    Parameters
    ----------
    stat_dim : int
        How many numbers the statistic of a cluster has. The number of rows need not be one of
        them: the core counts rows itself.
    accumulate : function of (x, statistic)
        Adds one row, an array ``x`` of its columns, to the array ``statistic``. It must only
        add: the core adds and subtracts statistics as it moves rows about.
    log_marginal : function of (n, statistic, parameters)
        ``log P(X_c)`` of a cluster of ``n`` rows (a float, at least 1): the density of its
        rows, the cluster's own parameters integrated out.
    name : str
        What messages call it.
    parameters : mapping or sequence, or function of X
        The parameters of the prior, passed to `log_marginal` as an array: numbers, or a mapping
        from names to numbers, in which a distribution (`mixwood.hyper.LogNormal`,
        `mixwood.hyper.Gamma`, or `mixwood.hyper.Beta` for one between 0 and 1) is a hyperprior:
        that parameter is learned along with the clusters. A function takes them from the data
        that the model is fitted to.
    columns : int, optional
        How many columns the data have; any number by default.
    check : function of X, optional
        Raises a ValueError if a matrix of finite numbers is nothing for this family.
    row_constant : function of x, optional
        A log factor of a row's density that `log_marginal` leaves out because it is the same
        in every cluster (for example ``-log x!``).
    log_predictive : function of (x, n, statistic, parameters), optional
        ``log P(x | X_c)`` where that is cheaper than a difference of two `log_marginal`, and
        with the same constants left out.
    draw_parameters : function of (n, statistic, parameters, rng), optional
        Draws a cluster's own parameters given ``n`` rows with this statistic (``n = 0``: from
        the prior): a number or an array of them. Plain Python with a numpy Generator, as
        `draw_rows`. `Posterior.describe` and `Posterior.cluster_parameters` show what it draws;
        without it the former shows the means of the columns. Simulation and prediction of new
        rows need both.
    draw_rows : function of (drawn, size, rng), optional
        Draws `size` rows from a cluster with the parameters that `draw_parameters` has drawn:
        an array with a row each.
    log_density : function of (x, drawn, parameters), optional
        The log density of a row given the parameters that `draw_parameters` has drawn, an array,
        and those of the prior; constants of the row left out as in `log_marginal`. The two
        together are what `mixwood.Slice` needs, which draws the parameters of every cluster.
    parameter_names : sequence of str, optional
        What the numbers that `draw_parameters` returns are called in tables.

    Returns
    -------
    CustomFamily
        A likelihood for `mixwood.Mixture`. It works with every sampler, with `Slice` if it has
        `draw_parameters` and `log_density`.

    Examples
    --------
    Exponential waiting times, a Gamma(a, b) prior on the rate of a cluster:

    >>> from math import lgamma, log
    >>> def accumulate(x, statistic):
    ...     statistic[0] += x[0]
    >>> def log_marginal(n, statistic, parameters):
    ...     a, b = parameters
    ...     return a * log(b) - lgamma(a) + lgamma(a + n) - (a + n) * log(b + statistic[0])
    >>> conjugate_family(1, accumulate, log_marginal, name="exponential", parameters=[2, 1])
    <family 'exponential': 1 statistic, parameters [2.0, 1.0]>

    With a shape that is learned:

    >>> from mixwood.hyper import LogNormal
    >>> learned = {"shape": LogNormal(2, 1), "rate": 1}
    >>> conjugate_family(1, accumulate, log_marginal, name="exponential", parameters=learned)
    <family 'exponential': 1 statistic, parameters {'shape': LogNormal(median=2.0, sd=1.0), 'rate': 1.0}>
    """  # noqa: E501
    family = CustomFamily(
        stat_dim=stat_dim,
        accumulate=accumulate,
        log_marginal=log_marginal,
        name=name,
        parameters=parameters,
        columns=columns,
        data_check=check,
        row_constant=row_constant,
        log_predictive=log_predictive,
        parameter_sampler=draw_parameters,
        row_sampler=draw_rows,
        log_density=log_density,
        parameter_names=parameter_names,
    )
    family.compiled()  # what cannot be compiled is said here and not after the data are read
    return family


class _Borrowed(NamedTuple):
    """What numpy's `Generator` asks of a bit generator."""

    capsule: Any
    lock: Any


@dataclass(frozen=True, eq=False, repr=False)
class CustomFamily(Likelihood):
    """A likelihood made by `conjugate_family`; its fields are that function's arguments."""

    stat_dim: int
    accumulate: Any
    log_marginal: Any
    name: str = "custom"
    parameters: Any = ()
    columns: int | None = None
    data_check: Any = None
    row_constant: Any = None
    log_predictive: Any = None
    parameter_sampler: Any = None
    row_sampler: Any = None
    log_density: Any = None
    parameter_names: Any = None

    def __post_init__(self) -> None:
        whole_number(self.stat_dim, "stat_dim", at_least=1)
        if self.columns is not None:
            whole_number(self.columns, "columns", at_least=1)
        if not isinstance(self.name, str):
            raise TypeError(f"name must be text, got {shown(self.name)}")
        for field in ("accumulate", "log_marginal"):
            if not callable(getattr(self, field)):
                raise TypeError(f"{field} must be a function, got {shown(getattr(self, field))}")
        for field, argument in OPTIONAL.items():
            value = getattr(self, field)
            if value is not None and not callable(value):
                raise TypeError(f"{argument} must be a function, got {shown(value)}")
        if not callable(self.parameters):
            object.__setattr__(self, "parameters", checked_parameters(self.parameters))
        if self.parameter_names is not None:
            object.__setattr__(self, "parameter_names", checked_names(self.parameter_names))

    def __repr__(self) -> str:
        statistics = "1 statistic" if self.stat_dim == 1 else f"{self.stat_dim} statistics"
        given = "of the data" if callable(self.parameters) else self.parameters
        given = given.tolist() if isinstance(given, np.ndarray) else given
        return f"<family {self.name!r}: {statistics}, parameters {given}>"

    @property
    def width(self) -> int | None:
        """How many columns the data have, or None while open."""
        return self.columns

    def compiled(self) -> CompiledFamily:
        """Return the compiled functions; they are compiled once in a process."""
        return compiled_family(
            *map(plain_function, (self.accumulate, self.log_marginal)),
            *map(plain_function, (self.row_constant, self.log_predictive, self.log_density)),
        )

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return `X` as a matrix of finite floats that the family's own check accepts."""
        matrix = real_matrix(X, name=name, width=width if width is not None else self.width)
        if self.data_check is not None:
            self.data_check(matrix)
        return matrix

    def resolve(self, X: Data) -> CustomFamily:
        """Return a copy with `parameters` explicit."""
        assert isinstance(X, np.ndarray)
        parameters = self.parameters
        if callable(parameters):
            parameters = parameters(X)
        return replace(self, parameters=parameters, columns=int(X.shape[1]))

    def resolve_standard(self, width: int) -> CustomFamily:
        """Return a copy for `width` columns; parameters of the data have no standard."""
        if callable(self.parameters):
            raise TypeError(
                f"the family {self.name!r} takes its parameters from data; give numbers to "
                "simulate from its prior"
            )
        return replace(self, columns=width)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`."""
        from mixwood import _core

        assert isinstance(X, np.ndarray)
        compiled = self.compiled()
        more: dict[str, Any] = self._laws()
        if self.why_no_atoms is None:
            more |= {"draw": self._draw_for_core, "log_density": compiled.log_density.address}
        return _core.custom(
            X,
            self.row_statistics(X),
            self.values(self.start_base()),
            compiled.log_marginal.address,
            compiled.log_predictive.address if compiled.log_predictive is not None else 0,
            self.name,
            compiled,
            **more,
        )

    # --- clusters by their parameters

    @property
    def why_no_atoms(self) -> str | None:
        """Which functions are lacking."""
        given = {"draw_parameters": self.parameter_sampler, "log_density": self.log_density}
        lacking = [name for name, function in given.items() if function is None]
        if not lacking:
            return None
        return f"lacks {' and '.join(lacking)} of conjugate_family"

    def drawn(
        self, n: float, statistic: FloatArray, parameters: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw the parameters of one cluster by the user's function, and check what it returns."""
        assert self.parameter_sampler is not None
        found = np.atleast_1d(
            np.asarray(self.parameter_sampler(n, statistic, parameters, rng), dtype=np.float64)
        )
        if found.ndim != 1 or np.isnan(found).any():
            raise ValueError(
                f"draw_parameters of the family {self.name!r} must return a number or an array of "
                f"them, got {shown(found.tolist())}"
            )
        if self.parameter_names is not None and len(found) != len(self.parameter_names):
            raise ValueError(
                f"draw_parameters of the family {self.name!r} must return "
                f"{count('number', len(self.parameter_names))}, one for each of parameter_names, "
                f"got {len(found)}"
            )
        return found

    def _draw_for_core(
        self, n: float, statistic: FloatArray, parameters: FloatArray, capsule: Any
    ) -> list[float]:
        """Draw from the stream of a chain, whose capsule of numpy's bit generator is given."""
        rng = np.random.Generator(_Borrowed(capsule, Lock()))  # type: ignore[arg-type]
        try:
            return [float(value) for value in self.drawn(n, statistic, parameters, rng)]
        except Exception as error:
            raise RuntimeError(
                f"draw_parameters of the family {self.name!r} raised {type(error).__name__} for "
                f"n = {n:g} and the statistic {shown(statistic.tolist())}: {error}"
            ) from error

    # --- learned parameters

    @property
    def _learned(self) -> dict[str, Any]:
        """The hyperpriors, by the name of the parameter."""
        if not isinstance(self.parameters, dict):
            return {}
        return {name: value for name, value in self.parameters.items() if is_learned(value)}

    def _laws(self) -> dict[str, Any]:
        """Return the argument that tells the core of hyperpriors, one law for each parameter."""
        if not self._learned:
            return {}
        return {"laws": [law(value, bounds_of(value)) for value in self.parameters.values()]}

    def values(self, base: FloatArray) -> FloatArray:
        """Return the array that `log_marginal` gets, given the learned parameters' base."""
        if not isinstance(self.parameters, dict):
            return np.asarray(self.parameters)
        drawn = {name: float(value) for name, value in self.base_draws(base).items()}
        return np.array([drawn.get(name, value) for name, value in self.parameters.items()])

    @property
    def base_size(self) -> int:
        """How many parameters are learned."""
        return len(self._learned)

    def start_base(self) -> FloatArray:
        """Return where a chain starts: medians, or means of `Gamma` and `Beta`."""
        return np.array([coordinate(prior, centre(prior)) for prior in self._learned.values()])

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperpriors."""
        priors = self._learned.values()
        return np.array([coordinate(prior, draw(prior, bounds_of(prior), rng)) for prior in priors])

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return each learned parameter by its name."""
        return {
            name: 1 / (1 + np.exp(-base[..., k]))
            if isinstance(prior, Beta)
            else np.exp(base[..., k])
            for k, (name, prior) in enumerate(self._learned.items())
        }

    def row_statistics(self, X: FloatArray) -> FloatArray:
        """Return the statistic of each row; raise if `accumulate` fails or does not add."""
        statistics = np.zeros((len(X), self.stat_dim))
        self._accumulate(X, statistics)
        bad = ~np.isfinite(statistics).all(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"accumulate of the family {self.name!r} makes the statistic "
                f"{shown(statistics[row].tolist())} of row {row}, which is not finite"
            )
        some = X[:_ROWS_TRIED]
        before = statistics[: len(some)][::-1] + 1.0
        after = before.copy()
        self._accumulate(some, after)
        expected = before + statistics[: len(some)]
        if not np.allclose(after, expected, rtol=1e-9, atol=1e-9):
            row = int(np.argmin(np.isclose(after, expected, rtol=1e-9, atol=1e-9).all(axis=1)))
            raise ValueError(
                f"accumulate of the family {self.name!r} does not add: row {row} turns the "
                f"statistic {shown(before[row].tolist())} into {shown(after[row].tolist())}, and "
                f"zeros into {shown(statistics[row].tolist())}. Write statistic[k] += ..., with "
                "nothing on the right that depends on statistic"
            )
        return statistics

    def _accumulate(self, X: FloatArray, statistics: FloatArray) -> None:
        """Add each row of `X` to its own statistic."""
        accumulate = self.compiled().accumulate
        for_all = np.ascontiguousarray(X)
        try:
            accumulate(for_all, statistics)
        except Exception as error:
            raise ValueError(
                f"accumulate of the family {self.name!r}, with stat_dim={self.stat_dim} and rows "
                f"of {X.shape[1]} columns, raised {type(error).__name__}: {error}"
            ) from error

    def row_constants(self, X: Data) -> FloatArray:
        """Return the log factors that `log_marginal` leaves out: zeros unless given."""
        assert isinstance(X, np.ndarray)
        values = np.zeros(len(X))
        constants = self.compiled().row_constants
        if constants is not None:
            constants(np.ascontiguousarray(X), values)
        return values

    @property
    def statistic_size(self) -> int:
        """The number of rows, and the family's own statistic."""
        return 1 + self.stat_dim

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw ``parameters`` (C, p) of clusters by the user's function."""
        if self.parameter_sampler is None:
            raise TypeError(
                f"the family {self.name!r} cannot draw the parameters of clusters: give "
                "draw_parameters to conjugate_family"
            )
        bases = base_of_clusters(base, len(statistics), self.base_size)
        drawn = [
            self.drawn(s[0], s[1:], self.values(own), rng)
            for s, own in zip(statistics, bases, strict=True)
        ]
        return {"parameters": np.array(drawn)}

    @property
    def draws_parameters(self) -> bool:
        """Whether the user has said how."""
        return self.parameter_sampler is not None

    def parameter_columns(self, columns: list[Column]) -> list[Column]:
        """Return the names that the user has given, which are not those of the data."""
        return [Column(name) for name in self.parameter_names or ()]

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw rows by the user's function."""
        if self.row_sampler is None:
            raise TypeError(
                f"the family {self.name!r} cannot draw rows: give draw_parameters and draw_rows "
                "to conjugate_family"
            )
        assert self.columns is not None
        X = np.empty((len(labels), self.columns))
        for k in np.unique(labels):
            members = np.flatnonzero(labels == k)
            rows = np.asarray(self.row_sampler(parameters["parameters"][k], len(members), rng))
            if rows.size != len(members) * self.columns:
                raise ValueError(
                    f"draw_rows of the family {self.name!r} must return {len(members)} rows of "
                    f"{self.columns} columns, got shape {rows.shape}"
                )
            X[members] = rows.reshape(len(members), self.columns)
        return X
