"""The Pitman-Yor process: the generalized gamma measure with ``alpha ~ Gamma(theta/sigma, 1)``."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log

from mixwood import hyper, priors
from mixwood.reference.priors.base import (
    SMALLEST_LOG,
    SMALLEST_SIGMA,
    Parameters,
    draw_log_u,
    log_beta,
    log_sizes,
    mean,
    softplus,
)
from mixwood.reference.priors.generalized_gamma import Measure
from mixwood.reference.random import Stream

__all__ = ["PitmanYor"]


class PitmanYor(Measure):
    """Theta and sigma move on the law of the partition, then u and the latent alpha are drawn."""

    def __init__(self, prior: priors.PitmanYor) -> None:
        self.theta, self.sigma = prior.theta, prior.sigma

    def log_predictive_weights(self, sizes: Sequence[int], p: Parameters) -> list[float]:
        """Return the logs of ``(|c|-sigma)/(theta+n)`` and ``(theta+K sigma)/(theta+n)``."""
        total = log(p.theta + sum(sizes))
        old = [log(size - p.sigma) - total for size in sizes]
        return [*old, log(p.theta + len(sizes) * p.sigma) - total]

    def log_eppf(self, sizes: Sequence[int]) -> float | None:
        """Return the log probability of a partition.

        ``Gamma(theta)/Gamma(theta+n) sigma^K Gamma(theta/sigma+K)/Gamma(theta/sigma)
        prod Gamma(|c|-sigma)/Gamma(1-sigma)``.
        """
        theta, sigma, clusters = self.theta, self.sigma, len(sizes)
        if not (isinstance(theta, float) and isinstance(sigma, float)):
            return None
        total = lgamma(theta) - lgamma(theta + sum(sizes)) + clusters * log(sigma)
        total += lgamma(theta / sigma + clusters) - lgamma(theta / sigma)
        return total + log_sizes(sizes, sigma)

    def start(self) -> Parameters:
        """Return prior means; the latent alpha's is ``theta/sigma``."""
        theta, sigma = mean(self.theta), mean(self.sigma)
        return Parameters(0.0, log(theta / sigma), sigma, theta)

    def update_log_u(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        """Draw ``u``, and with it the latent ``alpha ~ Gamma(theta/sigma + K, tau^sigma)``."""
        p.log_u = draw_log_u(p.theta, sum(sizes), stream)
        draw = stream.log_gamma_draw(p.theta / p.sigma + len(sizes))
        p.log_alpha = draw - p.sigma * softplus(p.log_u)

    def update(self, p: Parameters, sizes: Sequence[int], stream: Stream) -> None:
        if isinstance(self.theta, hyper.Gamma):
            p.theta = self.draw_theta(self.theta, p, sum(sizes), len(sizes), stream)
        if isinstance(self.sigma, hyper.Beta):
            p.sigma = self.slice_sigma(self.sigma, p, sizes, stream)
        self.update_log_u(p, sizes, stream)

    def draw_theta(
        self, law: hyper.Gamma, p: Parameters, n: int, clusters: int, stream: Stream
    ) -> float:
        """Draw ``theta`` given the partition, through auxiliary variables (Teh 2006).

        Its density is ``theta^(a-1) e^(-b theta) prod_{0<j<K} (theta + j sigma) / prod_{0<i<n}
        (theta + i)``. The last factor is that of ``x^theta`` with ``x ~ Beta(theta+1, n-1)``, and
        each of the others a sum of two, of which ``y_j ~ Bernoulli(theta/(theta + j sigma))`` takes
        one: then ``theta ~ Gamma(a + sum y, b - log x)``. A slice of ``log theta`` would do, too,
        but one at a low level, as after a large change of the partition, has a long left tail.
        """
        theta, sigma = p.theta, p.sigma
        minus_log_x = 0.0
        if n > 1:
            above = stream.log_gamma_draw(n - 1)
            minus_log_x = softplus(above - stream.log_gamma_draw(theta + 1))
        ones = sum(stream.uniform() * (theta + j * sigma) < theta for j in range(1, clusters))
        drawn = stream.log_gamma_draw(law.shape + ones) - log(law.rate + minus_log_x)
        return exp(max(drawn, SMALLEST_LOG))

    def slice_sigma(
        self, law: hyper.Beta, p: Parameters, sizes: Sequence[int], stream: Stream
    ) -> float:
        """Move ``sigma`` by one slice step on its density given the partition.

        ``sigma^K Gamma(theta/sigma + K) / Gamma(theta/sigma)`` is written as a product of
        ``theta + j sigma``, which keeps its digits where sigma is tiny.
        """

        def log_density(sigma: float) -> float:
            growth = log_beta(law, sigma) + log_sizes(sizes, sigma)
            return growth + sum(log(p.theta + j * sigma) for j in range(len(sizes)))

        return max(stream.slice_unit(log_density, p.sigma), SMALLEST_SIGMA)
