"""The table of answers: what is measured, and what the table says where something is missing."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import answer
from benchmarks.study_defaults.sets import LabelledSet

RNG = np.random.default_rng(1)
GROUPS = LabelledSet(
    "groups", RNG.normal(size=(60, 2)) + 20 * (np.arange(60) % 2)[:, None], np.arange(60) % 2
)


@pytest.mark.parametrize("method", ["bayesian", "hdbscan", "kmeans"])
def test_clear_groups_are_found(method):
    found = answer.measure(GROUPS, method, seed=1)
    assert found["rand"] > 0.6
    assert (found["density"] is None) == (method in {"hdbscan", "kmeans"})
    assert found["clusters"] >= 2


def test_what_is_missing_is_a_dash_and_not_in_the_means():
    whole = {"rand": 0.5, "density": -1.0, "clusters": 2, "cpu": 1.0}
    found = {
        "a": {"mixwood": [whole, whole | {"rand": 1.0}], "kmeans": [whole | {"density": None}]},
        "b": {"mixwood": [whole], "kmeans": []},
    }
    rand = answer.table(found, "rand", ".2f").splitlines()
    assert rand[2:] == [
        "| a | 0.75 | 0.50 |",
        "| b | 0.50 | - |",
        "| **mean of 1** | 0.75 | 0.50 |",
    ]
    assert answer.table(found, "density", ".2f").splitlines()[2] == "| a | -1.00 | - |"
