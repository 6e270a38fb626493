"""Pictures: what is drawn, not only that nothing raised."""

from __future__ import annotations

import numpy as np
import pytest

from mixwood.families import Gaussian
from mixwood.plots import best_draw, overview


@pytest.mark.parametrize("d", [1, 2, 5])
def test_overview_shows_every_item_and_every_draw(make_posterior, d):
    X = np.random.default_rng(0).normal(size=(12, d))
    posterior = make_posterior(Gaussian(), X=X)
    partition, counts, joints = overview(posterior).axes
    points = np.concatenate([c.get_offsets() for c in partition.collections])
    assert len(points) == 12
    if d == 2:
        np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(X[:, 0]))
    assert sum(bar.get_height() for bar in counts.patches) == pytest.approx(1)
    np.testing.assert_array_equal([line.get_ydata() for line in joints.lines], posterior.log_joint)
    assert all(axes.get_xlabel() for axes in (partition, counts, joints))


def test_best_draw_has_the_highest_joint(make_posterior):
    posterior = make_posterior()
    assert posterior.log_joint[best_draw(posterior)] == posterior.log_joint.max()
