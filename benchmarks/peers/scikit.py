"""scikit-learn: variational inference for a truncated Dirichlet process."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.peers.interface import Contest, Fit, Peer, needs, stopwatch, student_mixture


def _fit(contest: Contest, effort: int, seed: int) -> Fit:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import BayesianGaussianMixture

    model = BayesianGaussianMixture(
        n_components=50,
        max_iter=effort,
        weight_concentration_prior=contest.alpha,
        mean_precision_prior=contest.r,
        mean_prior=contest.mean,
        degrees_of_freedom_prior=contest.nu,
        covariance_prior=contest.psi,
        random_state=seed,
    )
    with stopwatch() as seconds, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit_predict(contest.X)
    nu = model.degrees_of_freedom_
    psi = model.covariances_ * nu[:, None, None]
    # score_samples is a bound, not a density: this is what the posterior predicts.
    density = student_mixture(
        contest.held_out, model.weights_, model.means_, model.mean_precision_, nu, psi
    )
    return Fit(seconds[0], np.asarray(labels), density)


PEERS = (
    Peer("scikit-learn, 50 components", "iterations", (5, 50, 1000), (5, 25, 100),
         needs("sklearn"), _fit),
)  # fmt: skip
