"""`RunSpec`: what a run is. Sampling makes one, a run folder holds one, resuming reads one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from mixwood._support.checks import shown, whole_number
from mixwood._support.seeding import chain_seed
from mixwood._support.versions import Versions
from mixwood.input.groups import Groups, MovedGroups, moved_groups
from mixwood.likelihoods.known_labels import Collapsed, collapsed, in_words
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, item_sizes, log_constants
from mixwood.model import Mixture
from mixwood.samplers import Sampler, as_sampler

if TYPE_CHECKING:
    from mixwood._support.types import Data, IntArray
    from mixwood.likelihoods.base import Likelihood

__all__ = ["MOST_CHAINS", "RunInformation", "RunSpec", "draw_vectors", "draws_after"]

#: Each chain has a seed, and on disk a folder.
MOST_CHAINS = 2**16


class SeedInformation(TypedDict):
    """A seed, as numpy's `SeedSequence` takes it."""

    entropy: Any
    spawn_key: list[int]


class RunInformation(Versions, total=False):
    """How draws were made, in words and numbers: what `Posterior.settings` holds."""

    sampler: str
    draws: int
    warmup: int
    thin: int
    chains: int
    init: str
    max_seconds: float | None
    seed: SeedInformation
    seconds: float
    structure: str
    weights: str
    known: str
    groups: str


def draws_after(iterations: int, warmup: int, thin: int) -> int:
    """Return how many draws are kept after this many iterations."""
    return max(iterations - warmup, 0) // thin


def draw_vectors(
    model: Mixture,
    resolved: Likelihood,
    data: Data | WeightedLeaves | None,
    groups: Groups | None = None,
) -> dict[str, int]:
    """Return what every draw has that is a row of numbers, and how many these are.

    ``base`` is a learned base measure; ``latent`` are missing entries that are drawn, or scales of
    rows, which mean nothing without the data; ``groups`` are what the prior has for each group.
    """
    sizes = {"base": resolved.base_size}
    if data is not None and not isinstance(data, WeightedLeaves):
        sizes["latent"] = resolved.latent_size(data)
    if groups is not None:
        sizes["groups"] = model.prior.values_per_group() * len(groups)
    return {name: size for name, size in sizes.items() if size > 0}


