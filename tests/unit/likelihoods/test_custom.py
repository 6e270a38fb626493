"""A family of the user's own: right ones run in the core, wrong ones are told apart."""

from __future__ import annotations

import pickle
import subprocess
import sys
from math import lgamma, log

import joblib
import numpy as np
import pytest

import mixwood as mw
from mixwood.reference import family_of
from mixwood.testing import check_family, goodness_of_fit


def add_x(x, statistic):
    statistic[0] += x[0]


def exponential(n, statistic, parameters):
    a, b = parameters
    return a * log(b) - lgamma(a) + lgamma(a + n) - (a + n) * log(b + statistic[0])


def lomax(x, n, statistic, parameters):
    a, b = parameters[0] + n, parameters[1] + statistic[0]
    return log(a) + a * log(b) - (a + 1) * log(b + x[0])


def draw_rate(n, statistic, parameters, rng):
    return rng.gamma(parameters[0] + n, 1 / (parameters[1] + statistic[0]))


def log_time(x, drawn, parameters):
    return log(drawn[0]) - drawn[0] * x[0]


def draw_times(drawn, size, rng):
    return rng.exponential(1 / drawn[0], size)


def family(**options):
    options = {
        "name": "exponential", "parameters": [2.0, 1.0], "columns": 1,
        "draw_parameters": draw_rate, "draw_rows": draw_times, **options,
    }  # fmt: skip
    functions = {"accumulate": add_x, "log_marginal": exponential}
    functions |= {name: options.pop(name) for name in list(options) if name in functions}
    return mw.conjugate_family(1, **functions, **options)


def add_counts(x, statistic):
    for j in range(x.shape[0]):
        statistic[j] += x[j]


def poisson(n, statistic, parameters):
    total = 0.0
    for j in range(statistic.shape[0]):
        after = parameters[0] + statistic[j]
        rate = parameters[1 + j]
        total += parameters[0] * log(rate) - lgamma(parameters[0]) + lgamma(after)
        total -= after * log(rate + n)
    return total


def log_factorials(x):
    total = 0.0
    for j in range(x.shape[0]):
        total -= lgamma(x[j] + 1)
    return total


def own_poisson(rate):
    parameters = [1.0, *rate]
    return mw.conjugate_family(
        len(rate), add_counts, poisson, parameters=parameters, row_constant=log_factorials
    )


X = np.random.default_rng(1).exponential([[1.0], [20.0]] * 15)


def quick(likelihood, data=X, **options):
    options = {"draws": 10, "warmup": 5, "chains": 2, "seed": 1, "progress": False, **options}
    return mw.sample(mw.Mixture(likelihood), data, **options)


def test_it_is_right():
    report = check_family(family(), support="positive")
    assert report.untried == ()
    assert len(report.passed) == 6  # without a density, nothing of atoms
    assert len(check_family(family(log_density=log_time), support="positive").passed) == 8
    assert check_family(family(log_predictive=lomax), X, support="positive").untried == ()


@pytest.mark.parametrize("sampler", ["gibbs", "tree", "papertree", "splitmerge"])
def test_a_poisson_of_ones_own_gives_the_draws_of_ours(sampler):
    data = np.random.default_rng(0).poisson(4.0, (40, 3))
    ours = mw.Poisson(shape=1).resolve(data)
    expected = quick(ours, data, sampler=sampler)
    own = quick(own_poisson(ours.rate), data, sampler=sampler)
    np.testing.assert_array_equal(own.labels, expected.labels)
    np.testing.assert_allclose(own.log_joint, expected.log_joint, rtol=1e-10)
    np.testing.assert_allclose(own.log_density(data[:4]), expected.log_density(data[:4]))


def one_poisson(n, statistic, parameters):
    a, b = parameters
    after = a + statistic[0]
    return a * log(b) - lgamma(a) + lgamma(after) - after * log(b + n)


