"""Known errors in a part of a product, against enumeration and twins; and mistakes that fail."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import mixwood as mw
from mixwood.core import make_chain
from mixwood.posterior.leave_one_out import log_ordinates
from mixwood.reference import GibbsChain, SliceChain, SplitMergeChain, TreeChain
from mixwood.reference.families import family_of
from mixwood.reference.families.product import Product
from mixwood.testing import goodness_of_fit, joint_distribution_test, long_chain_test
from mixwood.testing.enumeration import all_partitions
from mixwood.testing.groups import enumerate_groups, goodness_of_fit_of_groups
from mixwood.testing.latent_laws import PartsLaw

HOLE = np.nan
NGGP = mw.NGGP(alpha=0.8, sigma=0.4)
PLAIN = mw.Gaussian(r=0.2, nu=4, mean=[0.5], scale=[[1.5]])
WIDE = mw.Gaussian(r=0.2, nu=5, mean=[1.0, 0.5], scale=[[3.0, 1.5], [1.5, 2.0]])
SCALED = mw.StudentT(df=3.0, r=0.2, nu=4, mean=[0.5], scale=[[1.5]])
COUNTS = mw.Poisson(shape=2.0, rate=[0.5])
CASES = {
    # the second row has no measurement, and the last no count
    "counts": (
        {0: replace(PLAIN, errors=[1.2, 0.0, 0.0, 4.0, 0.0]), 1: COUNTS},
        [[0.1, 0], [HOLE, 5], [2.1, 4], [1.7, 1], [4.0, HOLE]],
    ),
    # a missing entry of another part is drawn as well
    "holes": (
        {2: replace(PLAIN, errors=[0.0, 1.2, 0.0, 2.0]), (0, 1): WIDE},
        [[0.1, 0.4, 0.1], [2.3, HOLE, -0.4], [4.1, 2.2, 2.1], [HOLE, -0.8, 1.7]],
    ),
    # and so are scales of rows, all at once
    "scales": (
        {0: SCALED, 1: replace(PLAIN, errors=[0.0, 3.0, 0.0, 1.2])},
        [[0.1, 0.1], [-0.3, 2.0], [3.9, 2.1], [1.7, -0.4]],
    ),
    "both": (
        {
            0: replace(PLAIN, errors=[0.0, 1.2, 0.0, 0.0]),
            1: replace(PLAIN, errors=[2.0, 0.0, 0.0, 0.5]),
        },
        [[0.1, 0.1], [-0.4, 2.0], [2.1, 2.1], [1.7, -0.4]],
    ),
}
SAMPLERS = {
    "gibbs": mw.Gibbs(),
    "split-merge": mw.SplitMerge(),
    "slice": mw.Slice(),
    "tree": mw.Tree(3, 3, 3, rebuild=2, fitted_moves=2),
}
SOME = [
    *(("counts", name) for name in SAMPLERS),
    ("holes", "gibbs"),
    ("holes", "tree"),
    ("scales", "tree"),
    ("both", "slice"),
]
ALL = [(rows, name) for rows in CASES for name in SAMPLERS]


def product_of(case):
    parts, X = CASES[case]
    return mw.Product(parts), X


def is_exact(case, sampler, seed, prior=NGGP, replicates=6000):
    likelihood, X = product_of(case)
    options = {"replicates": replicates, "iterations": 3, "seed": seed}
    return goodness_of_fit(mw.Mixture(likelihood, prior), X, SAMPLERS[sampler], **options)


@pytest.mark.parametrize(("case", "sampler"), SOME)
def test_samplers_are_exact(case, sampler, seed):
    result = is_exact(case, sampler, seed)
    assert result.passed(), result
    assert any(name.startswith("missing") for name in result.parameter_p_values)


@pytest.mark.long
@pytest.mark.parametrize(("case", "sampler"), ALL)
def test_samplers_are_exact_under_every_prior(case, sampler, small_prior, seed):
    result = is_exact(case, sampler, seed, small_prior, 40_000)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_it_is_exact_in_groups(sampler, seed):
    likelihood, X = product_of("counts")
    prior = mw.FiniteMixture(rate=mw.hyper.Gamma(3, 0.5), gamma=mw.hyper.LogNormal(1.0, 0.7))
    result = goodness_of_fit_of_groups(
        mw.Mixture(likelihood, prior), X, [0, 1, 1, 0, 1], SAMPLERS[sampler], replicates=4000,
        seed=seed,
    )  # fmt: skip
    assert result.passed(), result


@pytest.mark.parametrize(("sampler", "start"), [("gibbs", "one"), ("tree", "singletons")])
def test_a_long_chain_finds_the_posterior(sampler, start, seed):
    likelihood, X = product_of("counts")
    options = {"start": start, "batches": 40, "batch_draws": 200, "seed": seed}
    result = long_chain_test(mw.Mixture(likelihood, NGGP), X, SAMPLERS[sampler], **options)
    assert result.passed(), result


@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_learned_base_measures(sampler, seed):
    errors = np.random.default_rng(1).gamma(1, 0.2, (8, 2))
    parts = {(0, 1): mw.Gaussian(errors=errors), 2: mw.StudentT(), 3: mw.Bernoulli()}
    model = mw.Mixture(mw.Product(parts).resolve_standard(4), NGGP)
    options = {"replicates": 300, "rounds": 1, "iterations": 4, "seed": seed}
    result = joint_distribution_test(model, 8, SAMPLERS[sampler], **options)
    assert result.passed(), result


# --- the twin

KINDS = {mw.Gibbs: GibbsChain, mw.SplitMerge: SplitMergeChain, mw.Slice: SliceChain}
N = 12


def table_and_parts(noisy):
    """Measurements with errors in two columns, gaps beside them, a t part and categories."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 6)) + 4 * rng.integers(0, 3, (N, 1))
    X[:, 2:4][rng.random((N, 2)) < 0.2] = HOLE
    X[[2, 7], :2] = HOLE
    X[:, 5] = rng.integers(0, 3, N)
    roots = rng.normal(size=(N, 2, 2)) * 0.7
    errors = roots @ roots.swapaxes(1, 2)
    errors[3] = 0
    parts = {(2, 3): mw.Gaussian(), (1, 0): replace(noisy, errors=errors), 4: mw.StudentT()}
    return X, mw.Product({**parts, 5: mw.Categorical()})


