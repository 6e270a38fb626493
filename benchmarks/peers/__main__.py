"""`python -m benchmarks.peers`: runs all that are here, prints tables with ratios, records."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks import record
from benchmarks.data import adjusted_rand
from benchmarks.peers import contests, density_based, ours, r_packages, richlet, scikit, variational
from benchmarks.peers.interface import Contest, Peer

PEERS: tuple[Peer, ...] = (
    *ours.PEERS,
    *scikit.PEERS,
    *variational.PEERS,
    *richlet.PEERS,
    *density_based.PEERS,
    *r_packages.PEERS,
)


@dataclass(frozen=True)
class Row:
    """One peer with one effort, over seeds."""

    peer: Peer
    effort: int
    seconds: np.ndarray
    rand: np.ndarray
    density: np.ndarray | None
    clusters: np.ndarray

    @property
    def title(self) -> str:
        return f"{self.peer.name}, {self.effort} {self.peer.unit}"


def measure(peer: Peer, contest: Contest, effort: int, seeds: range) -> Row:
    """Fit once for each seed."""
    fits = [peer.fit(contest, effort, seed) for seed in seeds]
    densities = [np.mean(fit.log_density) for fit in fits if fit.log_density is not None]
    return Row(
        peer,
        effort,
        np.array([fit.seconds for fit in fits]),
        np.array([adjusted_rand(contest.truth, fit.labels) for fit in fits]),
        np.array(densities) if densities else None,
        np.array([len(np.unique(fit.labels)) for fit in fits]),
    )


def ratio(row: Row, rows: list[Row], quality: str) -> str:
    """Return how many times longer than mixwood a peer took for what it reached.

    Against mixwood's shortest run, with the same prior, that was as good in the mean; "never"
    if none was.
    """
    wanted = getattr(row, quality)
    if wanted is None or row.peer.name == "mixwood":
        return "-"
    ours = [other for other in rows if other.peer.name == "mixwood"]
    as_good = [
        np.median(other.seconds)
        for other in ours
        if np.mean(getattr(other, quality)) >= np.mean(wanted) - 0.005
    ]
    if not as_good:
        return "never"
    times = np.median(row.seconds) / min(as_good)
    return f"{times:.2g}" if times < 10 else f"{times:.0f}"


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    head = (
        "| | CPU s | clusters | adjusted Rand | held-out | times mixwood, Rand | held-out |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    lines = []
    for row in rows:
        rand = f"{row.rand.mean():.3f} ({row.rand.min():.2f} to {row.rand.max():.2f})"
        density = "-" if row.density is None else f"{row.density.mean():.3f}"
        ratios = " | ".join(ratio(row, rows, quality) for quality in ("rand", "density"))
        lines.append(
            f"| {row.title} | {np.median(row.seconds):.3g} | {row.clusters.mean():.0f} | {rand} "
            f"| {density} | {ratios} |"
        )
    return head + "\n".join(lines)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", default=",".join(contests.names()))
    parser.add_argument("--peers", default="", help="beginnings of names, all by default")
    options = parser.parse_args()
    chosen = tuple(options.peers.split(","))
    peers = [peer for peer in PEERS if peer.name.startswith(chosen)]
    here = []
    for peer in peers:
        why = peer.missing()
        if why is None:
            here.append(peer)
        else:
            print(f"missing: {peer.name} ({why})")
    for peer in here:  # what is imported or compiled at the first call is not on the clock
        peer.fit(contests.tiny(), peer.efforts[0], 0)
    results = {}
    for name in options.data.split(","):
        contest = contests.contest(name)
        rows = []
        for peer in here:
            for effort in peer.large_efforts if contest.large else peer.efforts:
                row = measure(peer, contest, effort, range(options.seeds))
                rows.append(row)
                print(f"{name}: {row.title}: {np.median(row.seconds):.3g} s, "
                      f"Rand {row.rand.mean():.3f}", flush=True)  # fmt: skip
                results[f"peers, {name}, {row.title}"] = {
                    "seconds": float(np.median(row.seconds)),
                    "rand": float(row.rand.mean()),
                    "clusters": float(row.clusters.mean()),
                } | ({} if row.density is None else {"held_out": float(row.density.mean())})
        n, d = contest.X.shape
        print(f"\n{name}: {n:,} x {d}, {len(np.unique(contest.truth)):,} true clusters\n")
        print(table(rows), end="\n\n", flush=True)
    print(f"written: {record.write(results).relative_to(record.RESULTS.parent.parent)}")


main()
