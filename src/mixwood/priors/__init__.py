"""The priors on partitions: normalized random measures and the Pitman-Yor process.

Each is a small frozen dataclass in a file of its own, which itself answers everything that the
rest of mixwood asks (`Prior`). A number fixes a parameter; a distribution of `mixwood.hyper` puts a
prior on it, and the chain then samples it.
"""

from __future__ import annotations

from typing import Any

from mixwood._support.checks import shown
from mixwood.priors.base import Prior
from mixwood.priors.dirichlet import DirichletProcess
from mixwood.priors.finite_mixture import FiniteMixture
from mixwood.priors.nggp import NGGP, NormalizedInverseGaussian
from mixwood.priors.pitman_yor import PitmanYor
from mixwood.priors.values import PredictiveWeights, PriorDraws, PriorValues

__all__ = [
    "NGGP",
    "PRIORS",
    "DirichletProcess",
    "FiniteMixture",
    "NormalizedInverseGaussian",
    "PitmanYor",
    "PredictiveWeights",
    "Prior",
    "PriorDraws",
    "PriorValues",
    "as_prior",
]

#: Every prior, the default first: what files may name, and what the command line knows.
PRIORS: tuple[type[Prior], ...] = (
    NGGP,
    DirichletProcess,
    NormalizedInverseGaussian,
    PitmanYor,
    FiniteMixture,
)


def as_prior(value: Any) -> Prior:
    """Return `value` if it is a prior, or raise a TypeError that says what is."""
    if isinstance(value, Prior):
        return value
    *names, last = sorted(prior.__name__ for prior in PRIORS)
    raise TypeError(
        f"prior must be {', '.join(names)} or {last} "
        f"(an instance, for example mw.NGGP()), got {shown(value)}"
    )
