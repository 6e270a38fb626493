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
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.params import Settable
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.matrices import column_names
from mixwood.likelihoods.base_measure import MayLearn
from mixwood.likelihoods.cluster_draws import Column, MayDescribeClusters, Parameters, TargetTerms
from mixwood.likelihoods.cost import warn_of_cost
from mixwood.likelihoods.dependence import warn_of_left_out
from mixwood.likelihoods.far_entries import warn_of_far_entries
from mixwood.likelihoods.known_errors import MayHaveErrors
from mixwood.likelihoods.row_parts import MayDrawForRows

if TYPE_CHECKING:
    from typing import Self

    from mixwood import _core

__all__ = ["Column", "Likelihood", "Parameters", "TargetTerms", "as_likelihood"]


class RowsOfLeaves(NamedTuple):
    """Rows that weighted leaves stand for.

    Attributes
    ----------
    rows : array or csr_array
    row_of_leaf : int32 array of shape (m,), optional
        Which of them a leaf is, -1 for one that is none, or counts as more than one.
    leaf_of_row : int32 array, optional
        The leaf of each, -1 for none; where something is learned from the rows themselves.
    weights : array, optional
        What each counts as in its leaf; likewise.
    """

    rows: Data
    row_of_leaf: NDArray[np.int32] | None = None
    leaf_of_row: NDArray[np.int32] | None = None
    weights: FloatArray | None = None


class Likelihood(MayLearn, MayDrawForRows, MayHaveErrors, MayDescribeClusters, Settable, ABC):
    """The distribution of a cluster's items, with its conjugate prior integrated out.

    What the rest of the package has to know of a likelihood, it says itself, by the class
    variables and methods here and, by subject, in the classes that it derives from: nothing outside
    asks which class it is.
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
        names = self.names_in(X)
        warn_of_left_out(explicit.left_out, names)
        if self.continuous and isinstance(data, np.ndarray):
            warn_of_far_entries(data, names)
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

    def bind_for_chains(self, X: Data) -> _core.Family:
        """Return the same, for chains over these rows and their starts alone.

        Its statistics need not be those of other rows.
        """
        return self.bind(X)

    def bind_leaves(
        self,
        statistics: Data,
        sizes: FloatArray,
        log_apart: FloatArray,
        weights: FloatArray,
        marks: NDArray[np.uint8] | None = None,
        known: RowsOfLeaves | None = None,
    ) -> _core.Family:
        """Return the compiled family over weighted leaves; see `mixwood.WeightedLeaves`."""
        known = RowsOfLeaves(self.no_rows(self.width or 0)) if known is None else known
        return self.bind(known.rows).leaves(
            np.asarray(statistics),
            sizes,
            log_apart,
            weights,
            marks,
            known.row_of_leaf,
            known.leaf_of_row,
            known.weights,
        )

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

    @property
    def why_no_leaves(self) -> str | None:
        """Why rows cannot be joined in leaves, which keep sums alone; None if they can."""
        return None

    @property
    def why_no_atoms(self) -> str | None:
        """Why chains cannot draw the parameters of its clusters, as `Slice` does; None if so."""
        return None

    # --- data drawn from it

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
        """Draw rows as they are seen, and tell what was drawn for them that is not."""
        empty = np.zeros((int(labels.max()) + 1, self.statistic_size))
        if base is None:
            base = self.draw_base(rng)
        return self.draw_rows_with_latent(self.draw_parameters(empty, rng, base), labels, rng)

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