@dataclass(frozen=True, kw_only=True, eq=False)
class RunSpec:
    """Everything that decides about the draws of a run, whoever runs it, where and how fast.

    Parameters
    ----------
    model : Mixture
        As the user gave it.
    resolved : Likelihood
        Its likelihood with every parameter explicit.
    data : array, csr_array or WeightedLeaves
        As the chains see them.
    names : tuple of str, optional
        The names of the columns of `data`.
    known : array of shape (n,), optional
        The known label of each item, from 0 on, -1 where unknown.
    groups : Groups, optional
        The groups of the items.
    sampler : Sampler
        Which moves the chains make.
    init : str or array of shape (n,)
        The partition to start from, as `mixwood.sample` takes it.
    seed : SeedSequence
        That of the run, from which those of the chains follow.
    warmup, draws, thin : int
        Iterations before the first draw, draws kept per chain, iterations per draw.
    chains : int
        How many.
    ways : tuple
        The ways to start that pilots have found to be good: each says whether it is a tree, the
        number of its base measure or points, and how many groups. "ibhc" tries all if there are
        none.

    Examples
    --------
    >>> from mixwood.likelihoods import Poisson
    >>> from mixwood.samplers import Gibbs
    >>> spec = RunSpec(
    ...     model=Mixture(Poisson()), resolved=Poisson(rate=[1.0]), data=np.ones((3, 1)),
    ...     sampler=Gibbs(), init="one", seed=np.random.SeedSequence(1), warmup=10, draws=20,
    ...     thin=2, chains=4,
    ... )
    >>> spec.iterations, spec.draws_after(15), spec.items
    (50, 2, 3)
    """

    model: Mixture
    resolved: Likelihood
    data: Data | WeightedLeaves
    names: tuple[str, ...] | None = None
    known: IntArray | None = None
    groups: Groups | None = None
    sampler: Sampler
    init: Any
    seed: np.random.SeedSequence
    warmup: int
    draws: int
    thin: int
    chains: int
    ways: tuple[tuple[bool, int, int], ...] = ()

    def __post_init__(self) -> None:
        as_sampler(self.sampler)
        if not isinstance(self.seed, np.random.SeedSequence):
            raise TypeError(f"seed must be a SeedSequence, got {shown(self.seed)}")
        whole_number(self.warmup, "warmup", at_least=0)
        whole_number(self.draws, "draws", at_least=1)
        whole_number(self.thin, "thin", at_least=1)
        whole_number(self.chains, "chains", at_least=1, at_most=MOST_CHAINS)
        for way in self.ways:
            tree, *numbers = way
            if not isinstance(tree, bool) or len(numbers) != 2:
                raise TypeError(f"a way to start must be a truth and two numbers, got {shown(way)}")
            for number in numbers:
                whole_number(number, "ways", at_least=0)

    @property
    def explicit(self) -> Mixture:
        """The model with every parameter of its likelihood explicit."""
        return replace(self.model, likelihood=self.resolved)

    @property
    def items(self) -> int:
        """How many items are clustered."""
        return int(self.data.shape[0])

    @cached_property
    def vectors(self) -> dict[str, int]:
        """What a draw has that is a row of numbers, and how many; see `draw_vectors`."""
        return draw_vectors(self.model, self.resolved, self.data, self.groups)

    @property
    def iterations(self) -> int:
        """How many iterations a chain makes in all."""
        return self.warmup + self.draws * self.thin

    def draws_after(self, iterations: int) -> int:
        """Return how many draws are kept after this many iterations."""
        return draws_after(iterations, self.warmup, self.thin)

    def chain_seed(self, number: int) -> np.random.SeedSequence:
        """Return the seed of one chain."""
        return chain_seed(self.seed, number)

    @cached_property
    def collapsed(self) -> Collapsed | None:
        """The leaves that chains move where labels are known; None where they move the items."""
        return None if self.known is None else collapsed(self.resolved, self.data, self.known)

    @property
    def moved(self) -> Data | WeightedLeaves:
        """What the chains move: the items, those of known labels together."""
        return self.data if self.collapsed is None else self.collapsed.leaves

    @property
    def groups_of_moved(self) -> IntArray | MovedGroups | None:
        """The groups of what the chains move."""
        if self.groups is None:
            return None
        if not isinstance(self.moved, WeightedLeaves):
            return self.groups.codes
        one_each = np.arange(self.items)
        leaves: Any = one_each if self.collapsed is None else self.collapsed.leaf_of_row
        return moved_groups(self.groups.members(item_sizes(self.data)), leaves)

    @cached_property
    def log_constant(self) -> float:
        """What the core leaves out of the log joint: the constants of all rows."""
        return float(np.sum(log_constants(self.resolved, self.data)))

    @property
    def information(self) -> RunInformation:
        """What a posterior tells of how it was made, as far as this decides it."""
        told: RunInformation = {} if self.known is None else {"known": in_words(self.known)}
        if self.groups is not None:
            told["groups"] = self.groups.in_words()
        return {
            "sampler": repr(self.sampler),
            "draws": self.draws,
            "warmup": self.warmup,
            "thin": self.thin,
            "chains": self.chains,
            "init": self.init if isinstance(self.init, str) else "labels",
            "seed": {"entropy": self.seed.entropy, "spawn_key": list(self.seed.spawn_key)},
            **told,
        }

    def __sizeof__(self) -> int:
        """Return the bytes of the data, so that joblib's Dask backend sends them only once."""
        X = self.data
        if isinstance(X, (np.ndarray, WeightedLeaves)):
            return int(X.nbytes)
        return int(X.data.nbytes + X.indices.nbytes)
