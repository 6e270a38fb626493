"""10,000 points in six dimensions, labels from a Pitman-Yor process."""

from __future__ import annotations

from mixwood import datasets
from mixwood.experiments.protocol import Arm, Budget, Case, Experiment
from mixwood.likelihoods import Gaussian
from mixwood.model import Mixture
from mixwood.priors import NGGP
from mixwood.samplers import Gibbs, PaperTree, SplitMerge, Tree

__all__ = ["arms_with_subsets", "experiment"]


def arms_with_subsets(subset: int) -> tuple[Arm, ...]:
    """Return the samplers of the paper's large experiments, and `Tree`.

    Parameters
    ----------
    subset : int
        How many rows Gibbs_sub and SM_sub visit. The paper chose it so that they took as long
        as an iteration of its sampler. Here such an iteration takes longer than a whole Gibbs
        sweep, so the share of the rows is the paper's instead: its ratio of times.
    """
    return (
        Arm("Gibbs", Gibbs(), "Gibbs"),
        Arm("SplitMerge", SplitMerge(), "SM"),
        Arm("Gibbs_sub", Gibbs(subset=subset), "Gibbs_sub"),
        Arm("SM_sub", SplitMerge(subset=subset), "SM_sub"),
        Arm("PaperTree", PaperTree(), "tgMCMC"),
        Arm("Tree", Tree()),
    )


def experiment() -> Experiment:
    """Return the experiment on 10,000 points.

    Examples
    --------
    >>> experiment().cases[0].X.shape
    (10000, 6)
    """
    X, _ = datasets.tenk()
    model = Mixture(Gaussian(scale="paper"), NGGP())
    arms = arms_with_subsets(subset=248)  # 10,000 times 0.2659 s / 10.7325 s
    return Experiment(
        name="10k",
        title="10K: 10,000 points in six dimensions, labels from PY(3, 0.8)",
        cases=(Case("10k", "NGGP", X, model, "on-top", arms),),
        budgets={
            "quick": Budget(seconds=6, repeats=1),
            "default": Budget(seconds=60, repeats=3),
            "full": Budget(seconds=1000, repeats=10),
        },
    )
