"""Learned base measures in the twin: exact; and wrong updates, which must fail."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

import mixwood as mw
from mixwood.likelihoods.learned import LearnedScale
from mixwood.reference import GibbsChain, Stream, family_of
from mixwood.reference.base import DiagonalGaussianBase, GaussianBase
from mixwood.reference.base.regression import RegressionBase
from mixwood.reference.families import dense
from mixwood.testing import base_update_test, goodness_of_fit
from tests.statistical.conftest import LEARNED

PRIOR = mw.NGGP(alpha=6.0, sigma=0.5)


@pytest.mark.parametrize("case", LEARNED)
def test_the_twin_is_exact(case, run_twin, seed):
    likelihood, X = LEARNED[case]
    model = mw.Mixture(likelihood, PRIOR)
    run = run_twin(GibbsChain, model, X[:4], 2)
    result = goodness_of_fit(model, X[:4], replicates=400, seed=seed, run=run)
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.parametrize("case", LEARNED)
def test_the_twin_is_exact_in_the_long_run(case, run_twin, fresh_seed):
    likelihood, X = LEARNED[case]
    model = mw.Mixture(likelihood, PRIOR)
    run = run_twin(GibbsChain, model, X, 3)
    result = goodness_of_fit(model, X, replicates=10_000, seed=fresh_seed, run=run)
    assert result.passed(), result


# --- each update alone, in two columns: rows and r say something of each other

GAUSSIAN = mw.Gaussian().resolve_standard(2)
# of little memory: updates see much of the prior
LOOSE = mw.Gaussian(nu=4.0).resolve_standard(2)
# a floor that matters
HIGH_FLOOR = mw.Gaussian(
    nu=4.0, mean=[0.0, 0.0], scale=LearnedScale(np.eye(2), np.diag([0.15, 0.1]))
)
# rounded values: Psi has a floor, too
TIES = mw.Gaussian(
    nu=mw.hyper.LogNormal(10, 2),
    mean=[0.0, 0.0],
    scale=LearnedScale(np.eye(2), 1e-6 * np.eye(2), np.diag([20.0, 30.0])),
)
LOOSE_TIES = mw.Gaussian(
    nu=4.0,
    mean=[0.0, 0.0],
    scale=LearnedScale(np.eye(2), 1e-6 * np.eye(2), np.diag([0.15, 0.1])),
)
PAIRS, ALONE = np.arange(12) // 2, np.arange(6)


@pytest.fixture
def exact_draws(monkeypatch):
    """Draws from the hyperprior by rejection: `draw_base` moves what is below the floor of ties."""
    draw = mw.Gaussian.draw_base

    def drawn(likelihood, rng):
        free = replace(likelihood, scale=replace(likelihood.scale, tie_floor=None))
        learned = family_of(likelihood).learned
        bases = (draw(free, rng) for _ in count())
        return next(base for base in bases if np.isfinite(learned.log_hyperprior(base)))

    monkeypatch.setattr(mw.Gaussian, "draw_base", drawn)


def of_twin(likelihood, X, labels, base, rng):
    """The whole update of a likelihood's twin."""
    family, X = family_of(likelihood), dense(X)
    family.set_base(base)
    stats = [family.of(X[labels == c]) for c in np.unique(labels)]
    family.update_base(stats, Stream(rng))
    return family.base


def one_step(name, kind=GaussianBase):
    """One of the steps of the Gaussian update."""

    def update(likelihood, X, labels, base, rng):
        family, learned = family_of(likelihood), kind(likelihood)
        stats = [family.of(X[labels == c]) for c in np.unique(labels)]
        step = getattr(learned, name)
        scale = step(learned.clusters(stats), learned.unpacked(base), Stream(rng))
        return learned.packed(scale)

    return update


