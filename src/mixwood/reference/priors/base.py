"""What a prior's twin tells, and what the formulas share.

Throughout ``v = log u``, ``tau = 1 + u`` and ``s(v) = softplus(v) = log tau``; ``alpha`` is
carried as ``log_alpha``. With a random ``alpha``, ``u`` can be astronomically large and
``alpha`` tiny.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, lgamma, log, log1p

from mixwood import hyper
from mixwood.reference.random import Stream

__all__ = ["Parameters", "Twin", "log_shifted", "softplus"]

#: Under a vague hyperprior a mass can run to where floating point ends; it stops here, some
#: e^50 above that, and so does a discount.
SMALLEST_LOG = -650.0
SMALLEST_SIGMA = 1e-100


@dataclass
class Parameters:
    """What a chain carries besides the partition.

    ``sigma`` is 0 for the Dirichlet process; ``theta`` is 0 but for Pitman-Yor. A finite mixture
    has its rate for ``alpha`` and ``-gamma`` for ``sigma``.
    """

    log_u: float
    log_alpha: float
    sigma: float
    theta: float


class Twin(ABC):
    """A prior on partitions in plain Python, to be read alongside model.md."""

    @abstractmethod
    def psi(self, log_u: float, log_alpha: float, sigma: float) -> float:
        """Return the Laplace exponent of the random measure."""

    @abstractmethod
    def log_kappa(self, k: int, log_u: float, log_alpha: float, sigma: float) -> float:
        """Return the log weight of a cluster of `k` items."""

    def log_nonempty(self, log_alpha: float) -> float:
        """Return the log probability that the measure has a jump at all."""
        del log_alpha
        return 0.0

    def log_new_weight(self, p: Parameters) -> float:
        """Return ``log(tau kappa(1, u))``: a new cluster against ``|c| - sigma`` for an old one."""
        return softplus(p.log_u) + self.log_kappa(1, p.log_u, p.log_alpha, p.sigma)

    def log_predictive_weights(self, sizes: Sequence[int], p: Parameters) -> list[float]:
        """Return the log weight of each cluster for one more item, and of a new cluster last.

        ``(u/n) kappa(|c|+1,u)/kappa(|c|,u)`` and ``(u/n) kappa(1,u)``.
        """

        def log_kappa(k: int) -> float:
            return self.log_kappa(k, p.log_u, p.log_alpha, p.sigma)

        log_factor = p.log_u - log(sum(sizes))
        old = [log_factor + log_kappa(size + 1) - log_kappa(size) for size in sizes]
        return [*old, log_factor + log_kappa(1)]

    def log_eppf(self, sizes: Sequence[int]) -> float | None:
        """Return the log probability of a partition; None where it has no closed form."""
        del sizes
        return None

    @abstractmethod
    def start(self) -> Parameters:
        """Return prior means, at any ``u``."""

    def start_log_u(self, p: Parameters, sizes: Sequence[int]) -> float:
        """Return from where a chain first moves ``log u``: ``u = n``."""
        del p
        return log(sum(sizes))

    @abstractmethod
    def update_log_u(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        """Move ``u`` given the sizes of the clusters."""

    @abstractmethod
    def update(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        """Move ``u`` and every random parameter once, given the sizes of the clusters."""


def softplus(v: float) -> float:
    """Return ``log(1 + e^v)``, which is ``log tau``.

    Examples
    --------
    >>> softplus(1e6)
    1000000.0
    """
    return max(v, 0.0) + log1p(exp(-abs(v)))


def log_shifted(b: float, z: float) -> float:
    """Return ``log(b + e^z - 1)`` for ``z >= 0``, also where ``e^z`` overflows.

    Examples
    --------
    >>> log_shifted(2.0, 1000.0)
    1000.0
    """
    return log(b + expm1(z)) if z < 30 else z + log1p((b - 1) * exp(-z))


def mean(value: float | hyper.Gamma | hyper.Beta) -> float:
    """Return a fixed value, ``shape/rate`` or ``a/(a+b)``."""
    if isinstance(value, hyper.Gamma):
        return value.shape / value.rate
    return value.a / (value.a + value.b) if isinstance(value, hyper.Beta) else value


def log_beta(law: hyper.Beta, sigma: float) -> float:
    """Return the log density of a Beta law, but for its constant."""
    return (law.a - 1) * log(sigma) + (law.b - 1) * log1p(-sigma)


def log_sizes(sizes: Sequence[int], sigma: float) -> float:
    """Return ``sum_c log Gamma(|c|-sigma)/Gamma(1-sigma)``."""
    return sum(lgamma(k - sigma) for k in sizes) - len(sizes) * lgamma(1 - sigma)


def draw_log_u(theta: float, n: int, stream: Stream) -> float:
    """Draw ``u/(1+u) ~ Beta(n, theta)``: Dirichlet process (theta is alpha) and Pitman-Yor."""
    log_numerator = stream.log_gamma_draw(n)
    return log_numerator - stream.log_gamma_draw(theta)
