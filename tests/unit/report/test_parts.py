"""The parts of a report: the verdict, the tree, what is known of the data."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pandas
import pytest

import mixwood as mw
import mixwood.report.figures
import mixwood.report.tree
from mixwood.report import About, Digest, Known, judge, render
from mixwood.report.digest import SUMMARY_FORMATS
from mixwood.report.pieces import table, with_intervals
from mixwood.report.tree import condensed
from mixwood.testing import seed_of


def chains(make_posterior, draws, shift=0.0, chains=4, stickiness=0.0):
    """Return a posterior whose log joints have some shift from chain to chain, or stick."""
    posterior = make_posterior(chains=chains, draws=draws)
    rng = np.random.default_rng(seed_of("chains"))
    values = rng.normal(size=(chains, draws))
    for t in range(1, draws):
        values[:, t] = stickiness * values[:, t - 1] + values[:, t]
    return dataclasses.replace(posterior, log_joint=values + shift * np.arange(chains)[:, None])


def test_chains_that_agree(make_posterior):
    verdict = judge(chains(make_posterior, 1000))
    assert verdict.level == "good"
    assert verdict.r_hat <= 1.01
    assert verdict.effective_draws >= 400
    assert verdict.draws_advised is None


def test_chains_that_do_not_agree(make_posterior):
    verdict = judge(chains(make_posterior, 1000, shift=3.0))
    assert verdict.level == "poor"
    assert verdict.r_hat > 1.5
    assert "do not agree" in verdict.headline
    assert verdict.draws_advised == 10000


def test_where_chains_differ_is_said(make_posterior):
    verdict = judge(chains(make_posterior, 1000, shift=3.0))
    assert verdict.differs == "the joint density"
    assert verdict.differs in verdict.explanation


def test_chains_in_different_partitions_do_not_agree(make_posterior):
    # As many clusters in each, of the same sizes, and of the same density.
    posterior = chains(make_posterior, 1000)
    n = posterior.n_items
    labels = np.zeros_like(posterior.labels)
    labels[:2, :, : n // 2] = 1
    labels[2:, :, : 2 * (n // 2) : 2] = 1
    labels[:, ::2, -1] = 2
    apart = dataclasses.replace(posterior, labels=labels)
    assert apart.summary().loc["n_clusters", "r_hat"] < 1.01
    verdict = judge(apart)
    assert verdict.level == "poor"
    assert verdict.differs == "which rows belong together"


def test_chains_that_agree_but_are_too_short(make_posterior):
    verdict = judge(chains(make_posterior, 40, chains=2))
    assert verdict.level == "poor"
    assert verdict.r_hat <= 1.05
    assert "too few effective draws" in verdict.headline


def test_chains_that_nearly_agree(make_posterior):
    verdict = judge(chains(make_posterior, 400, stickiness=0.8))
    assert verdict.level == "fair"
    assert verdict.draws_advised % 100 == 0
    assert 800 <= verdict.draws_advised <= 4000


def test_what_cannot_be_judged(make_posterior):
    assert judge(chains(make_posterior, 100, chains=1)).level == "unknown"
    verdict = judge(chains(make_posterior, 3))
    assert verdict.level == "unknown"
    assert "too few draws" in verdict.explanation


def test_constant_quantities_do_not_count(make_posterior):
    posterior = chains(make_posterior, 1000)
    still = dataclasses.replace(posterior, labels=np.zeros_like(posterior.labels))
    assert judge(still).level == "good"


@pytest.mark.parametrize("leaves", [2, 7, 1000])
def test_the_condensed_tree_is_the_tree(monkeypatch, seed, leaves):
    monkeypatch.setattr(mixwood.report.tree, "MOST_LEAVES", leaves)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2)) + 5 * rng.integers(0, 3, (40, 1))
    hierarchy = mw.ibhc(mw.Mixture(), X, seed=seed)
    rows = np.arange(100, 140)
    labels = np.zeros(140, dtype=np.int64)
    labels[100:] = hierarchy.labels
    tree = condensed(hierarchy, rows, labels)
    shown = min(leaves, 40)
    drawn = [node for node in tree["nodes"] if node[4] is None]
    assert len(drawn) == shown
    assert len(tree["nodes"]) == 2 * shown - 1
    groups = {frozenset(tree["rows"][start:end]) for start, end, *_ in drawn}
    cut = hierarchy.cut(n_clusters=shown)
    assert groups == {frozenset((100 + np.flatnonzero(cut == k)).tolist()) for k in range(shown)}
    for node in tree["nodes"]:
        start, end, height, chance, left, right = node
        if left is not None:
            assert [tree["nodes"][left][0], tree["nodes"][right][1]] == [start, end]
            assert tree["nodes"][left][1] == tree["nodes"][right][0]
            assert height >= max(tree["nodes"][left][2], tree["nodes"][right][2])
            assert 0 <= chance <= 1
    np.testing.assert_allclose(tree["nodes"][-1][3], hierarchy.probability[-1], rtol=1e-3)


def test_adjusted_rand_is_that_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    for clusters in (1, 2, 5, 30):
        codes, found = rng.integers(0, 4, 30), rng.integers(0, clusters, 30)
        known = Known("x", codes.tolist(), list("abcd"))
        expected = metrics.adjusted_rand_score(codes, found)
        assert known.adjusted_rand(found) == pytest.approx(expected, abs=1e-12)


ABOUT = About("x.csv", "why", Known("k", [0, 1], ["a", "b"]), ["w"], {"id": "no"}, "mixwood fit")


def test_what_is_known_is_read_back(tmp_path):
    (tmp_path / "input.json").write_text(ABOUT.text(), "utf-8")
    assert About.read(tmp_path / "input.json", items=2) == ABOUT


@pytest.mark.parametrize(
    ("change", "items"),
    [
        ({}, 3),
        ({"source": 1}, 2),
        ({"words": [1]}, 2),
        ({"left_out": []}, 2),
        ({"known": {"name": "k", "codes": [0, 5], "levels": ["a"]}}, 2),
        ({"known": {"name": "k", "codes": [0, True], "levels": ["a", "b"]}}, 2),
        ({"known": {"codes": []}}, 0),
        ({"known": 7}, 2),
    ],
)
def test_what_is_not_as_written_is_refused(tmp_path, change, items):
    path = tmp_path / "input.json"
    content = dataclasses.asdict(ABOUT) | change
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"input\.json"):
        About.read(path, items)


def test_numbers_in_tables_are_for_readers():
    frame = pandas.DataFrame(
        {"mean": [3370.4, 0.5], "year mean": [1987.4, 2012.0], "r_hat": [1.0, 1.0042]},
        index=["a", "b"],
    )
    text = table(frame, "key", "caption", formats=SUMMARY_FORMATS)
    cells = re.findall(r'<td class="number"[^>]*>([^<]*)</td>', text)
    assert cells == ["3,370", "1987", "1.000", "0.5", "2012", "1.004"]


def test_years_keep_no_separator_in_intervals():
    frame = pandas.DataFrame({"year": [1987.4], "year low": [1950.2], "year high": [2011.0]})
    assert with_intervals(frame)["year"][0] == "1987\n1950 to 2011"


@pytest.mark.parametrize(
    ("chains", "draws", "said"), [(1, 1, "1 chain of 1 draw"), (2, 1500, "2 chains of 1,500 draws")]
)
def test_one_is_singular(make_posterior, monkeypatch, chains, draws, said):
    monkeypatch.setattr(mixwood.report.figures, "drawn", lambda *_, **__: "")
    page = render(Digest(make_posterior(chains=chains, draws=draws), About()))
    assert said in page
    assert "e+0" not in re.sub(r"<(script|style).*?</\1>|data:image[^\"]*", "", page, flags=re.S)
