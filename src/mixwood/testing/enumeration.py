"""The exact posterior over all partitions of a few items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from mixwood._support.checks import whole_number
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.likelihoods import Likelihood
from mixwood.model import Mixture
from mixwood.reference.families import dense, family_of
from mixwood.testing.bases import BaseLaw, base_law
from mixwood.testing.latent_laws import LatentLaw, latent_law
from mixwood.testing.parameters import ParameterLaw, State, parameter_law

__all__ = ["ExactPosterior", "all_partitions", "cluster_sizes", "enumerate_posterior"]

LARGEST = 8


def all_partitions(n: int) -> NDArray[np.int32]:
    """Return every partition of `n` items, one per row, as labels in order of appearance.

    Parameters
    ----------
    n : int
        From 1 to 8 (4,140 partitions).

    Examples
    --------
    >>> all_partitions(3).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    if whole_number(n, "n", at_least=1) > LARGEST:
        raise ValueError(f"n must be at most {LARGEST} (the partitions are listed), got {n}")
    rows = [[0]]
    for _ in range(n - 1):
        rows = [[*row, label] for row in rows for label in range(max(row) + 2)]
    return np.array(rows, dtype=np.int32)


def cluster_sizes(labels: Any) -> tuple[int, ...]:
    """Return the sizes of the clusters, largest first.

    Examples
    --------
    >>> cluster_sizes([0, 1, 0])
    (2, 1)
    """
    counts = np.unique(np.asarray(labels), return_counts=True)[1]
    return tuple(sorted(counts.tolist(), reverse=True))


def subset_log_marginals(likelihood: Likelihood, X: Data) -> FloatArray:
    """Return ``log P(X_c)`` of every subset c of rows; bit i of the index says if i is in c.

    From the plain twin of the family, or for a family without one from the compiled one.
    """
    n = int(X.shape[0])
    values = np.zeros(2**n)
    try:
        family = family_of(likelihood)
    except TypeError:
        bound, constants = likelihood.bind(X), likelihood.row_constants(X)
        for mask in range(1, 2**n):
            rows = np.flatnonzero([mask >> i & 1 for i in range(n)])
            values[mask] = bound.log_marginal(rows) + constants[rows].sum()
        return values
    table = dense(X)
    stats = [family.empty()]
    for mask in range(1, 2**n):
        last = mask.bit_length() - 1
        stats.append(family.observe(stats[mask - 2**last], table[last]))
        values[mask] = family.log_marginal(stats[mask])
    return values


def _codes(labels: NDArray[Any]) -> IntArray:
    """Return a number for each row of labels that tells partitions apart, whatever the names."""
    n = labels.shape[1]
    first = np.argmax(labels[:, :, None] == labels[:, None, :], axis=2)
    return np.asarray(first @ (n ** np.arange(n)), dtype=np.int64)


