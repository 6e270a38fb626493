"""The conjugate families of model.md: additive statistics and log marginals.

A statistic is a small tuple. `observe` and `forget` return a new one, `merge` joins the
statistics of two disjoint sets, and `log_marginal` is ``log P(X_c)`` with every constant in
it. Rows are dense vectors in the user's units; a missing entry is NaN.
"""

from mixwood.reference.families.base import Family, dense
from mixwood.reference.families.bernoulli import Bernoulli
from mixwood.reference.families.categorical import Categorical
from mixwood.reference.families.counts import Counts
from mixwood.reference.families.custom import Custom
from mixwood.reference.families.diagonal_gaussian import DiagonalGaussian
from mixwood.reference.families.gaussian import Gaussian, Moments
from mixwood.reference.families.multinomial import Multinomial
from mixwood.reference.families.negative_binomial import NegativeBinomial
from mixwood.reference.families.poisson import Poisson
from mixwood.reference.families.product import Product
from mixwood.reference.families.registry import family_of
from mixwood.reference.families.regression import Regression
from mixwood.reference.families.spherical_gaussian import SphericalGaussian
from mixwood.reference.families.student_t import Scaled, StudentT

__all__ = [
    "Bernoulli",
    "Categorical",
    "Counts",
    "Custom",
    "DiagonalGaussian",
    "Family",
    "Gaussian",
    "Moments",
    "Multinomial",
    "NegativeBinomial",
    "Poisson",
    "Product",
    "Regression",
    "Scaled",
    "SphericalGaussian",
    "StudentT",
    "dense",
    "family_of",
]
