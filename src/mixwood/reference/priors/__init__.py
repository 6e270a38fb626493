"""The priors of model.md: ``psi``, ``log_kappa`` and the updates given the partition.

One file per prior, none of which asks the classes of `mixwood.priors` for more than their
parameters. What chains call are the functions here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mixwood import priors
from mixwood._support.checks import shown
from mixwood.priors import Prior
from mixwood.reference.priors.base import Parameters, Twin, log_shifted, softplus
from mixwood.reference.priors.dirichlet import DirichletProcess
from mixwood.reference.priors.finite_mixture import FiniteMixture
from mixwood.reference.priors.generalized_gamma import GeneralizedGamma
from mixwood.reference.priors.pitman_yor import PitmanYor
from mixwood.reference.random import Stream

__all__ = [
    "Parameters",
    "Twin",
    "log_eppf",
    "log_kappa",
    "log_new_weight",
    "log_nonempty",
    "log_shifted",
    "psi",
    "softplus",
    "start_parameters",
    "twin_of",
    "update_parameters",
]

_TWINS: dict[type[Prior], Callable[[Any], Twin]] = {
    priors.DirichletProcess: DirichletProcess,
    priors.FiniteMixture: FiniteMixture,
    priors.NGGP: GeneralizedGamma,
    priors.NormalizedInverseGaussian: GeneralizedGamma,
    priors.PitmanYor: PitmanYor,
}


def twin_of(prior: Prior) -> Twin:
    """Return the prior in plain Python."""
    try:
        return _TWINS[type(prior)](prior)
    except KeyError:
        raise TypeError(
            f"prior must be one that mixwood.reference knows "
            f"({', '.join(known.__name__ for known in _TWINS)}), got {shown(prior)}"
        ) from None


def psi(prior: Prior, log_u: float, log_alpha: float, sigma: float) -> float:
    """Return the Laplace exponent of the random measure.

    ``alpha log tau`` for the Dirichlet process, ``alpha (tau^sigma - 1)`` for the others; but
    ``rate (1 - tau^-gamma)`` for a finite mixture, whose `log_alpha` is the log of the rate and
    whose `sigma` is ``-gamma``.

    Examples
    --------
    >>> from math import log
    >>> from mixwood.priors import NGGP
    >>> round(psi(NGGP(alpha=2.0, sigma=0.5), log(3.0), log(2.0), 0.5), 12)
    2.0
    """
    return twin_of(prior).psi(log_u, log_alpha, sigma)


def log_kappa(prior: Prior, k: int, log_u: float, log_alpha: float, sigma: float) -> float:
    """Return the log weight of a cluster of `k` items.

    ``alpha Gamma(k) tau^-k`` for the Dirichlet process and
    ``alpha sigma Gamma(k-sigma)/Gamma(1-sigma) tau^(sigma-k)`` for the others; but
    ``rate Gamma(k+gamma)/Gamma(gamma) tau^-(k+gamma)`` for a finite mixture, whose `log_alpha` is
    the log of the rate and whose `sigma` is ``-gamma``.

    Examples
    --------
    >>> round(log_kappa(priors.DirichletProcess(alpha=1.0), 3, 0.0, 0.0, 0.0), 6)
    -1.386294
    """
    return twin_of(prior).log_kappa(k, log_u, log_alpha, sigma)


def log_new_weight(prior: Prior, parameters: Parameters) -> float:
    """Return ``log(tau kappa(1, u))``: a new cluster against ``|c| - sigma`` for an old one."""
    return twin_of(prior).log_new_weight(parameters)


def log_nonempty(prior: Prior, log_alpha: float) -> float:
    """Return the log probability that the measure has a jump, by which the joint is divided.

    ``log(1 - e^-rate)`` for a finite mixture, 0 for the others, which have infinitely many.

    Examples
    --------
    >>> round(log_nonempty(priors.FiniteMixture(rate=1.0), 0.0), 6)
    -0.458675
    """
    return twin_of(prior).log_nonempty(log_alpha)


def log_eppf(prior: Prior, sizes: Sequence[int]) -> float:
    """Return the log probability of a partition with these cluster sizes.

    Closed forms, for fixed parameters: ``alpha^K Gamma(alpha)/Gamma(alpha+n) prod Gamma(|c|)``
    for the Dirichlet process, and ``Gamma(theta)/Gamma(theta+n) sigma^K
    Gamma(theta/sigma+K)/Gamma(theta/sigma) prod Gamma(|c|-sigma)/Gamma(1-sigma)`` for
    Pitman-Yor.

    Examples
    --------
    >>> round(log_eppf(priors.DirichletProcess(alpha=1.0), [1, 1]), 6)
    -0.693147
    """
    value = twin_of(prior).log_eppf(sizes)
    if value is None:
        raise ValueError(
            "prior must be DirichletProcess or PitmanYor with every parameter a number "
            f"(no other has a closed form), got {prior}"
        )
    return value


def update_parameters(
    prior: Prior, parameters: Parameters, sizes: Sequence[int], stream: Stream
) -> None:
    """Move every parameter once, given the sizes of the clusters."""
    twin_of(prior).update(parameters, sizes, stream)


def start_parameters(prior: Prior, sizes: Sequence[int], stream: Stream) -> Parameters:
    """Return where a chain starts: prior means, then one update of ``u``."""
    twin = twin_of(prior)
    parameters = twin.start()
    parameters.log_u = twin.start_log_u(parameters, sizes)
    twin.update_log_u(parameters, sizes, stream)
    return parameters
