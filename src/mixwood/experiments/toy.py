"""The toy data: 1,300 points in the plane, 13 clusters, two priors, and what G and D do."""

from __future__ import annotations

from mixwood import datasets
from mixwood.experiments.protocol import Arm, Budget, Case, Experiment
from mixwood.likelihoods import Gaussian
from mixwood.model import Mixture
from mixwood.priors import NGGP, DirichletProcess
from mixwood.samplers import Gibbs, PaperTree, Slice, SplitMerge, Tree

__all__ = ["experiment"]

ARMS = (
    Arm("Gibbs", Gibbs(), "Gibbs"),
    Arm("SplitMerge", SplitMerge(), "SM"),
    Arm("PaperTree", PaperTree(), "tgMCMC"),
    Arm("Tree", Tree()),
    Arm("Slice", Slice()),
)


def experiment() -> Experiment:
    """Return the experiment on the toy data.

    Examples
    --------
    >>> [case.name for case in experiment().cases]
    ['toy-dp', 'toy-nggp', 'toy-G', 'toy-D']
    """
    X, truth = datasets.toy()
    likelihood = Gaussian(scale="paper")
    dp, nggp = (Mixture(likelihood, prior) for prior in (DirichletProcess(), NGGP()))
    moves = tuple(Arm(f"G = {G}", PaperTree(global_moves=G)) for G in (1, 10, 20, 50))
    depths = tuple(Arm(f"D = {D}", PaperTree(depth=D)) for D in (0, 1, 2, 3))
    return Experiment(
        name="toy",
        title="Toy data: 1,300 points in the plane, 13 clusters",
        cases=(
            Case("toy-dp", "Dirichlet process", X, dp, "on-top", ARMS),
            Case("toy-nggp", "NGGP", X, nggp, "on-top", ARMS),
            Case("toy-G", "PaperTree, varying G (NGGP)", X, nggp, "on-top", moves),
            Case("toy-D", "PaperTree, varying D (NGGP)", X, nggp, "on-top", depths),
        ),
        budgets={
            "quick": Budget(seconds=0.8, repeats=2),
            "default": Budget(seconds=5, repeats=5),
            "full": Budget(seconds=10, repeats=10),
        },
        scatter=(X, truth),
    )
