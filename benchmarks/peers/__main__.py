"""`python -m benchmarks.peers`: runs all that are here, prints tables with ratios, records."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import mean

import numpy as np

from benchmarks import record
from benchmarks.limits import run_within
from benchmarks.peers import contests, density_based, ours, r_packages, richlet, scikit, variational
from benchmarks.peers.interface import Contest, Fit, Peer
from mixwood.partitions import adjusted_rand

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
    """One peer with one effort, over seeds; no fits if it was over the limit."""

    peer: Peer
    effort: int
    contest: Contest
    fits: tuple[Fit, ...]

    @property
    def title(self) -> str:
        return f"{self.peer.name}, {self.effort} {self.peer.unit}"

    @property
    def seconds(self) -> float:
        return float(np.median([fit.seconds for fit in self.fits]))

    @property
    def rand(self) -> list[float]:
        return [adjusted_rand(self.contest.truth, fit.labels) for fit in self.fits]

    @property
    def density(self) -> list[float]:
        return [float(fit.log_density.mean()) for fit in self.fits if fit.log_density is not None]

    @property
    def clusters(self) -> float:
        return float(np.mean([len(np.unique(fit.labels)) for fit in self.fits]))

    def summary(self) -> dict[str, float]:
        """Return what is recorded."""
        known = {"seconds": self.seconds, "clusters": self.clusters, "rand": mean(self.rand)}
        return known | ({"held_out": mean(self.density)} if self.density else {})


def measure(peer: Peer, contest: Contest, seeds: range, limit: int) -> Iterator[Row]:
    """Fit once for each seed with more and more effort, until a fit is over the limit."""
    for effort in peer.large_efforts if contest.large else peer.efforts:
        fits = []
        for seed in seeds:
            fit = run_within(limit, partial(peer.fit, contest, effort, seed))
            if fit is None:
                yield Row(peer, effort, contest, ())
                return
            fits.append(fit)
        yield Row(peer, effort, contest, tuple(fits))


def ratio(row: Row, rows: list[Row], ours: str, quality: str) -> str:
    """Return how many times longer than mixwood a peer took for what it reached.

    Against mixwood's shortest run that was as good in the mean, within 0.005; "never" if none
    was.
    """
    wanted = getattr(row, quality)
    if not wanted or row.peer.name.startswith("mixwood"):
        return "-"
    as_good = [
        other.seconds
        for other in rows
        if other.peer.name == ours
        and other.fits
        and mean(getattr(other, quality)) >= mean(wanted) - 0.005
    ]
    if not as_good:
        return "never"
    times = row.seconds / min(as_good)
    return f"{times:.2g}" if times < 10 else f"{times:.0f}"


def table(rows: list[Row], limit: int) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| | CPU s | clusters | adjusted Rand | held-out | times mixwood | times its defaults |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if not row.fits:
            lines.append(f"| {row.title} | over {limit} | | | | | |")
            continue
        rand = f"{mean(row.rand):.3f} ({min(row.rand):.2f} to {max(row.rand):.2f})"
        density = f"{mean(row.density):.3f}" if row.density else "-"
        ratios = " | ".join(
            f"{ratio(row, rows, ours, 'rand')}, {ratio(row, rows, ours, 'density')}"
            for ours in ("mixwood", "mixwood, defaults")
        )
        lines.append(
            f"| {row.title} | {row.seconds:.3g} | {row.clusters:.0f} | {rand} "
            f"| {density} | {ratios.replace('-, -', '-')} |"
        )
    return "\n".join(lines)


def present(beginnings: tuple[str, ...]) -> list[Peer]:
    """Return the peers asked for that can run here, and say which cannot."""
    here = []
    for peer in PEERS:
        if not peer.name.startswith(beginnings):
            continue
        why = peer.missing()
        if why is None:
            here.append(peer)
        else:
            print(f"missing: {peer.name} ({why})")
    return here


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", default=",".join(contests.names()))
    parser.add_argument("--peers", default="", help="beginnings of names, all by default")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds of one fit")
    options = parser.parse_args()
    here = present(tuple(options.peers.split(",")))
    for peer in here:  # what is imported or compiled at the first call is not on the clock
        peer.fit(contests.tiny(), peer.efforts[0], 0)
    results: dict[str, dict[str, float | str]] = {}
    for name in options.data.split(","):
        contest = contests.contest(name)
        rows = []
        for peer in here:
            for row in measure(peer, contest, range(options.seeds), options.limit):
                rows.append(row)
                found = row.summary() if row.fits else {"over": options.limit}
                results[f"peers, {name}, {row.title}"] = dict(found)
                print(f"{name}: {row.title}: {found}", flush=True)
        n, d = contest.X.shape
        print(f"\n{name}: {n:,} x {d}, {len(np.unique(contest.truth)):,} true clusters\n")
        print(table(rows, options.limit), end="\n\n", flush=True)
    print(f"written: {record.write(results).relative_to(record.RESULTS.parent.parent)}")


main()
