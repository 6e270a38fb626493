"""Learned base measures: hyperpriors of a family's parameters, and how these move.

One file per family. Each update draws its random variables in the order of the compiled core.
"""

from mixwood.reference.base.base import LearnedBase
from mixwood.reference.base.bernoulli import BernoulliBase
from mixwood.reference.base.categorical import CategoricalBase
from mixwood.reference.base.custom import CustomBase
from mixwood.reference.base.diagonal_gaussian import DiagonalGaussianBase
from mixwood.reference.base.gaussian import GaussianBase
from mixwood.reference.base.multinomial import MultinomialBase
from mixwood.reference.base.negative_binomial import NegativeBinomialBase
from mixwood.reference.base.poisson import PoissonBase
from mixwood.reference.base.regression import RegressionBase
from mixwood.reference.base.spherical_gaussian import SphericalGaussianBase
from mixwood.reference.base.student_t import StudentTBase

__all__ = [
    "BernoulliBase",
    "CategoricalBase",
    "CustomBase",
    "DiagonalGaussianBase",
    "GaussianBase",
    "LearnedBase",
    "MultinomialBase",
    "NegativeBinomialBase",
    "PoissonBase",
    "RegressionBase",
    "SphericalGaussianBase",
    "StudentTBase",
]
