"""BNPmix and dirichletprocess, where Rscript has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.peers import elsewhere
from benchmarks.peers.interface import Contest, Fit, Peer


def _needs(package: str) -> Callable[[], str | None]:
    def missing() -> str | None:
        if elsewhere.answers(["Rscript", "-e"], f"library({package})"):
            return None
        return f"Rscript with the package {package}"

    return missing


def _fit(script: str, contest: Contest, effort: int, seed: int) -> Fit:
    return elsewhere.run(["Rscript"], script, contest, effort, seed)


PEERS = (
    Peer("BNPmix, marginal", "sweeps", (50, 500, 2000), (20, 60),
         _needs("BNPmix"), partial(_fit, "bnpmix_fit.R")),
    Peer("dirichletprocess", "sweeps", (20, 60), (),
         _needs("dirichletprocess"), partial(_fit, "dirichletprocess_fit.R")),
)  # fmt: skip
