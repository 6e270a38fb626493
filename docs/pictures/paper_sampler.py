"""The picture of theory/paper_sampler.md, made by `make docs`."""

import numpy as np
from matplotlib.figure import Figure

import mixwood as mw
from mixwood.core import make_chain
from mixwood.testing import enumerate_posterior

BLUE, ORANGE, BLACK = "#0072B2", "#D55E00", "#000000"


def frequencies(exact, X, sampler, draws=1_000_000):
    """Return how often a long chain of `sampler` is in each partition."""
    labels = np.empty((draws, len(X)), np.int32)
    start = np.zeros(len(X), np.int32)
    chain = make_chain(exact.model, X, start, np.random.PCG64(0), sampler)
    chain.run(1000, 1, labels, *(np.empty(draws) for _ in range(5)), seconds=1e9)
    return np.bincount(exact.index_of(labels), minlength=len(exact.probabilities)) / draws


def draw_bias(partitions, sizes):
    """Frequencies against exact probabilities, and what becomes of the number of clusters."""
    X = np.array([[-2.237820], [1.267134], [1.159595], [-2.258492], [-1.086147], [2.813504]])
    likelihood = mw.Gaussian(r=0.1, nu=4, mean=[0.0], scale=[[2.0]])
    exact = enumerate_posterior(mw.Mixture(likelihood, mw.NGGP(alpha=1.0, sigma=0.3)), X)
    clusters = exact.partitions.max(axis=1) + 1
    found = {
        "PaperTree": (frequencies(exact, X, mw.PaperTree()), ORANGE, "o"),
        "Gibbs": (frequencies(exact, X, mw.Gibbs()), BLUE, "x"),
    }
    limits = (3e-5, 0.2)
    partitions.plot(limits, limits, color=BLACK, lw=0.8)
    sizes.bar(np.arange(1, 7), np.bincount(clusters, exact.probabilities)[1:], color="#cccccc")
    for name, (values, colour, marker) in found.items():
        distance = np.abs(values - exact.probabilities).sum() / 2
        partitions.plot(
            exact.probabilities, values, marker, color=colour, ms=3.5,
            label=f"{name}: total variation {distance:.3f}",
        )  # fmt: skip
        sizes.plot(np.arange(1, 7), np.bincount(clusters, values)[1:], marker, color=colour)
    partitions.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    partitions.set(xlabel="posterior probability", ylabel="frequency in 1,000,000 draws")
    partitions.set_title("the 203 partitions of 6 points", fontsize=10)
    partitions.legend(fontsize=8, frameon=False)
    sizes.set(xlabel="clusters", ylabel="probability")
    sizes.set_title("their number of clusters (bars: exact)", fontsize=10)


def draw_start(axes):
    """How both leave the paper's bad start on data of its kind."""
    X, _ = mw.datasets.toy()
    model = mw.Mixture(mw.Gaussian(scale="paper"), mw.DirichletProcess(1.0))
    for sampler, colour in ((mw.PaperTree(), ORANGE), (mw.Gibbs(), BLUE)):
        post = mw.sample(
            model, X, sampler, draws=300, warmup=0, chains=6, seed=1, init="on-top", progress=False
        )
        name = type(sampler).__name__
        for k, chain in enumerate(post.log_joint):
            axes.plot(np.arange(1, 301), chain, color=colour, lw=0.9, label="" if k else name)
    axes.set(xscale="log", xlabel="iteration", ylabel="log joint")
    axes.set_title("1,300 points in 13 clusters, from on top", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc=(0.02, 0.17))


def draw(folder):
    figure = Figure(figsize=(11.5, 3.8), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    draw_bias(first, second)
    draw_start(third)
    figure.savefig(folder / "paper_sampler.png", dpi=130)
