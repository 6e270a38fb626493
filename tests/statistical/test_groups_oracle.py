"""Rows in groups: the law of partitions, the samplers against enumeration, and wrong ones."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln, logsumexp

import mixwood as mw
from mixwood import hyper
from mixwood.core import make_chain
from mixwood.input.groups import Members, moved_groups
from mixwood.likelihoods.known_labels import collapsed
from mixwood.likelihoods.row_weights import weighted_rows
from mixwood.posterior.leave_one_out import log_ordinates
from mixwood.reference import groups as reference_groups
from mixwood.reference.groups import (
    GroupedGibbsChain,
    GroupedSplitMergeChain,
    GroupedTreeChain,
)
from mixwood.reference.tree_sampler import GuideTree
from mixwood.testing.enumeration import all_partitions
from mixwood.testing.goodness import chi_square
from mixwood.testing.groups import (
    GroupedPosterior,
    GroupLaw,
    enumerate_groups,
    goodness_of_fit_of_groups,
)
from tests.statistical.conftest import CASES, LEARNED

GROUPS = np.array([0, 1, 1, 0, 1])
FIXED = mw.FiniteMixture(rate=6.0, gamma=1.5)
RANDOM = mw.FiniteMixture(rate=hyper.Gamma(3, 0.5), gamma=hyper.LogNormal(1.0, 0.7))
OWN = mw.FiniteMixture(rate=hyper.Gamma(3, 0.5), gamma=hyper.Gamma(4, 2), per_group=True)
# of so many components that they are not counted: u, gamma and the rate move by slices
MANY = mw.FiniteMixture(rate=hyper.Gamma(2, 0.001), gamma=hyper.Gamma(4, 40), per_group=True)
SAMPLERS = {
    "gibbs": mw.Gibbs(),
    "split_merge": mw.SplitMerge(scans=2),
    "tree": mw.Tree(3, 3, 3, rebuild=2, fitted_moves=1),
    "blocks": mw.Tree(4, 0, 0, rebuild=2, fitted_moves=0),
    "splits": mw.Tree(0, 6, 1, rebuild=2, fitted_moves=0),
    "fitted": mw.Tree(0, 0, 1, rebuild=2, fitted_moves=5),
    "redraws": mw.Tree(0, 0, 1, rebuild=2, fitted_moves=0, redraw_moves=5),
    "leaves": mw.Tree(0, 0, 6, rebuild=2, fitted_moves=0),
}


# --- the law


def by_quadrature(counts, rate, gammas):
    """log of the integral of p(Pi, u) over u_1 and u_2, without the factor 1/(1 - e^-rate)."""
    v = np.arange(-60.0, 90.0, 0.15)
    log_tau, clusters = np.logaddexp(0, v), counts.shape[1]
    log_p = clusters * np.log(rate) + 2 * np.log(0.15)
    parts = []
    for n_k, gamma in zip(counts, gammas, strict=True):
        n = n_k.sum()
        log_p += np.sum(gammaln(gamma + n_k) - gammaln(gamma)) - gammaln(n)
        parts.append(n * v - (n + clusters * gamma) * log_tau)
    log_chi = -gammas[0] * log_tau[:, None] - gammas[1] * log_tau
    return log_p + logsumexp(parts[0][:, None] + parts[1] + rate * np.expm1(log_chi))


@pytest.mark.parametrize("gammas", [(0.7, 0.7), (0.4, 2.5)])
def test_partitions_by_quadrature_and_by_components(gammas):
    """Two derivations of the law; over all partitions it sums to 1 - e^-rate."""
    rate = 3.0
    law = GroupLaw(mw.FiniteMixture(rate=rate, gamma=1.0), GROUPS)
    law.gammas = np.array([gammas])
    partitions = all_partitions(5)
    log_u = [by_quadrature(law.counts(labels), rate, gammas) for labels in partitions]
    np.testing.assert_allclose(np.exp(log_u).sum(), -np.expm1(-rate), rtol=1e-9)
    log_m = [law.log_probability(labels) + np.log(-np.expm1(-rate)) for labels in partitions]
    np.testing.assert_allclose(log_u, log_m, rtol=1e-9)


def test_exact_draws_have_the_density_of_the_twin():
    """E[p(Pi', u)/p(Pi, u)] over exact draws of (u, rate, gamma) given Pi is P(Pi')/P(Pi)."""
    likelihood, X = CASES["spherical"]
    model = mw.Mixture(likelihood, RANDOM)
    exact = enumerate_groups(model, X, GROUPS)
    ratios, rng = [], np.random.default_rng(5)
    one, other = exact.exact.partitions[[7, 23]]
    draws = exact.law.draw(one, 4000, rng)
    chain = GroupedGibbsChain(model, np.array(X), one, rng, groups=GROUPS)
    for k in range(4000):
        values = (0.0, draws["log_alpha"][k], draws["sigma"][k], 0.0)
        joints = []
        for labels in (one, other):
            chain.set_state(labels, *values)
            chain.set_groups(draws["groups"][k])
            joints.append(chain.log_joint())
        ratios.append(np.exp(joints[1] - joints[0]))
    error = np.std(ratios) / np.sqrt(len(ratios))
    p = exact.exact.probabilities
    assert abs(np.mean(ratios) - p[23] / p[7]) < 5 * error


# --- the plain chains


def run_twin(chain_class, model, X, iterations, groups=GROUPS, **options):
    """Return a `run` for the oracle that runs a Python chain from each start."""
    X = model.likelihood.check(X)
    names = ("labels", "log_u", "log_alpha", "sigma", "theta")

    def run(starts, rng):
        chain = chain_class(model, X, starts["labels"][0], rng, groups=groups, **options)
        finals = {name: np.empty_like(values) for name, values in starts.items()}
        J = len(chain.group_sizes)
        for i in range(len(starts["labels"])):
            chain.set_state(*(starts[name][i] for name in names))
            values = starts["groups"][i]
            chain.set_groups(values[:J], values[J:] if len(values) > J else None)
            chain.iterate(iterations)
            for name in names:
                finals[name][i] = getattr(chain, name)
            both = [*chain.log_us, *chain.parameters.gammas]
            finals["groups"][i] = both[: len(values)]
        return finals

    return run


@pytest.mark.parametrize("prior", [RANDOM, OWN], ids=["one gamma", "each its own"])
@pytest.mark.parametrize("way", ["by components", "by slices"])
def test_the_plain_chain_is_exact(prior, way, monkeypatch, seed):
    if way == "by slices":
        monkeypatch.setattr(reference_groups, "MANY_COMPONENTS", -1.0)
    likelihood, X = CASES["poisson"]
    model = mw.Mixture(likelihood.resolve(likelihood.check(X)), prior)
    run = run_twin(GroupedGibbsChain, model, X, 2)
    result = goodness_of_fit_of_groups(
        model, X, GROUPS, replicates=400, iterations=2, seed=seed, run=run
    )
    assert result.passed(), result


class WithoutOneFactor(GroupedGibbsChain):
    """chi without the factor of the last group where a row may start a cluster."""

    def log_new(self):
        p = self.parameters
        return super().log_new() + p.gammas[-1] * float(np.logaddexp(0, p.log_us[-1]))


def test_chi_without_a_factor_is_seen(seed):
    likelihood, X = CASES["poisson"]
    model = mw.Mixture(likelihood.resolve(likelihood.check(X)), RANDOM)
    run = run_twin(WithoutOneFactor, model, X, 3)
    result = goodness_of_fit_of_groups(
        model, X, GROUPS, replicates=1000, iterations=3, seed=seed, run=run
    )
    assert not result.passed(), result


# --- core and twin


def both_chains(model, X, groups, seed, sampler, twin_class, **options):
    """Return a compiled chain and its twin, in one state with one stream of uniforms."""
    bits = np.random.PCG64(seed)
    labels = (np.arange(len(X)) // 4).astype(np.int32)
    core = make_chain(model, X, labels, bits, sampler, groups=groups)
    core.freeze()
    state = core.state()
    core.set_state(**state)
    rng = np.random.Generator(np.random.PCG64())
    if isinstance(sampler, mw.Tree):
        options["guide"] = core.guide()
    twin = twin_class(model, X, state["labels"], rng, groups=groups, **options)
    twin.set_state(*(state[name] for name in ("labels", "log_u", "log_alpha", "sigma", "theta")))
    J = len(twin.group_sizes)
    values = state["groups"]
    twin.set_groups(values[:J], values[J:] if len(values) > J else None)
    rng.bit_generator.state = bits.state
    return core, twin


TWINS = {
    "gibbs": (mw.Gibbs(), GroupedGibbsChain, {}),
    "split_merge": (mw.SplitMerge(scans=2), GroupedSplitMergeChain, {"scans": 2}),
    "tree": (
        mw.Tree(5, 5, 5, rebuild=0, fitted_moves=2, redraw_moves=3),
        GroupedTreeChain,
        dict.fromkeys(("subtree_moves", "split_moves", "leaf_moves"), 5)
        | {"fitted_moves": 2, "redraw_moves": 3},
    ),
}


@pytest.mark.parametrize("prior", [RANDOM, OWN, MANY], ids=["one gamma", "each its own", "many"])
@pytest.mark.parametrize("kind", TWINS)
def test_same_draws(assert_same_draws, kind, prior, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2)) + 2 * (np.arange(20) % 2)[:, None]
    groups = np.array([0, 1, 2, *rng.integers(0, 3, size=17)])
    model = mw.Mixture(mw.Gaussian(scale="data").resolve(X), prior)
    sampler, twin_class, options = TWINS[kind]
    core, twin = both_chains(model, X, groups, seed, sampler, twin_class, **options)
    assert_same_draws(core, twin, model.likelihood.row_constants(X).sum(), 15)
    np.testing.assert_allclose(core.state()["groups"][:3], twin.log_us, rtol=1e-7)


# --- the compiled samplers


@pytest.mark.parametrize(("family", "sampler"), list(zip(CASES, cycle(SAMPLERS))))
def test_every_family_and_every_sampler_is_exact(family, sampler, seed):
    """Each once, or twice, in turn."""
    assert len(CASES) >= len(SAMPLERS)
    likelihood, X = CASES[family]
    prior = FIXED if sampler in ("splits", "leaves") else OWN if sampler == "tree" else RANDOM
    result = goodness_of_fit_of_groups(
        mw.Mixture(likelihood, prior), X, GROUPS, SAMPLERS[sampler], replicates=8000, seed=seed
    )
    assert result.passed(), result


@pytest.mark.long
@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_family_and_sampler(family, sampler, fresh_seed):
    likelihood, X = CASES[family]
    result = goodness_of_fit_of_groups(
        mw.Mixture(likelihood, RANDOM),
        X,
        GROUPS,
        SAMPLERS[sampler],
        replicates=60_000,
        seed=fresh_seed,
    )
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_it_is_exact_with_a_learned_base(sampler, seed):
    likelihood, X = LEARNED["poisson"]
    result = goodness_of_fit_of_groups(
        mw.Mixture(likelihood, RANDOM), X, GROUPS, SAMPLERS[sampler], replicates=5000, seed=seed
    )
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_it_is_exact_with_missing_entries(sampler, seed):
    likelihood, X = CASES["gaussian"]
    X = [[0.1, 0.4], [-0.3, np.nan], *X[2:]]
    result = goodness_of_fit_of_groups(
        mw.Mixture(likelihood, RANDOM), X, GROUPS, SAMPLERS[sampler], replicates=4000, seed=seed
    )
    assert result.passed(), result


LATENT = {
    "student_t": mw.StudentT(df=3.0, r=0.2, nu=4, mean=[0.5], scale=[[1.5]]),
    "errors": mw.Gaussian(r=0.2, nu=4, mean=[0.5], scale=[[1.5]], errors=[0, 1.2, 0, 4]),
}


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
@pytest.mark.parametrize("family", LATENT)
def test_it_is_exact_with_scales_and_errors_of_rows(family, sampler, seed):
    X, groups = [[0.1], [-0.4], [4.1], [1.7]], [0, 1, 1, 0]
    model = mw.Mixture(LATENT[family], RANDOM)
    result = goodness_of_fit_of_groups(
        model, X, groups, SAMPLERS[sampler], replicates=4000, seed=seed
    )
    assert result.passed(), result


@pytest.mark.parametrize("max_leaves", [3, 4])
def test_leaves_of_several_rows_are_exact(max_leaves, seed):
    """The leaves that rows are joined in stay whole: the posterior given that."""
    likelihood, X = CASES["poisson"]
    model = mw.Mixture(likelihood.resolve(likelihood.check(X)), RANDOM)
    rng = np.random.default_rng(seed)
    posterior = enumerate_groups(model, X, GROUPS)
    sampler = mw.Tree(3, 3, 3, rebuild=2, redraw_moves=3, max_leaves=max_leaves)
    start = np.zeros(5, np.int32)
    chain = make_chain(model, likelihood.check(X), start, rng.bit_generator, sampler, groups=GROUPS)
    chain.freeze()
    guide = chain.guide()
    tree = GuideTree(guide)
    blocks = [tree.rows[v] for v in range(len(tree.leaves)) if tree.is_leaf(v)]
    assert max(map(len, blocks)) > 1
    given = GroupedPosterior(posterior.exact.restricted(blocks), posterior.law)
    starts = given.draw(6000, rng)
    values = {name: starts[name] for name in starts if name != "labels"}
    finals = chain.replicate(starts["labels"], **values, iterations=4)
    exact = given.exact
    counts = np.bincount(exact.index_of(finals["labels"]), minlength=len(exact.partitions))
    assert chi_square(counts.astype(float), exact.probabilities) > 1e-6


def leaves_of(model, X, kind):
    """Return weighted leaves, their groups, the leaf of each row, and rows that stay apart."""
    rows = Members(np.arange(5), GROUPS, np.ones(5, int))
    if kind == "streamed":
        leaves = mw.stream_leaves(model, [X[:2], X[2:]], 4, seed=2, groups=GROUPS)
        members = leaves.groups.members(leaves.sizes)
        return leaves, moved_groups(members, np.arange(4)), leaves.leaf_of_row, ()
    if kind == "known":
        leaves, leaf_of_row = collapsed(model.likelihood, X, np.array([0, 0, 1, -1, -1]))
        return leaves, moved_groups(rows, leaf_of_row), leaf_of_row, (0, 2)
    leaf_of_row = np.array([0, 1, 1, 2, 3])  # the third row is the second once more
    leaves = weighted_rows(model.likelihood, X[[0, 1, 3, 4]], np.array([1.0, 2.0, 1.0, 1.0]))
    return leaves, moved_groups(rows, leaf_of_row), leaf_of_row, ()


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
@pytest.mark.parametrize("kind", ["known", "weights", "streamed"])
def test_leaves_with_groups_are_exact(kind, sampler, seed):
    """Two rows of one leaf are of two groups where labels are known, and in the stream."""
    likelihood, X = CASES["spherical"]
    X = np.array(X)
    if kind == "weights":
        X[2] = X[1]
    elif kind == "streamed":
        X[3] = X[2]  # one of each group
    model = mw.Mixture(likelihood.resolve(X), RANDOM)
    leaves, groups, leaf_of_row, apart = leaves_of(model, X, kind)
    first = np.unique(leaf_of_row, return_index=True)[1]
    rng = np.random.default_rng(seed)
    full = enumerate_groups(model, X, GROUPS)
    together = [np.flatnonzero(leaf_of_row == leaf) for leaf in range(4)]
    assert (len(np.unique(GROUPS[max(together, key=len)])) == 2) == (kind != "weights")
    given = GroupedPosterior(full.exact.restricted(together, apart), full.law)
    start = np.arange(4, dtype=np.int32)
    chain = make_chain(model, leaves, start, rng.bit_generator, SAMPLERS[sampler], groups=groups)
    chain.freeze()
    starts = given.draw(6000, rng)
    labels = np.ascontiguousarray(starts.pop("labels")[:, first])
    finals = chain.replicate(labels, **starts, iterations=4)
    chain.check()
    index = given.exact.index_of(finals["labels"][:, leaf_of_row])
    counts = np.bincount(index, minlength=len(given.exact.partitions))
    assert chi_square(counts.astype(float), given.exact.probabilities) > 1e-6
    fresh = given.draw(6000, rng)["groups"]
    for j in range(2):
        assert stats.ks_2samp(finals["groups"][:, j], fresh[:, j]).pvalue > 1e-6


@pytest.mark.parametrize("sampler", [mw.Gibbs(), mw.SplitMerge(), mw.Tree()], ids=repr)
@pytest.mark.parametrize("prior", [mw.FiniteMixture(), RANDOM], ids=["gamma 1", "random"])
def test_one_group_is_a_finite_mixture(sampler, prior, seed):
    """Draw for draw."""
    X = np.random.default_rng(seed).normal(size=(60, 2)) + 3 * (np.arange(60) % 3)[:, None]
    model = mw.Mixture(mw.Gaussian(scale="data").resolve(X), prior)
    ends = []
    for groups in (None, np.zeros(60, np.int32)):
        start = np.zeros(60, np.int32)
        chain = make_chain(model, X, start, np.random.PCG64(seed), sampler, groups=groups)
        chain.iterate(20)
        chain.freeze()
        chain.iterate(20)
        ends.append((chain.state(), chain.log_joint()))
        chain.check()
    (plain, joint), (grouped, grouped_joint) = ends
    np.testing.assert_array_equal(plain["labels"], grouped["labels"])
    for name in ("log_u", "log_alpha", "sigma"):
        assert grouped[name] == pytest.approx(plain[name], rel=1e-9)
    assert grouped_joint == pytest.approx(joint, rel=1e-9)


# --- prediction


def test_the_density_of_a_new_row_by_group(seed):
    """p(x | X, group) is a ratio of evidences; also of a group that nobody has seen."""
    likelihood, X = CASES["poisson"]
    model, new = mw.Mixture(likelihood, RANDOM), [[2.0, 2.0]]
    likelihood = likelihood.resolve(likelihood.check(X))
    model = mw.Mixture(likelihood, RANDOM)
    post = mw.sample(
        model, X, groups=GROUPS, sampler="gibbs", draws=4000, chains=2, seed=seed, progress=False
    )
    before = enumerate_groups(model, X, GROUPS).exact.log_evidence
    for group in (0, 1, 2):
        after = enumerate_groups(model, [*X, *new], [*GROUPS, group]).exact.log_evidence
        density = post.log_density(new, groups=group)[0]
        assert density == pytest.approx(after - before, abs=0.05), group


def test_ordinates_are_exact(seed):
    """1/E[1/w_i] is p(x_i | the others), also of a row that is alone in its group."""
    likelihood, X = CASES["poisson"]
    likelihood = likelihood.resolve(likelihood.check(X))
    model, groups = mw.Mixture(likelihood, RANDOM), np.array([0, 1, 1, 1, 1])
    post = mw.sample(
        model, X, groups=groups, sampler="gibbs", draws=3000, chains=2, seed=seed, progress=False
    )
    values = log_ordinates(post).reshape(-1, 5)
    all_rows = enumerate_groups(model, X, groups).exact.log_evidence
    for row in (0, 3):
        others = [i for i in range(5) if i != row]
        codes = np.unique(groups[others], return_inverse=True)[1]
        without = enumerate_groups(model, [X[i] for i in others], codes).exact.log_evidence
        estimate = np.log(len(values)) - logsumexp(-values[:, row])
        assert estimate == pytest.approx(all_rows - without, abs=0.06), row
