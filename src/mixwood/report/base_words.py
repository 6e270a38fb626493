"""What the learned base measure says about the clusters, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.numbers import chance

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray
    from mixwood.posterior.posterior import Posterior

__all__ = ["base_in_words"]

#: The probability of the intervals that are named.
LEVEL = 0.9
#: Clusters share a covariance if their variances differ by no more than this share of them, and
#: have alike ones up to the second.
SHARED, ALIKE = 0.15, 0.5


def base_in_words(posterior: Posterior) -> list[str]:
    """Return sentences about width, covariances and structure of clusters; none if all is fixed.

    Examples
    --------
    >>> import mixwood as mw
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
    >>> base_in_words(post)[0][:52]
    'The expected share of the variance that is within cl'
    >>> fixed = mw.Mixture(mw.Gaussian(scale="data"))
    >>> base_in_words(mw.sample(fixed, X, draws=50, chains=1, seed=1, progress=False))
    []
    """
    found = []
    if "width" in posterior.base_scalars():
        found.append(_width(posterior.width))
    assert posterior.bases is not None
    excess = posterior.resolved.base_excess(posterior.bases)
    if excess is not None:
        relations = posterior.resolved.target_column is not None
        found.append(_noise(excess) if relations else _covariances(excess))
    if "structure" in posterior.settings:
        found.append(_structure(posterior.settings["structure"]))
    return found


def _interval(values: FloatArray) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    return float(low), float(middle), float(high)


def _width(width: FloatArray) -> str:
    low, middle, high = map(_share, _interval(width))
    return (
        f"The expected share of the variance that is within clusters is {middle} ({low} to {high} "
        f"with {LEVEL:.0%} probability): the smaller, the clearer the clusters are apart."
    )


def _share(share: float) -> str:
    """Return a share; expected ones may be above 1."""
    return f"{share:.0%}" if share > 0.99 else chance(share)


def _covariances(excess: FloatArray) -> str:
    """Return how alike the covariances of clusters are, from ``nu'``."""
    differ, about = _differ(excess)
    if differ <= SHARED:
        return f"The clusters share one covariance, or nearly: {about}."
    if differ <= ALIKE:
        return f"The clusters have similar covariances: {about}."
    return f"Each cluster has a covariance of its own: {about}."


def _noise(excess: FloatArray) -> str:
    """Return how alike the noise of clusters of relations is, from ``nu'``."""
    differ, about = _differ(excess)
    if differ <= ALIKE:
        alike = "the same" if differ <= SHARED else "similar"
        return f"The clusters have {alike} noise about their relations: {about}."
    return f"Each cluster has noise of its own about its relation: {about}."


def _differ(excess: FloatArray) -> tuple[float, str]:
    """Return by which share variances differ, and the same in words."""
    _, middle, _ = _interval(excess)
    differ = float(np.sqrt(2 / middle))
    by = f"about {differ:.0%}" if differ < 1 else "a factor of two and more"
    return differ, f"their variances differ by {by} (nu' = {middle:.3g})"


def _structure(reason: Any) -> str:
    text = str(reason)
    return f"{text[:1].upper()}{text[1:]}."