@pytest.mark.parametrize("sampler", [mw.Gibbs(), mw.SplitMerge(scans=2), mw.Slice()], ids=str)
@pytest.mark.parametrize("noisy", [mw.Gaussian(scale="data"), mw.Gaussian()], ids=str)
def test_same_draws(assert_same_draws, noisy, sampler, seed):
    X, likelihood = table_and_parts(noisy)
    likelihood, X = likelihood.fitted_to(X)
    model, labels = mw.Mixture(likelihood, mw.NGGP()), np.arange(N) // 4
    core = make_chain(model, X, labels.astype(np.int32), np.random.PCG64(seed), sampler)
    rng = np.random.Generator(np.random.PCG64(seed))
    twin = KINDS[type(sampler)](model, X, labels, rng, **asdict(sampler))
    assert_same_draws(core, twin, None, 6)


def test_same_draws_on_a_tree(assert_same_draws, seed):
    X, likelihood = table_and_parts(mw.Gaussian())
    likelihood, X = likelihood.fitted_to(X)
    sampler = mw.Tree(6, 6, 6, rebuild=0, fitted_moves=2)
    model, bits = mw.Mixture(likelihood, mw.NGGP()), np.random.PCG64(seed)
    core = make_chain(model, X, np.arange(N, dtype=np.int32) // 4, bits, sampler)
    core.freeze()
    state = core.state()
    latent, base = state.pop("latent"), state.pop("base")
    rng = np.random.Generator(np.random.PCG64())
    moves = {"subtree_moves": 6, "split_moves": 6, "leaf_moves": 6, "fitted_moves": 2}
    twin = TreeChain(model, X, state["labels"], rng, guide=core.guide(), **moves)
    for chain in (core, twin):  # then clusters are listed in order of appearance
        chain.set_base(base)
        chain.set_latent(latent)
        chain.set_state(**state)
    rng.bit_generator.state = bits.state
    assert_same_draws(core, twin, None, 6)


# --- copies of the twin with a mistake


class NoOthers(Product):
    """Where rows draw their cluster, only the part with errors has a say."""

    def log_known_given(self, atom, stat, row):
        own = zip(self.parts, atom, stat, self.entries(row), strict=True)
        return sum(
            part.log_known_given(a, s, x)
            for part, a, s, x in own
            if part.given_atoms and x is not None
        )


class NoErrors(Product):
    """Rows draw their cluster as if measurements were positions."""

    def log_known_given(self, atom, stat, row):
        row = row.copy()
        row[2:][~np.isnan(row[2:])] = 0.0
        return super().log_known_given(atom, stat, row)


class FirstRows(Product):
    """Errors are those of the first rows, whichever have a measurement."""

    def with_latent(self, X, rows):
        whole = super().with_latent(X, rows)
        present = np.flatnonzero(~np.isnan(X[:, 0]))
        whole[present, 2:] = self.parts[0].factors[: len(present)].reshape(len(present), -1)
        return whole


MISTAKES = {"as it is": Product, "others": NoOthers, "errors": NoErrors, "rows": FirstRows}


def chain_of(family):
    class Chain(GibbsChain):
        def _make_family(self):
            return family(self.model.likelihood)

    return Chain


@pytest.mark.parametrize("name", MISTAKES)
def test_the_twin_is_exact_and_mistakes_fail(name, run_twin, seed):
    X = [[0.1, 0], [HOLE, 5], [7.0, 4], [2.5, 1]]
    parts = {0: replace(PLAIN, errors=[0.0, 0.0, 16.0, 0.0]), 1: COUNTS}
    model = mw.Mixture(mw.Product(parts), mw.DirichletProcess(alpha=1.0))
    likelihood, X = model.likelihood.fitted_to(X)
    model = replace(model, likelihood=likelihood)
    run = run_twin(chain_of(MISTAKES[name]), model, X, 2)
    result = goodness_of_fit(model, X, replicates=1500, seed=seed, run=run)
    assert result.passed() is (name == "as it is"), result


# --- densities


def log_evidence(likelihood, X, alpha):
    """Return ``log p(X)`` under a Dirichlet process, over all partitions and positions."""
    law, terms = PartsLaw(likelihood, X), []
    for labels in all_partitions(len(X)):
        sizes = np.bincount(labels)
        log_prior = len(sizes) * np.log(alpha) + gammaln(sizes).sum()
        terms.append(log_prior + law.log_likelihood(labels))
    return logsumexp(terms) + gammaln(alpha) - gammaln(alpha + len(X))


def rows_with_errors(likelihood, errors):
    first = likelihood.parts[0]
    return replace(likelihood, parts={**likelihood.parts, 0: replace(first, errors=errors)})


X = np.array([[0.1, 0], [HOLE, 5], [2.1, 4], [6.0, 1]])
ERRORS, ALPHA = np.array([1.2, 0.0, 0.0, 4.0]), 1.3


def test_left_out_rows_have_the_densities_of_enumeration():
    likelihood = mw.Product({0: replace(PLAIN, errors=ERRORS), 1: COUNTS}).resolve(X)
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=ALPHA))
    options = {"draws": 2000, "warmup": 100, "chains": 2, "seed": 3, "progress": False}
    post = mw.sample(model, X, mw.Gibbs(), **options)
    inverse = np.exp(-log_ordinates(post)).reshape(-1, len(X))
    sd = inverse.std(axis=0) / inverse.mean(axis=0) / np.sqrt(len(inverse))
    found, whole = -np.log(inverse.mean(axis=0)), log_evidence(likelihood, X, ALPHA)
    for i in range(len(X)):
        others = rows_with_errors(likelihood, np.delete(ERRORS, i))
        exact = whole - log_evidence(others, np.delete(X, i, 0), ALPHA)
        assert abs(found[i] - exact) < 6 * sd[i] + 0.01  # draws follow each other


