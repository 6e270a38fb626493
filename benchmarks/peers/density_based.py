"""hdbscan: no model, so no density; points called noise count as clusters of their own."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.interface import Contest, Fit, Peer, needs, stopwatch


def _fit(contest: Contest, effort: int, seed: int) -> Fit:  # noqa: ARG001
    import hdbscan

    with stopwatch() as seconds:
        labels = hdbscan.HDBSCAN(min_cluster_size=effort, core_dist_n_jobs=1).fit_predict(contest.X)
    noise = labels < 0
    labels[noise] = labels.max() + 1 + np.arange(noise.sum())
    return Fit(seconds[0], labels)


PEERS = (Peer("hdbscan", "min size", (5, 15, 50), (5, 15, 50), needs("hdbscan"), _fit),)
