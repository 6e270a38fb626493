"""What fuzzing has found, each once: an argument that was wrong and not named, or worse."""

from __future__ import annotations

import fractions

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood import partitions

ROWS = np.array([[0.0], [0.1], [9.0], [9.1]])


@pytest.fixture(scope="module")
def post():
    return mw.sample(mw.Mixture(), ROWS, draws=4, warmup=2, chains=1, seed=1, progress=False)


def sample(**arguments):
    mw.sample(mw.Mixture(), ROWS, progress=False, **arguments)


FOUND = {
    "text as a parameter": (lambda: mw.Gaussian(mean="x"), "mean holds strings"),
    "complex numbers": (lambda: mw.DiagonalGaussian(scale=np.ones(2) * 1j), "scale holds complex"),
    "a ragged matrix": (lambda: mw.Gaussian(scale=[[1.0], [1.0, 2.0]]), "scale must be a rect"),
    "beyond floats": (lambda: mw.NGGP(alpha=10**400), "alpha must be a finite float"),
    "a fraction": (lambda: mw.Gaussian(r=fractions.Fraction(10**400)), "r must be a finite float"),
    "5,000 digits": (lambda: mw.Gibbs(subset=10**5000), "subset must be at most"),
    "beyond 64 bits": (lambda: mw.NGGP().expected_clusters(2**64), "n must be at most"),
    "categories beyond memory": (lambda: mw.Categorical(n_categories=2**40), "n_categories must"),
    "categories of no column": (lambda: mw.Categorical(n_categories=()), "n_categories must"),
    "a rate that is none": (lambda: mw.Poisson(rate=[[1.0], []]), "rate must be"),
    "a masked number": (lambda: mw.bhc(mw.Mixture(), np.ma.array(0.0)), "X must be an array"),
    "densities that are no numbers": (lambda: mw.Bernoulli(a=2e305), "a must lie between"),
    "blocks that are none": (
        lambda: mw.stream_leaves(mw.Mixture(), np.array(1.0)),
        "blocks must be",
    ),
    "chains beyond memory": (lambda: sample(chains=2**31), "chains must be at most"),
    "ragged labels": (lambda: sample(init=[[0], [1, 2]]), "init must be a rectangular"),
    "simulate without a model": (lambda: mw.simulate(None, 3), "model must be"),
    "simulate's seed": (lambda: mw.simulate(mw.Mixture(), 3, seed=-1), "seed must be"),
    "ragged partitions": (lambda: partitions.binder([[0], [1, 2]], [0]), "a must be"),
}
OF_POSTERIOR = {
    "loss": (lambda post: post.credible_ball(loss=pd.NA), "loss must be"),
    "clusters": (lambda post: post.point_estimate(max_clusters=[]), "max_clusters must be"),
    "seed": (lambda post: (post.point_estimate(seed=1), post.point_estimate(seed=True)), "seed"),
    "no draws": (lambda post: post.thinned(0), "draws must be at least 1"),
    "draws of nothing": (lambda post: post.thinned(None), "draws must be a whole number"),
    "names": (lambda post: post.describe(words=3), "words must be 1 names"),
    "type": (lambda post: post.similarity(dtype=pd.NA), "dtype must be"),
    "rows": (lambda post: post.similarity(rows=[[0], [1, 2]]), "rows must be"),
}


@pytest.mark.parametrize("case", FOUND)
def test_arguments_found(case):
    call, message = FOUND[case]
    with pytest.raises((TypeError, ValueError), match=message):
        call()


@pytest.mark.parametrize("case", OF_POSTERIOR)
def test_arguments_found_in_methods(case, post):
    call, message = OF_POSTERIOR[case]
    with pytest.raises((TypeError, ValueError), match=message):
        call(post)
