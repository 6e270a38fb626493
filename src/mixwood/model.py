"""A mixture model: a likelihood for the clusters and a prior on the partition."""

from __future__ import annotations

from dataclasses import dataclass, field

from mixwood._support.cards import card
from mixwood.likelihoods import AutoGaussian, Likelihood
from mixwood.likelihoods.base import as_likelihood
from mixwood.priors import NGGP, Prior, as_prior

__all__ = ["Mixture"]


@dataclass(frozen=True)
class Mixture:
    """A normalized random measure mixture.

    Parameters
    ----------
    likelihood : Likelihood or "auto"
        The distribution of each cluster. By default Gaussian, with full, diagonal or round
        covariances, whichever predicts the rows best in a short pilot, or with heavy tails
        where these clearly predict better: `AutoGaussian`.
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

    likelihood: Likelihood = field(default_factory=AutoGaussian)
    prior: Prior = field(default_factory=NGGP)

    def __post_init__(self) -> None:
        if isinstance(self.likelihood, str) and self.likelihood == "auto":
            object.__setattr__(self, "likelihood", AutoGaussian())
        as_likelihood(self.likelihood)
        as_prior(self.prior)

    def _repr_html_(self) -> str:
        facts = [
            ("clusters are", repr(self.likelihood)),
            ("their number and sizes", repr(self.prior)),
        ]
        name = type(self.likelihood).__name__
        return card(f"Mixture of {name} clusters, {type(self.prior).__name__} prior", facts=facts)
