"""The density of each item given all others, draw by draw: what leave-one-out needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray
    from mixwood.posterior.posterior import Posterior

__all__ = ["log_ordinates"]


def log_ordinates(posterior: Posterior) -> FloatArray:
    """Return ``log p(x_i | X without i, Pi without i, u)`` of every draw and item.

    Parameters
    ----------
    posterior : Posterior
        With its data.

    Returns
    -------
    ndarray of shape (chain, draw, n)

    Notes
    -----
    With the clusters ``c`` of the partition without ``i``, the value is::

        log (u/(n-1)) { kappa(1,u) P(x_i) + sum_c kappa(|c|+1,u)/kappa(|c|,u) P(x_i | X_c) }

    (for a single item, ``log P(x_i)``).

    It is ``w_i(Pi, u) = p(X, Pi without i, u) / p(X without i, Pi without i, u)``: the
    joint of n items, summed over where ``i`` may be, over the joint of the other
    ``n-1``; hence the factor ``u/(n-1)``, the ratio of ``u^(n-1)/Gamma(n)`` to
    ``u^(n-2)/Gamma(n-1)``. So the posterior without ``i`` is the full one reweighted by
    ``1/w_i``, exactly, for ``(Pi without i, u)`` and the prior's parameters together. And
    ``1 / E[1/w_i]`` over full draws is ``p(x_i | X without i)``. That is the importance
    sampling of PSIS-LOO with nothing approximated but the smoothing of its largest
    weights. The density of ``x_i`` given its own cluster's other members would be
    neither: where ``i`` belongs is itself a draw that has seen ``x_i``.
    """
    from mixwood.core import make_chain
    from mixwood.likelihoods.weighted_leaves import log_constants
    from mixwood.samplers import Gibbs

    X = posterior.data_for("the log likelihood of each item")
    model = replace(posterior.model, likelihood=posterior.resolved)
    prior = model.prior
    shape = posterior.labels.shape[:2]
    # The chain has all parameters, 0 where its prior has none; no random number is drawn here.
    log_alpha = posterior.log_alpha
    sigma = posterior.sigma if "sigma" in prior.parameters else np.zeros(shape)
    theta = posterior.theta if "theta" in prior.parameters else np.zeros(shape)
    chain = make_chain(model, X, posterior.labels[0, 0], np.random.PCG64(0), Gibbs())
    values = np.empty(posterior.labels.shape)
    for k in np.ndindex(shape):
        chain.set_state(
            posterior.labels[k].astype(np.int32),
            float(posterior.log_u[k]),
            float(log_alpha[k]),
            float(sigma[k]),
            float(theta[k]),
        )
        values[k] = chain.log_ordinates()
    values += log_constants(posterior.resolved, X)
    return values