@pytest.mark.parametrize("sampler", ["gibbs", "tree", "splitmerge"])
def test_a_learned_parameter_of_ones_own_gives_the_draws_of_ours(sampler):
    data = np.random.default_rng(0).poisson(4.0, (40, 1)).astype(float)
    shape = mw.hyper.LogNormal(1, 1.5)
    given = {"shape": shape, "rate": 0.5}
    own = mw.conjugate_family(
        1, add_counts, one_poisson, parameters=given, row_constant=log_factorials
    )
    expected = quick(mw.Poisson(shape, rate=0.5), data, sampler=sampler)
    found = quick(own, data, sampler=sampler)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.log_joint, expected.log_joint, rtol=1e-9)
    np.testing.assert_allclose(found.base["shape"], expected.base["shape"][..., 0], rtol=1e-9)
    assert np.ptp(found.base["shape"]) > 0


def test_its_gibbs_sampler_is_exact(seed):
    for likelihood in (family(), family(log_predictive=lomax)):
        model = mw.Mixture(likelihood, mw.NGGP())
        result = goodness_of_fit(model, X[:5], "gibbs", replicates=5000, iterations=5, seed=seed)
        assert result.passed(), result


def test_a_predictive_of_its_own_gives_the_same_draws():
    one, other = quick(family()), quick(family(log_predictive=lomax))
    np.testing.assert_array_equal(one.labels, other.labels)


def test_the_twin_is_the_plain_functions():
    twin = family_of(family().resolve(X))
    stat = twin.of(X[:4])
    assert twin.log_marginal(stat) == pytest.approx(exponential(4, [X[:4].sum()], [2.0, 1.0]))
    assert twin.log_marginal(twin.empty()) == 0


def test_parameters_may_come_from_the_data():
    likelihood = family(parameters=lambda data: [1.0, data.mean()])
    assert "of the data" in repr(likelihood)
    resolved = likelihood.resolve(X)
    assert resolved.parameters.tolist() == [1.0, X.mean()]
    assert resolved.resolve(X) == resolved
    with pytest.raises(TypeError, match="takes its parameters from data"):
        mw.simulate(mw.Mixture(likelihood), 5)


def test_rows_are_simulated_and_predicted():
    data, _ = mw.simulate(mw.Mixture(family()), 20, seed=1)
    assert data.shape == (20, 1)
    assert quick(family()).sample_predictive(7, seed=1).shape == (7, 1)
    with pytest.raises(TypeError, match="'exponential' cannot draw rows: give draw_parameters"):
        quick(family(draw_rows=None)).sample_predictive(7)
    short = family(draw_rows=lambda _, size, __: np.ones(size - 1))
    with pytest.raises(ValueError, match="draw_rows of the family 'exponential' must return"):
        mw.simulate(mw.Mixture(short), 5, seed=1)


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ({}, ["parameter 0", "parameter 0 low", "parameter 0 high"]),
        ({"parameter_names": ["rate"]}, ["rate", "rate low", "rate high"]),
        ({"draw_parameters": None}, ["column 0 mean"]),
        ({"draw_rows": None, "parameter_names": ["rate"]}, ["rate", "rate low", "rate high"]),
    ],
)
def test_clusters_are_described(options, columns):
    posterior = quick(family(**options))
    assert posterior.describe().columns.tolist() == ["size", "certainty", *columns]
    if "draw_parameters" in options:
        estimate = posterior.point_estimate()
        means = [X[estimate == k].mean() for k in range(estimate.max() + 1)]
        np.testing.assert_allclose(posterior.describe()["column 0 mean"], means)
        with pytest.raises(TypeError, match="give draw_parameters to conjugate_family"):
            posterior.cluster_parameters()


def test_names_are_as_many_as_parameters():
    with pytest.raises(ValueError, match="must return 2 numbers, one for each of parameter_names"):
        quick(family(parameter_names=["rate", "shape"])).describe()


