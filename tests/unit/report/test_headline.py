"""How many clusters, in words: made-up posteriors for every case, and the sentences in full."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mixwood as mw
from mixwood._support.labels import by_size, in_order_of_appearance
from mixwood.cli.outcome import as_json, print_outcome
from mixwood.report import About, Digest, render
from mixwood.report.headline import Number, headline, least_size
from mixwood.testing import seed_of


def labels_of(*sizes):
    """Return labels of clusters of these sizes, one after the other."""
    return np.repeat(np.arange(len(sizes)), sizes)


def posterior_of(*draws, X=None):
    """Return a posterior with these draws, each given as labels and how often; 100 in all."""
    times = [often for _, often in draws]
    rows = [in_order_of_appearance(labels) for labels, _ in draws]
    labels = np.repeat(rows, times, axis=0)[None]
    assert labels.shape[1] == 100
    likelihood = mw.Poisson(shape=1.0, rate=[1.0])
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
    zeros = np.zeros((1, 100))
    return mw.Posterior(labels, zeros, zeros, {}, model, likelihood, X)


def said(posterior, estimate):
    return headline(posterior, by_size(estimate, posterior.item_sizes)).sentences


THREE, FOUR, FIVE = labels_of(40, 30, 30), labels_of(40, 30, 20, 10), labels_of(20, 20, 20, 20, 20)
VI = "it minimizes the expected variation of information over all draws, "
FEWER = VI + "which tends to fewer, since what draws divide in different ways stays together."
MORE = VI + "which may give more, since rows whose place differs from draw to draw are set apart."
BOTH = VI + (
    "which leaves together what draws divide in different ways, and sets apart rows whose place "
    "differs from draw to draw."
)


def odd_rows(labels, *rows):
    """Return labels with some rows set apart, each alone."""
    labels = labels.copy()
    labels[list(rows)] = 1000 + np.arange(len(rows))
    return labels


def test_all_agree():
    assert said(posterior_of((THREE, 97), (FOUR, 3)), THREE) == [
        "3 clusters, with probability 97%."
    ]


def test_all_agree_but_the_number_is_uncertain():
    assert said(posterior_of((THREE, 60), (FOUR, 40)), THREE) == [
        "3 clusters, with probability 60%.",
        "With 90% probability there are 3 to 4 clusters.",
    ]


def test_a_stray_row_in_few_draws_makes_it_no_longer():
    stray = odd_rows(THREE, 5)
    assert said(posterior_of((THREE, 97), (stray, 3)), THREE) == [
        "3 clusters, with probability 97%."
    ]


def test_the_estimate_is_within_the_interval():
    assert said(posterior_of((THREE, 40), (FOUR, 60)), THREE) == [
        "4 clusters, with probability 60%.",
        "With 90% probability there are 3 to 4 clusters.",
        f"The estimate has 3 clusters: {FEWER}",
    ]


def test_the_estimate_is_outside_the_interval():
    assert said(posterior_of((FOUR, 40), (FIVE, 60)), THREE) == [
        "5 clusters, with probability 60%.",
        "With 90% probability there are 4 to 5 clusters.",
        f"The estimate has 3 clusters (fewer than nearly all draws have): {FEWER}",
    ]
    assert said(posterior_of((THREE, 100)), FIVE) == [
        "3 clusters, with probability >99%.",
        f"The estimate has 5 clusters (more than nearly all draws have): {MORE}",
    ]


def test_groups_have_another_mode_than_clusters():
    draws = [(odd_rows(THREE, k), 30) for k in range(2)]  # another row each time
    assert said(posterior_of(*draws, (THREE, 40)), THREE) == [
        "3 groups of at least 2 rows, with probability >99%.",
        "In the estimate, none of the 100 rows is outside these groups; in a typical draw, 1.",
        "Counting smaller clusters too, there are 3 to 4 in all, with 90% probability; "
        "4 is likeliest (60%).",
        f"The estimate has 3 clusters in all: {FEWER}",
    ]


def test_groups_of_rows_are_not_called_groups_of_clusters():
    """Where users gave groups, the word is theirs."""
    draws = [(odd_rows(THREE, k), 30) for k in range(2)]
    post = posterior_of(*draws, (THREE, 40))
    head = headline(post, by_size(THREE, post.item_sizes))
    assert replace(head, noun="cluster").sentences[:2] == [
        "3 clusters of at least 2 rows, with probability >99%.",
        "In the estimate, none of the 100 rows is outside these clusters; in a typical draw, 1.",
    ]


def test_all_clusters_can_have_a_lower_mode_than_groups():
    five = [odd_rows(FIVE, *range(k)) for k in range(4)]
    posterior = posterior_of(*((labels, 15) for labels in five), (THREE, 40))
    (_, _, outside, total) = said(posterior, odd_rows(FIVE, 0))[:4]
    assert outside == (
        "In the estimate, 1 of the 100 rows is outside these groups; in a typical draw, none."
    )
    assert total == (
        "Counting smaller clusters too, there are 3 to 8 in all, with 90% probability; 3 is "
        "likeliest (40%), fewer than 5 since draws with that many groups differ in how many "
        "smaller clusters they have."
    )


def test_many_single_rows():
    many = odd_rows(THREE, *range(0, 60, 2))
    more = odd_rows(THREE, *range(0, 60, 2), 61, 63)
    assert said(posterior_of((many, 80), (more, 20)), many) == [
        "3 groups of at least 2 rows, with probability >99%.",
        "30 of the 100 rows are outside these groups.",
        "Counting smaller clusters too, there are 33 to 35 in all, with 90% probability; "
        "33 is likeliest (80%).",
    ]
    assert said(posterior_of((many, 96), (more, 4)), more) == [
        "3 groups of at least 2 rows, with probability >99%.",
        "In the estimate, 32 of the 100 rows are outside these groups; in a typical draw, 30.",
        "Counting smaller clusters too, there are 33 in all, with probability 96%.",
        f"The estimate has 35 clusters in all (more than nearly all draws have): {MORE}",
    ]


def test_groups_are_half_a_percent_of_the_rows():
    large = labels_of(500, 480, 6, 4, 10)  # of 1,000 rows: 5 make a group
    assert said(posterior_of((large, 100)), large) == [
        "4 groups of at least 5 rows, with probability >99%.",
        "4 of the 1,000 rows are outside these groups.",
        "Counting smaller clusters too, there are 5 in all, with probability >99%.",
    ]
    assert [least_size(n) for n in (1, 2, 400, 401, 1000, 1001, 10**6)] == [
        2, 2, 2, 3, 5, 6, 5000,
    ]  # fmt: skip


def test_groups_and_clusters_differ_both_ways():
    crowd = odd_rows(FOUR, 0, 1)
    assert said(posterior_of((crowd, 100)), odd_rows(THREE, 0, 1, 2, 3, 4))[-1] == (
        "The estimate has 3 such groups (fewer than nearly all draws have) and 8 clusters in all "
        f"(more than nearly all draws have): {BOTH}"
    )
    assert (
        "has 3 such groups (fewer than nearly all draws have): it"
        in (said(posterior_of((crowd, 100)), odd_rows(THREE, 0, 1, 2))[-1])
    )


def test_one_cluster():
    one = np.zeros(100, dtype=int)
    assert said(posterior_of((one, 100)), one) == ["1 cluster, with probability >99%."]
    assert said(posterior_of((one, 60), (odd_rows(one, 3), 40)), one) == [
        "1 group of at least 2 rows, with probability >99%.",
        "Counting smaller clusters too, there are 1 to 2 in all, with 90% probability; "
        "1 is likeliest (60%).",
    ]


def test_few_rows():
    assert said(posterior_of(([0], 100)), [0]) == ["1 cluster, with probability >99%."]
    assert said(posterior_of(([0, 1], 100)), [0, 1]) == [
        "2 clusters, with probability >99%.",
        "No cluster has 2 rows or more, with probability >99%.",
    ]
    assert said(posterior_of(([0, 1, 2], 70), ([0, 0, 1], 30)), [0, 0, 1]) == [
        "3 clusters, with probability 70%.",
        "With 90% probability there are 2 to 3 clusters.",
        "No cluster has 2 rows or more, with probability 70%.",
        f"The estimate has 1 group of at least 2 rows and 2 clusters in all: {BOTH}",
    ]


def test_leaves_count_as_many_rows_as_they_stand_for():
    X = np.repeat([[1.0], [50.0]], 250, axis=0)
    leaves = mw.stream_leaves(mw.Mixture(mw.Poisson()), [X], max_leaves=6, seed=0)
    rng = np.random.default_rng(seed_of("leaves"))
    draws = [(rng.integers(0, 4, leaves.n_leaves), 10) for _ in range(10)]
    posterior = posterior_of(*draws, X=leaves)
    found = headline(posterior, by_size(draws[0][0], leaves.sizes))
    assert (found.rows, found.least) == (500, 3)
    rows = [labels[leaves.leaf_of_row] for labels, _ in draws]
    sizes = [np.bincount(labels) for labels in rows]
    groups = [int((each >= 3).sum()) for each in sizes for _ in range(10)]
    assert found.groups == Number.of(np.array(groups), int((sizes[0] >= 3).sum()))
    assert found.outside == int(sizes[0][sizes[0] < 3].sum())


def test_the_likeliest_number_is_always_in_the_interval():
    numbers = np.concatenate([np.full(40, 1000), np.repeat(np.arange(100), 39)])
    number = Number.of(numbers, 50)
    assert (number.likeliest, number.low, number.high) == (1000, 5, 1000)
    assert number.probability == pytest.approx(40 / len(numbers))


def test_whatever_the_draws_no_disagreement_goes_without_a_word():
    rng = np.random.default_rng(seed_of("no disagreement"))
    seen = set()
    for _ in range(300):
        n, spread = int(rng.integers(1, 30)), rng.integers(1, 12, 5)
        draws = [(rng.integers(0, k, n), 20) for k in spread]
        posterior = posterior_of(*draws)
        estimate = by_size(draws[0][0])
        found = headline(posterior, estimate)
        text = " ".join(found.sentences)
        differ = found.clusters.estimate != found.clusters.likeliest or (
            found.groups.estimate != found.groups.likeliest
        )
        assert differ == ("The estimate has" in text)
        assert found.clusters.low >= found.groups.low
        assert found.clusters.high >= found.groups.high
        if found.groups.likeliest != found.clusters.likeliest:
            assert "smaller clusters" in text or "No cluster has" in text or n == 1
        for one, other in itertools.pairwise(found.sentences):
            assert one.endswith(".")
            assert one != other
        assert not re.search(r"\b1 (groups|clusters|rows)\b|\b(?!1\b)\d+ (group|cluster) ", text)
        seen.add((found.one_number, differ, found.groups.likeliest == 0))
    assert len(seen) >= 6


def test_terminal_report_and_json_say_the_same(make_posterior, capsys):
    digest = Digest(make_posterior(items=40, clusters=9, draws=30), About("x"))
    sentences = digest.headline.sentences
    assert len(sentences) >= 3
    print_outcome(digest)
    printed = capsys.readouterr().out
    assert printed.startswith(sentences[0])
    page = " ".join(re.sub(r"<[^>]*>", " ", render(digest)).split())
    outcome = json.loads(as_json(digest, Path("run"), None))
    for sentence in sentences[1:]:
        assert sentence in printed
        assert sentence in page
        assert sentence in outcome["headline"]
    assert sentences[0].split(", with")[0] in page
    assert outcome["headline"].startswith(sentences[0])
    assert outcome["n_groups"] == digest.headline.groups.likeliest
    assert outcome["n_groups_interval"] == list(digest.headline.groups.interval)
    assert outcome["group_size"] == 2
    assert outcome["rows_outside_groups"] == digest.headline.outside
