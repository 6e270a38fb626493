"""The sentences about a learned base measure."""

from __future__ import annotations

import numpy as np
import pytest

from mixwood.report.base_words import _covariances, _noise, _structure, _width


@pytest.mark.parametrize(
    ("excess", "said"),
    [
        (
            1.1,
            "Each cluster has a covariance of its own: their variances differ by a factor of two",
        ),
        (5.0, "Each cluster has a covariance of its own"),
        (30.0, "similar covariances"),
        (2000.0, "share one covariance"),
    ],
)
def test_nu_in_words(excess, said):
    assert said in _covariances(np.full((2, 10), excess))


@pytest.mark.parametrize(
    ("excess", "said"),
    [(1.1, "noise of its own"), (30.0, "similar noise"), (2000.0, "the same noise")],
)
def test_the_noise_of_relations_in_words(excess, said):
    assert said in _noise(np.full((2, 10), excess))


def test_the_width_has_an_interval():
    said = _width(np.linspace(0.1, 0.3, 101)[None])
    assert "is 20% (11% to 29% with 90% probability)" in said
    assert "is 120%" in _width(np.full((1, 3), 1.2))


def test_the_structure_is_a_sentence():
    assert _structure("round clusters: why") == "Round clusters: why."
