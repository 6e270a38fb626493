"""The exact law of a prior's parameters given the sizes of the clusters, by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mixwood import priors
from mixwood._support.checks import shown
from mixwood.priors import Prior
from mixwood.testing.parameters.base import ParameterLaw, State
from mixwood.testing.parameters.finite_mixture import FiniteMixtureLaw
from mixwood.testing.parameters.generalized_gamma import GeneralizedGammaLaw
from mixwood.testing.parameters.urns import DirichletLaw, PitmanYorLaw

__all__ = ["ParameterLaw", "State", "parameter_law"]

_LAWS: dict[type[Prior], Callable[[Any, int], ParameterLaw]] = {
    priors.DirichletProcess: DirichletLaw,
    priors.FiniteMixture: FiniteMixtureLaw,
    priors.NGGP: GeneralizedGammaLaw,
    priors.NormalizedInverseGaussian: GeneralizedGammaLaw,
    priors.PitmanYor: PitmanYorLaw,
}


def parameter_law(prior: Prior, n: int) -> ParameterLaw:
    """Return the law of a prior's parameters, for partitions of `n` items.

    Examples
    --------
    >>> law = parameter_law(priors.DirichletProcess(alpha=1.0), 2)
    >>> round(law.log_probability([2]), 6)
    -0.693147
    """
    try:
        return _LAWS[type(prior)](prior, n)
    except KeyError:
        raise TypeError(
            f"prior must be one whose parameters mixwood.testing can integrate "
            f"({', '.join(known.__name__ for known in _LAWS)}), got {shown(prior)}"
        ) from None
