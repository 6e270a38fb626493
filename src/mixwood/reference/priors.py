"""The priors of model.md: ``psi``, ``log_kappa`` and the updates given the partition.

Throughout ``v = log u``, ``tau = 1 + u`` and ``s(v) = softplus(v) = log tau``; ``alpha`` is
carried as ``log_alpha``. With a random ``alpha``, ``u`` can be astronomically large and
``alpha`` tiny.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, inf, lgamma, log, log1p

from mixwood import hyper
from mixwood.priors import DirichletProcess, PitmanYor, Prior, start_values
from mixwood.reference.random import Stream

__all__ = [
    "Parameters",
    "log_eppf",
    "log_kappa",
    "psi",
    "softplus",
    "start_parameters",
    "update_parameters",
]


@dataclass
class Parameters:
    """What a chain carries beside the partition.

    ``sigma`` is 0 for the Dirichlet process; ``theta`` is 0 but for Pitman-Yor.
    """

    log_u: float
    log_alpha: float
    sigma: float
    theta: float


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


def _mass_times_expm1(log_alpha: float, z: float) -> float:
    """Return ``alpha (e^z - 1)`` where either factor alone may leave the range of a float."""
    if z <= 0:
        return 0.0
    exponent = log_alpha + (z + log1p(-exp(-z)) if z > 1 else log(expm1(z)))
    return exp(exponent) if exponent < 700 else inf


def psi(prior: Prior, log_u: float, log_alpha: float, sigma: float) -> float:
    """Return the Laplace exponent of the random measure.

    ``alpha log tau`` for the Dirichlet process, ``alpha (tau^sigma - 1)`` for the others.

    Examples
    --------
    >>> from mixwood.priors import NGGP
    >>> round(psi(NGGP(alpha=2.0, sigma=0.5), log(3.0), log(2.0), 0.5), 12)
    2.0
    """
    s = softplus(log_u)
    if isinstance(prior, DirichletProcess):
        return exp(log_alpha) * s
    return _mass_times_expm1(log_alpha, sigma * s)


def log_kappa(prior: Prior, k: int, log_u: float, log_alpha: float, sigma: float) -> float:
    """Return the log weight of a cluster of `k` items.

    ``alpha Gamma(k) tau^-k`` for the Dirichlet process and
    ``alpha sigma Gamma(k-sigma)/Gamma(1-sigma) tau^(sigma-k)`` for the others.

    Examples
    --------
    >>> from mixwood.priors import DirichletProcess
    >>> round(exp(log_kappa(DirichletProcess(alpha=1.0), 3, 0.0, 0.0, 0.0)), 12)
    0.25
    """
    s = softplus(log_u)
    if isinstance(prior, DirichletProcess):
        return log_alpha + lgamma(k) - k * s
    return log_alpha + log(sigma) + lgamma(k - sigma) - lgamma(1 - sigma) + (sigma - k) * s


def log_new_weight(prior: Prior, parameters: Parameters) -> float:
    """Return ``log(tau kappa(1, u))``: a new cluster against ``|c| - sigma`` for an old one."""
    if isinstance(prior, DirichletProcess):
        return parameters.log_alpha
    sigma = parameters.sigma
    return parameters.log_alpha + log(sigma) + sigma * softplus(parameters.log_u)


def log_eppf(prior: Prior, sizes: Sequence[int]) -> float:
    """Return the log probability of a partition with these cluster sizes.

    Closed forms, for fixed parameters: ``alpha^K Gamma(alpha)/Gamma(alpha+n) prod Gamma(|c|)``
    for the Dirichlet process, and ``Gamma(theta)/Gamma(theta+n) sigma^K
    Gamma(theta/sigma+K)/Gamma(theta/sigma) prod Gamma(|c|-sigma)/Gamma(1-sigma)`` for
    Pitman-Yor.

    Examples
    --------
    >>> round(exp(log_eppf(DirichletProcess(alpha=1.0), [1, 1])), 12)
    0.5
    """
    n, clusters = sum(sizes), len(sizes)
    if isinstance(prior, DirichletProcess) and isinstance(prior.alpha, float):
        alpha = prior.alpha
        return clusters * log(alpha) + lgamma(alpha) - lgamma(alpha + n) + sum(map(lgamma, sizes))
    if (
        isinstance(prior, PitmanYor)
        and isinstance(prior.theta, float)
        and isinstance(prior.sigma, float)
    ):
        theta, sigma = prior.theta, prior.sigma
        total = lgamma(theta) - lgamma(theta + n) + clusters * log(sigma)
        total += lgamma(theta / sigma + clusters) - lgamma(theta / sigma)
        return total + _log_sizes(sizes, sigma)
    raise ValueError(
        "prior must be DirichletProcess or PitmanYor with every parameter a number "
        f"(no other has a closed form), got {prior}"
    )


def _log_sizes(sizes: Sequence[int], sigma: float) -> float:
    """Return ``sum_c log Gamma(|c|-sigma)/Gamma(1-sigma)``."""
    return sum(lgamma(k - sigma) for k in sizes) - len(sizes) * lgamma(1 - sigma)


# The updates given the partition, one function each.


#: Under a vague hyperprior a mass can run to where floating point ends; it stops here, some
#: e^50 above that, and so does a discount.
SMALLEST_LOG = -650.0
SMALLEST_SIGMA = 1e-100


def draw_log_u(theta: float, n: int, stream: Stream) -> float:
    """Draw ``u/(1+u) ~ Beta(n, theta)``: Dirichlet process (theta is alpha) and Pitman-Yor."""
    log_numerator = stream.log_gamma_draw(n)
    return log_numerator - stream.log_gamma_draw(theta)


def slice_log_u(
    alpha: float | hyper.Gamma, parameters: Parameters, n: int, clusters: int, stream: Stream
) -> float:
    """Move ``v`` by one slice step on ``u^n tau^(K sigma - n) e^-psi(u)``, alpha fixed or out."""
    sigma = parameters.sigma

    def log_density(v: float) -> float:
        s = softplus(v)
        growth = n * v + (clusters * sigma - n) * s
        return growth - _mass_term(alpha, parameters.log_alpha, sigma * s, clusters)

    return stream.slice_line(log_density, parameters.log_u, 3.0, growth=2.0)


def slice_sigma(
    alpha: float | hyper.Gamma,
    law: hyper.Beta,
    parameters: Parameters,
    sizes: Sequence[int],
    stream: Stream,
) -> float:
    """Move ``sigma`` of the NGGP by one slice step, alpha fixed or integrated out."""
    s, clusters = softplus(parameters.log_u), len(sizes)

    def log_density(sigma: float) -> float:
        growth = _log_beta(law, sigma) + clusters * log(sigma) + _log_sizes(sizes, sigma)
        growth += clusters * sigma * s
        return growth - _mass_term(alpha, parameters.log_alpha, sigma * s, clusters)

    return max(stream.slice_unit(log_density, parameters.sigma), SMALLEST_SIGMA)


def _mass_term(alpha: float | hyper.Gamma, log_alpha: float, z: float, clusters: int) -> float:
    """Return ``alpha (e^z - 1)``, or ``(a+K) log(b + e^z - 1)`` with alpha integrated out."""
    if isinstance(alpha, hyper.Gamma):
        return (alpha.shape + clusters) * log_shifted(alpha.rate, z)
    return _mass_times_expm1(log_alpha, z)


def _log_beta(law: hyper.Beta, sigma: float) -> float:
    return (law.a - 1) * log(sigma) + (law.b - 1) * log1p(-sigma)


def draw_log_alpha(
    prior: Prior, law: hyper.Gamma, parameters: Parameters, clusters: int, stream: Stream
) -> float:
    """Draw ``alpha ~ Gamma(a+K, b + psi(u)/alpha)``, its conjugate law (not Pitman-Yor's)."""
    s = softplus(parameters.log_u)
    draw = stream.log_gamma_draw(law.shape + clusters)
    if isinstance(prior, DirichletProcess):  # which needs alpha itself, as a shape
        return max(draw - log(law.rate + s), SMALLEST_LOG)
    return draw - log_shifted(law.rate, parameters.sigma * s)


def draw_theta(
    law: hyper.Gamma, parameters: Parameters, n: int, clusters: int, stream: Stream
) -> float:
    """Draw ``theta`` of Pitman-Yor given the partition, through auxiliary variables (Teh 2006).

    Its density is ``theta^(a-1) e^(-b theta) prod_{0<j<K} (theta + j sigma) / prod_{0<i<n}
    (theta + i)``. The last factor is that of ``x^theta`` with ``x ~ Beta(theta+1, n-1)``, and
    each of the others a sum of two, of which ``y_j ~ Bernoulli(theta/(theta + j sigma))`` takes
    one: then ``theta ~ Gamma(a + sum y, b - log x)``. A slice of ``log theta`` would do, too,
    but one at a low level, as after a large change of the partition, has a long left tail.
    """
    theta, sigma = parameters.theta, parameters.sigma
    minus_log_x = 0.0
    if n > 1:
        above = stream.log_gamma_draw(n - 1)
        minus_log_x = softplus(above - stream.log_gamma_draw(theta + 1))
    ones = sum(stream.uniform() * (theta + j * sigma) < theta for j in range(1, clusters))
    drawn = stream.log_gamma_draw(law.shape + ones) - log(law.rate + minus_log_x)
    return exp(max(drawn, SMALLEST_LOG))


def slice_sigma_pitman_yor(
    law: hyper.Beta, parameters: Parameters, sizes: Sequence[int], stream: Stream
) -> float:
    """Move ``sigma`` of Pitman-Yor by one slice step on its density given the partition."""
    theta, clusters = parameters.theta, len(sizes)

    def log_density(sigma: float) -> float:
        growth = _log_beta(law, sigma) + _log_sizes(sizes, sigma)
        return growth + _log_new_clusters(theta, sigma, clusters)

    return max(stream.slice_unit(log_density, parameters.sigma), SMALLEST_SIGMA)


def _log_new_clusters(theta: float, sigma: float, clusters: int) -> float:
    """Return the log of ``sigma^K Gamma(theta/sigma + K) / Gamma(theta/sigma)``.

    As a product of ``theta + j sigma`` it keeps its digits where sigma is tiny.
    """
    return sum(log(theta + j * sigma) for j in range(clusters))


def draw_latent_log_alpha(parameters: Parameters, clusters: int, stream: Stream) -> float:
    """Draw the latent ``alpha ~ Gamma(theta/sigma + K, tau^sigma)`` of Pitman-Yor."""
    shape = parameters.theta / parameters.sigma + clusters
    return stream.log_gamma_draw(shape) - parameters.sigma * softplus(parameters.log_u)


def update_parameters(
    prior: Prior, parameters: Parameters, sizes: Sequence[int], stream: Stream
) -> None:
    """Move every parameter once, given the sizes of the clusters."""
    n, clusters = sum(sizes), len(sizes)
    if isinstance(prior, PitmanYor):
        if isinstance(prior.theta, hyper.Gamma):
            parameters.theta = draw_theta(prior.theta, parameters, n, clusters, stream)
        if isinstance(prior.sigma, hyper.Beta):
            parameters.sigma = slice_sigma_pitman_yor(prior.sigma, parameters, sizes, stream)
        _update_log_u(prior, parameters, n, clusters, stream)
        return
    _update_log_u(prior, parameters, n, clusters, stream)
    if not isinstance(prior, DirichletProcess) and isinstance(prior.sigma, hyper.Beta):
        parameters.sigma = slice_sigma(prior.alpha, prior.sigma, parameters, sizes, stream)
    if isinstance(prior.alpha, hyper.Gamma):
        parameters.log_alpha = draw_log_alpha(prior, prior.alpha, parameters, clusters, stream)


def _update_log_u(
    prior: Prior, parameters: Parameters, n: int, clusters: int, stream: Stream
) -> None:
    """Move ``u``, and the latent ``alpha`` that Pitman-Yor draws with it."""
    if isinstance(prior, DirichletProcess):
        parameters.log_u = draw_log_u(exp(parameters.log_alpha), n, stream)
    elif isinstance(prior, PitmanYor):
        parameters.log_u = draw_log_u(parameters.theta, n, stream)
        parameters.log_alpha = draw_latent_log_alpha(parameters, clusters, stream)
    else:
        parameters.log_u = slice_log_u(prior.alpha, parameters, n, clusters, stream)


def start_parameters(prior: Prior, sizes: Sequence[int], stream: Stream) -> Parameters:
    """Return where a chain starts: prior means, then one update of ``u`` from ``u = n``."""
    values = start_values(prior)
    n = sum(sizes)
    parameters = Parameters(
        log_u=log(n),
        log_alpha=log(values["alpha"]),
        sigma=values.get("sigma", 0.0),
        theta=values.get("theta", 0.0),
    )
    _update_log_u(prior, parameters, n, len(sizes), stream)
    return parameters
