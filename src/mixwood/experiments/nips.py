"""The NIPS corpus: 1,500 papers, 12,419 words."""

from __future__ import annotations

import os

from mixwood import datasets
from mixwood.experiments.protocol import Budget, Case, Experiment
from mixwood.experiments.tenk import arms_with_subsets
from mixwood.likelihoods import Multinomial
from mixwood.model import Mixture
from mixwood.priors import NGGP

__all__ = ["experiment"]


def experiment(path: str | os.PathLike[str] | None = None) -> Experiment:
    """Return the experiment on the NIPS corpus.

    Parameters
    ----------
    path : path, optional
        The folder of the corpus; see `mixwood.datasets.nips`.
    """
    X, _ = datasets.nips(path)
    model = Mixture(Multinomial(beta=0.1), NGGP())
    arms = arms_with_subsets(subset=401)  # 1,500 times 49.7875 s / 186.2020 s
    return Experiment(
        name="nips",
        title="NIPS corpus: 1,500 papers, 12,419 words",
        cases=(Case("nips", "NGGP", X, model, "ibhc", arms),),
        budgets={
            "quick": Budget(seconds=6, repeats=1),
            "default": Budget(seconds=120, repeats=3),
            "full": Budget(seconds=10_000, repeats=10),
        },
    )
