"""The samplers: small frozen dataclasses that say which moves a chain makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

from mixwood._support.checks import shown, whole_number

__all__ = ["SAMPLERS", "Gibbs", "PaperTree", "Sampler", "Slice", "SplitMerge", "Tree", "as_sampler"]

#: From and to how many rows `Tree` makes two passes or more in an iteration, as many as see
#: `ROWS_SEEN` rows, four at most. (Fewer rows have few partitions. R-hat of K of four chains of
#: 1,000 draws: with one pass 1.12 and 1.08 for faithful, 1.40 and 1.09 for fuzzyx, two seeds each,
#: and with two at most 1.04, 1.07; for iris, five seeds, at most 1.09 with two and 1.03 with four.)
FEW_ROWS, SOME_ROWS = 100, 1000
ROWS_SEEN = 600
#: Up to how many rows all moves are made, however few are accepted: time is short there, and chains
#: should agree in as few draws as they can.
FEW_TO_LEARN = 600
#: From how many columns of a covariance matrix on guide trees are grown less often.
#: (digits, 64 columns, 23 CPU seconds from the default start: with a tree every 21 iterations 369
#: of them and a log joint of -82,344; every 60, 680 and -82,132; every 150, 875 and -81,981.)
MANY_COLUMNS = 16


class Sampler(ABC):
    """Which moves a chain makes; nothing outside this file asks which sampler it is."""

    #: what the core calls it
    name: ClassVar[str]
    #: whether it moves weighted leaves, hence weighted rows and rows of known labels; the others
    #: move single rows
    takes_leaves: ClassVar[bool] = False
    #: whether it draws the parameters of the clusters, rather than integrating them out
    draws_parameters: ClassVar[bool] = False
    #: whether it grows a tree for each cluster, so that it starts quickest from single rows
    grows_clusters: ClassVar[bool] = False

    @property
    def joins_rows(self) -> bool:
        """Whether it keeps near rows together that nobody asked it to."""
        return False

    def moves_nothing(self, in_leaves: bool) -> bool:  # noqa: ARG002
        """Tell whether its chains would stay where they start, of rows or of rows `in_leaves`."""
        return False

    @property
    def start_leaves(self) -> int | None:
        """How many leaves the trees that it starts from may have; None for any number."""
        return None

    def why_no_latent(self, n: int) -> str | None:  # noqa: ARG002
        """Return why latent parts of `n` rows (missing entries) cannot be drawn, or None."""
        return None

    #: Why rows in groups cannot be sampled, or None if they can.
    why_no_groups: ClassVar[str | None] = None

    @abstractmethod
    def options(self, n: int, columns: int = 1) -> dict[str, int]:
        """Return the numbers that the core wants for `n` rows, and matrices of some `columns`."""


@dataclass(frozen=True)
class Gibbs(Sampler):
    """Marginal Gibbs: each item in turn leaves its cluster and draws a new one.

    Exact, simple and slow to cross between well separated partitions: use it to check
    other samplers, or where clusters overlap much.

    Parameters
    ----------
    subset : int, optional
        How many items an iteration visits, drawn uniformly; all by default.

    Notes
    -----
    With the item taken out, it joins cluster ``c`` with weight
    ``kappa(|c|+1, u) / kappa(|c|, u) P(x | X_c)`` and opens a new one with weight
    ``kappa(1, u) P(x)``; then ``u`` and the prior's random parameters are drawn.

    Examples
    --------
    >>> Gibbs(subset=100)
    Gibbs(subset=100)
    """

    subset: int | None = None

    name: ClassVar[str] = "gibbs"
    takes_leaves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.subset is not None:
            whole_number(self.subset, "subset", at_least=1)

    def options(self, n: int, columns: int = 1) -> dict[str, int]:  # noqa: ARG002
        """Return the numbers that the core wants for data of `n` rows."""
        return {"subset": min(self.subset or 0, n)}


@dataclass(frozen=True)
class PaperTree(Sampler):
    """Tree-guided MCMC as published: BIASED, its draws are not those of the posterior.

    Kept to compare with the publication; `Tree` is the tree-guided sampler that is exact.

    Parameters
    ----------
    global_moves : int
        How many splits or merges of whole clusters an iteration proposes (the paper's G).
    depth : int
        How often the local move draws a subtree of a subtree in each cluster's tree (the
        paper's D). Smaller means larger subtrees, so that more items are resampled; 0 means
        all items.

    Notes
    -----
    The state is a partition and a binary tree for each cluster, first grown by inserting the
    items one by one. The acceptance ratio is one of partitions alone, but what is proposed
    depends on trees that the reverse move does not rebuild; and the local move chooses items
    by probabilities that depend on their own clusters.

    Examples
    --------
    >>> PaperTree(depth=1)
    PaperTree(global_moves=20, depth=1)
    """

    global_moves: int = 20
    depth: int = 2

    name: ClassVar[str] = "papertree"
    why_no_groups: ClassVar[str | None] = "nothing was published about them"
    grows_clusters: ClassVar[bool] = True

    def why_no_latent(self, n: int) -> str | None:  # noqa: ARG002
        """Return why: nothing was published about them."""
        return "its trees, as published, are over rows that stay as they are"

    def __post_init__(self) -> None:
        for parameter in ("global_moves", "depth"):
            whole_number(getattr(self, parameter), parameter, at_least=0)

    def options(self, n: int, columns: int = 1) -> dict[str, int]:  # noqa: ARG002
        """Return the numbers that the core wants for data of `n` rows."""
        # No tree is deeper than n, and no one waits for that many moves.
        moves = min(self.global_moves, 2**31 - 1)
        return {"global_moves": moves, "depth": min(self.depth, n), "local_sweep": 1}


@dataclass(frozen=True)
class Tree(Sampler):
    """Tree-guided MCMC, exact: the default.

    A guide tree over the rows, grown by `mixwood.ibhc`'s rules, proposes which rows to move
    together. It escapes from bad starts, and every move leaves the posterior as it is,
    whatever the tree.

    Parameters
    ----------
    subtree_moves : int, optional
        How many blocks, nodes of the guide tree, an iteration moves; by default some for
        each cluster that the tree suggests.
    split_moves : int, optional
        How many splits or merges of clusters an iteration proposes; likewise.
    leaf_moves : int, optional
        How many rows an iteration moves one by one; by default as many as there are, at most
        20,000, and fewer if hardly any would change cluster (learned in warm-up).
    rebuild : int, optional
        After how many iterations a new guide tree is grown; 0 means never. By default 20 or
        more in warm-up and 250 or more after it, with the square root of the number of rows;
        less often where covariance matrices have more than 16 columns.
    max_leaves : int, optional
        Collapse the rows into at most this many blocks, which then stay together: for large
        data. The target is the posterior of partitions that keep every block whole.
    fitted_moves : int, optional
        How many fitted splits or merges an iteration proposes; by default one for each cluster
        that the tree suggests up to 600 rows, then fewer with the square of the number of
        rows, down to what compares rows a quarter as often as moving them one by one does, at
        most one for two clusters. None where rows are kept together.
    passes : int, optional
        How often an iteration does all of this; by default two to four times from 100 to 1,000
        rows, where it takes little time and clusters that come and go are few: chains of the
        usual length should agree.
    redraw_moves : int
        How many multiway redraws an iteration proposes; none by default, as few are accepted.
    learn_moves : bool, optional
        Whether warm-up learns to make fewer of those moves, and of the passes after the first,
        whose number is left to the default: of a kind of which fewer are accepted than one in as
        much work as 50 scans over the rows take. Guide trees then last longer, too. What costs less
        than a twentieth of the scan is always made, and nothing is learned where `leaf_moves` is
        given. By default with more than 600 rows.

    Notes
    -----
    A pass has five parts, or six. Subtree Gibbs: a node whose rows are all in one cluster
    leaves it and joins a cluster, or a new one, by its conditional; half of the nodes are those
    that may be a small cluster beside a large one. Anchored split-merge: the two children of a
    node are the seeds of a split, or their two clusters are merged, the other rows being
    allocated in blocks of the tree and the proposal's probability taken into account. Fitted
    split-merge: the same around one row of each child, the others being allocated one by one by
    restricted Gibbs scans that start from the tree, which is for clusters that overlap; a quarter
    of these nodes are drawn by their sizes alone, since the tree may be sure and wrong. Multiway
    redraws, if asked for: all clusters that meet a node are divided anew, in blocks of the tree,
    into any number. A scan over rows, each moved by its conditional. Then ``u`` and the prior's
    random parameters.

    Trees are grown from the data, fresh randomness and reference values that follow the chain
    in warm-up only: never from the state of the chain.

    Examples
    --------
    >>> Tree(rebuild=50).rebuild
    50
    """

    subtree_moves: int | None = None
    split_moves: int | None = None
    leaf_moves: int | None = None
    rebuild: int | None = None
    max_leaves: int | None = None
    fitted_moves: int | None = None
    passes: int | None = None
    redraw_moves: int = 0
    learn_moves: bool | None = None

    name: ClassVar[str] = "tree"
    takes_leaves: ClassVar[bool] = True
    #: What files of earlier versions mean, which lack a field: runs go on as they began.
    absent_means: ClassVar[dict[str, int]] = {
        "fitted_moves": 0,
        "passes": 1,
        "redraw_moves": 0,
        "learn_moves": 0,
    }

    def why_no_latent(self, n: int) -> str | None:
        """Return why, if some leaves are of several rows."""
        if self.max_leaves is None or self.max_leaves >= n:
            return None
        return "with max_leaves below the number of rows, leaves keep sums of rows alone"

    def __post_init__(self) -> None:
        moves = ("subtree_moves", "split_moves", "leaf_moves", "fitted_moves", "redraw_moves")
        for field in (*moves, "rebuild"):
            if getattr(self, field) is not None:
                whole_number(getattr(self, field), field, at_least=0)
        for field in ("max_leaves", "passes"):
            if getattr(self, field) is not None:
                whole_number(getattr(self, field), field, at_least=1)

    def moves_nothing(self, in_leaves: bool) -> bool:
        """Tell whether no move is left that is made in every iteration.

        Fitted moves are made of single rows only, and by default less than once where rows are
        many.
        """
        moves = (self.subtree_moves, self.split_moves, self.leaf_moves, self.redraw_moves)
        of_rows = 0 if in_leaves or self.joins_rows else self.fitted_moves or 0
        return all(count == 0 for count in moves) and of_rows == 0

    @property
    def joins_rows(self) -> bool:
        """Where it has `max_leaves`."""
        return self.max_leaves is not None

    @property
    def start_leaves(self) -> int | None:
        """As many as it has itself: rows that it keeps together need not be told apart before."""
        return self.max_leaves if (self.max_leaves or 0) > 1 else None

    def options(self, n: int, columns: int = 1) -> dict[str, int]:
        """Return the numbers that the core wants for `n` rows, and matrices of some `columns`."""

        def chosen(value: int | None, default: int) -> int:
            return default if value is None else min(value, 2**31 - 1)

        learns = n > FEW_TO_LEARN if self.learn_moves is None else self.learn_moves
        learns = learns and self.leaf_moves is None  # the scan is what it goes by
        return {
            "passes": chosen(self.passes, _passes(n)),
            "subtree_moves": chosen(self.subtree_moves, -1),
            "split_moves": chosen(self.split_moves, -1),
            "leaf_moves": chosen(self.leaf_moves, -1),
            "fitted_moves": chosen(self.fitted_moves, -1),
            "redraw_moves": chosen(self.redraw_moves, 0),
            "rebuild": chosen(self.rebuild, round(max(250, 5 * n**0.5) * _wide(columns))),
            "warmup_rebuild": chosen(self.rebuild, _warmup_rebuild(n, columns)),
            "max_leaves": chosen(self.max_leaves, 0),
            "learn_moves": int(learns),
            "learn_passes": int(learns and self.passes is None and _passes(n) > 1),
            "learn_rebuild": int(learns and self.rebuild is None),
        }


def _warmup_rebuild(n: int, columns: int) -> int:
    """Return how many iterations a guide tree of the warm-up is for.

    With many columns a tree costs more iterations, as every node has a matrix to be decomposed.
    """
    wide = _wide(columns)
    return round(max(20, 0.5 * sqrt(n)) * wide * sqrt(wide))


def _wide(columns: int) -> float:
    return max(1.0, columns / MANY_COLUMNS)


def _passes(n: int) -> int:
    """Return how many passes an iteration of `Tree` over `n` rows makes."""
    return min(4, max(2, round(ROWS_SEEN / n))) if FEW_ROWS <= n <= SOME_ROWS else 1


@dataclass(frozen=True)
class SplitMerge(Sampler):
    """Split-merge: whole clusters are split or merged at once, and a Gibbs sweep does the rest.

    Exact. Crosses where Gibbs is stuck, if a cluster has an obvious split; proposals are
    drawn blindly among all pairs of items, so with many clusters few are accepted.

    Parameters
    ----------
    scans : int
        How many restricted Gibbs scans make the launch state of a proposal.
    subset : int, optional
        How many items the Gibbs sweep visits, drawn uniformly; all by default.

    Notes
    -----
    An iteration makes one proposal, then the sweep, then the parameters' update. The proposal
    draws two items: if they are in one cluster it is to split that, else to merge the two.
    With ``q`` the probability of the restricted scan that gives the two sides ``A`` and ``B``
    of ``S``, a split is accepted with probability ``min(1, r)`` and a merge with
    ``min(1, 1/r)``::

        r = kappa(n_A, u) kappa(n_B, u) / kappa(n_S, u)  P(X_A) P(X_B) / P(X_S)  / q

    Examples
    --------
    >>> SplitMerge(scans=3)
    SplitMerge(scans=3, subset=None)
    """

    scans: int = 5
    subset: int | None = None

    name: ClassVar[str] = "splitmerge"

    def __post_init__(self) -> None:
        whole_number(self.scans, "scans", at_least=0)
        if self.subset is not None:
            whole_number(self.subset, "subset", at_least=1)

    def options(self, n: int, columns: int = 1) -> dict[str, int]:  # noqa: ARG002
        """Return the numbers that the core wants for data of `n` rows."""
        return {"scans": min(self.scans, 2**31 - 1), "subset": min(self.subset or 0, n)}


@dataclass(frozen=True)
class Slice(Sampler):
    """The slice sampler: explicit jumps and cluster parameters, then all items at once.

    Exact, without truncation: slice variables leave each item finitely many clusters to
    choose from. Within an iteration items are independent of each other, at the price of
    slower mixing than `Gibbs`, whose items see each other with the parameters integrated
    out. It needs a likelihood whose parameters can be drawn, which all of mixwood's have.

    Notes
    -----
    Given ``u``, with ``tau = 1 + u``: each cluster gets a jump ``w ~ Gamma(|c| - sigma, tau)``
    and its parameters from their posterior; each item a slice ``s ~ Uniform(0, w)``; the
    jumps of no item above the smallest slice are drawn from their Poisson process, with
    parameters from the prior; and an item joins a cluster with ``w > s`` with weight
    ``f(x | parameters)``. Items whose slice is below a floor that depends on ``u`` and the
    prior's parameters alone stay for this iteration; else, with ``sigma`` of 1/2 and above,
    infinitely many jumps would be expected. Then ``u`` and the prior's random parameters
    are drawn given the partition, so ``log_joint`` means what it does everywhere.

    Examples
    --------
    >>> Slice()
    Slice()
    """

    name: ClassVar[str] = "slice"
    draws_parameters: ClassVar[bool] = True
    why_no_groups: ClassVar[str | None] = (
        "its jumps are those of one measure, and every group has its own"
    )

    def options(self, n: int, columns: int = 1) -> dict[str, int]:  # noqa: ARG002
        """Return the numbers that the core wants: none."""
        return {}


#: Every sampler, the default first: what files may name, and what the command line knows.
SAMPLERS: tuple[type[Sampler], ...] = (Tree, Gibbs, SplitMerge, Slice, PaperTree)
_BY_NAME = {kind.name: kind for kind in SAMPLERS}


def as_sampler(value: Any) -> Sampler:
    """Return a sampler from an instance or a lower-case name, with hyphens or without.

    Examples
    --------
    >>> as_sampler("split-merge")
    SplitMerge(scans=5, subset=None)
    """
    if isinstance(value, str):
        name = value.replace("-", "")
        if name not in _BY_NAME:
            names = ", ".join(repr(name) for name in _BY_NAME)
            raise ValueError(f"sampler must be one of {names} or a sampler, got {shown(value)}")
        return _BY_NAME[name]()
    if isinstance(value, Sampler):
        return value
    raise TypeError(f"sampler must be a name or a sampler such as mw.Tree(), got {shown(value)}")
