"""pyrichlet: Gibbs sampling for a Dirichlet process, slices of the weights."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.interface import Contest, Fit, Peer, needs, stopwatch


def _fit(contest: Contest, effort: int, seed: int) -> Fit:
    from pyrichlet import mixture_models

    model = mixture_models.DirichletProcessMixture(
        alpha=contest.alpha,
        mu_prior=contest.mean,
        lambda_prior=contest.r,
        psi_prior=contest.psi,
        nu_prior=contest.nu,
        total_iter=effort,
        burn_in=effort // 2,
        rng=seed,
    )
    with stopwatch() as seconds:
        model.fit_gibbs(contest.X, init_groups=30)
        labels = model.gibbs_map_cluster()
    density = np.log(np.maximum(model.gibbs_eap_density(contest.held_out, periods=20), 1e-300))
    return Fit(seconds[0], np.asarray(labels), density)


PEERS = (
    Peer("pyrichlet, from k-means 30", "sweeps", (10, 50, 200), (4, 10), needs("pyrichlet"), _fit),
)
