"""Colours of clusters: told apart by all eyes, and never shared by neighbours."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mixwood.plots.colours import cluster_colours
from mixwood.plots.style import COLOURS, MIXED_COLOUR, legible

#: How people see who lack one kind of cone (Machado, Oliveira and Fernandes 2009).
EYES = {
    "usual": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def linear(colours):
    values = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in colours]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    """Return coordinates in which equal distances look equal (Ottosson 2020)."""
    cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
             [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
    axes = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.808675766]]  # fmt: skip
    return np.cbrt(np.clip(rgb, 0, 1) @ np.transpose(cones)) @ np.transpose(axes)


def closest(colours, eyes):
    seen = oklab(np.clip(linear(colours) @ np.transpose(EYES[eyes]), 0, 1))
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))


@pytest.mark.parametrize("eyes", EYES)
def test_twenty_colours_are_apart_for_all_eyes(eyes):
    assert len(set(COLOURS)) == 20
    assert closest([*COLOURS, MIXED_COLOUR], eyes) > (0.1 if eyes == "usual" else 0.055)
    # The measure can fail: so many colours of a well-known map cannot be told apart.
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex

    known = [to_hex(colour) for colour in matplotlib.colormaps["tab20"].colors]
    assert closest(known, "deutan") < 0.03


def test_all_are_seen_on_white_and_on_black():
    light = oklab(linear(COLOURS))[:, 0]
    assert light.min() > 0.33
    assert light.max() < 0.91


def test_letters_in_the_colours_can_be_read_on_white():
    for colour in (*COLOURS, MIXED_COLOUR):
        luminance = linear([legible(colour)]) @ [0.2126, 0.7152, 0.0722]
        assert 1.05 / (luminance[0] + 0.05) >= 3
    assert legible(COLOURS[0]) == COLOURS[0].lower()


def neighbours(side):
    return [
        (a, b)
        for a, b in itertools.combinations(range(side**2), 2)
        if max(abs(a // side - b // side), abs(a % side - b % side)) <= 1
    ]


@pytest.mark.parametrize("colours", [9, 20])
def test_neighbours_do_not_share_a_colour(colours, seed):
    side = 11
    corners = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1)
    labels = np.repeat(np.arange(side**2), 12)
    rng = np.random.default_rng(seed)
    points = corners.reshape(-1, 2)[labels] * 5 + rng.normal(size=(len(labels), 2))
    order = rng.permutation(side**2)  # sizes are in no order of space
    found = cluster_colours(points, order[labels], side**2, COLOURS[:colours])
    assert found[:colours] == list(COLOURS[:colours])
    shared = [found[order[a]] == found[order[b]] for a, b in neighbours(side)]
    assert not any(shared)
    in_turn = [order[a] % colours == order[b] % colours for a, b in neighbours(side)]
    assert any(in_turn)  # what it is without looking


def test_clusters_that_are_not_drawn_and_one_colour():
    points = np.random.default_rng(0).normal(size=(30, 2))
    labels = np.arange(30) * 2
    assert len(cluster_colours(points, labels, 60)) == 60
    assert cluster_colours(points, labels, 60, ["red"]) == ["red"] * 60
    assert cluster_colours(points * 0, labels, 60)[:20] == list(COLOURS)
