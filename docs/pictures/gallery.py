"""The pictures of gallery.md: `python docs/pictures/gallery.py [NAME ...]` makes them anew.

MIXWOOD_DATA names the folder that holds sets/NAME.csv.gz, the last column of each the label, -1
where it is not known. For each set a line tells what the page says of it.
"""

import gzip
import os
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import mixwood as mw

TARGET = Path(__file__).parent.parent / "_static" / "gallery"
SETS = ("galaxy", "faithful", "iris", "wine", "crabs", "thyroid", "digits", "gvhd_pos")
#: Draws of a chain: 1,000, and fewer where that would take an hour.
DRAWS = {"gvhd_pos": 250, "digits": 250}


def read(name):
    """Return the rows with the names of their columns, and the labels or None."""
    import pandas

    path = Path(os.environ["MIXWOOD_DATA"]) / "sets" / f"{name}.csv.gz"
    with gzip.open(path, "rt") as lines:
        table = pandas.read_csv(lines)
    labels = table.pop(table.columns[-1]).to_numpy()
    return table.astype(float), None if labels.max() < 0 else labels


def write(figure, path):
    """Write a small file: the colours as a palette."""
    buffer = BytesIO()
    figure.savefig(buffer, dpi=80)
    rule, plain = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    image = Image.open(buffer).convert("RGB").quantize(256, rule, dither=plain)
    image.save(path, optimize=True)


def why(post, path):
    """Write what the clusters are like and whether the model fits, and print that in words."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    profile, fit = figure.subplots(1, 2, width_ratios=(5, 5))
    post.plot_profile(ax=profile, max_columns=20, max_clusters=12)
    post.plot_fit(ax=fit, max_quantities=12)
    fit.set_title("", loc="right")  # the page says it
    write(figure, path)
    print(post.check_fit().sentence)
    print(post.markers(3)[["cluster", "column", "how", "effect"]].round(1).to_string(), flush=True)


def picture(name):
    """Fit one data set, write its pictures, and print what there is to say."""
    X, truth = read(name)
    post = mw.sample(mw.Mixture(), X, draws=DRAWS.get(name, 1000), seed=1, progress=False)
    draw(name, post, truth)


def draw(name, post, truth):
    """Write the pictures of a posterior, and print what there is to say."""
    figure = Figure(figsize=(11, 3.7), layout="constrained")
    clusters, similarity, number = figure.subplots(1, 3, width_ratios=(4, 3.4, 3))
    post.plot_clusters(ax=clusters)
    post.plot_similarity(ax=similarity, max_items=500)
    post.plot_n_clusters(ax=number)
    path = TARGET / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    write(figure, path)
    why(post, TARGET / f"{name}_why.png")
    labels = post.point_estimate()
    low, high = np.quantile(post.n_clusters, [0.05, 0.95], method="nearest")
    sizes = np.sort(np.bincount(labels))[::-1]
    table = post.summary()
    r_hat, width = table.loc["log_joint", "r_hat"], table.loc["width", "mean"]
    print(
        f"{name}: {len(labels)} x {post.X.shape[1]}, {type(post.resolved).__name__}, "
        f"width {width:.2f}, "
        f"nu {table.loc['nu', 'mean']:.0f}, {post.n_clusters.mean():.1f} clusters on average, "
        f"90% {low} to {high}; estimate {len(sizes)}, sizes {sizes[:12].tolist()}; "
        f"ball {post.credible_ball().radius:.2f} bits; r_hat {r_hat:.2f}; "
        + (
            "no labels"
            if truth is None
            else f"adjusted Rand {mw.partitions.adjusted_rand(labels, truth):.2f}"
        )
        + f"; {path.stat().st_size / 1000:.0f} KB",
        flush=True,
    )


def islands():
    """Write the picture of the penguins, whose islands are groups."""
    import pandas

    table = mw.datasets.penguins()
    model = mw.Mixture(mw.Gaussian(), mw.FiniteMixture())
    X, truth = table.select_dtypes("number"), pandas.factorize(table["species"])[0]
    for groups in (table["island"], None):
        post = mw.sample(model, X, groups=groups, seed=1, progress=False)
        unsure, rand = post.certainty() < 0.9, mw.partitions.adjusted_rand
        print(post, unsure.sum(), "unsure", rand(post.point_estimate(), truth))
        if groups is None:
            continue
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        left, right = figure.subfigures(1, 2, width_ratios=(5, 5))
        post.plot_clusters(ax=left.subplots())
        post.plot_groups(ax=tuple(right.subplots(2, 1, sharex=True, height_ratios=(2, 1.2))))
        write(figure, TARGET / "penguins.png")
        print(post.group_weights().round(2), post.markers(2), post.check_fit().sentence)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or (*SETS, "penguins"):
        islands() if chosen == "penguins" else picture(chosen)
