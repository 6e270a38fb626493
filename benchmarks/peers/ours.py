"""mixwood itself: with the prior that the others have, with a heavier tail, and as it comes."""

from __future__ import annotations

import mixwood as mw
from benchmarks.peers.interface import Contest, Fit, Peer, stopwatch


def _fit(model: mw.Mixture, contest: Contest, effort: int, seed: int) -> Fit:
    """Keep as many draws as iterations were asked for, after as many of warmup."""
    with stopwatch() as seconds:
        post = mw.sample(
            model, contest.X, draws=effort, warmup=effort, chains=1, seed=seed, progress=False
        )
        labels = post.point_estimate()
    return Fit(seconds[0], labels, post.log_density(contest.held_out))


def _same_likelihood(contest: Contest) -> mw.Gaussian:
    return mw.Gaussian(r=contest.r, nu=contest.nu, mean=contest.mean, scale=contest.psi)


def _same_prior(contest: Contest, effort: int, seed: int) -> Fit:
    model = mw.Mixture(_same_likelihood(contest), mw.DirichletProcess(contest.alpha))
    return _fit(model, contest, effort, seed)


def _pitman_yor(contest: Contest, effort: int, seed: int) -> Fit:
    model = mw.Mixture(_same_likelihood(contest), mw.PitmanYor())
    return _fit(model, contest, effort, seed)


def _as_it_comes(contest: Contest, effort: int, seed: int) -> Fit:
    return _fit(mw.Mixture(), contest, effort, seed)


EFFORTS = (10, 100, 1000)
LARGE = (5, 25)
PEERS = (
    Peer("mixwood", "iterations", EFFORTS, LARGE, lambda: None, _same_prior),
    Peer("mixwood, Pitman-Yor", "iterations", EFFORTS, LARGE, lambda: None, _pitman_yor),
    Peer("mixwood, defaults", "iterations", EFFORTS, (5, 25, 100), lambda: None, _as_it_comes),
)
