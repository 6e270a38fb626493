"""What the fuzzing of arguments shares: an attempt that is judged, and models of any kind."""

from __future__ import annotations

import os
import re
import warnings

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import mixwood as mw
from tests.fuzz import handed_over as values

EXAMPLES = int(os.environ.get("MIXWOOD_FUZZ_EXAMPLES", "0"))
fuzz = settings(
    max_examples=EXAMPLES or 15,
    derandomize=not EXAMPLES,  # make test is the same every time
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

#: What a message may call an argument, beside its name.
ALSO = {
    "blocks": ("block",),
    "model": (
        *("likelihood", "prior", "nu", "mean", "scale", "beta", "columns", "n_categories"),
        *("shape", "rate", "alpha", "sigma", "theta"),
    ),
    "likelihood": ("X",),
    "init": ("labels",),
    "parts": ("column", "columns"),
    "frame": ("column", "table"),
}
#: Nothing is wrong with the arguments: the data are too much for these numbers, or the time.
SAYS_WHY = re.compile(
    "stopped before every chain|not a finite|not finite|not numbers|overflow|precision"
)


def attempt(function, changed, **arguments):
    """Call a function; return what it returns, or None after an error that is as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(**arguments)
        except (TypeError, ValueError, MemoryError) as error:
            names = {also for name in changed for also in (name, *ALSO.get(name, ()))}
            named = any(re.search(rf"\b{name}\b", str(error)) for name in names)
            assert named, f"{changed} not named: {type(error).__name__}: {error}"
        except RuntimeError as error:
            assert SAYS_WHY.search(str(error)), error
    return None


@st.composite
def with_odd_ones(draw, good, odd=None):
    """Good arguments, one or two of them replaced; and the names of these."""
    changed = draw(st.lists(st.sampled_from(sorted(good)), min_size=1, max_size=2, unique=True))
    new = {name: draw((odd or {}).get(name, values.ODD)) for name in changed}
    return changed, {**good, **new}


RNG = np.random.default_rng(1)
ROWS = RNG.normal(size=(8, 2)) + 5 * RNG.integers(0, 2, (8, 1))
COUNTS = RNG.integers(0, 4, (8, 2))

CONSTRUCTORS = {
    mw.Gaussian: {
        "r": 0.1,
        "nu": 8.0,
        "mean": [0.0, 0.0],
        "scale": np.eye(2),
        "errors": [0.1] * 8,
    },
    mw.StudentT: {"df": 5.0, "r": 0.1, "nu": 8.0, "mean": [0.0, 0.0], "scale": np.eye(2)},
    mw.AutoGaussian: {},
    mw.DiagonalGaussian: {"r": 0.1, "nu": 7.0, "mean": [0.0, 0.0], "scale": [1.0, 1.0]},
    mw.SphericalGaussian: {"r": 0.1, "nu": 7.0, "mean": [0.0, 0.0], "scale": 1.0},
    mw.Multinomial: {"beta": 0.1, "columns": 2},
    mw.Bernoulli: {"a": 1.0, "b": 1.0, "columns": 2},
    mw.Categorical: {"beta": 1.0, "n_categories": 4},
    mw.Poisson: {"shape": 1.0, "rate": 1.0, "exposure": -1},
    mw.NegativeBinomial: {"size": 1.0, "shape": 1.0, "mean": 1.0, "exposure": -1},
    mw.Regression: {"target": 0, "on": [1], "r": 0.1, "nu": 7.0, "slopes": 1.0, "scale": 1.0},
    mw.Product: {"parts": {0: mw.Gaussian(), 1: mw.Poisson()}},
    mw.DirichletProcess: {"alpha": 1.0},
    mw.NGGP: {"alpha": 1.0, "sigma": 0.5},
    mw.NormalizedInverseGaussian: {"alpha": 1.0},
    mw.PitmanYor: {"theta": 1.0, "sigma": 0.5},
    mw.FiniteMixture: {"rate": 3.0, "gamma": 1.0, "per_group": False},
    mw.hyper.Gamma: {"shape": 1.0, "rate": 1.0},
    mw.hyper.Beta: {"a": 1.0, "b": 1.0},
    mw.hyper.LogNormal: {"median": 1.0, "sd": 1.0},
    mw.Gibbs: {"subset": 3},
    mw.PaperTree: {"global_moves": 2, "depth": 2},
    mw.Tree: {
        "subtree_moves": 2,
        "split_moves": 2,
        "leaf_moves": 2,
        "rebuild": 3,
        "max_leaves": 5,
        "fitted_moves": 2,
        "passes": 2,
        "redraw_moves": 1,
        "learn_moves": True,
    },
    mw.SplitMerge: {"scans": 2, "subset": 3},
    mw.Mixture: {"likelihood": mw.Gaussian(), "prior": mw.NGGP()},
}
LIKELIHOODS = [c for c in CONSTRUCTORS if issubclass(c, mw.Likelihood)]
PRIORS = [
    mw.DirichletProcess,
    mw.NGGP,
    mw.NormalizedInverseGaussian,
    mw.PitmanYor,
    mw.FiniteMixture,
]
SAMPLERS = [mw.Gibbs, mw.PaperTree, mw.Tree, mw.SplitMerge, mw.Slice]
NO_PARTS = (mw.Product, mw.Regression, mw.AutoGaussian)
PARTS = st.dictionaries(
    st.integers(-1, 3) | st.tuples(st.integers(0, 2), st.integers(0, 2)) | st.sampled_from("ab"),
    st.sampled_from(
        [c() for c in LIKELIHOODS if c not in (mw.Product, mw.Regression, mw.AutoGaussian)]
    )
    | values.ODD,
    max_size=3,
)


@st.composite
def made(draw, constructors):
    """One of these classes with parameters of any size that it accepts; or its defaults."""
    constructor = draw(st.sampled_from(constructors))
    good = CONSTRUCTORS.get(constructor, {})
    if constructor is mw.Product:
        good = {"parts": draw(PARTS)}
    elif draw(st.booleans()) or not good:
        good = {}
    else:
        changed = draw(st.sampled_from(sorted(good)))
        other = values.FLOATS | values.WHOLE | values.HYPER | st.sampled_from(("learn", "data"))
        good = {changed: draw(other | st.just(good[changed]))}
    try:
        return constructor(**good)
    except (TypeError, ValueError):
        return mw.Gaussian() if constructor is mw.Product else constructor()


MODELS = st.builds(mw.Mixture, made(LIKELIHOODS), made(PRIORS))
