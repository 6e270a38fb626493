"""Pictures of a report: small files in which colours stay what they are, and dark versions."""

from __future__ import annotations

import base64
from io import BytesIO

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from mixwood.plots.style import COLOURS
from mixwood.report.figures import darken, drawn


def test_small_marks_keep_their_colours_beside_a_heat_map():
    """Their colours are what a reader finds the clusters by."""

    def draw(ax):
        ax.imshow(np.random.default_rng(0).normal(size=(20, 30)), cmap="RdBu_r", aspect="auto")
        for k, colour in enumerate(COLOURS[:10]):
            ax.plot(k, -3, "s", color=colour, clip_on=False)

    light = drawn("marks", (8, 4), draw).rpartition("base64,")[2].split('"')[0]
    pixels = np.asarray(Image.open(BytesIO(base64.b64decode(light))).convert("RGB"))
    found = np.unique(pixels.reshape(-1, 3), axis=0).astype(int)
    for colour in COLOURS[:10]:
        nearest = np.abs(found - np.round(255 * np.array(to_rgb(colour)))).max(axis=1).min()
        assert nearest <= 8, colour


def test_black_lines_and_their_legends_are_light_on_dark():
    figure = Figure()
    ax = figure.add_subplot()
    ax.hlines([1, 2], 0, 1, "black", alpha=0.45, label="each chain")
    ax.plot([0, 1], color="black", label="density")
    ax.plot([0, 1], color=COLOURS[0], label="data")
    ax.legend()
    darken(figure)
    chain, density, data = (to_rgb(h.get_color()) for h in ax.get_legend().legend_handles)
    assert min(chain) > 0.8
    assert min(density) > 0.8
    assert data == to_rgb(COLOURS[0])
