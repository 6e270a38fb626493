"""The pictures of theory/defaults.md: one normal, the cost of a lone row, tied values.

`make docs` makes them.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.special import gammaln, ndtr

import mixwood as mw
from mixwood.likelihoods.learned import MASS_WITHIN, centre_spread
from mixwood.plots.style import COLOURS

STARTS = ("one", "singletons")


def one_normal():
    """How many clusters chains find in one normal, from both ends, the base fixed and learned."""
    X = np.random.default_rng(1).normal(size=(342, 1))
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    cases = {
        "a fixed base measure": mw.Gaussian(scale="data"),
        "a learned base measure": mw.Gaussian(),
    }
    for ax, (title, likelihood) in zip(panels, cases.items(), strict=True):
        for k, start in enumerate(STARTS):
            post = mw.sample(
                mw.Mixture(likelihood), X, init=start, draws=500, warmup=500, chains=1, seed=2,
                progress=False,
            )  # fmt: skip
            label = "from one cluster" if start == "one" else "from every row alone"
            ax.plot(post.n_clusters[0], color=COLOURS[k], linewidth=0.8, label=label)
        ax.set(title=title, xlabel="draw after warm-up", yscale="log", ylim=(0.8, 400))
        ax.set_yticks([1, 3, 10, 30, 100, 342], ["1", "3", "10", "30", "100", "342"])
        ax.minorticks_off()
    panels[0].set_ylabel("clusters in 342 draws of one normal")
    panels[1].legend(frameon=False, loc="upper right")
    return figure


def lone_row():
    """Where the centre of a new cluster lies, and what a row alone costs, as centres spread."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    mass, cost = figure.subplots(1, 2)
    tau = np.geomspace(1, 5000, 300)
    for k, d in enumerate((1, 2, 3, 5)):
        label = f"{d} column" + "s" * (d > 1)
        mass.plot(tau, (2 * ndtr(3 / np.sqrt(tau)) - 1) ** d, color=COLOURS[k], label=label)
        chosen = centre_spread(d)
        mass.plot(chosen, (2 * ndtr(3 / np.sqrt(chosen)) - 1) ** d, "o", color=COLOURS[k])
        cost.plot(tau, d / 2 * (np.log(tau) - 1 + 1 / tau), color=COLOURS[k], label=label)
        cost.plot(chosen, d / 2 * (np.log(chosen) - 1 + 1 / chosen), "o", color=COLOURS[k])
    mass.axhline(MASS_WITHIN, color="grey", linewidth=0.8, linestyle="dotted")
    mass.set(xscale="log", yscale="log", ylim=(1e-5, 1.5))
    mass.set(ylabel="a new cluster's centre is\nwhere the data are, probability")
    cost.axvline(1.1, color="grey", linewidth=0.8, linestyle="dotted")
    cost.text(1.25, 14, "fixed\nbefore", color="grey", va="top")
    cost.set(xscale="log", ylabel="a row on its own costs, nats", ylim=(0, 15))
    for ax in (mass, cost):
        ax.set_xlabel("tau: variance of centres over that of the data")
    mass.legend(frameon=False, loc="lower left")
    return figure


def ties():
    """What each row gains by a cluster for each rounded value, over one smooth density."""
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    shared, own = figure.subplots(1, 2, sharey=True)
    omega = np.geomspace(0.002, 2, 200)
    shared.plot(omega, -np.log(2 * np.pi * omega) / 2, color=COLOURS[0])
    _floor(shared, 1 / np.pi, 0)
    shared.set(title="clusters share a variance", xlabel="omega / step$^2$")
    shared.set_ylabel("gain of each row, nats")
    psi, excess, variance = np.geomspace(0.02, 60, 200), 5.0, 100.0  # of the data, over step^2
    nu, r = excess + 2, psi / excess / variance / centre_spread(1)
    for k, m in enumerate((5, 20, 100)):
        log_density = -m / 2 * np.log(np.pi * psi) + gammaln((nu + m) / 2) - gammaln(nu / 2)
        log_density += np.log(r / (r + m)) / 2
        own.plot(psi, log_density / m, color=COLOURS[k], label=f"{m} rows per value")
        _floor(own, m / (2 * np.pi), k)
    own.set(title="each cluster has its own", xlabel="psi / step$^2$")
    own.legend(framealpha=1, edgecolor="none", loc="upper right")
    for ax in (shared, own):
        ax.axhline(0, color="grey", linewidth=0.8)
        ax.set(xscale="log", ylim=(-1.5, 3))
    return figure


def _floor(ax, value, k):
    ax.axvline(value, color=COLOURS[k], linewidth=0.9, linestyle="dotted")


def draw(folder):
    for picture in (one_normal, lone_row, ties):
        picture().savefig(folder / f"{picture.__name__}.png", dpi=130)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
