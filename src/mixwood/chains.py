"""One chain: how it is made from a model and data, and how it is run in slices.

Chains know nothing of threads or processes; those are in `mixwood.parallel`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood import hyper
from mixwood.families.leaves import Leaves
from mixwood.model import Mixture
from mixwood.priors import DirichletProcess, PitmanYor, Prior, start_values
from mixwood.samplers import Sampler, Slice, Tree

if TYPE_CHECKING:
    from mixwood import _core
    from mixwood.families.base import Data, FloatArray

__all__ = [
    "ChainPlan",
    "ChainResult",
    "RunningChain",
    "bind_family",
    "make_chain",
    "prior_arguments",
]

#: How long a chain runs before it comes back to Python, to report or to be told to stop.
SLICE_SECONDS = 0.1


@dataclass(frozen=True)
class ChainPlan:
    """How long a chain runs and what it keeps."""

    warmup: int
    draws: int
    thin: int

    @property
    def iterations(self) -> int:
        """How many iterations there are in all."""
        return self.warmup + self.draws * self.thin

    def draws_after(self, iterations: int) -> int:
        """Return how many draws are kept after so many iterations."""
        return max(iterations - self.warmup, 0) // self.thin


@dataclass(frozen=True)
class ChainResult:
    """What one chain has drawn beside the labels, as far as it came."""

    values: dict[str, FloatArray]
    stats: dict[str, dict[str, Any]]
    error: str | None = None

    @property
    def n_draws(self) -> int:
        """How many draws were kept."""
        return len(self.values["log_joint"])


def _pair(value: object) -> tuple[float, float] | None:
    """Return the two parameters of a hyperprior, or None for a fixed number."""
    if isinstance(value, hyper.Gamma):
        return value.shape, value.rate
    if isinstance(value, hyper.Beta):
        return value.a, value.b
    return None


def prior_arguments(prior: Prior) -> dict[str, Any]:
    """Return the prior as the core wants it."""
    if isinstance(prior, DirichletProcess):
        kind = "dirichlet_process"
    else:
        kind = "pitman_yor" if isinstance(prior, PitmanYor) else "generalized_gamma"
    return {
        "prior": kind,
        "alpha": _pair(getattr(prior, "alpha", None)),
        "sigma": _pair(getattr(prior, "sigma", None)),
        "theta": _pair(getattr(prior, "theta", None)),
        "start": {"sigma": 0.0, "theta": 0.0} | start_values(prior),
    }


def make_chain(
    model: Mixture,
    X: Data,
    labels: NDArray[np.int32],
    bit_generator: np.random.BitGenerator,
    sampler: Sampler,
    family: _core.Family | None = None,
) -> _core.Chain:
    """Return a compiled chain at its start.

    Parameters
    ----------
    model : Mixture
        With a resolved likelihood.
    X : array or csr_array
        Checked data.
    labels : int32 array of shape (n,)
        The partition to start from, labels within ``0..n-1``.
    bit_generator : numpy.random.BitGenerator
        The chain's random stream.
    sampler : Sampler
        Which moves it makes.
    family : Family, optional
        The likelihood bound to `X`, if that is at hand: chains share it.
    """
    from mixwood import _core

    if family is None:
        family = bind_family(model, X, sampler)
    return _core.Chain(
        family,
        **prior_arguments(model.prior),
        labels=np.ascontiguousarray(labels, dtype=np.int32),
        bit_generator=bit_generator,
        sampler=sampler.name,
        options=sampler.options(len(labels)),
    )


def bind_family(model: Mixture, X: Data, sampler: Sampler | None = None) -> _core.Family:
    """Return the compiled family of a resolved model.

    Raises
    ------
    ValueError
        If a row's density is not a number.
    TypeError
        If the chains' `sampler` is given and cannot work with the likelihood.
    """
    family = model.likelihood.bind(X)
    if isinstance(model.likelihood, Leaves) and not isinstance(sampler, Tree | None):
        raise TypeError(
            f"sampler must be mw.Tree() for weighted leaves, got {sampler}: the others move rows "
            "one by one"
        )
    if isinstance(sampler, Slice) and not family.has_atoms:
        raise TypeError(
            "sampler Slice() draws the parameters of the clusters, and the likelihood "
            f"{type(model.likelihood).__name__} cannot: it has no atom sampler. Use one of the "
            "marginal samplers, for example mw.Gibbs()"
        )
    densities = family.log_alone()
    if not np.all(np.isfinite(densities)):
        row = int(np.flatnonzero(~np.isfinite(densities))[0])
        raise ValueError(
            f"X has a row ({row}) so extreme that its prior density is not a finite number; "
            "rescale X or change the likelihood's parameters"
        )
    return family


class RunningChain:
    """A chain on its way: the compiled chain and the arrays it fills.

    The array of the labels, (draws, n), is the caller's: the largest is not copied about.
    """

    def __init__(
        self,
        chain: _core.Chain,
        plan: ChainPlan,
        labels: NDArray[np.int32],
        deadline: float | None,
    ) -> None:
        self.plan = plan
        self.iterations = 0
        self.error: str | None = None
        self._chain = chain
        self._deadline = deadline
        self._stopped = False
        self._labels = labels
        names = ("log_joint", "log_u", "log_alpha", "sigma", "theta")
        self._values: dict[str, FloatArray] = {name: np.empty(plan.draws) for name in names}

    @property
    def n_draws(self) -> int:
        """How many draws are kept so far."""
        return self.plan.draws_after(self.iterations)

    @property
    def finished(self) -> bool:
        """Whether nothing more is to be done."""
        return self._stopped or self.iterations >= self.plan.iterations

    def stop(self) -> None:
        """End the chain at the next chance; safe from any thread."""
        self._stopped = True
        self._chain.stop()

    def advance(self) -> None:
        """Run for a slice of time, in whole iterations."""
        seconds = SLICE_SECONDS
        if self._deadline is not None:
            seconds = min(seconds, self._deadline - time.monotonic())
            if seconds <= 0:
                self._stopped = True
                return
        try:
            self.iterations = self._chain.run(
                self.plan.warmup, self.plan.thin, self._labels, **self._values, seconds=seconds
            )
        except RuntimeError as error:  # what was drawn before is kept
            self.error = str(error)
            self.iterations = self._chain.iterations
            self._stopped = True

    def progress(self) -> tuple[int, int, float]:
        """Return iterations done, the number of clusters and the log joint without constants."""
        return self.iterations, self._chain.n_clusters, self._chain.log_joint()

    def result(self) -> ChainResult:
        """Return the draws kept."""
        kept = slice(self.n_draws)
        values = {name: array[kept] for name, array in self._values.items()}
        reports = self._chain.reports()
        stats = {report.pop("move"): report for report in reports}
        return ChainResult(values, stats, self.error)
