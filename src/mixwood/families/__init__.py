"""The likelihoods: one file a family."""

from mixwood.families.base import Likelihood
from mixwood.families.bernoulli import Bernoulli
from mixwood.families.categorical import Categorical
from mixwood.families.custom import CustomFamily, conjugate_family
from mixwood.families.diagonal_gaussian import DiagonalGaussian
from mixwood.families.gaussian import Gaussian
from mixwood.families.multinomial import Multinomial
from mixwood.families.poisson import Poisson
from mixwood.families.product import Product
from mixwood.families.spherical_gaussian import SphericalGaussian

__all__ = [
    "Bernoulli",
    "Categorical",
    "CustomFamily",
    "DiagonalGaussian",
    "Gaussian",
    "Likelihood",
    "Multinomial",
    "Poisson",
    "Product",
    "SphericalGaussian",
    "conjugate_family",
]
