"""A mixture model: a likelihood for the clusters and a prior on the partition."""

from __future__ import annotations

from dataclasses import dataclass, field

from mixwood.likelihoods import Gaussian, Likelihood
from mixwood.likelihoods.base import as_likelihood
from mixwood.priors import NGGP, Prior, as_prior

__all__ = ["Mixture"]


@dataclass(frozen=True)
class Mixture:
    """A normalized random measure mixture.

    Parameters
    ----------
    likelihood : Likelihood
        The distribution of each cluster, `Gaussian()` by default.
    prior : Prior
        The law of the partition, `NGGP()` by default.

    Notes
    -----
    With one positive auxiliary variable ``u`` the joint factorizes over clusters::

        p(X, Pi, u) = u^(n-1) exp(-psi(u)) / Gamma(n) * prod_c kappa(|c|, u) P(X_c)

    Examples
    --------
    >>> from mixwood import DirichletProcess
    >>> Mixture(prior=DirichletProcess(alpha=1.0)).prior
    DirichletProcess(alpha=1.0)
    """

    likelihood: Likelihood = field(default_factory=Gaussian)
    prior: Prior = field(default_factory=NGGP)

    def __post_init__(self) -> None:
        as_likelihood(self.likelihood)
        as_prior(self.prior)