@pytest.mark.parametrize(
    ("step", "likelihood"),
    [
        ("slice_nu", GAUSSIAN),
        ("slice_size", GAUSSIAN),
        ("move_shape", LOOSE),
        ("slice_size", HIGH_FLOOR),
        ("move_shape", HIGH_FLOOR),
        ("slice_nu", TIES),
        ("slice_size", LOOSE_TIES),
        ("move_shape", LOOSE_TIES),
    ],
    ids=[
        *("nu", "size", "shape", "size above a floor", "shape above a floor"),
        *("nu with ties", "size with ties", "shape with ties"),
    ],
)
@pytest.mark.usefixtures("exact_draws")
def test_each_step_alone_leaves_the_joint_law(step, likelihood, seed):
    result = base_update_test(
        likelihood, ALONE, replicates=200, applications=4, seed=seed, update=one_step(step)
    )
    assert result.passed(), result


def test_some_of_the_rows_may_wait(monkeypatch, seed):
    monkeypatch.setattr("mixwood.reference.base.gaussian.MOST_ROWS", 1)
    result = base_update_test(
        LOOSE, ALONE, replicates=200, applications=4, seed=seed, update=one_step("move_shape")
    )
    assert result.passed(), result


@pytest.mark.parametrize(
    "likelihood",
    [
        mw.Gaussian(nu=9.0, r=mw.hyper.Gamma(2, 20)).resolve_standard(2),
        mw.Gaussian(r=0.1).resolve_standard(3),
        mw.DiagonalGaussian().resolve_standard(2),
        mw.DiagonalGaussian(r=mw.hyper.LogNormal(0.1, 1)).resolve_standard(2),
        mw.SphericalGaussian().resolve_standard(2),
        mw.Poisson(rate=[1.0, 2.0]).resolve_standard(2),
        mw.Product({(0, 2): mw.Gaussian(), 1: mw.Bernoulli()}).resolve_standard(3),
    ],
    ids=["free r", "fixed r", "diagonal", "diagonal, free r", "spherical", "poisson", "product"],
)
def test_the_update_leaves_the_joint_law(likelihood, seed):
    result = base_update_test(
        likelihood, PAIRS, replicates=200, applications=2, seed=seed, update=of_twin
    )
    assert result.passed(), result


def test_noise_moved_without_its_slopes_is_wrong(monkeypatch, seed):
    """A mutation: the determinant of the slopes' precision is left out."""
    likelihood = mw.Regression(2, nu=9.0).resolve_standard(3)
    labels = np.arange(12) // 4
    options = {"replicates": 150, "applications": 3, "seed": seed, "update": of_twin}
    assert base_update_test(likelihood, labels, **options).passed()

    def without(self, prepared, base):
        there = right(self, prepared, base)
        return there - len(prepared[0].zy[1:]) * np.log(np.exp(base[0]) / self.slopes) / 2

    right = RegressionBase.log_marginals_of
    monkeypatch.setattr(RegressionBase, "log_marginals_of", without)
    assert not base_update_test(likelihood, labels, **options).passed()


def test_sizes_moved_without_what_rows_add_are_wrong(monkeypatch, seed):
    """A mutation: as if a count's coefficient did not depend on the size."""
    likelihood = mw.NegativeBinomial(shape=1.0).resolve_standard(1)
    options = {"replicates": 150, "applications": 3, "seed": seed, "update": of_twin}
    assert base_update_test(likelihood, PAIRS, **options).passed()
    monkeypatch.setattr("mixwood.reference.base.negative_binomial.gammaln", lambda x: 0.0 * x)
    assert not base_update_test(likelihood, PAIRS, **options).passed()


@pytest.mark.long
@pytest.mark.parametrize("likelihood", [GAUSSIAN, LOOSE, TIES], ids=["free", "loose", "ties"])
@pytest.mark.parametrize("update", ["slice_size", "slice_r", "move_shape", "update"])
@pytest.mark.usefixtures("exact_draws")
def test_updates_leave_the_joint_law_in_the_long_run(update, likelihood, fresh_seed):
    step = of_twin if update == "update" else one_step(update)
    result = base_update_test(likelihood, PAIRS, replicates=6000, seed=fresh_seed, update=step)
    assert result.passed(), result


