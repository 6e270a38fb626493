"""Data drawn from the prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from mixwood._support.checks import shown, whole_number
from mixwood._support.seeding import seed_sequence
from mixwood._support.types import Data, IntArray
from mixwood.input.groups import checked_groups
from mixwood.model import Mixture

__all__ = ["simulate"]


def simulate(
    model: Mixture, n: int, seed: Any = None, *, width: int = 2, groups: Any = None
) -> tuple[Data, IntArray]:
    """Draw a data set and its clusters from the prior.

    Parameters
    ----------
    model : Mixture
        Open parameters of its likelihood are those of standardized data.
    n : int
        How many rows.
    seed : None, int, SeedSequence or Generator
        Where the randomness comes from.
    width : int
        How many columns, where the likelihood leaves it open.
    groups : array of shape (n,), optional
        The group of each row, as for `mixwood.sample`.

    Returns
    -------
    X : array of shape (n, width), or csr_array
        The data.
    labels : array of n integers
        The clusters, numbered in order of appearance.

    Examples
    --------
    >>> from mixwood.priors import DirichletProcess
    >>> X, labels = simulate(Mixture(prior=DirichletProcess(alpha=2.0)), 100, seed=1)
    >>> X.shape, labels.shape, int(labels[0])
    ((100, 2), (100,), 0)
    """
    if not isinstance(model, Mixture):
        raise TypeError(f"model must be a mw.Mixture, got {shown(model)}")
    n = whole_number(n, "n", at_least=1)
    width = whole_number(width, "width", at_least=1)
    rng = np.random.default_rng(seed_sequence(seed))
    likelihood = model.likelihood.resolve_standard(model.likelihood.width or width)
    if groups is None:
        labels = model.prior.draw(n, 1, rng).labels[0]
    else:
        labels = model.prior.draw_in_groups(checked_groups(groups, n).codes, rng)
    return likelihood.simulate_with_latent(labels, rng)[0], labels