@dataclass(frozen=True)
class ExactPosterior:
    """The posterior over all partitions of the rows of a small data set.

    Attributes
    ----------
    partitions : array of shape (P, n)
        Labels in order of appearance.
    probabilities : array of shape (P,)
        Their posterior probabilities, u, every random parameter, a learned base measure,
        missing entries and scales of rows integrated out.
    log_evidence : float
        ``log p(X)``, the sum over these partitions.
    model : Mixture
        The model, with every parameter of its likelihood explicit.
    """

    partitions: NDArray[np.int32]
    probabilities: FloatArray
    log_evidence: float
    model: Mixture
    parameters: ParameterLaw = field(repr=False)
    shapes: tuple[tuple[int, ...], ...] = field(repr=False)
    shape_of: IntArray = field(repr=False)
    bases: BaseLaw | None = field(repr=False, default=None)
    latents: LatentLaw | None = field(repr=False, default=None)

    def index_of(self, labels: Any) -> IntArray:
        """Return the row of `partitions` that each row of `labels` is, however it is named."""
        wanted, codes = _codes(np.atleast_2d(labels)), _codes(self.partitions)
        order = np.argsort(codes)
        place = np.searchsorted(codes[order], wanted)
        index = np.asarray(order[np.minimum(place, len(order) - 1)])
        unknown = np.flatnonzero(codes[index] != wanted)
        if len(unknown):
            raise ValueError(
                "labels must be partitions that have a probability here, got "
                f"{np.atleast_2d(labels)[unknown[0]].tolist()}"
            )
        return index

    def restricted(
        self, blocks: Sequence[Sequence[int]], apart: Sequence[int] = ()
    ) -> ExactPosterior:
        """Return the posterior given that the rows of each block are in one cluster.

        Parameters
        ----------
        blocks : sequence of sequences of int
            Rows that stay together.
        apart : sequence of int
            Rows of which no two are together.

        Examples
        --------
        >>> from mixwood.likelihoods import Bernoulli
        >>> exact = enumerate_posterior(Mixture(Bernoulli()), [[0], [1], [1]])
        >>> exact.restricted([[1, 2]]).partitions.tolist()
        [[0, 0, 0], [0, 1, 1]]
        """
        kept = np.full(len(self.partitions), True)
        for block in blocks:
            labels = self.partitions[:, list(block)]
            kept &= (labels == labels[:, :1]).all(axis=1)
        for i, j in combinations(apart, 2):
            kept &= self.partitions[:, i] != self.partitions[:, j]
        mass = float(self.probabilities[kept].sum())
        return replace(
            self,
            partitions=self.partitions[kept],
            probabilities=self.probabilities[kept] / mass,
            log_evidence=self.log_evidence + float(np.log(mass)),
            shape_of=self.shape_of[kept],
        )

    def draw(self, size: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw states from the joint posterior of the partition and the parameters.

        Returns
        -------
        dict
            ``labels`` (size, n) and ``log_u``, ``log_alpha``, ``sigma``, ``theta`` (size,);
            sigma is 0 for the Dirichlet process, theta is 0 except for Pitman-Yor; a finite
            mixture has its rate for alpha and -gamma for sigma. Where it is learned, the base
            measure: ``base`` (size, base_size). Where they are drawn, missing entries or
            scales of rows: ``latent`` (size, entries).
        """
        index = rng.choice(len(self.probabilities), size=size, p=self.probabilities)
        state: dict[str, NDArray[Any]] = {"labels": self.partitions[index]}
        for name in ("log_u", "log_alpha", "sigma", "theta"):
            state[name] = np.empty(size)
        shape_index = self.shape_of[index]
        for k in np.unique(shape_index):
            chosen = np.flatnonzero(shape_index == k)
            drawn = self.parameters.draw(self.shapes[k], len(chosen), rng)
            for name, values in drawn.items():
                state[name][chosen] = values
        if self.bases is not None:
            state["base"] = np.tile(self.bases.start, (size, 1))
            for k in np.unique(index):
                chosen = np.flatnonzero(index == k)
                drawn_bases = self.bases.draw(self.partitions[k], len(chosen), rng)
                state["base"][chosen] = drawn_bases
        if self.latents is not None:
            state["latent"] = np.empty((size, self.latents.size))
            for k in np.unique(index):
                chosen = np.flatnonzero(index == k)
                drawn_latents = self.latents.draw(self.partitions[k], len(chosen), rng)
                state["latent"][chosen] = drawn_latents
        return state

    def parameter_cdf(self, state: State) -> dict[str, FloatArray]:
        """Return the probability integral transforms of the random parameters given Pi.

        Each is uniform if the states come from the posterior; `ParameterLaw.transforms`
        says which is marginal over what. A fixed parameter has none. Those of a learned base
        measure are marginal over each other, and so are those of missing entries.
        """
        index = self.index_of(state["labels"])
        shape_index = self.shape_of[index]
        result: dict[str, FloatArray] = {}
        for k in np.unique(shape_index):
            chosen = np.flatnonzero(shape_index == k)
            part = {name: np.asarray(values)[chosen] for name, values in state.items()}
            for name, values in self.parameters.transforms(self.shapes[k], part).items():
                result.setdefault(name, np.empty(len(shape_index)))[chosen] = values
        laws = {"base": self.bases, "latent": self.latents}
        for what, law in laws.items():
            if law is None:
                continue
            for k in np.unique(index):
                chosen = np.flatnonzero(index == k)
                own = law.transforms(self.partitions[k], np.asarray(state[what])[chosen])
                for name, values in own.items():
                    result.setdefault(name, np.empty(len(index)))[chosen] = values
        return result


def enumerate_posterior(model: Mixture, X: Any) -> ExactPosterior:
    """Compute the posterior probability of every partition of the rows of `X`.

    Parameters
    ----------
    model : Mixture
        Open parameters of its likelihood are taken from `X`, as `mixwood.sample` does.
    X : array
        At most 8 rows. A learned base measure is integrated out on a grid: `mixwood.Gaussian`
        must have one column then. So are missing entries that are drawn, two at most, the true
        positions of rows with errors, and the scales of `mixwood.StudentT`, of four rows at most,
        alone or in each part of a `mixwood.Product`; the base measure is fixed then.

    Returns
    -------
    ExactPosterior

    Examples
    --------
    >>> from mixwood.likelihoods import Bernoulli
    >>> from mixwood.priors import DirichletProcess
    >>> model = Mixture(Bernoulli(a=1, b=1), DirichletProcess(alpha=1.0))
    >>> exact = enumerate_posterior(model, [[0], [1]])
    >>> exact.probabilities.round(3).tolist()
    [0.4, 0.6]
    """
    resolved, checked = model.likelihood.fitted_to(X)
    model = replace(model, likelihood=resolved)
    partitions = all_partitions(int(checked.shape[0]))
    shapes, shape_of = _shapes(partitions)
    parameters = parameter_law(model.prior, partitions.shape[1])
    log_prior = np.array([parameters.log_probability(sizes) for sizes in shapes])
    bases = base_law(model.likelihood, checked)
    latents = latent_law(model.likelihood, checked)
    if latents is not None:
        log_likelihoods = np.array([latents.log_likelihood(labels) for labels in partitions])
    elif bases is None:
        log_likelihoods = _log_likelihoods(model.likelihood, checked, partitions)
    else:
        log_likelihoods = np.array([bases.log_likelihood(labels) for labels in partitions])
    log_joint = log_prior[shape_of] + log_likelihoods
    log_evidence = float(logsumexp(log_joint))
    probabilities = np.exp(log_joint - log_evidence)
    return ExactPosterior(
        partitions,
        probabilities / probabilities.sum(),
        log_evidence,
        model,
        parameters,
        shapes,
        shape_of,
        bases,
        latents,
    )


def _shapes(partitions: NDArray[np.int32]) -> tuple[tuple[tuple[int, ...], ...], IntArray]:
    """Return the multisets of sizes (22 at n = 8, not 4,140) and which each partition has."""
    sizes: Sequence[tuple[int, ...]] = [cluster_sizes(labels) for labels in partitions]
    # those of one K together: the law of the parameters keeps one table at a time
    shapes = tuple(sorted(set(sizes), key=lambda shape: (len(shape), shape)))
    position = {shape: k for k, shape in enumerate(shapes)}
    return shapes, np.array([position[s] for s in sizes], dtype=np.int64)


def _log_likelihoods(likelihood: Likelihood, X: Data, partitions: NDArray[np.int32]) -> FloatArray:
    """Return ``sum_c log P(X_c)`` of every partition."""
    of_subset = subset_log_marginals(likelihood, X)
    bits = 2 ** np.arange(partitions.shape[1])
    masks = np.stack([(partitions == c) @ bits for c in range(partitions.shape[1])])
    return np.asarray(of_subset[masks].sum(axis=0))