def test_parts_of_a_product_are_described():
    data = np.column_stack([X[:, 0], np.arange(30.0)])
    parts = {"named": family(parameter_names=["rate"]), "closed": family(draw_parameters=None)}
    found = {
        name: quick(mw.Product({0: own, 1: mw.Gaussian()}), data).describe().columns.tolist()
        for name, own in parts.items()
    }
    assert {"0: rate", "column 1 mean", "column 1 sd"} <= {*found["named"]}
    assert found["closed"] == ["size", "certainty", "column 0 mean", "column 1 mean"]


def test_as_part_of_a_product():
    data = np.column_stack([X[:, 0], np.arange(30.0)])
    data[3, 0] = np.nan
    for own in (family(), family(log_predictive=lomax)):
        product = mw.Product({0: own, 1: mw.Gaussian()})
        check_family(product, data)
        chain = quick(product, data, sampler="tree")
        assert np.isfinite(chain.log_joint).all()
        with pytest.raises(TypeError, match=r"parts\[0\], which lacks log_density"):
            quick(product, data, sampler="slice")
    product = mw.Product({0: family(log_density=log_time), 1: mw.Gaussian()})
    assert np.isfinite(quick(product, data, sampler="slice").log_joint).all()


# --- clusters by their parameters, for Slice


@pytest.mark.parametrize(
    ("options", "lacking"),
    [
        ({}, "it lacks log_density of"),
        ({"draw_parameters": None, "log_density": log_time}, "it lacks draw_parameters of"),
        ({"draw_parameters": None}, "lacks draw_parameters and log_density"),
    ],
)
def test_slice_says_what_it_lacks(options, lacking):
    with pytest.raises(TypeError, match=lacking):
        quick(family(**options), sampler="slice")


def rate_of_the_prior(_, __, parameters, rng):
    return rng.gamma(parameters[0], 1 / parameters[1])


def half_the_density(x, drawn, parameters):
    return 0.5 * (log(drawn[0]) - drawn[0] * x[0])


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ({}, True),
        ({"draw_parameters": rate_of_the_prior}, False),
        ({"log_density": half_the_density}, False),
    ],
    ids=["right", "not given the rows", "another density"],
)
def test_its_slice_sampler_is_exact(options, right, seed):
    own = family(**{"log_density": log_time, **options})
    model = mw.Mixture(own, mw.NGGP())
    result = goodness_of_fit(model, X[:5], "slice", replicates=4000, iterations=5, seed=seed)
    assert result.passed() is right, result


def test_slice_learns_parameters(seed):
    learned = {"shape": mw.hyper.LogNormal(2, 0.5), "rate": 1.0}
    model = mw.Mixture(family(parameters=learned, log_density=log_time), mw.NGGP())
    result = goodness_of_fit(model, X[:4], "slice", replicates=3000, iterations=5, seed=seed)
    assert result.passed(), result


def fails_when_large(n, statistic, parameters, rng):
    if n > 12:
        raise KeyError("too many")
    return draw_rate(n, statistic, parameters, rng)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"draw_parameters": fails_when_large}, r"^draw_parameters of .* raised KeyError for n = "),
        ({"draw_parameters": lambda *_: np.nan}, r"must return a number or an array of them"),
        ({"draw_parameters": lambda *_: -1.0}, r"log_density of .* raised an exception|is nan"),
        (
            {"log_density": lambda x, _, __: np.nan * x[0]},
            r"log_density .* is nan, not a number, for",
        ),
    ],
)
def test_what_fails_in_slice_is_told(options, match):
    with pytest.raises(RuntimeError, match=match):
        quick(family(**{"log_density": log_time, **options}), sampler="slice", init="one")


def add_positive(x, statistic):
    if x[0] > 0:
        statistic[0] += 1


def log_uniform(n, statistic, parameters):
    return -n * log(2.0) if statistic[0] == 0 or statistic[0] == n else -700.0 - n


