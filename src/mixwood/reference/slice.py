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
        if self.sigma < 0:
            return finite_floor(*self.finite_measure(), n=len(self.X))
        rate = self.jump_rate()
        few = 64 + 4 * min(rate, len(self.X))
        if rate > e * few:
            return log(rate / few)
        return max(below_one(few, rate, self.sigma), 1e-300)

    def free_jumps(self, least: float) -> list[float]:
        """Draw all jumps above `least` that have no rows."""
        if self.sigma < 0:
            return list(finite_jumps_above(least, *self.finite_measure(), stream=self.stream))
        return list(jumps_above(least, self.jump_rate(), self.sigma, self.stream))

    def finite_measure(self) -> tuple[float, float]:
        """Return how many jumps without rows a finite mixture has on average, and its gamma."""
        gamma = -self.sigma
        return exp(log_new_weight(self.model.prior, self.parameters)) / gamma, gamma

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


def finite_floor(total: float, gamma: float, n: int) -> float:
    """Return a level above which few of Poisson(`total`) jumps are expected, each a Gamma(gamma).

    0 if there are few anyway, else where Chernoff's bound is down to a few: ``total e^(gamma-x)
    (x/gamma)^gamma``, above gamma.
    """
    few = 64 + 4 * min(total, n)
    if total <= few:
        return 0.0
    excess = log(total / few)
    low, high = gamma, 2 * gamma + 4 * excess
    for _ in range(50):
        middle = 0.5 * (low + high)
        if middle - gamma - gamma * log(middle / gamma) > excess:
            high = middle
        else:
            low = middle
    return high


def finite_jumps_above(least: float, total: float, gamma: float, stream: Stream) -> Iterator[float]:
    """Draw those of Poisson(`total`) jumps, each a Gamma(gamma), that are above `least`.

    All of them; or, where fewer have to be drawn, exponentials from `least` on that are as steep as
    the log density is there, thinned.
    """
    rise = max(gamma - 1, 0.0) / least
    there = (gamma - 1) * log(least) - least - lgamma(gamma)
    end = total * exp(there) / (1 - rise) if rise < 1 else 0.0
    if least <= gamma or not end < total:
        for _ in arrivals(total, stream):
            x = exp(stream.log_gamma_draw(gamma))
            if x > least:
                yield x
        return
    for time in arrivals(end, stream):
        x = least + log(end / time) / (1 - rise)
        if stream.uniform() < exp((gamma - 1) * log(x / least) - rise * (x - least)):
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
