"""The density of each item given all others, draw by draw: what leave-one-out needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mixwood.posterior.noisy_rows import NoisyRows

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood._support.types import FloatArray, IntArray
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

    With known labels the sum is over the clusters where ``i`` may be: all of them if its own label
    is unknown, else those that keep the labels. What is predicted is then the row together with
    its label. For rows in groups the weights are those of the row's group, as in
    `mixwood.posterior.groups`.

    With known errors, positions stand for rows, and a mean and a covariance of each cluster are
    drawn given these: they are part of the state, too, so that the position of row i is all that
    has to be integrated out, which has a closed form, ``N(x_i; mean, Sigma + E_i)``. They have seen
    row i, but so has the partition; importance sampling takes that into account.
    """
    from mixwood.core import make_chain
    from mixwood.likelihoods.weighted_leaves import WeightedLeaves, log_constants
    from mixwood.samplers import Gibbs

    X = posterior.data_for("the log likelihood of each item")
    if isinstance(X, WeightedLeaves):
        raise ValueError(
            "the log likelihood of each item is that of single rows: weighted leaves, and rows "
            "with weights=, have none"
        )
    noise = NoisyRows(posterior.resolved, X) if posterior.resolved.has_errors else None
    model = replace(posterior.model, likelihood=posterior.resolved)
    at = posterior.core_values()
    # No random number is drawn here, but where rows have errors: parameters of the clusters.
    codes = None if posterior.groups is None else posterior.groups.codes
    chain = make_chain(model, X, posterior.labels[0, 0], np.random.PCG64(0), Gibbs(), groups=codes)
    values = np.empty(posterior.labels.shape)
    for k in np.ndindex(posterior.labels.shape[:2]):
        chain.set_state(
            posterior.labels[k].astype(np.int32),
            float(at.log_u[k]),
            float(at.log_alpha[k]),
            float(at.sigma[k]),
            float(at.theta[k]),
            None if posterior.group_values is None else np.array(posterior.group_values[k]),
        )
        if posterior.bases is not None and chain.base_size > 0:
            chain.set_base(np.ascontiguousarray(posterior.bases[k]))
        if posterior.latents is not None:
            chain.set_latent(np.ascontiguousarray(posterior.latents[k]))
        values[k] = chain.log_ordinates(
            None if noise is None else noise.at(chain.base).log_alone_of_noisy()
        )
        if posterior.known is not None:
            labels, known = posterior.labels[k].astype(np.int64), posterior.known
            for row in np.flatnonzero(known >= 0):
                values[k][row] += _log_share_allowed(chain, labels, known, int(row))
    values += log_constants(posterior.resolved, X)
    return values


def _log_share_allowed(chain: _core.Chain, labels: IntArray, known: IntArray, row: int) -> float:
    """Return which share of a labelled row's weights is for clusters where it may be, in logs."""
    weights = np.asarray(chain.log_weights(row))
    others = np.flatnonzero(known >= 0)
    others = others[others != row]
    same = others[known[others] == known[row]]
    allowed = np.ones(len(weights), dtype=np.bool_)
    if len(same):
        allowed[:] = False
        allowed[labels[same[0]]] = True
    else:
        allowed[labels[others]] = False
    peak = weights.max()
    shares = np.exp(weights - peak)
    return float(np.log(shares[allowed].sum()) - np.log(shares.sum()))