def test_a_density_may_be_zero():
    """Rows that a cluster cannot have: signs, of which each cluster has one."""
    signs = mw.conjugate_family(
        1,
        add_positive,
        log_uniform,
        columns=1,
        draw_parameters=lambda n, s, _, rng: s[0] / n if n else rng.integers(2),
        log_density=lambda x, drawn, _: 0.0 if (x[0] > 0) == (drawn[0] > 0.5) else -np.inf,
    )
    data = np.random.default_rng(0).choice([-1.0, 1.0], (20, 1))
    labels = quick(signs, data, sampler="slice", init=(data[:, 0] > 0).astype(int)).labels
    for draw in labels.reshape(-1, 20):
        for cluster in range(draw.max() + 1):
            assert len(np.unique(data[draw == cluster])) == 1


def beyond(x, statistic):
    statistic[1] += x[0]


def sets(x, statistic):
    statistic[0] = x[0]


def running_mean(x, statistic):
    statistic[0] += (x[0] - statistic[0]) / 2


def log_of_negative(x, statistic):
    statistic[0] += np.log(-x[0])


def refuses(x, statistic):
    raise ValueError("no such row")


@pytest.mark.parametrize(
    ("accumulate", "match"),
    [
        (beyond, r"stat_dim=1 .* raised IndexError"),
        (sets, "does not add: row 0 .*Write statistic"),
        (running_mean, "does not add"),
        (log_of_negative, r"\[nan\] of row 0, which is not finite"),
        (refuses, "raised ValueError: no such row"),
    ],
)
def test_a_wrong_accumulate_is_told(accumulate, match):
    with pytest.raises(ValueError, match=f"accumulate of the family 'exponential'.*{match}"):
        quick(family(accumulate=accumulate))


def too_many_parameters(n, statistic, parameters):
    return parameters[7]


def not_a_number(n, statistic, parameters):
    return np.nan * statistic[0]


def divides_by_zero(n, statistic, parameters):
    return statistic[0] / (n - n)


@pytest.mark.parametrize(
    ("log_marginal", "match"),
    [
        (too_many_parameters, "raised an exception for n = 1 and the statistic"),
        (not_a_number, "is -?nan, not a finite number, for n = 1"),
        (divides_by_zero, "raised an exception for n = 1"),
    ],
)
def test_a_wrong_marginal_is_told(log_marginal, match):
    with pytest.raises(ValueError, match=f"row 0 alone: log_marginal of the .*{match}"):
        quick(family(log_marginal=log_marginal))


def fails_at_six(n, statistic, parameters):
    if n == 6:
        raise ValueError("six")
    return 0.0 * statistic[0]


def test_a_failure_on_the_way_keeps_the_draws_before_it():
    """All marginals 1: the chain wanders through the prior until a cluster has six rows."""
    likelihood = family(log_marginal=fails_at_six)
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
    with pytest.warns(RuntimeWarning, match=r"stopped early \(log_marginal .* raised .* n = 6"):
        post = mw.sample(model, X[:6], "gibbs", draws=5000, warmup=0, chains=1, init="singletons",
                         seed=2, progress=False)  # fmt: skip
    assert 1 <= post.n_draws < 5000


def writes(n, statistic, parameters):
    statistic[0] = 0.0
    return 0.0


def two_arguments(n, statistic):
    return 0.0


def unknown_function(n, statistic, parameters):
    return joblib.hash(n)


@pytest.mark.parametrize(
    ("log_marginal", "match"),
    [
        (writes, "Cannot modify readonly array"),
        (two_arguments, "Signature mismatch: 3 .* 2"),
        (unknown_function, "joblib"),
        (lambda _, __, ___: "text", "No conversion"),
    ],
)
def test_what_numba_cannot_compile_is_told_in_one_line(log_marginal, match):
    with pytest.raises(TypeError, match=f"log_marginal cannot be compiled.*{match}") as caught:
        family(log_marginal=log_marginal)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"parameters": "ab"}, ValueError, "parameters must be a sequence"),
        ({"parameters": [np.nan]}, ValueError, "parameters must be a sequence"),
        ({"columns": 0}, ValueError, "columns"),
        ({"name": 3}, TypeError, "name must be text"),
        ({"check": 3}, TypeError, "check must be a function"),
        ({"draw_rows": 3}, TypeError, "draw_rows must be a function"),
        ({"parameter_names": "rate"}, ValueError, "parameter_names must be different names"),
        ({"parameter_names": ["a", "a"]}, ValueError, "parameter_names must be different names"),
        ({"log_marginal": 3}, TypeError, "log_marginal must be a function"),
    ],
)
def test_wrong_arguments_are_named(options, error, match):
    with pytest.raises(error, match=match):
        family(**options)


