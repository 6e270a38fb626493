"""Families that are not written in the core: a user's Poisson, and products of parts."""

from __future__ import annotations

import time
from math import lgamma, log

import numpy as np

import mixwood as mw
from mixwood.core import make_chain

Measurement = dict[str, float | str]


def accumulate(x, statistic):
    for j in range(x.shape[0]):
        statistic[j] += x[j]


def log_marginal(n, statistic, parameters):
    shape = parameters[0]
    total = 0.0
    for j in range(statistic.shape[0]):
        rate = parameters[1 + j]
        after = shape + statistic[j]
        total += shape * log(rate) - lgamma(shape) + lgamma(after) - after * log(rate + n)
    return total


def log_predictive(x, n, statistic, parameters):
    total = 0.0
    for j in range(statistic.shape[0]):
        a, b = parameters[0] + statistic[j], parameters[1 + j] + n
        total += lgamma(a + x[j]) - lgamma(a) - a * log(1 + 1 / b) - x[j] * log(b + 1)
    return total


def draw_parameters(n, statistic, parameters, rng):
    return rng.standard_gamma(parameters[0] + statistic) / (parameters[1:] + n)


def log_density(x, drawn, parameters):  # noqa: ARG001
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * log(drawn[j]) - drawn[j]
    return total


def _seconds(likelihood, X, labels, sampler=None, repeats=5):
    """Return the least CPU time of an iteration, by default a Gibbs sweep."""
    model = mw.Mixture(likelihood, mw.DirichletProcess(alpha=1.0))
    chain = make_chain(model, X, labels.astype(np.int32), np.random.PCG64(1), sampler or mw.Gibbs())
    times = []
    for _ in range(repeats):
        began = time.process_time()
        chain.iterate()
        times.append(time.process_time() - began)
    return min(times)


def _clusters_of_counts():
    """Yield how many columns, 5,000 rows of 10 clusters of counts, their labels and our Poisson."""
    rng = np.random.default_rng(0)
    for d in (1, 8):
        labels = np.arange(5000) % 10
        X = rng.poisson(rng.gamma(2.0, 20.0, (10, d))[labels]).astype(float)
        yield d, X, labels, mw.Poisson(shape=1).resolve(X)


def user_family_sweep() -> dict[str, Measurement]:
    """One Gibbs sweep of 5,000 rows, 10 clusters: a user's Poisson against the built-in one."""
    results: dict[str, Measurement] = {}
    for d, X, labels, ours in _clusters_of_counts():
        parameters = [ours.shape, *ours.rate]
        own = mw.conjugate_family(d, accumulate, log_marginal, parameters=parameters)
        faster = mw.conjugate_family(
            d, accumulate, log_marginal, parameters=parameters, log_predictive=log_predictive
        )
        built_in = _seconds(ours, X, labels)
        ratios = {
            "times_built_in": _seconds(own.resolve(X), X, labels) / built_in,
            "times_built_in_with_log_predictive": _seconds(faster.resolve(X), X, labels) / built_in,
        }
        results[f"user family, d = {d}"] = {"built_in_ms": 1e3 * built_in, **ratios}
    return results


def user_family_slice() -> dict[str, Measurement]:
    """The same by `Slice`, which calls the user's Python for each cluster."""
    results: dict[str, Measurement] = {}
    for d, X, labels, ours in _clusters_of_counts():
        own = mw.conjugate_family(
            d,
            accumulate,
            log_marginal,
            parameters=[ours.shape, *ours.rate],
            draw_parameters=draw_parameters,
            log_density=log_density,
        )
        built_in = _seconds(ours, X, labels, mw.Slice())
        results[f"user family by Slice, d = {d}"] = {
            "built_in_ms": 1e3 * built_in,
            "times_built_in": _seconds(own.resolve(X), X, labels, mw.Slice()) / built_in,
        }
    return results


def product_sweep() -> dict[str, Measurement]:
    """One Gibbs sweep of 5,000 rows, 10 clusters: eight columns as one part, and as eight."""
    rng = np.random.default_rng(0)
    labels = np.arange(5000) % 10
    X = rng.normal(size=(10, 8))[labels] * 5 + rng.normal(size=(5000, 8))
    alone = _seconds(mw.DiagonalGaussian(scale="data").resolve(X), X, labels)
    one = mw.Product({tuple(range(8)): mw.DiagonalGaussian(scale="data")}).resolve(X)
    eight = mw.Product({j: mw.DiagonalGaussian(scale="data") for j in range(8)}).resolve(X)
    return {
        "product of diagonal Gaussians, d = 8": {
            "alone_ms": 1e3 * alone,
            "times_alone_as_one_part": _seconds(one, X, labels) / alone,
            "times_alone_as_eight_parts": _seconds(eight, X, labels) / alone,
        }
    }


BENCHMARKS = (user_family_sweep, user_family_slice, product_sweep)
