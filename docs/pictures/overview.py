"""The picture of the documentation's first page: the toy data at one glance."""

import sys
from pathlib import Path

import mixwood as mw
from mixwood.plots import overview


def draw(folder):
    X, _ = mw.datasets.toy()
    post = mw.sample(mw.Mixture(), X, seed=1, progress=False)
    overview(post).savefig(folder / "overview.png", dpi=100)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
