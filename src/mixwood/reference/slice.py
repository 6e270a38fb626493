"""The slice sampler in plain numpy: explicit jumps and atoms, forgotten after each sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import e, exp, expm1, lgamma, log, log1p

import numpy as np

from mixwood.reference.gibbs import GibbsChain
from mixwood.reference.priors import log_new_weight
from mixwood.reference.random import Stream

__all__ = ["SliceChain", "jumps_above"]


class SliceChain(GibbsChain):
    """A chain whose sweep is conditional on jumps, slices and the parameters of the clusters.

    Jumps are in units of ``1/tau``: ``x = tau w``.
    """

    def iterate(self, iterations: int = 1) -> None:
        """Sweep over the rows, then move the parameters."""
        for _ in range(iterations):
            self._sweep()
            self._update_parameters()

    def _sweep(self) -> None:
        clusters = list(dict.fromkeys(self.assignment.tolist()))  # in order of appearance
        jumps = [self.cluster_jump(self.sizes[c]) for c in clusters]
        jump_of = dict(zip(clusters, jumps, strict=True))
        slices = np.array([self.stream.uniform() * jump_of[c] for c in self.assignment.tolist()])
        active = np.flatnonzero(slices >= self.floor())
        if len(active) == 0:
            return
        least = slices[active].min()
        jumps += self.free_jumps(least)
        order = sorted(range(len(jumps)), key=lambda j: -jumps[j])
        atoms = {}
        for j in order:
            if jumps[j] > least:
                stat = self.stats[clusters[j]] if j < len(clusters) else self.family.empty()
                atoms[j] = self.family.draw_atom(stat, self.stream)
        choices = {}
        for i in active:
            allowed = [j for j in order if jumps[j] > slices[i]]
            weights = np.array([atoms[j](self.X[i]) for j in allowed])
            choices[int(i)] = allowed[self.stream.pick(weights)]
        rows = sorted(choices, key=lambda i: -slices[i])
        self._move_rows([(i, choices[i]) for i in rows], dict(enumerate(clusters)))

    def _move_rows(self, moves: Sequence[tuple[int, int]], cluster_of: dict[int, int]) -> None:
        """Move rows to atoms, one after the other; `cluster_of` says where those have rows."""
        for i, atom in moves:
            old = int(self.assignment[i])
            if cluster_of.get(atom) == old:
                continue
            if atom not in cluster_of:
                cluster_of[atom] = len(self.sizes)
                self.sizes.append(0)
                self.stats.append(self.family.empty())
            self.assignment[i] = cluster_of[atom]
            self.sizes[cluster_of[atom]] += 1
            self.sizes[old] -= 1
            if self.sizes[old] == 0:
                last = len(self.sizes) - 1
                self._remove(old)
                kept = {j: c for j, c in cluster_of.items() if c != old}
                cluster_of = {j: old if c == last else c for j, c in kept.items()}
        clusters = range(len(self.sizes))
        self.stats = [self.family.of(self.X[self.assignment == c]) for c in clusters]

    def cluster_jump(self, size: int) -> float:
        """Draw the jump of a cluster, ``Gamma(|c| - sigma, 1)``."""
        return exp(self.stream.log_gamma_draw(size - self.sigma))

    def floor(self) -> float:
        """Return the level of the slices below which rows stay where they are.

        Few jumps are expected above it. It must depend on nothing but ``n``, ``u`` and the
        prior's parameters.
        """
        rate = self.jump_rate()
        few = 64 + 4 * min(rate, len(self.X))
        if rate > e * few:
            return log(rate / few)
        return max(below_one(few, rate, self.sigma), 1e-300)

    def free_jumps(self, least: float) -> list[float]:
        """Draw all jumps above `least` that have no rows."""
        return list(jumps_above(least, self.jump_rate(), self.sigma, self.stream))

    def jump_rate(self) -> float:
        """Return ``C tau^sigma``, where ``C w^(-1-sigma) e^-w`` is the Levy intensity."""
        return exp(log_new_weight(self.model.prior, self.parameters) - lgamma(1 - self.sigma))


def jumps_above(least: float, rate: float, sigma: float, stream: Stream) -> Iterator[float]:
    """Draw the points above `least` of a Poisson process, intensity ``rate x^(-1-sigma) e^-x``."""
    if least < 1:
        end = rate * (expm1(-sigma * log(least)) / sigma if sigma > 0 else -log(least))
        for time in arrivals(end, stream):
            x = below_one(time, rate, sigma)
            if stream.uniform() < exp(-x):
                yield x
    start = max(least, 1.0)
    end = rate * exp(-start) * start ** (-1 - sigma)
    for time in arrivals(end, stream):
        x = start + log(end / time)
        if stream.uniform() < (start / x) ** (1 + sigma):
            yield x


def below_one(mass: float, rate: float, sigma: float) -> float:
    """Return the x for which ``rate x^(-1-sigma)`` has this mass between x and 1."""
    return exp(-log1p(sigma * mass / rate) / sigma) if sigma > 0 else exp(-mass / rate)


def arrivals(end: float, stream: Stream) -> Iterator[float]:
    """Draw the arrivals before `end` of a Poisson process of rate 1."""
    time = stream.exponential()
    while time < end:
        yield time
        time += stream.exponential()
