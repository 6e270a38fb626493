"""The likelihoods: one file each, and the one list of them."""

from mixwood.likelihoods.auto_gaussian import AutoGaussian
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.bernoulli import Bernoulli
from mixwood.likelihoods.categorical import Categorical
from mixwood.likelihoods.custom import CustomFamily, conjugate_family
from mixwood.likelihoods.diagonal_gaussian import DiagonalGaussian
from mixwood.likelihoods.gaussian import Gaussian
from mixwood.likelihoods.multinomial import Multinomial
from mixwood.likelihoods.negative_binomial import NegativeBinomial
from mixwood.likelihoods.poisson import Poisson
from mixwood.likelihoods.product import Product
from mixwood.likelihoods.regression import Regression
from mixwood.likelihoods.spherical_gaussian import SphericalGaussian
from mixwood.likelihoods.student_t import StudentT

__all__ = [
    "LIKELIHOODS",
    "AutoGaussian",
    "Bernoulli",
    "Categorical",
    "CustomFamily",
    "DiagonalGaussian",
    "Gaussian",
    "Likelihood",
    "Multinomial",
    "NegativeBinomial",
    "Poisson",
    "Product",
    "Regression",
    "SphericalGaussian",
    "StudentT",
    "conjugate_family",
]

#: Every likelihood that can be named: in a saved run, and on the command line. A new one is added
#: here. (`CustomFamily` holds functions, which have no name in a file; `AutoGaussian` stands for
#: one of these.)
LIKELIHOODS: tuple[type[Likelihood], ...] = (
    Gaussian,
    StudentT,
    DiagonalGaussian,
    SphericalGaussian,
    Multinomial,
    Bernoulli,
    Categorical,
    Poisson,
    NegativeBinomial,
    Regression,
    Product,
)