def test_data_that_the_family_is_not_for():
    def positive(data):
        if np.any(data <= 0):
            raise ValueError("waiting times must be positive")

    with pytest.raises(ValueError, match="waiting times"):
        quick(family(check=positive), -X)
    with pytest.raises(ValueError, match="2, but 1 is needed"):
        quick(family(), np.ones((3, 2)))
    with pytest.raises(ValueError, match="missing value"):
        quick(family(), [[1.0], [np.nan]])


def test_saving_is_refused_before_the_run(tmp_path):
    with pytest.raises(TypeError, match=r"model\.likelihood cannot be saved.*functions"):
        quick(family(), draws=10**6, store=tmp_path / "run")
    with pytest.raises(TypeError, match="cannot be saved"):
        quick(family()).save(tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_copies_and_processes_compile_anew():
    likelihood = family()
    assert pickle.loads(pickle.dumps(likelihood)) == likelihood
    here = quick(likelihood)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        there = quick(likelihood)
    np.testing.assert_array_equal(here.labels, there.labels)


def test_without_numba_it_says_what_to_install():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import mixwood as mw\n"
        "mw.conjugate_family(1, lambda x, s: None, lambda n, s, p: 0.0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError" in run.stderr
    assert "pip install 'mixwood[numba]'" in run.stderr


# --- what check_family finds


def without_constant(n, statistic, parameters):
    return lgamma(parameters[0] + n) - (parameters[0] + n) * log(parameters[1] + statistic[0])


def wrong_predictive(x, n, statistic, parameters):
    a, b = parameters[0] + n, parameters[1] + statistic[0]
    return log(a) + a * log(b) - a * log(b + x[0])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"log_marginal": without_constant, "parameters": [3.0, 0.5]}, "predictives sum to 1"),
        ({"row_constant": lambda _: 0.1}, "predictives sum to 1"),
        ({"log_predictive": wrong_predictive}, "score of a row .* ratio of marginals"),
        ({"draw_parameters": lambda _, __, p, rng: rng.gamma(p[0])}, "rows drawn .* fails, p ="),
        ({"draw_rows": lambda _, size, __: -np.ones(size)}, "outside the support"),
        ({"log_density": half_the_density}, "densities given drawn parameters average"),
    ],
)
def test_check_family_finds_mistakes(options, match):
    with pytest.raises(AssertionError, match=match):
        check_family(family(**options), X, support="positive")


def test_check_family_says_what_it_could_not_try():
    report = check_family(family(draw_rows=None), X, replicates=0)
    assert [line.split(":")[0] for line in report.untried] == [
        "predictives sum to 1 over the support",
        "rows drawn from clusters follow them",
        "Gibbs chains leave the enumerated posterior as it is",
    ]
    assert "not tried  predictives" in repr(report)
    assert "cannot draw rows" in repr(check_family(family(draw_rows=None), X, support="positive"))
    with pytest.raises(TypeError, match="X must be given"):
        check_family(family(draw_rows=None))


def test_leaves_have_no_coordinates_and_say_so():
    likelihood = family()
    leaves = mw.stream_leaves(mw.Mixture(likelihood), [X], max_leaves=10, seed=1)
    post = quick(likelihood, leaves)
    assert np.isfinite(post.log_density(X)).all()
    with pytest.raises(TypeError, match="weighted leaves have no coordinates"):
        post.plot_clusters()
