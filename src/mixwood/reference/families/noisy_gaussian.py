"""Gaussian rows that are seen with known errors, plainly."""

from __future__ import annotations

from math import log, pi
from typing import NamedTuple

import numpy as np

from mixwood import likelihoods
from mixwood._support.types import FloatArray, IntArray
from mixwood.likelihoods.row_errors import lower_factors
from mixwood.reference.families.gaussian import Gaussian, Moments
from mixwood.reference.random import Stream

__all__ = ["NoisyGaussian", "gaussian_family"]


class Atom(NamedTuple):
    """A cluster's mean, and its covariance with the Cholesky factor."""

    mean: FloatArray
    covariance: FloatArray
    factor: FloatArray


class NoisyGaussian(Gaussian):
    """``x_i ~ N(y_i, E_i)``, and ``y_i`` a row as `Gaussian` has them.

    A row has the position ``y`` in place of ``x``, and the factor of its error after it.
    """

    given_atoms = True

    def __init__(self, likelihood: likelihoods.Gaussian) -> None:
        super().__init__(likelihood)
        self.width, own = len(likelihood.mean), likelihood.own_covariances
        self.factors = lower_factors(own(likelihood.errors, len(likelihood.errors)))
        self.extra = self.factors[0].size

    def own(self, rows: FloatArray) -> FloatArray:
        """Return the entries of rows that take part."""
        return self.kept_entries(rows[..., : self.width])

    def with_latent(self, X: FloatArray, rows: IntArray) -> FloatArray:
        return np.hstack([X, self.factors[rows].reshape(len(X), -1)])

    def error_factor(self, row: FloatArray) -> FloatArray:
        """Return F with F F' the covariance of a row's error."""
        return row[self.width :].reshape(len(self.mean), -1)

    def lacks(self, row: FloatArray) -> bool:  # noqa: ARG002
        return True

    def filled(self, row: FloatArray) -> FloatArray:
        return row

    def latent_places(self, given: FloatArray) -> tuple[IntArray, IntArray]:
        rows, own = np.nonzero(np.ones(self.own(given).shape))
        return rows, self.columns[own]

    def latent_units(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        units = np.sqrt(np.diag(self.spread))
        return np.tile(self.mean, len(given)), np.tile(units, len(given))

    def draw_given(self, stat: Moments, stream: Stream) -> Atom:
        """Draw a mean and a covariance."""
        M, mean = self.draw_normal(stat.n, stat, stream)
        factor = np.linalg.inv(M)
        return Atom(mean, np.asarray(factor @ factor.T), np.asarray(factor))

    def log_known_given(self, atom: Atom, stat: Moments, row: FloatArray) -> float:  # noqa: ARG002
        """Return ``log N(x; mean, Sigma + E)``."""
        F = self.error_factor(row)
        total, away = atom.covariance + F @ F.T, self.own(row) - atom.mean
        squared = float(away @ np.linalg.solve(total, away))
        log_determinant = float(np.linalg.slogdet(total)[1])
        return -(len(away) * log(2 * pi) + log_determinant + squared) / 2

    def completed_given(
        self,
        atom: Atom,
        stat: Moments,  # noqa: ARG002
        row: FloatArray,
        stream: Stream,
    ) -> FloatArray:
        """Draw ``y = y' + Sigma (Sigma + E)^-1 (x - y' - e')``, ``y'`` a row, ``e'`` an error."""
        F, d = self.error_factor(row), len(self.mean)
        drawn = atom.mean + atom.factor @ np.array([stream.normal() for _ in range(d)])
        rest = self.own(row) - drawn - F @ np.array([stream.normal() for _ in range(d)])
        gain = atom.covariance @ np.linalg.solve(atom.covariance + F @ F.T, rest)
        return self._with_entries(row, np.arange(d), drawn + gain)


def gaussian_family(likelihood: likelihoods.Gaussian) -> Gaussian:
    """Return the plain family of Gaussian rows, with errors or without."""
    return Gaussian(likelihood) if likelihood.errors is None else NoisyGaussian(likelihood)
