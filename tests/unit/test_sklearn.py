"""The scikit-learn estimator."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import mixwood as mw

sklearn = pytest.importorskip("sklearn", minversion="1.6")

from scipy.sparse import csr_array  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

SHORT = {
    "prior": mw.DirichletProcess(alpha=1.0),
    "sampler": "gibbs",
    "draws": 20,
    "warmup": 10,
    "chains": 1,
    "random_state": 0,
}


def groups(rng=None, n=40):
    rng = rng or np.random.default_rng(0)
    truth = np.repeat([0, 1], n // 2)
    return rng.normal(size=(n, 2)) + 9 * truth[:, None], truth


def short(likelihood=None, **parameters):
    return mw.MixtureClustering(likelihood, **SHORT | parameters)


def not_ours(_):
    """Rows that stay together are not rows that are repeated."""
    return {
        "check_sample_weight_equivalence_on_dense_data": "weight 2 is two rows that stay together"
    }


@parametrize_with_checks([short(draws=10, warmup=5)], expected_failed_checks=not_ours)
@pytest.mark.filterwarnings("ignore::UserWarning")  # what the checks skip, they say
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


def test_defaults_are_those_of_the_contract():
    expected = {
        "likelihood": None,
        "prior": None,
        "sampler": "tree",
        "draws": 1000,
        "warmup": 500,
        "chains": 4,
        "init": "ibhc",
        "loss": "vi",
        "n_jobs": None,
        "random_state": None,
        "progress": False,
    }
    assert mw.MixtureClustering().get_params() == expected


def test_what_fit_finds():
    X, truth = groups()
    model = short().fit(X)
    assert model.labels_.dtype == np.int64
    assert model.labels_.tolist() == truth.tolist()
    assert model.n_clusters_ == 2
    assert model.posterior_.labels.shape == (1, 20, 40)
    assert model.probabilities_.shape == (40,)
    assert np.all((model.probabilities_ > 0.5) & (model.probabilities_ <= 1))
    assert not hasattr(model, "hierarchy_")
    assert short().fit_predict(X).tolist() == model.labels_.tolist()


def test_labels_are_numbered_by_size_and_probabilities_are_certainties():
    X, truth = groups()
    model = short().fit(X[12:])  # 8 rows of the first group, 20 of the other
    assert model.labels_.tolist() == (1 - truth[12:]).tolist()
    np.testing.assert_array_equal(model.probabilities_, model.posterior_.certainty())
    assert model.predict_proba(X[-3:]).argmax(axis=1).tolist() == [0, 0, 0]


def test_predictions_are_those_of_the_posterior():
    X, _ = groups()
    model = short().fit(X)
    new = X[::3] + 0.1
    np.testing.assert_array_equal(model.predict_proba(new), model.posterior_.predict_proba(new))
    np.testing.assert_array_equal(model.predict(new), model.posterior_.predict(new))
    np.testing.assert_array_equal(model.score_samples(new), model.posterior_.log_density(new))
    assert model.score(new) == pytest.approx(model.posterior_.log_density(new).mean())
    assert model.predict(new).dtype == np.int64


def test_random_states():
    X, _ = groups()
    for make in (lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)):
        first, second = (short(random_state=make()).fit(X).posterior_.log_joint for _ in range(2))
        np.testing.assert_array_equal(first, second)
    first, second = (short(random_state=None).fit(X).posterior_.log_joint for _ in range(2))
    assert np.any(first != second)


@pytest.mark.parametrize(("given", "error"), [("x", TypeError), (1.5, TypeError), (-1, ValueError)])
@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_wrong_random_states_are_called_so(given, error, fit):
    with pytest.raises(error, match=r"^random_state must be"):
        getattr(short(random_state=given), fit)([[0.0], [1.0]])


def test_it_can_be_pickled_and_cloned():
    X, _ = groups()
    model = short(mw.Gaussian(r=0.2, scale=np.eye(2)), prior=mw.PitmanYor(sigma=0.3)).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    copy = clone(model)
    assert not hasattr(copy, "posterior_")
    assert copy.likelihood == model.likelihood
    assert copy.likelihood is not model.likelihood
    assert copy.prior == model.prior


@pytest.mark.parametrize(
    "part",
    [
        mw.Gaussian(mean=[0.0], scale=[[2.0]]),
        mw.Poisson(rate=[1.0, 2.0]),
        mw.Product({0: mw.Gaussian(), 1: mw.Poisson()}),
        mw.NGGP(alpha=mw.hyper.Gamma(3, 1)),
        mw.NormalizedInverseGaussian(alpha=1.0),
    ],
)
def test_parts_can_be_cloned(part):
    assert clone(part) == part
    assert clone(part) is not part


def test_parts_are_set_in_place_and_checked_first():
    part = mw.Gaussian(r=0.1)
    assert part.set_params(r=0.3, nu=9) is part
    assert (part.r, part.nu) == (0.3, 9.0)
    with pytest.raises(ValueError, match="r must be positive"):
        part.set_params(nu=5, r=-1)
    assert (part.r, part.nu) == (0.3, 9.0)
    with pytest.raises(ValueError, match="Gaussian has no parameter 'beta'; it has r, nu"):
        part.set_params(beta=1)
    assert mw.DirichletProcess().set_params(alpha=2).alpha == 2.0


def test_grid_search_reaches_the_parts():
    X, _ = groups()
    given = mw.Gaussian(scale="data", r=0.1)
    for model in (short(likelihood=None, prior=None), short(given)):
        search = GridSearchCV(
            model, {"likelihood__r": [0.1, 5.0], "prior__alpha": [1.0]}, cv=2, error_score="raise"
        )
        search.fit(X)
        assert search.best_estimator_.likelihood.r == search.best_params_["likelihood__r"]
        assert search.best_estimator_.prior.alpha == 1.0
        assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    assert given.r == 0.1  # the user's object is as it was


def test_pipeline():
    X, truth = groups()
    pipeline = make_pipeline(StandardScaler(), short())
    assert pipeline.fit_predict(X).tolist() == truth.tolist()
    assert pipeline.predict(X).tolist() == truth.tolist()


def test_tables_keep_their_names():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, truth = groups()
    for frame in (
        pandas.DataFrame(X, columns=["a", "b"]),
        polars.DataFrame({"a": X[:, 0], "b": X[:, 1]}),
    ):
        model = short().fit(frame)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        assert model.n_features_in_ == 2
        assert "b mean" in model.posterior_.describe().columns
        assert model.predict(frame).tolist() == truth.tolist()
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["b", "a"]])


def test_tables_of_mixed_type():
    pandas = pytest.importorskip("pandas")
    X, truth = groups()
    frame = pandas.DataFrame({"x": X[:, 0], "kind": np.where(truth == 0, "cat", "dog")})
    model = short(mw.Product({"x": mw.Gaussian(), "kind": mw.Categorical()})).fit(frame)
    assert model.predict(frame).tolist() == truth.tolist()
    table = model.posterior_.describe()
    assert table["kind mode"].tolist() == ["cat", "dog"]


@pytest.mark.parametrize("likelihood", [None, "auto"])
def test_data_frames_are_chosen_for(likelihood):
    pandas = pytest.importorskip("pandas")
    X, truth = groups()
    frame = pandas.DataFrame(
        {
            "name": [f"row {k}" for k in range(40)],
            "x": X[:, 0],
            "y": [f"{value:.3f}%" for value in X[:, 1]],
            "kind": np.where(truth == 0, "cat", "dog"),
        }
    )
    frame.loc[3, "x"] = np.nan
    model = short(likelihood)
    with pytest.warns(UserWarning, match="columns left out: 'name'"):
        model.fit(frame)
    assert model.likelihood is likelihood
    assert model.likelihood_ == mw.Product({"kind": mw.Bernoulli(), ("x", "y"): mw.Gaussian()})
    assert model.choice_.explain() == mw.choose(frame).explain()
    assert model.feature_names_in_.tolist() == ["name", "x", "y", "kind"]
    assert model.labels_.tolist() == truth.tolist()
    for table in (frame, frame[["x", "y", "kind"]], frame[["kind", "y", "x", "name"]]):
        assert model.predict(table).tolist() == truth.tolist()
        np.testing.assert_array_equal(model.score_samples(table), model.score_samples(frame))
    with pytest.raises(ValueError, match="X has no column 'y'"):
        model.predict(frame[["x", "kind"]])
    stream = short(likelihood)
    with pytest.warns(UserWarning, match="columns left out"):
        stream.partial_fit(frame.iloc[1::2])  # has the hole
    stream.partial_fit(frame.iloc[::2])
    assert stream.hierarchy_.n_items == 40
    model.fit(X)  # an array is as it always was
    assert model.likelihood_ == mw.AutoGaussian()
    assert not hasattr(model, "choice_")


def test_nested_parameters_where_the_likelihood_is_chosen():
    assert short("auto").set_params(likelihood__r=0.3).likelihood == mw.Gaussian(r=0.3)


def test_one_row_has_no_clusters():
    with pytest.raises(ValueError, match="X has 1 sample, one row; clustering needs two"):
        short().fit([[1.0, 2.0]])


def test_dependent_columns_are_named_once():
    X, _ = groups()
    with pytest.warns(UserWarning, match=r"^column 2 is a combination of others: .*$") as said:
        short().fit(np.column_stack([X, X.sum(axis=1)]))
    assert len(said) == 1


def test_sparse_counts():
    counts = csr_array(np.repeat([[9, 0, 1, 0], [0, 8, 0, 2]], 10, axis=0))
    model = short(mw.Multinomial()).fit(counts)
    assert model.n_clusters_ == 2
    assert model.predict(counts).tolist() == model.labels_.tolist()
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        short().fit(counts)


def test_missing_entries_where_they_are_taken():
    X, _ = groups()
    X[3, 1] = np.nan
    for likelihood in (mw.DiagonalGaussian(), mw.Gaussian(), "auto", None):
        model = short(likelihood).fit(X)
        assert model.n_clusters_ == 2
        assert model.predict(X)[3] == model.labels_[3]
    with pytest.raises(ValueError, match=r"NaN\), the first in row 3, column 1; .*mw.Gaussian"):
        short(mw.SphericalGaussian()).fit(X)
    fitted = short(mw.SphericalGaussian()).fit(np.nan_to_num(X))
    with pytest.raises(ValueError, match="missing value"):
        fitted.predict(X)


def test_partial_fit_grows_a_tree():
    X, truth = groups(np.random.default_rng(1))
    X, truth = X[np.argsort(np.arange(40) % 2)], truth[np.argsort(np.arange(40) % 2)]
    model = short().fit(X)
    model.partial_fit(X[:20])
    assert not hasattr(model, "posterior_")
    assert not hasattr(model, "probabilities_")
    model.partial_fit(X[20:])
    assert model.labels_.shape == (20,)
    assert model.labels_.tolist() == model.hierarchy_.labels[20:].tolist()
    assert model.hierarchy_.n_items == 40
    assert model.n_clusters_ == model.hierarchy_.n_clusters
    predicted = model.predict(X)
    assert adjusted_rand_score(truth, predicted) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.isfinite(model.score(X))
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == predicted.tolist()
    model.fit(X)
    assert not hasattr(model, "hierarchy_")


def test_a_tree_predicts_as_its_clusters_would():
    """At fixed u one draw's weights are those of `draw_weights`; here by hand for a tree."""
    X, _ = groups()
    tree = mw.ibhc(mw.Mixture(prior=mw.DirichletProcess(alpha=2.0)), X, seed=0)
    draws = tree.as_draws()
    from mixwood.posterior.prediction import cluster_probabilities

    family, new = tree.model.likelihood.bind(X), X[:3] + 1.0
    table = tree.model.likelihood.bind(new).log_predictive_table(
        family.cluster_statistics(tree.labels.astype(np.int32)), 0, 3
    )
    weights = np.bincount(tree.labels) * np.exp(table)
    expected = weights / weights.sum(axis=1, keepdims=True)
    found = cluster_probabilities(draws, new, tree.labels)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_tree_with_weighted_leaves_does_not_predict():
    X, _ = groups(n=400)
    tree = mw.ibhc(mw.Mixture(), np.tile(X, (5, 1)), max_leaves=50, seed=0)
    with pytest.raises(ValueError, match="without max_leaves"):
        tree.as_draws()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"likelihood": "gaussian"}, TypeError, "likelihood must be"),
        ({"prior": 3}, TypeError, "prior must be"),
        ({"sampler": "none"}, (ValueError, TypeError), "sampler must be"),
        ({"draws": 0}, ValueError, "draws must be at least 1"),
        ({"loss": "squared"}, ValueError, "loss must be"),
    ],
)
def test_wrong_parameters_are_named_by_fit(parameters, error, message):
    with pytest.raises(error, match=message):
        short(**parameters).fit(groups()[0])


