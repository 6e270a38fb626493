"""Student t clusters against enumeration, scales integrated out; and mistakes, which must fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import mixwood as mw
from mixwood.core import make_chain
from mixwood.reference import GibbsChain
from mixwood.reference.families.student_t import StudentT
from mixwood.testing import goodness_of_fit, joint_distribution_test, long_chain_test

ONE = mw.StudentT(df=3.0, r=0.2, nu=4, mean=[0.5], scale=[[1.5]])
TWO = mw.StudentT(df=4.0, r=0.2, nu=5, mean=[1.0, 0.5], scale=[[3.0, 1.5], [1.5, 2.0]])
ROWS = {
    "one": (ONE, [[0.1], [-0.4], [4.1], [1.7]]),
    "two": (TWO, [[0.1, 0.4], [-0.3, 1.2], [5.1, 0.2]]),
}
NGGP = mw.NGGP(alpha=0.8, sigma=0.4)
SAMPLERS = {
    "gibbs": mw.Gibbs(),
    "split-merge": mw.SplitMerge(),
    "slice": mw.Slice(),
    "tree": mw.Tree(3, 3, 3, rebuild=2, fitted_moves=2),
}
SOME = [("two", name) for name in SAMPLERS] + [("one", "tree")]


def is_exact(rows, sampler, seed, prior=NGGP, replicates=8000):
    likelihood, X = ROWS[rows]
    options = {"replicates": replicates, "iterations": 3, "seed": seed}
    return goodness_of_fit(mw.Mixture(likelihood, prior), X, SAMPLERS[sampler], **options)


@pytest.mark.parametrize(("rows", "sampler"), SOME)
def test_samplers_are_exact(rows, sampler, seed):
    result = is_exact(rows, sampler, seed)
    assert result.passed(), result
    assert "scale 0" in result.parameter_p_values


@pytest.mark.long
@pytest.mark.in_turn("rows")
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_are_exact_under_every_prior(rows, sampler, small_prior, seed):
    result = is_exact(rows, sampler, seed, small_prior, 60_000)
    assert result.passed(), result


@pytest.mark.parametrize(("sampler", "start"), [("gibbs", "one"), ("tree", "singletons")])
def test_a_long_chain_finds_the_posterior(sampler, start, seed):
    likelihood, X = ROWS["two"]
    options = {"start": start, "batches": 40, "batch_draws": 200, "seed": seed}
    result = long_chain_test(mw.Mixture(likelihood, NGGP), X, SAMPLERS[sampler], **options)
    assert result.passed(), result


LEARNED = {
    "df": mw.StudentT(scale=[[3.0, 1.5], [1.5, 2.0]], r=0.2, nu=5, mean=[1.0, 0.5]),
    "all": mw.StudentT(),
}


@pytest.mark.parametrize("learned", LEARNED)
@pytest.mark.parametrize("sampler", ["gibbs", "tree"])
def test_degrees_of_freedom_and_base_measure(learned, sampler, seed):
    model = mw.Mixture(LEARNED[learned].resolve_standard(2), NGGP)
    options = {"replicates": 300, "rounds": 1, "iterations": 4, "seed": seed}
    result = joint_distribution_test(model, 8, SAMPLERS[sampler], **options)
    assert result.passed(), result
    assert {"least scale", "log_df" if learned == "all" else "base 0"} <= set(result.p_values)


@pytest.mark.parametrize(("df", "error"), [(1.0, 3e-5), (4.0, 1e-6), (300.0, 1e-7)])
def test_the_densities_of_new_rows_have_their_scales_integrated_out(df, error):
    """By a lattice of few points: against an integral over a fine one, of marginals."""
    rng = np.random.default_rng(5)
    X = rng.standard_t(3.0, size=(40, 2)) + 3.0
    likelihood = replace(TWO, df=df)
    family = likelihood.bind(X).at(np.empty(0), rng.gamma(2, 0.5, 40))
    statistics = family.cluster_statistics(np.zeros(40, dtype=np.int32))
    new = np.array([[3.0, 3.0], [8.0, -1.0]])
    bound = likelihood.bind(new)
    found = np.stack([bound.log_predictive_table(statistics, 0, 2)[:, 0], bound.log_alone()])
    t = np.arange(-25.0, 5.0, 0.01)
    log_prior = stats.gamma(df / 2, scale=2 / df).logpdf(np.exp(t)) + t + np.log(0.01)
    nobody = np.zeros_like(statistics[0])
    for i, row in enumerate(new):
        copies = likelihood.bind(np.repeat(row[None], len(t), axis=0)).at(np.empty(0), np.exp(t))
        for k, rest in enumerate((statistics[0], nobody)):
            joined = [copies.log_marginal_of(copies.observe(rest, j)) for j in range(len(t))]
            terms = log_prior + np.array(joined) - copies.log_marginal_of(rest)
            assert found[k, i] == pytest.approx(logsumexp(terms), abs=error)


# --- copies of the twin with a mistake


class NoLogScales(StudentT):
    """The sum of the logs of the scales left out of the marginal, and so of the draws of rows."""

    def log_predictive(self, stat, x, q):
        return super().log_predictive(stat, x, q) - self.d / 2 * np.log(q)


class OtherFreedom(StudentT):
    """Scales drawn as if their degrees of freedom did not grow with the columns."""

    @property
    def scale_shape(self):
        return self.a / 2


def chain_of(family):
    class Chain(GibbsChain):
        def _make_family(self):
            return family(self.model.likelihood)

    return Chain


class OneByOne(GibbsChain):
    """Scales are drawn with the clusters of their rows alone."""

    def redraw_all(self):
        pass


# heavy tails and few degrees of freedom: where a mistake is large
HEAVY = mw.StudentT(df=2.0, r=0.5, nu=3, mean=[0.0, 0.0], scale=[[1.0, 0.6], [0.6, 1.0]])
FEW = [[0.1, 0.4], [4.3, 0.5], [0.2, -3.8]]


def twin_fits(chain, run_twin, seed, replicates=600):
    likelihood, X = HEAVY, FEW
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
    run = run_twin(chain, model, np.array(X), 1)
    return goodness_of_fit(model, X, replicates=replicates, seed=seed, run=run)


def chain_of_rows(family):
    class Chain(OneByOne):
        def _make_family(self):
            return family(self.model.likelihood)

    return Chain


CHAINS = {
    "as it is": (GibbsChain, True),
    "row by row": (OneByOne, True),
    "no log scales": (chain_of_rows(NoLogScales), False),
    "other freedom": (chain_of(OtherFreedom), False),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_twin_is_exact_and_mistakes_fail(name, run_twin, seed):
    chain, right = CHAINS[name]
    result = twin_fits(chain, run_twin, seed)
    assert result.passed() is right, result


@pytest.mark.parametrize("kept", [False, True])
def test_clusters_drawn_without_the_scales_fail(kept, seed):
    """Drawn with scales integrated out, while the scales stay those of another cluster."""
    model, X = mw.Mixture(HEAVY, NGGP), np.array(FEW)
    names = ("labels", "log_u", "log_alpha", "sigma", "theta")

    def run(starts, rng):
        chain = make_chain(model, X, starts["labels"][0], rng.bit_generator, mw.Gibbs())
        finals = {name: values.copy() for name, values in starts.items()}
        for i in range(len(finals["labels"])):
            chain.set_latent(starts["latent"][i])
            chain.set_state(*(starts[name][i] for name in names))
            chain.iterate()
            if kept:
                chain.set_latent(starts["latent"][i])
            for name, value in chain.state().items():
                finals[name][i] = value
        return finals

    result = goodness_of_fit(model, X, replicates=8000, seed=seed, run=run)
    assert result.passed() is not kept, result


def test_scales_that_are_never_drawn_fail(seed):
    """A chain over rows whose scales stay 1 is that of Gaussian clusters."""
    likelihood, X = ROWS["two"]
    gaussian = mw.Gaussian(likelihood.r, likelihood.nu, likelihood.mean, likelihood.scale)
    fixed = mw.Mixture(gaussian, NGGP)

    def run(labels, rng):
        chain = make_chain(fixed, np.array(X), labels, rng.bit_generator, mw.Gibbs())
        history = []
        for _ in range(41 * 200):
            chain.iterate(2)
            history.append(chain.state()["labels"])
        return history

    model = mw.Mixture(likelihood, NGGP)
    result = long_chain_test(model, X, run=run, batches=40, batch_draws=200, seed=seed)
    assert not result.passed(), result
