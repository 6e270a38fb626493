"""Simulated sets with known clusters: what users have, and what has misled the defaults before.

Each is a function of a seed that returns the rows, in random order, and their labels. Unless it
says otherwise, a cluster is a normal with standard deviation 1 in each column.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Set = tuple[Floats, NDArray[np.int64]]

#: Corners of a triangle with sides of length 5, and of a tetrahedron with edges of length 6.
TRIANGLE = 5 * np.array([[0, 0], [1, 0], [0.5, 0.75**0.5]])
TETRAHEDRON = 6 / 8**0.5 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def shuffled(groups: list[Floats], rng: np.random.Generator) -> Set:
    """Return the rows of all groups in random order, and the number of each one's group."""
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    order = rng.permutation(len(labels))
    return np.concatenate(groups)[order], labels[order]


def round_groups(centres: Floats, size: int, rng: np.random.Generator) -> list[Floats]:
    return [centre + rng.standard_normal((size, len(centre))) for centre in centres]


def one_normal(columns: int, seed: int = 1) -> Set:
    """Return 400 rows of one normal: nothing is to be found."""
    rng = np.random.default_rng(seed)
    return shuffled([rng.standard_normal((400, columns))], rng)


def three_groups(seed: int = 1) -> Set:
    """Return three groups of 100, five standard deviations apart, in 2 columns."""
    rng = np.random.default_rng(seed)
    return shuffled(round_groups(TRIANGLE, 100, rng), rng)


def four_groups_20(seed: int = 1) -> Set:
    """Return four groups of 100 in 20 columns, seven apart: a little in each column."""
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.standard_normal((20, 4)))[0].T
    return shuffled(round_groups(7 / 2**0.5 * frame, 100, rng), rng)


def shared_covariance_16(seed: int = 1) -> Set:
    """Return two groups of 300 in 16 columns that share a covariance and overlap by a third.

    Along the line through their centres the ranges of two standard deviations to either side
    have a third in common: 8/3 apart. Who knows the parameters has an adjusted Rand of 0.67. The
    covariance is diagonal: with a full one for each, 600 rows speak for a single group.
    """
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(16)
    direction *= 8 / 3 / np.linalg.norm(direction)
    groups = round_groups(np.stack([-direction / 2, direction / 2]), 300, rng)
    sds = rng.uniform(0.5, 2, 16)
    return shuffled([sds * group for group in groups], rng)


def heavy_tails(seed: int = 1) -> Set:
    """Return three groups of 150 with t distributions of 4 degrees of freedom, ten apart."""
    rng = np.random.default_rng(seed)
    groups = [
        2 * centre + rng.standard_normal((150, 2)) / np.sqrt(rng.chisquare(4, (150, 1)) / 4)
        for centre in TRIANGLE
    ]
    return shuffled(groups, rng)


def hundred_clusters(seed: int = 1) -> Set:
    """Return 100 clusters of 10 points in the plane, seven or more apart."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), axis=-1).reshape(-1, 2)
    return shuffled(round_groups(10 * grid + rng.uniform(-1.5, 1.5, (100, 2)), 10, rng), rng)


def widths(seed: int = 1) -> Set:
    """Return four groups of 150 with standard deviations 0.05, 0.3, 1 and 4, in 2 columns."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 6.0], [18.0, 12.0]])
    groups = [
        centre + sd * rng.standard_normal((150, 2))
        for centre, sd in zip(centres, (0.05, 0.3, 1, 4), strict=True)
    ]
    return shuffled(groups, rng)


def thin(seed: int = 1) -> Set:
    """Return four groups of 150, thin and long: 3 along and 0.1 across, in four directions."""
    rng = np.random.default_rng(seed)
    groups = []
    for number, angle in enumerate(np.pi * np.array([0.1, 0.35, 0.6, 0.85])):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        centre = 4 * np.array([number % 2, number // 2])
        groups.append(centre + rng.standard_normal((150, 2)) * (3, 0.1) @ turn)
    return shuffled(groups, rng)


def noise_10(seed: int = 1) -> Set:
    """Return three groups of 100 five apart in 2 columns, beside 10 columns of noise."""
    rng = np.random.default_rng(seed)
    return shuffled(round_groups(np.pad(TRIANGLE, ((0, 0), (0, 10))), 100, rng), rng)


def noise_20(seed: int = 1) -> Set:
    """Return four groups of 100 six apart in 3 columns, beside 20 columns of noise."""
    rng = np.random.default_rng(seed)
    return shuffled(round_groups(np.pad(TETRAHEDRON, ((0, 0), (0, 20))), 100, rng), rng)


def two_groups_32(seed: int = 1) -> Set:
    """Return two groups of 200 in 32 columns, five apart along a line across all columns."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(32)
    direction *= 5 / np.linalg.norm(direction)
    return shuffled(round_groups(np.stack([-direction / 2, direction / 2]), 200, rng), rng)


def rounded(seed: int = 1) -> Set:
    """Return the three groups, rounded to whole standard deviations: most rows are tied."""
    X, labels = three_groups(seed)
    return np.round(X), labels


def constant_and_duplicate(seed: int = 1) -> Set:
    """Return the three groups with a constant column and a copy of the first."""
    X, labels = three_groups(seed)
    return np.column_stack([X, np.full(len(X), 7.0), X[:, 0]]), labels


def sum_column(seed: int = 1) -> Set:
    """Return the three groups with the sum of both columns as a third."""
    X, labels = three_groups(seed)
    return np.column_stack([X, X.sum(axis=1)]), labels


SIMULATED: dict[str, Callable[[], Set]] = {
    "normal_1": partial(one_normal, 1),
    "normal_2": partial(one_normal, 2),
    "normal_5": partial(one_normal, 5),
    "normal_20": partial(one_normal, 20),
    "three_groups": three_groups,
    "four_groups_20": four_groups_20,
    "shared_covariance_16": shared_covariance_16,
    "heavy_tails": heavy_tails,
    "hundred_clusters": hundred_clusters,
    "widths": widths,
    "thin": thin,
    "noise_10": noise_10,
    "noise_20": noise_20,
    "two_groups_32": two_groups_32,
    "rounded": rounded,
    "constant_and_duplicate": constant_and_duplicate,
    "sum_column": sum_column,
}
