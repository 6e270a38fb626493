"""The marginal Gibbs sampler in plain numpy, to be read alongside model.md."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, lgamma, log
from typing import Any

import numpy as np

from mixwood._support.labels import in_order_of_appearance
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.model import Mixture
from mixwood.reference.families import Family, dense, family_of
from mixwood.reference.priors import (
    Parameters,
    log_kappa,
    log_new_weight,
    log_nonempty,
    psi,
    start_parameters,
    update_parameters,
)
from mixwood.reference.random import Stream

__all__ = ["GibbsChain"]

#: With many rows, a base measure of more than a few numbers moves in a share of the iterations; and
#: so does a single one for many words.
FEW_NUMBERS, MANY_ROWS, MANY_WORDS, SHARE_OF_UPDATES = 40, 5000, 1000, 0.25


class GibbsChain:
    """A chain of partitions and parameters.

    Parameters
    ----------
    model : Mixture
        With every parameter of its likelihood explicit.
    X : array or csr_array
        Checked data.
    labels : array of n integers
        Where the chain starts.
    rng : numpy.random.Generator
        Its uniforms are used in the same order as by the compiled core.
    subset : int, optional
        How many rows a sweep visits; all by default.
    """

    def __init__(
        self,
        model: Mixture,
        X: Data,
        labels: Any,
        rng: np.random.Generator,
        subset: int | None = None,
    ) -> None:
        self.model = model
        self.family = self._make_family()
        self.given = self.family.with_latent(dense(X), np.arange(X.shape[0]))
        self.latent_rows = [i for i, row in enumerate(self.given) if self.family.lacks(row)]
        self.X = self.given.copy()  # with what is missing filled in
        for i in self.latent_rows:
            self.X[i] = self.family.filled(self.given[i])
        self.stream = Stream(rng)
        self.atoms: list[Any] = []  # while latent numbers are drawn given some
        self.subset = subset
        self.order = np.arange(len(self.X))
        self._set_labels(labels)
        self.parameters = self._start_parameters()

    def _make_family(self) -> Family[Any]:
        return family_of(self.model.likelihood)

    def _start_parameters(self) -> Parameters:
        return start_parameters(self.model.prior, self.sizes, self.stream)

    def _set_labels(self, labels: Any) -> None:
        self.assignment = in_order_of_appearance(labels)
        clusters = range(int(self.assignment.max()) + 1)
        self.sizes = [int(np.sum(self.assignment == c)) for c in clusters]
        self.stats = [self.family.of(self.X[self.assignment == c]) for c in clusters]

    def set_state(
        self, labels: Any, log_u: float, log_alpha: float, sigma: float, theta: float
    ) -> None:
        """Put the chain into a given state."""
        self._set_labels(labels)
        self.parameters.log_u, self.parameters.log_alpha = float(log_u), float(log_alpha)
        self.parameters.sigma, self.parameters.theta = float(sigma), float(theta)

    def set_base(self, base: FloatArray) -> None:
        """Put the learned parameters of the base measure where they should be."""
        self.family.set_base(base)

    def set_latent(self, latent: FloatArray) -> None:
        """Take on latent numbers, given as the core has them; to be followed by `set_state`."""
        zero, unit = self.family.latent_units(self.given)
        self.X[self.family.latent_places(self.given)] = zero + unit * latent

    @property
    def latent(self) -> FloatArray:
        """What the latent numbers of rows are now, as the core has them."""
        zero, unit = self.family.latent_units(self.given)
        return np.asarray((self.X[self.family.latent_places(self.given)] - zero) / unit)

    @property
    def base(self) -> FloatArray:
        """The learned parameters of the base measure, a flat vector."""
        return self.family.base

    @property
    def labels(self) -> IntArray:
        """The clusters of the rows, numbered in order of appearance."""
        return in_order_of_appearance(self.assignment)

    @property
    def log_u(self) -> float:
        """The log of the auxiliary variable."""
        return self.parameters.log_u

    @property
    def log_alpha(self) -> float:
        """The log of the total mass, or of the rate of a finite mixture."""
        return self.parameters.log_alpha

    @property
    def sigma(self) -> float:
        """The discount; 0 for the Dirichlet process, ``-gamma`` for a finite mixture."""
        return self.parameters.sigma

    @property
    def theta(self) -> float:
        """The strength of Pitman-Yor; 0 for the others."""
        return self.parameters.theta

    def iterate(self, iterations: int = 1) -> None:
        """Sweep over the rows, draw missing entries, then move the parameters."""
        for _ in range(iterations):
            for i in self._rows_to_visit():
                self._visit(int(i))
            self._update_parameters()

    def _update_parameters(self) -> None:
        """Draw missing entries, move ``u`` and the prior's parameters, then the base measure."""
        if self.family.given_atoms:
            self.atoms = [self.family.draw_given(stat, self.stream) for stat in self.stats]
        for i in self.latent_rows:
            self.redraw(i)
        if self.family.redraws_at_once:
            self.redraw_all()
        self._update_prior()
        numbers, (rows, columns) = len(self.family.base), self.X.shape
        takes_long = (
            columns >= MANY_WORDS if numbers == 1 else numbers > FEW_NUMBERS and rows >= MANY_ROWS
        )
        if not takes_long or self.stream.uniform() < SHARE_OF_UPDATES:
            self.family.update_base(self.stats, self.stream)

    def _update_prior(self) -> None:
        """Move ``u`` and the prior's parameters."""
        update_parameters(self.model.prior, self.parameters, self.sizes, self.stream)

    def _rows_to_visit(self) -> IntArray:
        if not self.subset:
            return np.arange(len(self.X))
        self.stream.shuffle_front(self.order, self.subset)
        return self.order[: self.subset].copy()

    def log_weights(self, i: int) -> FloatArray:
        """Return the log weights of row `i`, already taken out: the clusters, then a new one.

        ``(|c| - sigma) P(x_i | X_c)`` and ``tau kappa(1, u) P(x_i)``; the common factor
        ``1/tau`` is left out. A cluster that lost its only row cannot be chosen.
        """
        row, family = self.X[i], self.family
        weights = np.full(len(self.stats) + 1, -inf)
        for c, (size, stat) in enumerate(zip(self.sizes, self.stats, strict=True)):
            if size > 0:
                predictive = family.log_marginal(family.observe(stat, row))
                predictive -= family.log_marginal(stat)
                weights[c] = self.log_old(size) + predictive
        alone = family.log_marginal(family.observe(family.empty(), row))
        weights[-1] = self.log_new() + alone
        return weights

    def log_old(self, size: int) -> float:
        """Return ``log(|c| - sigma)``, what the prior says of a cluster of `size` rows."""
        return log(size - self.sigma)

    def log_new(self) -> float:
        """Return ``log(tau kappa(1, u))``, what the prior says of a new cluster."""
        return log_new_weight(self.model.prior, self.parameters)

    def log_known_weights(self, i: int) -> FloatArray:
        """Return the same from what is known of row `i`, whatever its missing entries are."""
        family = self.family
        row = family.known_part(self.given[i], self.X[i])
        weights = np.full(len(self.stats) + 1, -inf)
        if family.given_atoms:
            return self._log_weights_given_atoms(row, weights)
        for c, (size, stat) in enumerate(zip(self.sizes, self.stats, strict=True)):
            if size > 0:
                weights[c] = self.log_old(size) + family.log_known(stat, row)
        weights[-1] = self.log_new() + family.log_known(family.empty(), row)
        return weights

    def _log_weights_given_atoms(self, row: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weights of the clusters that there are; a row that was alone stays so."""
        if 0 in self.sizes:
            weights[-1] = 0.0
            return weights
        for c, size in enumerate(self.sizes):
            known = self.family.log_known_given(self.atoms[c], self.stats[c], row)
            weights[c] = self.log_old(size) + known
        return weights

    def redraw(self, i: int) -> None:
        """Draw the cluster of row `i` by what is known of it, then its missing entries."""

        def complete(c: int) -> None:
            family = self.family
            known = family.known_part(self.given[i], self.X[i])
            if family.given_atoms:
                atom = self.atoms[c]
                self.X[i] = family.completed_given(atom, self.stats[c], known, self.stream)
            else:
                self.X[i] = family.completed(self.stats[c], known, self.stream)

        self._reassign(i, self.log_known_weights, complete)

    def redraw_all(self) -> None:
        """Draw all latent numbers at once, given atoms of the clusters."""
        family = self.family
        self.X = family.redrawn(self.X, self.assignment, self.stats, self.stream)
        clusters = range(len(self.sizes))
        self.stats = [family.of(self.X[self.assignment == c]) for c in clusters]

    def _visit(self, i: int) -> None:
        """Take row `i` out of its cluster and put it where the weights say."""
        self._reassign(i, self.log_weights)

    def _reassign(
        self,
        i: int,
        log_weights: Callable[[int], FloatArray],
        complete: Callable[[int], None] | None = None,
    ) -> None:
        """Do so with these weights.

        `complete` may change the row, given the cluster that it joins.
        """
        family, old = self.family, int(self.assignment[i])
        self.sizes[old] -= 1
        self.stats[old] = family.forget(self.stats[old], self.X[i])
        new = self.stream.pick(log_weights(i))
        if new == len(self.sizes):
            if self.sizes[old] == 0:
                new = old  # it was alone and stays alone: it keeps its place in the list
            else:
                self.sizes.append(0)
                self.stats.append(family.empty())
        if complete is not None:
            complete(new)
        self.sizes[new] += 1
        self.stats[new] = family.observe(self.stats[new], self.X[i])
        self.assignment[i] = new
        if self.sizes[old] == 0:
            self._remove(old)

    def _remove(self, c: int) -> None:
        """Let the last cluster of the list take the place of the empty cluster `c`."""
        last = len(self.sizes) - 1
        self.sizes[c], self.stats[c] = self.sizes[last], self.stats[last]
        self.assignment[self.assignment == last] = c
        self.sizes.pop()
        self.stats.pop()

    def log_phi(self, size: int, stat: Any) -> float:
        """Return the log of ``phi(h_c) = kappa(|c|, u) P(X_c)`` of a cluster."""
        kappa = log_kappa(self.model.prior, size, self.log_u, self.log_alpha, self.sigma)
        return kappa + self.family.log_marginal(stat)

    def log_joint(self) -> float:
        """Return the log of the joint, every constant included.

        ``u^(n-1) e^-psi(u) / Gamma(n) prod_c kappa(|c|, u) P(X_c)``, given that the measure has a
        jump.
        """
        n, values = len(self.X), (self.log_u, self.log_alpha, self.sigma)
        total = (n - 1) * self.log_u - psi(self.model.prior, *values) - lgamma(n)
        total -= log_nonempty(self.model.prior, self.log_alpha)
        return total + sum(map(self.log_phi, self.sizes, self.stats))
