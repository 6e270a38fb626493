"""Gamma and Dirichlet draws that do not underflow where shapes are tiny."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["dirichlet_draws", "log_gamma_draws"]


def log_gamma_draws(shape: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw logs of Gamma(shape, 1): ``log G(a) = log G(a+1) + log(U)/a`` never underflows."""
    return np.asarray(
        np.log(rng.standard_gamma(shape + 1)) + np.log1p(-rng.random(np.shape(shape))) / shape
    )


def dirichlet_draws(
    pseudo_counts: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw probabilities along the last axis, one Dirichlet vector for each of the others.

    Examples
    --------
    >>> draws = dirichlet_draws(np.full((2, 3), 1e-4), np.random.default_rng(0))
    >>> draws.sum(axis=1).round(12).tolist()
    [1.0, 1.0]
    """
    logs = log_gamma_draws(pseudo_counts, rng)
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
