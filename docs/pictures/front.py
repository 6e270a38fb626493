"""The picture of README.md, 344 penguins: `python docs/pictures/front.py docs/_static` makes it."""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import mixwood as mw

NAMES = ["short bills", "long flippers", "long and deep bills"]


def draw(folder):
    measured = mw.datasets.penguins().select_dtypes("number")
    measured.columns = ["bill length", "bill depth", "flipper", "mass"]
    post = mw.sample(mw.Mixture(), measured, seed=1, progress=False)
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(3, 2))
    post.plot_clusters(ax=left.subplots(), names=NAMES)
    profile, number = right.subplots(2, 1, height_ratios=(1, 1))
    post.plot_profile(ax=profile)
    post.plot_n_clusters(ax=number)
    figure.savefig(folder / "penguins.png", dpi=100)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
