"""mixwood: Bayesian clustering with normalized random measure mixtures.

>>> import mixwood as mw
>>> X, truth = mw.datasets.toy()
>>> model = mw.Mixture(prior=mw.NGGP())
>>> post = mw.sample(model, X, draws=20, warmup=10, chains=2, seed=0, progress=False)
>>> post.n_clusters.shape
(2, 20)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mixwood import hyper
from mixwood.likelihoods import (
    AutoGaussian,
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Gaussian,
    Likelihood,
    Multinomial,
    NegativeBinomial,
    Poisson,
    Product,
    Regression,
    SphericalGaussian,
    StudentT,
    conjugate_family,
)
from mixwood.model import Mixture
from mixwood.priors import (
    NGGP,
    DirichletProcess,
    FiniteMixture,
    NormalizedInverseGaussian,
    PitmanYor,
)
from mixwood.samplers import Gibbs, PaperTree, Slice, SplitMerge, Tree

if TYPE_CHECKING:
    from mixwood import datasets, partitions, reference, testing
    from mixwood.likelihoods.choose import choose
    from mixwood.likelihoods.weighted_leaves import WeightedLeaves
    from mixwood.posterior.posterior import Posterior
    from mixwood.sampling.resume import resume
    from mixwood.sampling.sample import sample
    from mixwood.simulation import simulate
    from mixwood.sklearn import MixtureClustering as MixtureClustering
    from mixwood.store.load import load
    from mixwood.trees.build import bhc, ibhc
    from mixwood.trees.hierarchy import Hierarchy
    from mixwood.trees.streaming import stream_leaves

__all__ = [
    "NGGP",
    "AutoGaussian",
    "Bernoulli",
    "Categorical",
    "DiagonalGaussian",
    "DirichletProcess",
    "FiniteMixture",
    "Gaussian",
    "Gibbs",
    "Hierarchy",
    "Likelihood",
    "Mixture",
    "Multinomial",
    "NegativeBinomial",
    "NormalizedInverseGaussian",
    "PaperTree",
    "PitmanYor",
    "Poisson",
    "Posterior",
    "Product",
    "Regression",
    "Slice",
    "SphericalGaussian",
    "SplitMerge",
    "StudentT",
    "Tree",
    "WeightedLeaves",
    "bhc",
    "choose",
    "conjugate_family",
    "datasets",
    "hyper",
    "ibhc",
    "load",
    "partitions",
    "reference",
    "resume",
    "sample",
    "simulate",
    "stream_leaves",
    "testing",
]

#: What is imported only when it is first asked for, and where it is.
_LATER = {
    "Hierarchy": "mixwood.trees.hierarchy",
    "MixtureClustering": "mixwood.sklearn",
    "Posterior": "mixwood.posterior.posterior",
    "WeightedLeaves": "mixwood.likelihoods.weighted_leaves",
    "bhc": "mixwood.trees.build",
    "choose": "mixwood.likelihoods.choose",
    "ibhc": "mixwood.trees.build",
    "load": "mixwood.store.load",
    "resume": "mixwood.sampling.resume",
    "sample": "mixwood.sampling.sample",
    "simulate": "mixwood.simulation",
    "stream_leaves": "mixwood.trees.streaming",
}
_MODULES = ("datasets", "partitions", "reference", "testing")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        value = getattr(import_module(_LATER[name]), name)
    elif name in _MODULES:
        value = import_module(f"mixwood.{name}")
    elif name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            value = version("mixwood")
        except PackageNotFoundError:  # run from its sources
            value = "unknown"
    else:
        raise AttributeError(f"module 'mixwood' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # MixtureClustering is not in __all__: `from mixwood import *` must not need scikit-learn.
    return sorted([*__all__, "MixtureClustering", "__version__"])