def test_unfitted_says_so():
    with pytest.raises(NotFittedError):
        mw.MixtureClustering().predict([[0.0]])


def test_without_scikit_learn_the_extra_is_named():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from mixwood import *\n"
        "import mixwood as mw\n"
        "try: mw.MixtureClustering\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "mixwood[sklearn]" in run.stdout


def test_y_are_known_labels():
    X, _ = groups(n=30)
    y = np.full(len(X), None, dtype=object)
    y[[0, 1]], y[[2, 3]] = "one", "another"
    model = short().fit(X, y)
    assert model.labels_[0] == model.labels_[1]
    assert model.labels_[2] == model.labels_[3] != model.labels_[0]
    assert model.predict(X).shape == (len(X),)
    plain = short().fit(X)
    np.testing.assert_array_equal(short().fit(X, np.full(len(X), -1)).labels_, plain.labels_)
    with pytest.raises(ValueError, match="y must be 30 labels"):
        short().fit(X, [0, 1])


def test_sample_weight():
    X, _ = groups(n=30)
    weights = np.ones(len(X))
    plain = short().fit(X)
    np.testing.assert_array_equal(short().fit(X, sample_weight=weights).labels_, plain.labels_)
    weights[3] = 2.5
    weighted = short().fit(X, sample_weight=weights)
    assert weighted.posterior_.item_sizes[3] == 2.5
    with pytest.raises(ValueError, match="sample_weight must be at least 1 with NGGP"):
        short(prior=None).fit(X, sample_weight=weights / 4)
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative"):
        short().fit(X, sample_weight=-weights)


@pytest.mark.parametrize("table", [False, True])
def test_rows_without_weight_have_no_influence(table):
    X, _ = groups(n=30)
    if table:
        X = pytest.importorskip("pandas").DataFrame(X).add_prefix("x")
    weights = np.ones(len(X))
    weights[[4, 20]] = 0
    y = np.full(len(X), -1)
    y[:2] = 0
    few = X[weights > 0]
    alone = short().fit(few, y[weights > 0])
    both = short().fit(X, y, sample_weight=weights)
    assert both.labels_.shape == both.probabilities_.shape == (len(X),)
    np.testing.assert_array_equal(both.labels_[weights > 0], alone.labels_)
    np.testing.assert_array_equal(both.labels_[[4, 20]], alone.predict(X)[[4, 20]])
    np.testing.assert_array_equal(both.predict(X), alone.predict(X))
