"""The sentence about clusters that overlap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mixwood.report import About, Digest, render
from mixwood.report.overlap_words import overlap_in_words

HOW = "In Python, post.merge() joins them and shows the tree of all merges."
BORDERS = (7, 8, 9, 10, 10, 10, 11, 12, 13)


def posterior_of(make_posterior, pairs, apart=1):
    """Return pairs of clusters whose border is now here now there, and others that are clear."""
    rows = []
    for border in BORDERS:
        labels = [2 * k + (place >= border) for k in range(pairs) for place in range(20)]
        rows.append(labels + [2 * pairs + k for k in range(apart) for _ in range(8)])
    posterior = make_posterior(items=len(rows[0]), draws=len(rows), chains=1)
    return replace(posterior, labels=np.array(rows)[None])


def said(posterior):
    return overlap_in_words(posterior, posterior.point_estimate())


def test_nothing_is_said_where_nothing_overlaps(make_posterior):
    assert said(posterior_of(make_posterior, 0)) == []
    assert said(posterior_of(make_posterior, 0, apart=3)) == []
    assert said(posterior_of(make_posterior, 0, apart=201)) == []


def test_clusters_are_named_unless_they_are_many(make_posterior):
    assert said(posterior_of(make_posterior, 1)) == [
        f"Clusters 0 and 1 overlap so much that they may be one group, of another shape. {HOW}"
    ]
    assert said(posterior_of(make_posterior, 2)) == [
        "Clusters 0 and 1; 2 and 3 overlap so much that they may be one group each, of another "
        f"shape. {HOW}"
    ]
    assert said(posterior_of(make_posterior, 7)) == [
        f"Many clusters overlap so much that they may be parts of 8 groups in all. {HOW}"
    ]


def test_the_report_says_it(make_posterior):
    sentence = "Clusters 0 and 1 overlap so much"
    assert sentence in render(Digest(posterior_of(make_posterior, 1), About()))
    assert sentence not in render(Digest(posterior_of(make_posterior, 0, apart=3), About()))
