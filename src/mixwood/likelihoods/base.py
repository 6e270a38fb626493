"""What every likelihood has in common.

A likelihood goes through three stages, each a plain function of the one before:

1. what the user wrote, perhaps with parameters left to the data (`Gaussian()`);
2. `resolve(X)`: the same class with every parameter a number or an array (`fitted_to` does this
   from data as the user has them);
3. `bind(X)`: the compiled family over the rows of `X`, read-only, shared by all chains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.params import Settable
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import column_names
from mixwood.likelihoods.cost import warn_of_cost
from mixwood.likelihoods.dependence import warn_of_left_out

if TYPE_CHECKING:
    from typing import Self

    from mixwood import _core

__all__ = ["Column", "Likelihood", "Parameters", "TargetTerms", "as_likelihood"]

#: Of some clusters: arrays by name, the first axis that of the clusters.
Parameters: TypeAlias = dict[str, FloatArray]


class Column(NamedTuple):
    """A column's name and, where its entries are codes of categories, those categories."""

    name: str
    categories: tuple[Any, ...] | None = None


class TargetTerms(NamedTuple):
    """The t distributions of the target of m rows in C clusters.

    Attributes
    ----------
    degrees : array of shape (C,)
    location, scale : array of shape (m, C)
    """

    degrees: FloatArray
    location: FloatArray
    scale: FloatArray


class SingleRows(NamedTuple):
    """Rows among weighted leaves, and which of them a leaf is, -1 for one that is none."""

    rows: Data
    row_of_leaf: NDArray[np.int32]