def only_the_first_floor(right):
    return lambda self, scale: right(self, scale)[:1]


FORGETS_R = "r not in the acceptance"
# what is replaced, by what, in which step, and where it shows
MUTATIONS = {
    FORGETS_R: ("log_centres", lambda _: lambda *_: 0.0, "move_shape", LOOSE),
    "no Jacobian": ("log_jacobian", lambda _: lambda *_: 0.0, "slice_size", LOOSE),
    "degrees eta + K nu'": (
        "power",
        lambda right: lambda self, clusters, nu: right(self, clusters, nu - self.d - 1),
        "move_shape",
        LOOSE,
    ),
    "an empty cluster counted": (
        "power",
        lambda right: lambda self, clusters, nu: right(self, clusters + 1, nu),
        "move_shape",
        LOOSE,
    ),
    "the size ignores the floor": (
        "above_floor",
        lambda _: lambda *_: True,
        "slice_size",
        HIGH_FLOOR,
    ),
    "the shape ignores the floor": (
        "least_schur",
        lambda _: lambda *_: 0.0,
        "move_shape",
        HIGH_FLOOR,
    ),
    "the tie of r ignores its law": (
        "_log_hyperprior",
        lambda right: lambda self, scale: right(self, scale._replace(log_r=0.0)),
        "slice_r",
        LOOSE,
    ),
    "nu ignores the floor of ties": ("floors", only_the_first_floor, "slice_nu", TIES),
    "the size ignores the floor of ties": (
        "floors",
        only_the_first_floor,
        "slice_size",
        LOOSE_TIES,
    ),
    "the shape ignores the floor of ties": (
        "floors",
        only_the_first_floor,
        "move_shape",
        LOOSE_TIES,
    ),
}


def wrong_update_test(mutation, seed, replicates):
    name, mutate, step, likelihood = MUTATIONS[mutation]
    wrong = type("Wrong", (GaussianBase,), {name: mutate(getattr(GaussianBase, name))})
    return base_update_test(
        likelihood,
        ALONE,
        replicates=replicates,
        applications=6,
        seed=seed,
        update=one_step(step, wrong),
    )


@pytest.mark.parametrize("mutation", [name for name in MUTATIONS if name != FORGETS_R])
@pytest.mark.usefixtures("exact_draws")
def test_a_wrong_update_fails(mutation, seed):
    result = wrong_update_test(mutation, seed, 200)
    assert not result.passed(), result


def test_r_is_seen_only_together_with_the_data(seed):
    """The law of the base alone looks right, which is why functions of both are compared."""
    result = wrong_update_test(FORGETS_R, seed, 600)
    assert result.p_values["r x centres"] < 1e-6, result
    assert result.p_values["log_trace"] > 1e-3, result


# --- through a chain, against the exact posterior

# rounded values: the floor is a twentieth of the variance
ROUNDED = [[0.0], [0.0], [1.0], [1.0]]


@pytest.mark.parametrize("family", [mw.Gaussian(), mw.DiagonalGaussian()], ids=["full", "diagonal"])
@pytest.mark.parametrize("wrong", [False, True], ids=["right", "floor ignored"])
def test_the_floor_of_rounded_values(family, wrong, run_twin, seed, monkeypatch):
    model = mw.Mixture(family, PRIOR)
    if wrong:
        for learned in (GaussianBase, DiagonalGaussianBase):
            monkeypatch.setattr(learned, "above_floor", lambda *_: True)
    run = run_twin(GibbsChain, model, ROUNDED, 3)
    result = goodness_of_fit(model, ROUNDED, replicates=400, seed=seed, run=run)
    assert result.passed() != wrong, result
