"""The table of labels: the rows of the data, their clusters, how sure, and what else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood.posterior import labels_table as module
from mixwood.posterior.labels_table import LABEL_COLUMNS
from mixwood.testing import seed_of


@pytest.mark.parametrize("at_once", [1, 7, 2**24])
def test_it_says_what_membership_says(make_posterior, monkeypatch, at_once):
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    posterior = make_posterior(draws=30, items=14)
    table = posterior.labels_table(loss="binder")
    assert list(table.columns) == list(LABEL_COLUMNS)
    assert table.index.equals(pd.RangeIndex(14))
    estimate = posterior.point_estimate("binder")
    np.testing.assert_array_equal(table["cluster"], estimate)
    np.testing.assert_allclose(table["certainty"], posterior.certainty("binder"))
    chances = posterior.membership("binder")
    assert chances.shape[1] > 2
    for i, row in enumerate(table.itertuples()):
        others = {k: chances[i, k] for k in range(chances.shape[1]) if k != row.cluster}
        assert row.runner_up == max(others, key=others.get)
        assert row.runner_up_probability == pytest.approx(max(others.values()))


def test_it_is_of_the_estimate_that_is_asked_for(make_posterior):
    posterior = make_posterior(draws=40)
    labels = np.tile([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2], (2, 40, 1))
    labels[:, :6, 11] = 1
    posterior = replace(posterior, labels=labels)
    assert posterior.labels_table()["cluster"].max() == 2
    assert posterior.labels_table(min_size=3)["cluster"].max() == 1


def test_no_other_cluster_is_no_runner_up(make_posterior):
    posterior = make_posterior()
    one = replace(posterior, labels=np.zeros_like(posterior.labels)).labels_table()
    assert set(one["cluster"]) == {0}
    assert (one["certainty"] == 1).all()
    assert one[["runner_up", "runner_up_probability"]].isna().to_numpy().all()
    apart = np.tile(np.repeat([0, 1], 6), (2, 10, 1))
    two = replace(posterior, labels=apart).labels_table()
    assert two["runner_up"].isna().all()
    assert two["runner_up"].dtype == "Int64"  # numbers of clusters stay whole


def test_the_table_of_the_user_comes_first(make_posterior):
    posterior = make_posterior()
    mine = pd.DataFrame(
        {"id": [f"p{k}" for k in range(12)], "cluster": range(12)},
        index=pd.Index([f"r{k}" for k in range(12)], name="sample"),
    )
    table = posterior.labels_table(mine)
    assert list(table.columns) == ["id", "cluster (table)", *LABEL_COLUMNS]
    assert table.index.equals(mine.index)
    assert table["id"].tolist() == mine["id"].tolist()
    assert table["cluster (table)"].tolist() == list(range(12))
    assert list(mine.columns) == ["id", "cluster"]  # as it was
    plain = posterior.labels_table()
    np.testing.assert_array_equal(table["cluster"], plain["cluster"])


def test_tables_of_polars_and_repeated_index_values(make_posterior):
    polars = pytest.importorskip("polars")
    posterior = make_posterior()
    table = posterior.labels_table(polars.DataFrame({"id": [str(k) for k in range(12)]}))
    assert table["id"].tolist() == [str(k) for k in range(12)]
    repeated = posterior.labels_table(pd.DataFrame({"a": range(12)}, index=[0, 1] * 6))
    assert repeated["a"].tolist() == list(range(12))
    assert repeated.index.tolist() == [0, 1] * 6


def test_other_tables_are_refused_before_the_estimate(make_posterior, monkeypatch):
    posterior = make_posterior()
    monkeypatch.setattr(mw.Posterior, "point_estimate", lambda *_, **__: pytest.fail("too late"))
    with pytest.raises(ValueError, match=r"one row per row of the data.*12 rows, got 3"):
        posterior.labels_table(pd.DataFrame({"a": [1, 2, 3]}))
    with pytest.raises(TypeError, match="df must be a pandas or polars table"):
        posterior.labels_table(["a"] * 12)


def test_weighted_leaves_have_a_row_each(request):
    rng = np.random.default_rng(seed_of(request.node.name))
    model = mw.Mixture(mw.Poisson())
    X = mw.stream_leaves(model, [rng.poisson(5.0, (200, 1))], max_leaves=8, seed=0)
    posterior = mw.sample(model, X, draws=10, warmup=5, chains=1, seed=1, progress=False)
    table = posterior.labels_table()
    assert len(table) == X.n_leaves
    assert list(table.columns) == ["size", *LABEL_COLUMNS]
    assert table["size"].sum() == 200
    with pytest.raises(ValueError, match="one row per weighted leaf of the data"):
        posterior.labels_table(pd.DataFrame({"a": range(200)}))
