"""Which plain family a likelihood has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mixwood import likelihoods
from mixwood._support.checks import shown
from mixwood.reference.families.base import Family
from mixwood.reference.families.bernoulli import Bernoulli
from mixwood.reference.families.categorical import Categorical
from mixwood.reference.families.custom import Custom
from mixwood.reference.families.diagonal_gaussian import DiagonalGaussian
from mixwood.reference.families.gaussian import Gaussian
from mixwood.reference.families.multinomial import Multinomial
from mixwood.reference.families.negative_binomial import NegativeBinomial
from mixwood.reference.families.poisson import Poisson
from mixwood.reference.families.product import Product
from mixwood.reference.families.regression import Regression
from mixwood.reference.families.spherical_gaussian import SphericalGaussian
from mixwood.reference.families.student_t import StudentT

__all__ = ["family_of"]

_TWINS: dict[type[likelihoods.Likelihood], Callable[[Any], Family[Any]]] = {
    likelihoods.Gaussian: Gaussian,
    likelihoods.StudentT: StudentT,
    likelihoods.DiagonalGaussian: DiagonalGaussian,
    likelihoods.SphericalGaussian: SphericalGaussian,
    likelihoods.Multinomial: Multinomial,
    likelihoods.Bernoulli: Bernoulli,
    likelihoods.Categorical: Categorical,
    likelihoods.Poisson: Poisson,
    likelihoods.NegativeBinomial: NegativeBinomial,
    likelihoods.Regression: Regression,
    likelihoods.Product: Product,
    likelihoods.CustomFamily: Custom,
}


def family_of(likelihood: likelihoods.Likelihood) -> Family[Any]:
    """Return the plain family of a likelihood whose parameters are all explicit.

    Examples
    --------
    >>> import numpy as np
    >>> from mixwood.likelihoods import Bernoulli as Coins
    >>> coins = family_of(Coins(a=1, b=1, columns=1))
    >>> round(coins.log_marginal(coins.of([np.array([1.0])])), 6)
    -0.693147
    """
    try:
        return _TWINS[type(likelihood)](likelihood)
    except KeyError:
        raise TypeError(
            f"likelihood must be one that mixwood.reference knows "
            f"({', '.join(known.__name__ for known in _TWINS)}), got {shown(likelihood)}"
        ) from None