def test_left_out_rows_of_groups():
    groups = np.array([0, 1, 1, 1])
    prior = mw.FiniteMixture(rate=mw.hyper.Gamma(3, 0.5), gamma=mw.hyper.LogNormal(1.0, 0.7))
    likelihood = mw.Product({0: replace(PLAIN, errors=ERRORS), 1: COUNTS}).resolve(X)
    options = {"draws": 3000, "chains": 2, "seed": 3, "progress": False}
    post = mw.sample(mw.Mixture(likelihood, prior), X, mw.Gibbs(), groups=groups, **options)
    values = log_ordinates(post).reshape(-1, 4)
    whole = enumerate_groups(mw.Mixture(likelihood, prior), X, groups).exact.log_evidence
    for i in (0, 3):
        others = mw.Mixture(rows_with_errors(likelihood, np.delete(ERRORS, i)), prior)
        codes = np.unique(np.delete(groups, i), return_inverse=True)[1]
        without = enumerate_groups(others, np.delete(X, i, 0), codes).exact.log_evidence
        estimate = np.log(len(values)) - logsumexp(-values[:, i])
        assert estimate == pytest.approx(whole - without, abs=0.06), i


@pytest.mark.parametrize(("new", "error"), [([1.5, 3], 2.0), ([1.0, HOLE], 0.3)])
def test_densities_of_new_rows_are_ratios_of_evidences(new, error):
    likelihood = mw.Product({0: replace(PLAIN, errors=ERRORS), 1: COUNTS}).resolve(X)
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=ALPHA))
    options = {"draws": 1000, "warmup": 100, "chains": 2, "seed": 3, "progress": False}
    post = mw.sample(model, X, mw.Gibbs(), **options)
    more = rows_with_errors(likelihood, np.append(ERRORS, error))
    law_of_more = log_evidence_of_many(more, np.vstack([X, new]))
    exact = law_of_more - log_evidence_of_many(likelihood, X)
    assert post.log_density([new], errors=[error])[0] == pytest.approx(exact, abs=0.07)
    same = post.log_density([new], errors={0: [[error]]})
    assert same[0] == post.log_density([new], errors=[error])[0]


def log_evidence_of_many(likelihood, rows):
    """Return the same for up to three rows with errors: the third's by a sum over its position."""
    errors = likelihood.parts[0].errors
    if np.count_nonzero(errors) < 3:
        return log_evidence(likelihood, rows, ALPHA)
    at = rows[-1, 0] + np.sqrt(errors[-1]) * np.linspace(-7, 7, 57)
    width = at[1] - at[0]
    terms = []
    for y in at:
        there = rows.copy()
        there[-1, 0] = y
        known = rows_with_errors(likelihood, np.append(errors[:-1], 0.0))
        log_error = -((y - rows[-1, 0]) ** 2) / errors[-1] / 2
        log_error -= np.log(2 * np.pi * errors[-1]) / 2
        terms.append(log_evidence(known, there, ALPHA) + log_error)
    return logsumexp(terms) + np.log(width)


def test_the_twin_of_a_product_has_the_rows_of_its_parts():
    likelihood = mw.Product({0: replace(PLAIN, errors=ERRORS), 1: COUNTS}).resolve(X)
    whole = family_of(likelihood).with_latent(X, np.arange(4))
    np.testing.assert_array_equal(whole[:, 2], [np.sqrt(1.2), HOLE, 0.0, 2.0])
