"""The expected number of clusters: quadrature that the priors share, and the NGGP's integral.

For every normalized random measure, with total mass ``T`` and ``U = G/T``, ``G ~ Gamma(n)``::

    E[K_n] = E[psi(U)]

by Mecke's formula for the jumps. For the NGGP, writing ``(1 + G/T)^sigma`` as a mixture of
``e^(-xT)`` and taking the expectation over ``G`` leaves an integral of positive terms::

    E[K_n] = alpha sigma n int_0^inf F_n(x) e^(-psi(x)) dx
    F_n(x) = 2F1(1-sigma, n+1; 2; -x)
           = int_0^1 t^-sigma (1-t)^sigma (1+xt)^-(n+1) dt / (Gamma(1-sigma) Gamma(1+sigma))

in which a Gamma law of ``alpha`` integrates out in closed form.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import digamma, gammaln, logsumexp

from mixwood import hyper
from mixwood._support.types import FloatArray

__all__ = ["digamma_rise", "gamma_points", "log_shifted", "nggp_clusters", "nodes"]

#: points of the Gauss rule over a random sigma
_NODES = 16


def nodes(
    value: float | hyper.Gamma | hyper.LogNormal | hyper.Beta,
) -> tuple[FloatArray, FloatArray]:
    """Return the points and weights that integrate over a parameter: one point if it is fixed."""
    if isinstance(value, hyper.Gamma):
        log_points, log_masses = gamma_points(value, step=0.15)
        return np.exp(log_points), np.exp(log_masses)
    if isinstance(value, hyper.LogNormal):
        z = np.arange(-9.0, 9.01, 0.25)
        return value.median * np.exp(value.sd * z), 0.25 * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    if isinstance(value, hyper.Beta):
        return _gauss_beta(value.a, value.b)
    return np.array([value]), np.ones(1)


def gamma_points(law: hyper.Gamma, step: float) -> tuple[FloatArray, FloatArray]:
    """Return equally spaced points of ``log x``, x ~ Gamma, and the logs of their masses.

    The trapezoid rule, exponentially accurate on the whole line whatever the shape.
    """
    shape, rate = law.shape, law.rate
    step = min(step, 0.5 / np.sqrt(shape))
    left = (gammaln(shape + 1) - 35) / shape - np.log(rate)
    right = np.log((shape + 12 * np.sqrt(shape) + 60) / rate)
    t = np.asarray(np.arange(left, right + step, step), dtype=np.float64)
    log_density = shape * (t + np.log(rate)) - rate * np.exp(t) - gammaln(shape)
    return t, np.asarray(log_density + np.log(step), dtype=np.float64)


def _gauss_beta(a: float, b: float) -> tuple[FloatArray, FloatArray]:
    """Return the Gauss rule of the Beta(`a`, `b`) distribution, from its canonical moments."""
    k = np.arange(1.0, _NODES + 1)
    odd = (a + k - 1) / (a + b + 2 * k - 2)
    even = k / (a + b + 2 * k - 1)
    return _gauss_rule(odd * np.append(1.0, 1 - even[:-1]), even * (1 - odd))


def _gauss_rule(odd: FloatArray, even: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights (Golub and Welsch) from the continued fraction of the moments.

    `odd` and `even` are its coefficients ``z_1, z_3, ...`` and ``z_2, z_4, ...``.
    """
    diagonal = odd + np.append(0.0, even[:-1])
    nodes, vectors = eigh_tridiagonal(diagonal, np.sqrt(odd * even)[:-1])
    return np.asarray(nodes, np.float64), np.asarray(vectors[0] ** 2, np.float64)


def digamma_rise(x: FloatArray, step: int) -> FloatArray:
    """Return ``digamma(x+step) - digamma(x)``, ``x >= 1``, without cancellation."""
    end = x + step
    slow = 1 / (2 * end) + (1 / end + 1 / x) / (12 * end)  # of log x - 1/(2 x) - 1/(12 x^2)
    return np.where(x < 1e4, digamma(end) - digamma(x), np.log1p(step / x) + step / x * slow)


def log_shifted(b: float, z: FloatArray) -> FloatArray:
    """Return ``log(b + e^z - 1)`` for ``z >= 0``, also where ``e^z`` overflows."""
    direct = np.log(b + np.expm1(np.minimum(z, 30)))
    return np.where(z < 30, direct, z + np.log1p((b - 1) * np.exp(-np.maximum(z, 30))))


def nggp_clusters(alpha: float | hyper.Gamma, sigma: float | hyper.Beta, n: int) -> float:
    """Return the expected number of clusters among `n` items, at least two, under the NGGP.

    Examples
    --------
    >>> round(nggp_clusters(1.0, 0.5, 2), 6)
    1.701826
    """
    sigmas, weights = nodes(sigma)
    return float(weights @ np.array([_nggp(alpha, float(value), n) for value in sigmas]))


def _nggp(alpha: float | hyper.Gamma, sigma: float, n: int) -> float:
    """Return the integral over x, on ``log x`` stretched so that both tails are reached."""
    if isinstance(alpha, hyper.Gamma):
        end, step = (40 / alpha.shape + abs(np.log(alpha.rate))) / sigma, 0.03
        mass = alpha.mean
    else:
        end, step = np.log1p(40 / alpha) / sigma, 0.01  # a fixed mass ends more abruptly
        mass = alpha
    edge = -np.log(max(n, mass))  # F bends at 1/n, the exponential at 1/alpha
    z = np.arange(-np.arcsinh(20.0), np.arcsinh((end - edge) / 2) + step, step)
    log_x = edge + 2 * np.sinh(z)
    log_power = sigma * np.logaddexp(0, log_x)
    if isinstance(alpha, hyper.Gamma):
        a, b = alpha.shape, alpha.rate
        # E[alpha e^(-alpha y)] = a b^a (b+y)^-(a+1), y = (1+x)^sigma - 1
        log_laplace = np.log(a) + a * np.log(b) - (a + 1) * log_shifted(b, log_power)
    else:
        with np.errstate(over="ignore"):
            log_laplace = np.log(alpha) - alpha * np.expm1(log_power)
    log_terms = log_laplace + log_x + _log_hypergeometric(log_x, sigma, n)
    spacing = step * 2 * np.cosh(z)
    return float(sigma * n * np.sum(np.exp(log_terms) * spacing))


def _log_hypergeometric(log_x: FloatArray, sigma: float, n: int, step: float = 0.08) -> FloatArray:
    """Return ``log 2F1(1-sigma, n+1; 2; -x)`` by its Euler integral, on the logit of t.

    The integrand bends where ``t = 1/(1 + n x)``; points are dense there and spread
    geometrically away from it.
    """
    log_x = log_x[:, None]
    edge = -np.logaddexp(0, np.log(n) + log_x)
    z = np.arange(-np.arcsinh(40 / (1 - sigma)), np.arcsinh(40.0) + step, step)
    logit = edge + np.sinh(z)
    log_t, log_rest = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
    log_terms = (1 - sigma) * log_t + (1 + sigma) * log_rest
    log_terms -= (n + 1) * np.logaddexp(0, log_x + log_t)
    log_terms += np.log(step * np.cosh(z)) - gammaln(1 - sigma) - gammaln(1 + sigma)
    return np.asarray(logsumexp(log_terms, axis=1))