class Likelihood(Settable, ABC):
    """The distribution of a cluster's items, with its conjugate prior integrated out.

    What the rest of the package has to know of a likelihood, it says itself, by the class
    variables and methods below: nothing outside asks which class it is.
    """

    # --- what it reads

    #: whether a missing entry (NaN) is skipped, that is, integrated out
    skips_missing: ClassVar[bool] = False

    #: whether missing entries are integrated out by drawing them, as part of a chain's state
    draws_missing: ClassVar[bool] = False

    #: whether it takes scipy.sparse matrices
    reads_sparse: ClassVar[bool] = False

    #: whether entries are counts, so that a negative one is an error
    reads_counts: ClassVar[bool] = False

    #: whether entries are codes 0, 1, 2, ... of categories, which a table may spell out as text
    reads_categories: ClassVar[bool] = False

    #: how many categories a column may have, None without a limit
    most_categories: ClassVar[int | None] = None

    #: whether it finds its columns in a table by itself, and may leave some of them out
    reads_tables: ClassVar[bool] = False

    # --- what it is

    #: the names that its `scale` may be given, the default first; none if it has no scale
    scales: ClassVar[tuple[str, ...]] = ()

    #: whether rows have a density that can be drawn as a curve
    continuous: ClassVar[bool] = False

    #: whether codes are names: their order means nothing
    nominal: ClassVar[bool] = False

    #: whether a row is a sample of any size, such as a document of words: it weighs as much as it
    #: has counts, and is drawn by the shares of the columns in it
    has_row_totals: ClassVar[bool] = False

    #: whether most entries of a cluster's statistic are zeros, so that it is kept sparse
    sparse_statistics: ClassVar[bool] = False

    @property
    def counts_whole_rows(self) -> bool:
        """Whether rows may weigh whole numbers only: the core has tables of what is counted."""
        return self.has_row_totals

    @property
    def is_open(self) -> bool:
        """Whether it stands for several others, its `candidates`, one of which data decide on."""
        return False

    @property
    def in_words(self) -> str:
        """What its clusters have, in a few words, where it is one of several in question."""
        return ""

    @property
    def tied_to_columns(self) -> int:
        """What of the columns the clusters depend on: 1 their directions, 2 also their units.

        0 where any change of axes leaves the clusters as they are.
        """
        return 0

    @abstractmethod
    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> Data:
        """Return `X` in the form the core reads, or raise an error that names `name`."""

    def no_rows(self, width: int) -> Data:
        """Return data without a row, in the form the core reads."""
        return np.empty((0, width))

    @property
    def learns_categories(self) -> bool:
        """Whether the categories of a column are still to be learned from a table."""
        return self.reads_categories

    def with_categories(self, counts: Sequence[int | None], X: Data) -> Self:
        """Return a copy for columns of which a table has told how many categories they have.

        `counts` has None for a column whose entries are codes, as in checked `X`.
        """
        return self

    def nominal_columns(self, width: int) -> tuple[bool, ...]:
        """Return for each of `width` columns whether it holds codes whose order means nothing."""
        return (self.nominal,) * width

    @abstractmethod
    def resolve(self, X: Data) -> Self:
        """Return a copy whose parameters are all explicit, taken from checked `X` where open."""

    def with_scale(self, name: str) -> Likelihood:
        """Return a copy whose `scale` is one of its `scales`, or raise.

        Examples
        --------
        >>> from mixwood import Gaussian
        >>> Gaussian().with_scale("data").scale
        'data'
        """
        if name not in self.scales:
            takes = (
                f"takes scale {' or '.join(map(repr, self.scales))}"
                if self.scales
                else "has no scale"
            )
            raise ValueError(f"{type(self).__name__} {takes}, got {shown(name)}")
        return replace(self, scale=name)  # type: ignore[type-var]

    def located_in(self, X: Any, *, name: str = "X") -> tuple[Self, Data]:
        """Return a copy that knows where its columns are, and `X` in the form the core reads."""
        return self.placed(column_names(X)), self.check(X, name=name)

    def placed(self, names: Sequence[Any] | None) -> Self:
        """Return a copy that has numbers for the columns that it names, which are called `names`.

        None: the columns have no names.
        """
        return self

    def candidates(self, X: Data) -> list[Likelihood]:
        """Return the likelihoods, explicit, that come into question for checked `X`."""
        return [self.resolve(X)]

    def with_heavy_tails(self, chosen: Likelihood, X: Data) -> Likelihood | None:
        """Return the `chosen` candidate with heavy tails, explicit; None if that is not tried."""
        return None

    def stands_for(self, other: Likelihood) -> bool:
        """Tell whether `other` may be what this one, resolved, has come to."""
        return type(other) is type(self)

    def fitted_to(self, X: Any, *, name: str = "X") -> tuple[Self, Data]:
        """Return a copy whose parameters are all explicit, and `X` in the form the core reads."""
        located, data = self.located_in(X, name=name)
        explicit = located.resolve(data)
        warn_of_left_out(explicit.left_out, self.names_in(X))
        warn_of_cost(explicit, data.shape[0])
        return explicit, data

    @property
    def left_out(self) -> dict[Any, str]:
        """Columns that say nothing about clusters, ``"constant"`` or ``"combination"`` of others.

        Parameters explicit. They are described and drawn along with the columns they follow from,
        and are no part of densities.
        """
        return {}

    def names_in(self, X: Any) -> tuple[str, ...] | None:
        """Return the names of those columns of `X` that `check` returns, or None without names."""
        return column_names(X)

    def own_names(self) -> tuple[str, ...] | None:
        """Return the names of the columns where the likelihood itself has them, else None."""
        return None

    @abstractmethod
    def resolve_standard(self, width: int) -> Self:
        """Return a copy whose open parameters are those of standardized data `width` wide."""

    @property
    @abstractmethod
    def width(self) -> int | None:
        """How many columns the parameters are for, or None while they are open."""

    @abstractmethod
    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of checked `X`; parameters must be explicit."""

    def bind_leaves(
        self,
        statistics: Data,
        sizes: FloatArray,
        log_apart: FloatArray,
        weights: FloatArray,
        marks: NDArray[np.uint8] | None = None,
        single: SingleRows | None = None,
    ) -> _core.Family:
        """Return the compiled family over weighted leaves; see `mixwood.WeightedLeaves`."""
        rows = self.bind(self.no_rows(self.width or 0) if single is None else single.rows)
        places = None if single is None else single.row_of_leaf
        return rows.leaves(np.asarray(statistics), sizes, log_apart, weights, marks, places)

    @abstractmethod
    def row_constants(self, X: Data) -> FloatArray:
        """Return for each row the log factor of its density that the compiled family leaves out."""

    @property
    def statistic_size(self) -> int:
        """How many numbers the additive statistic of a cluster has; parameters explicit."""
        raise self._cannot_draw()

    @property
    def means_in_statistic(self) -> NDArray[np.bool_]:
        """Which entries of the statistic are means; the others are sums. Parameters explicit."""
        return np.zeros(self.statistic_size, dtype=np.bool_)

    @property
    def learns_from_rows(self) -> bool:
        """Whether what is learned needs the rows themselves: their statistics are not enough."""
        return False

    @property
    def work(self) -> int:
        """How many numbers one marginal of a cluster goes through, roughly; parameters explicit."""
        return self.statistic_size

    @property
    def matrix_size(self) -> int:
        """How many columns its covariance matrices have, 1 without any; parameters explicit."""
        return 1

    @property
    def advice_if_wide(self) -> str:
        """What to do about clusters of very many numbers, a sentence for a warning."""
        return "Use fewer columns, such as the first principal components, or those that matter"

    # --- the base measure, where it is learned

    @property
    def base_size(self) -> int:
        """How many numbers the learned base measure has, 0 if it is fixed; parameters explicit."""
        return 0

    def start_base(self) -> FloatArray:
        """Return where a chain starts, an array of `base_size` numbers in the core's units."""
        return np.empty(0)

    def start_bases(self) -> FloatArray:
        """Return base measures that a chain may start from, one a row: the best fit is taken."""
        return self.start_base()[None]

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return the rows of `X` as points whose distances make sense, in one way or in several.

        Chains may start from groups of near ones. Empty where there are no such points.
        """
        return []

    def over_part(self, share: float) -> Likelihood:
        """Return this likelihood for pilots over a share of the rows.

        A strong hyperprior counts as much against these as it does against all of them.
        """
        return self

    def log_base_volume(self, base: FloatArray, n: int, clusters: int) -> float:
        """Return about the log volume that the posterior of the base measure has around `base`.

        So that partitions are compared with the base measure integrated out, and not at its
        best: `n` rows in this many clusters say more or less about it.
        """
        return 0.0

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw a base measure from its hyperprior: `base_size` numbers in the core's units."""
        return np.empty(0)

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return what is learned of base measures (..., base_size) by name, in data units."""
        return {}

    def base_width(self, base: FloatArray) -> FloatArray | None:
        """Return the share of the variance within clusters, or None if that is not learned.

        `base` has shape (..., base_size), what is returned (...).
        """
        return None

    def base_excess(self, base: FloatArray) -> FloatArray | None:
        """Return ``nu'``, how firmly clusters hold to one covariance; None if that is fixed.

        The variances of clusters differ by about ``sqrt(2/nu')`` of the expected ones.
        """
        return None

    # --- missing entries, where they are drawn

    def missing_entries(self, X: Data) -> tuple[IntArray, IntArray]:
        """Return the rows and columns of the entries of checked `X` that chains draw.

        In the order in which the core has them; none where missing entries are not drawn.
        """
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    # --- a target

    @property
    def target_column(self) -> int | None:
        """The number of a column that is predicted from others, or None; parameters explicit."""
        return None

    def target_terms(self, statistics: FloatArray, base: FloatArray | None, X: Data) -> TargetTerms:
        """Return the distribution of the target of each row of checked `X` in each cluster.

        `statistics` are as for `draw_parameters`: zeros are those of a new cluster.
        """
        raise TypeError(f"the likelihood {type(self).__name__} has no target")

    # --- what rows come with

    def given_columns(self, width: int) -> tuple[int, ...]:
        """Return the columns, out of `width`, that rows come with, as a count has an exposure.

        They are not drawn, and clusters say nothing about them.
        """
        return ()

    def exposures_in(self, X: Data) -> dict[str, FloatArray]:
        """Return the exposures of the rows of checked `X`, by what names of parameters begin with.

        None where counts are of rows that were looked at equally long.
        """
        return {}

    def drawn_entries(self, X: Data, latent: FloatArray) -> FloatArray:
        """Return drawn missing entries (..., count), which the core has in units of its own."""
        return latent

    # --- rows with a latent part, missing entries or other, that chains draw

    def latent_size(self, X: Data) -> int:
        """Return how many latent numbers chains draw for the rows of checked `X`."""
        return len(self.missing_entries(X)[0])

    def row_scales(self, X: Data, latent: FloatArray) -> FloatArray | None:
        """Return the scales of rows (..., n) among drawn latent numbers, None without any.

        A row's precision is its scale times that of its cluster: far below 1 it is an outlier.
        """
        return None

    def for_new_rows(self) -> Self:
        """Return the same for rows that are not the data, of which it may know more."""
        return self

    @property
    def why_no_part(self) -> str | None:
        """Why it cannot be a part of a product, or None if it can."""
        return None

    @property
    def why_no_leaves(self) -> str | None:
        """Why rows cannot be joined in leaves, which keep sums alone; None if they can."""
        return None

    # --- draws

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw parameters of clusters given their rows, once for each of the statistics.

        Parameters
        ----------
        statistics : array of shape (C, statistic_size)
            What the compiled family's ``cluster_statistics`` returns; zeros are a cluster
            without rows, whose parameters come from the prior.
        rng : numpy.random.Generator
            Where the randomness comes from.
        base : array of shape (C, base_size) or (base_size,), optional
            The base measure of each cluster, or of all; needed where it is learned.

        Returns
        -------
        dict of arrays
            In the units of the data; the first axis is that of `statistics`.
        """
        raise self._cannot_draw()

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> Data:
        """Draw a row for each label from the cluster with these parameters.

        What the model does not say, such as the totals of `Multinomial`, is taken from random
        rows of `like`; `given_columns` from row after row of it, if there are as many as labels.
        """
        raise self._cannot_draw()

    def log_densities_with_errors(
        self, parameters: Parameters, X: Data, errors: FloatArray
    ) -> FloatArray:
        """Return the log density (m, C) of rows with errors of covariances (m, d, d) in clusters.

        Given the clusters' parameters; of the columns that take part.
        """
        raise TypeError(
            f"errors must be None: the likelihood {type(self).__name__} has no densities of rows "
            "with errors; mw.Gaussian() has"
        )

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the mean of the rows of each cluster, from their statistics.

        One column for each of the data's, NaN where all rows lack it; but for a column of codes
        the share of each category, and for counts of words each word's.
        """
        raise TypeError(
            f"the likelihood {type(self).__name__} does not tell the mean of rows from their "
            "statistic, so weighted leaves have no coordinates in which they can be drawn"
        )

    def described_columns(self, names: Sequence[str]) -> dict[str, list[Column]]:
        """Return the columns that parameters are about, by what their names begin with.

        `names` are those of the data's columns, as `check` returns them.
        """
        return {"": self.parameter_columns([Column(name) for name in names])}

    def parameter_columns(self, columns: list[Column]) -> list[Column]:
        """Return what the parameters of a cluster are about, given the columns of the data."""
        return columns

    @property
    def draws_parameters(self) -> bool:
        """Whether the parameters of clusters can be drawn."""
        return True

    def _cannot_draw(self) -> TypeError:
        return TypeError(
            f"the likelihood {type(self).__name__} cannot draw the parameters of its clusters, "
            "so neither rows nor summaries of parameters can be had from it"
        )

    def simulate(
        self, labels: IntArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Data:
        """Draw each cluster's parameters from the prior and one row for each label.

        A learned base measure is drawn from its hyperprior unless it is given.
        """
        empty = np.zeros((int(labels.max()) + 1, self.statistic_size))
        if base is None:
            base = self.draw_base(rng)
        return self.draw_rows(self.draw_parameters(empty, rng, base), labels, rng)

    def simulate_with_latent(
        self, labels: IntArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> tuple[Data, FloatArray]:
        """Draw rows as `simulate` does, and tell what was drawn for them that is not seen."""
        return self.simulate(labels, rng, base), np.empty(0)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.get_params(), other.get_params()
        return all(np.array_equal(mine[key], theirs[key]) for key in mine)

    def __hash__(self) -> int:
        return hash(type(self))


def as_likelihood(value: Any) -> Likelihood:
    """Return `value` if it is a likelihood, or raise a TypeError that says what is."""
    if isinstance(value, Likelihood):
        return value
    raise TypeError(
        "likelihood must be a likelihood (an instance, for example mw.Gaussian()), "
        f"got {shown(value)}"
    )
