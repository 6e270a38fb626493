"""Where chains start that learn their base measure."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import bind_family
from mixwood.sampling import starting_point as starts
from mixwood.sampling.near_points import group_counts, near_points
from mixwood.sampling.starting_point import Way, best_start, some_rows, starting_point
from mixwood.sampling.structure import best_structure

WHICH = np.arange(45) % 3
X = np.random.default_rng(0).normal(size=(45, 2)) + 9 * WHICH[:, None]
SEED = np.random.SeedSequence(4)


def bound(likelihood=None, data=X):
    likelihood = likelihood or mw.Gaussian()
    model = mw.Mixture(likelihood.resolve(data))
    return model, data, bind_family(model, data)


@pytest.mark.parametrize("n", [1, 5, 10, 99, 1000, 10**6])
def test_counts_of_groups_rise_and_stay_small(n):
    counts = group_counts(n)
    assert counts == sorted(set(counts))
    assert counts[0] == 2
    assert counts[-1] <= max(n // 5, 2)
    assert counts[-1] < 100


def test_near_points_are_together():
    labels = near_points(X, 3, np.random.default_rng(1))
    assert labels.dtype == np.int32
    assert len(set(zip(labels.tolist(), WHICH.tolist(), strict=True))) == 3


@pytest.mark.parametrize(("points", "most"), [(np.zeros((6, 2)), 1), (np.eye(3), 3)])
def test_there_are_no_more_groups_than_points(points, most):
    labels = near_points(points, 5, np.random.default_rng(1))
    assert sorted(set(labels)) == list(range(most))


@pytest.mark.parametrize("init", ["ibhc", "one", "singletons", "on-top", WHICH.astype(np.int32)])
def test_every_start_comes_with_a_base_measure(init):
    model, data, family = bound()
    start = starting_point(init, model, data, family, SEED)
    again = starting_point(init, model, data, family, SEED)
    np.testing.assert_array_equal(again.labels, start.labels)
    np.testing.assert_array_equal(again.family.base, start.family.base)
    assert not np.array_equal(start.family.base, family.base)
    if not isinstance(init, str):
        np.testing.assert_array_equal(start.labels, WHICH)
    elif init == "one":
        assert start.labels.max() == 0
    elif init == "singletons":
        assert start.labels.max() == 44
    elif init == "ibhc":
        assert len(set(zip(start.labels.tolist(), WHICH.tolist(), strict=True))) == 3


def test_a_fixed_base_stays_as_it_is():
    model, data, family = bound(mw.Gaussian(scale="data"))
    assert starting_point("ibhc", model, data, family, SEED).family is family


def test_pilots_over_some_rows_start_all_of_them(monkeypatch):
    def few(data, seed, *most):
        return some_rows(data, seed, *(most or (30,)))

    monkeypatch.setattr(starts, "some_rows", few)
    model, data, family = bound()
    assert some_rows(data, SEED, 30).shape == (30, 2)
    assert some_rows(data, SEED) is data
    start = starting_point("ibhc", model, data, family, SEED)
    assert start.labels.shape == (45,)
    assert len(set(zip(start.labels.tolist(), WHICH.tolist(), strict=True))) == 3


def test_chains_of_any_start_come_to_the_same():
    options = {"draws": 60, "warmup": 60, "chains": 1, "seed": 1, "progress": False}
    for init in ("ibhc", "one", "singletons"):
        post = mw.sample(mw.Mixture(mw.Gaussian()), X, init=init, **options)
        together = post.point_estimate()
        assert len(set(zip(together.tolist(), WHICH.tolist(), strict=True))) == 3, init


def test_rows_that_could_be_in_either_cluster_count_as_so_many_partitions():
    rng = np.random.default_rng(2)
    same, apart = rng.normal(size=(200, 2)), 20.0 * (np.arange(200) % 2)[:, None]
    labels = (np.arange(200) % 2).astype(np.int32)
    choices = [starts._log_choices(bound(data=data)[2], labels) for data in (same, same + apart)]
    np.testing.assert_allclose(choices, [200 * np.log(2), 0.0], atol=8.0)
    assert starts._log_choices(bound(data=same)[2], np.zeros(200, dtype=np.int32)) == 0.0


def test_overlapping_groups_are_found():
    # Each single partition into two has a lower density than one cluster of all rows.
    rng = np.random.default_rng(1)
    which = np.arange(200) % 2
    overlapping = rng.normal(size=(200, 8)) + 0.8 * which[:, None]
    model, data, family = bound(mw.DiagonalGaussian(), overlapping)
    labels = starting_point("ibhc", model, data, family, SEED).labels
    assert labels.max() == 1
    assert abs(np.corrcoef(labels, which)[0, 1]) > 0.6


# --- ways to start that did well are tried again


def tried(monkeypatch):
    """Return a list that grows by each way that is tried."""
    found, at = [], starts._Pilots._at

    def remember(self, way):
        found.append(way)
        return at(self, way)

    monkeypatch.setattr(starts._Pilots, "_at", remember)
    return found


def test_the_best_ways_are_tried_again_and_one_cluster(monkeypatch):
    model, data, family = bound()
    first, ways = best_start(model, data, family, SEED)
    assert len(set(ways)) == len(ways) == starts.WAYS_AGAIN
    found = tried(monkeypatch)
    again, _ = best_start(model, data, family, SEED, ways[:3])
    assert found == [*ways[:3], Way(tree=False, number=0, groups=0)]
    assert len(set(zip(again.labels.tolist(), first.labels.tolist(), strict=True))) == 3


def test_ways_that_do_not_exist_here_are_left_out(monkeypatch):
    found = tried(monkeypatch)
    model, data, family = bound()
    ways = [Way(True, 99, 0), Way(False, 99, 2), Way(False, 0, 10**6), Way(True, 1, 0)]
    start = starting_point("ibhc", model, data, family, SEED, ways=ways)
    assert found == [Way(True, 1, 0), Way(False, 0, 0)]
    assert start.labels.shape == (45,)


def test_chains_try_what_the_pilots_of_their_structure_found(monkeypatch):
    found = tried(monkeypatch)
    chosen = best_structure(mw.Mixture(), mw.AutoGaussian().candidates(X), X, SEED)
    ways = chosen.pilots[0].ways
    del found[:]
    mw.sample(mw.Mixture(), X, draws=1, warmup=0, chains=2, seed=SEED, progress=False, n_jobs=1)
    assert len(ways) == starts.WAYS_AGAIN
    assert set(found[-starts.WAYS_AGAIN :]) <= {*ways, Way(False, 0, 0)}
