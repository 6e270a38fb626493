"""Functions of a learned base measure, and of it and the data together, that tests compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixwood._support.types import FloatArray
from mixwood.likelihoods.learned import C0
from mixwood.reference.base import (
    DiagonalGaussianBase,
    GaussianBase,
    SphericalGaussianBase,
    StudentTBase,
)
from mixwood.reference.families import Family

__all__ = ["RELATION", "base_functions"]

#: a function of which the mean is compared: it says how two things vary together
RELATION = "r x centres"


def base_functions(family: Family[Any], stats: Sequence[Any]) -> dict[str, float]:
    """Return functions of a family's base measure and of clusters; none where it is fixed.

    For the Gaussians one is a product of the logs of r and of the squared distances of the
    clusters' centres from the prior mean. An update that forgets that r moves with the width
    leaves the law of the base measure as it is, but not the mean of this product.
    """
    found: dict[str, float] = {}
    parts = family.learned_parts(stats)
    for p, (part, own) in enumerate(parts):
        prefix = f"part {p} " if len(parts) > 1 else ""
        found |= {f"{prefix}{name}": value for name, value in _functions(part, own).items()}
    return found


def _functions(family: Family[Any], stats: Sequence[Any]) -> dict[str, float]:
    learned, base = family.learned, family.base
    values = {f"base {k}": float(value) for k, value in enumerate(base[:3])}
    match learned:
        case StudentTBase() if learned.df_law is not None:
            of_gaussian = _of_gaussian(learned, stats, base)
            return values | of_gaussian | {"log_df": float(base[-1])}
        case GaussianBase():
            return values | _of_gaussian(learned, stats, base)
        case DiagonalGaussianBase():
            away, r = learned.columns(stats).mean ** 2, learned.r(base)
            return values | {
                "average log_omega": float(base[:-2].mean()),
                "log_nu": float(base[-2]),
                "log_r": float(base[-1]),
                RELATION: _relation(learned.tau, float(r[0]), away[:, 0]),
            }
        case SphericalGaussianBase():
            balls = learned.prepared(stats)
            return values | {
                RELATION: _relation(learned.tau, learned.r(base), balls.away / learned.d)
            }
    return values


def _relation(tau: float, r: float, squares: FloatArray) -> float:
    """Return the product of the logs, each about where it mostly is."""
    mean_square = max(float(squares.mean()), 1e-300)
    return float(np.log(r * tau / C0) * np.log(mean_square / tau))


def _of_gaussian(learned: GaussianBase, stats: Sequence[Any], base: FloatArray) -> dict[str, float]:
    scale, clusters = learned.unpacked(base), learned.clusters(stats)
    squares = np.einsum("ki,ij,kj->k", clusters.mean, learned.precision, clusters.mean)
    return {
        RELATION: _relation(learned.tau, learned.r(scale), squares / learned.d),
        "log_nu": scale.log_nu,
        "log_r": scale.log_r,
        "log_det": float(np.linalg.slogdet(scale.omega)[1]),
        "log_trace": float(np.log((learned.precision * scale.omega).sum())),
    }
