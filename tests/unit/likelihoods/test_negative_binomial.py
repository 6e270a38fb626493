"""Counts that vary more than Poisson's: parameters, sizes that are learned, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from mixwood.core import make_chain
from mixwood.hyper import LogNormal
from mixwood.likelihoods.known_labels import collapsed
from mixwood.likelihoods.row_weights import weighted_rows
from mixwood.likelihoods.weighted_leaves import chosen_items
from mixwood.testing import check_family

RNG = np.random.default_rng(8)
COUNTS = RNG.negative_binomial(2, 0.3, (30, 2)).astype(float)


def test_identities_predictives_and_chains():
    report = check_family(
        mw.NegativeBinomial(size=2.0, shape=1.0),
        COUNTS[:6, :1],
        support="counts",
        replicates=300,
        seed=1,
    )
    assert not report.untried


def test_the_prior_mean_of_a_cluster_is_that_of_the_column():
    likelihood = mw.NegativeBinomial(size=3.0, shape=4.0).resolve(COUNTS)
    rates = likelihood.draw_parameters(np.zeros((200_000, 4)), np.random.default_rng(1))["rate"]
    np.testing.assert_allclose(rates.mean(axis=0), COUNTS.mean(axis=0), rtol=0.02)


def test_rows_have_the_variance_of_their_size():
    likelihood = mw.NegativeBinomial(size=2.0, shape=1.0).resolve(COUNTS)
    parameters = {"rate": np.array([[5.0, 1.0]]), "size": np.full((1, 2), 2.0)}
    rows = likelihood.draw_rows(parameters, np.zeros(100_000, dtype=int), np.random.default_rng(1))
    np.testing.assert_allclose(rows.mean(axis=0), [5.0, 1.0], rtol=0.03)
    np.testing.assert_allclose(rows.var(axis=0), [5 + 25 / 2, 1 + 1 / 2], rtol=0.05)


def test_the_joint_density_follows_the_sizes():
    """What rows add depends on the size alone, not on the partition; it is in `log_joint`."""
    from mixwood.reference import family_of

    likelihood, X = mw.NegativeBinomial().fitted_to(COUNTS)
    bound, twin = likelihood.bind(X), family_of(likelihood)
    base = np.log([0.7, 3.0, 2.0, 0.5])
    twin.set_base(base)
    there = bound.at(base).log_alone() + likelihood.row_constants(X)
    np.testing.assert_allclose(there, [twin.log_marginal((row,)) for row in X])


def test_spread_that_poisson_takes_for_clusters_is_one_cluster():
    X = np.random.default_rng(5).negative_binomial(2, 2 / 12, (150, 2))  # one cluster, mean 10
    found = {}
    for likelihood in (mw.Poisson(), mw.NegativeBinomial()):
        model = mw.Mixture(likelihood, mw.FiniteMixture())
        post = mw.sample(model, X, draws=60, warmup=60, chains=2, seed=1, progress=False)
        found[type(likelihood).__name__] = np.median(post.n_clusters)
    assert found["NegativeBinomial"] <= 2 < 3 <= found["Poisson"]
    sizes = post.base["size"].reshape(-1, 2)
    assert np.all((sizes.mean(axis=0) > 1) & (sizes.mean(axis=0) < 4))


def test_description_has_rates_and_deviations():
    model = mw.Mixture(mw.NegativeBinomial(), mw.FiniteMixture())
    post = mw.sample(model, COUNTS, draws=20, chains=1, seed=1, progress=False)
    table = post.describe()
    name = post.column_names[0]
    assert (table[f"{name} sd"] > np.sqrt(table[f"{name} rate"]) * 0.9).all()
    assert not [column for column in table if column.startswith(f"{name} size")]


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: mw.NegativeBinomial(size=0), ValueError, "size"),
        (lambda: mw.NegativeBinomial(size=1e7), ValueError, "Poisson counts"),
        (
            lambda: mw.NegativeBinomial(size=LogNormal(1e9, 1)),
            ValueError,
            "size is learned between",
        ),
        (lambda: mw.NegativeBinomial(size="x"), TypeError, "size must be a positive number, or"),
        (lambda: mw.NegativeBinomial(shape=None), TypeError, "shape must be a positive number, or"),
        (lambda: mw.NegativeBinomial(mean=[1.0, -1.0]), ValueError, "mean must be positive"),
        (lambda: mw.NegativeBinomial(mean=0), ValueError, "mean"),
    ],
)
def test_bad_parameters_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


FEW = {"draws": 20, "warmup": 5, "chains": 1, "seed": 1, "progress": False}


@pytest.mark.parametrize("likelihood", [mw.NegativeBinomial(), mw.NegativeBinomial(exposure=1)])
@pytest.mark.parametrize("known", [None, np.repeat([0, 1, -1], [3, 3, 24])])
def test_the_joint_density_of_weighted_rows_is_that_of_duplicates(likelihood, known):
    X = COUNTS.copy()
    X[:, 1] = 1 + X[:, 1]  # counts, or exposures
    weights = 1 + np.arange(30) % 3
    explicit, rows = likelihood.fitted_to(X)
    model, whole = mw.Mixture(explicit, mw.DirichletProcess(1.0)), np.repeat(np.arange(30), weights)
    post = mw.sample(model, rows, weights=weights, known=known, **FEW)
    family = explicit.bind(rows[whole])
    for draw in range(0, 20, 4):
        labels = post.labels[0, draw][whole].astype(np.int32)
        base = np.concatenate([np.log(post.base[name][0, draw]) for name in ("size", "shape")])
        own = family.at(base)
        chain = make_chain(model, rows[whole], labels, np.random.PCG64(0), mw.Gibbs(), own)
        state = {name: value for name, value in chain.state().items() if name != "base"}
        chain.set_state(**(state | {"log_u": np.log(post.u[0, draw])}))
        expected = chain.log_joint() + explicit.row_constants(rows[whole]).sum()
        assert np.isclose(post.log_joint[0, draw], expected)
    assert np.ptp(post.base["size"]) > 0


def test_streams_cannot_learn_sizes():
    with pytest.raises(ValueError, match=r"keep sums of rows alone.*size=5"):
        mw.stream_leaves(mw.Mixture(mw.NegativeBinomial()), [COUNTS], max_leaves=4)
    fixed = mw.Mixture(mw.NegativeBinomial(size=2.0))
    assert mw.stream_leaves(fixed, [COUNTS], max_leaves=4).n_leaves == 4


def test_some_of_weighted_rows_have_their_rows():
    explicit, rows = mw.NegativeBinomial().fitted_to(COUNTS)
    known = np.repeat([0, 1, -1], [3, 3, 24])
    for leaves in (
        weighted_rows(explicit, rows, 1.0 + np.arange(30) % 3),
        collapsed(explicit, rows, known).leaves,
    ):
        items = np.array([0, 5, 9])
        some = chosen_items(leaves, items)
        base = explicit.draw_base(np.random.default_rng(1))
        given, all_of_them = some.bind().at(base), leaves.bind().at(base)
        np.testing.assert_allclose(given.log_alone(), all_of_them.log_alone()[items])


@pytest.mark.parametrize("known", [None, np.repeat([0, 1, -1], [3, 3, 24])])
def test_weighted_rows_are_stored_and_resumed(known, tmp_path):
    model, options = mw.Mixture(mw.NegativeBinomial()), FEW | {"warmup": 10}
    options |= {"weights": 1 + np.arange(30) % 3, "known": known}
    mw.sample(model, COUNTS, store=tmp_path / "run", **options)
    resumed = mw.resume(tmp_path / "run", draws=30)
    expected = mw.sample(model, COUNTS, **(options | {"draws": 30}))
    np.testing.assert_array_equal(resumed.labels, expected.labels)
    np.testing.assert_array_equal(resumed.log_joint, expected.log_joint)
    np.testing.assert_array_equal(resumed.base["size"], expected.base["size"])
    loaded = mw.load(tmp_path / "run")
    np.testing.assert_allclose(loaded.log_density(COUNTS[:4]), expected.log_density(COUNTS[:4]))
