"""What is handed over beside the rows: weights, known labels, groups, holes, errors, exposure."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import mixwood as mw
from tests.fuzz import handed_over as values
from tests.fuzz.trying import COUNTS, MODELS, ROWS, SAMPLERS, attempt, fuzz, made, with_odd_ones

N = len(ROWS)
QUICK = {"draws": 3, "warmup": 2, "seed": 1, "n_jobs": 1, "max_seconds": 0.5, "progress": False}
#: What an error may be about, whatever was handed over: the data, or what they do not go with.
ABOUT = ("X", "model", "sampler", "init", "prior", "weights", "known", "groups", "parts", "until")
#: Rows with holes, of numbers and of counts.
HOLES = st.sampled_from((ROWS, COUNTS.astype(float))).flatmap(
    lambda X: st.lists(st.booleans(), min_size=X.size, max_size=X.size).map(
        lambda mask: np.where(np.reshape(mask, X.shape), np.nan, X)
    )
)


def of_rows(good):
    """Return what is right for each row, more or less, or not right at all."""
    each = st.lists(good, min_size=N, max_size=N)
    return each | each.map(np.array) | values.EACH_ROW | values.LABELS | values.ODD


WEIGHTS = of_rows(st.floats(1, 9) | st.integers(1, 9) | st.sampled_from((1e-9, 0, 1e12, 1e300)))
KNOWN = of_rows(st.integers(-1, 2))
GROUPS = of_rows(st.sampled_from("abc")) | of_rows(st.integers(0, 2) | values.WHOLE)
SOMETIMES = {"weights": WEIGHTS, "known": KNOWN, "groups": GROUPS}


@fuzz
@given(data=st.data())
def test_rows_of_sample(data):
    names = data.draw(st.lists(st.sampled_from(sorted(SOMETIMES)), max_size=2, unique=True))
    given = {name: data.draw(SOMETIMES[name]) for name in names}
    model = data.draw(MODELS | st.just(mw.Mixture(mw.Gaussian(), mw.FiniteMixture())))
    X = data.draw(st.just(ROWS) | st.just(COUNTS) | HOLES | values.DATA)
    sampler = data.draw(made(SAMPLERS))
    init = data.draw(st.sampled_from(("ibhc", "one", "singletons")) | KNOWN)
    arguments = {"model": model, "X": X, "sampler": sampler, "init": init, **given}
    post = attempt(mw.sample, ABOUT, **arguments, **QUICK, chains=1)
    if post is None:
        return
    assert np.isfinite(post.log_joint).all()
    if "known" in given and given["known"] is not None:
        known = np.asarray(given["known"])
        for label in set(known[known >= 0].tolist()):
            assert (np.ptp(post.labels[..., known == label], axis=-1) == 0).all()


@fuzz
@given(data=st.data())
def test_until_they_agree(data):
    good = {"X": ROWS, "until": "agree", "chains": 2, "max_seconds": 0.2}
    changed, arguments = data.draw(with_odd_ones(good, {"X": HOLES}))
    model = mw.Mixture(mw.Gaussian())
    rest = {name: value for name, value in QUICK.items() if name not in good}
    attempt(mw.sample, [*changed, "chains", "draws"], model=model, **arguments, **rest)


@fuzz
@given(errors=of_rows(st.floats(0, 9)) | values.DATA, X=st.just(ROWS) | HOLES, new=values.DATA)
def test_errors_of_rows(errors, X, new):
    model = attempt(
        lambda errors: mw.Mixture(mw.Gaussian(errors=errors)), ["errors"], errors=errors
    )
    if model is None:
        return
    post = attempt(mw.sample, ["errors", *ABOUT], model=model, X=X, chains=1, **QUICK)
    if post is not None:
        attempt(post.log_density, ["X", "errors"], X=X, errors=new)
        attempt(post.predict, ["X", "errors"], X=new, errors=errors)


@fuzz
@given(data=st.data())
def test_exposure(data):
    likelihood = data.draw(st.sampled_from((mw.Poisson, mw.NegativeBinomial)))
    exposure = data.draw(values.WHOLE | values.ODD | values.EACH_ROW | st.sampled_from((0, -1)))
    X = data.draw(st.just(COUNTS) | HOLES | values.DATA)
    counts = attempt(likelihood, ["exposure"], exposure=exposure)
    if counts is not None:
        model = mw.Mixture(counts)
        attempt(mw.sample, ["exposure", *ABOUT], model=model, X=X, chains=1, **QUICK)


def _sampled(likelihood, X, **more):
    model = mw.Mixture(likelihood, mw.FiniteMixture() if "groups" in more else mw.NGGP())
    return mw.sample(model, X, **QUICK | {"draws": 4, "max_seconds": None}, chains=1, **more)


TARGET = mw.Regression(1)
ABOVE = {
    "groups": _sampled(mw.Gaussian(), ROWS, groups=list("aabbccab")),
    "holes": _sampled(mw.Gaussian(), np.where(ROWS > 5.5, np.nan, ROWS)),
    "errors": _sampled(mw.Gaussian(errors=[0.1] * N), ROWS),
    "counts": _sampled(mw.Poisson(exposure=1), COUNTS + 1),
    "relation": _sampled(TARGET, ROWS),
    "weights": _sampled(mw.Gaussian(), ROWS, weights=[2] * N),
    "known": _sampled(mw.Gaussian(), ROWS, known=[0, 0, 1, -1, -1, -1, -1, -1]),
}
FOUND = {"loss": "vi", "min_size": 1, "seed": 0}
METHODS = {
    "predict": {"X": ROWS, "groups": None, "errors": None},
    "predict_proba": {"X": ROWS, "groups": None, "errors": None},
    "log_density": {"X": ROWS, "groups": None, "errors": None, "per_draw": False},
    "predict_target": {"X": ROWS, "level": 0.9, "groups": None},
    "sample_predictive": {"size": 3, "seed": 1},
    "group_weights": {**FOUND, "level": 0.9},
    "compare_groups": {"a": "a", "b": "b", "level": 0.9, "draws": 5, **FOUND},
    "markers": {"n": 3, "probability": 0.9, "words": None, "draws": 5, **FOUND},
    "merge": {"n_clusters": 2, "threshold": None, **FOUND},
    "check_fit": {"words": None, **FOUND},
    "outliers": {"df": None, "most": 5},
    "imputed": {},
    "labels_table": {"df": None, **FOUND},
    "summary": {},
}


@fuzz
@given(data=st.data())
def test_methods_of_such_posteriors(data):
    post = ABOVE[data.draw(st.sampled_from(sorted(ABOVE)))]
    method = data.draw(st.sampled_from(sorted(METHODS)))
    odd = {"X": values.DATA, "groups": GROUPS, "errors": of_rows(st.floats(0, 9)) | values.DATA}
    odd["size"] = odd["draws"] = odd["n"] = odd["most"] = (
        st.integers(-2, 50) | st.none() | st.floats()
    )
    good = METHODS[method]
    changed, arguments = data.draw(with_odd_ones(good, odd)) if good else ([], {})
    attempt(getattr(post, method), [*changed, *good, *ABOUT, "errors"], **arguments)
