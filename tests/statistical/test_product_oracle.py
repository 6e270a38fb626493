"""A product against the exact posterior, parts of rows missing; and a wrong one, which fails.

The other samplers meet it through `some_pair`, every prior in the long runs.
"""

from __future__ import annotations

import mixwood as mw
from mixwood.reference import families
from mixwood.testing import goodness_of_fit


def test_gibbs_is_exact(cases, seed):
    likelihood, X = cases["product"]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=0.8, sigma=0.4))
    result = goodness_of_fit(model, X, "gibbs", replicates=20_000, iterations=5, seed=seed)
    assert result.passed(), result


def test_a_part_left_out_fails(cases, seed, monkeypatch):
    right = families.Product.log_marginal
    monkeypatch.setattr(
        families.Product, "log_marginal", lambda self, s: right(self, (*s[:-1], self.empty()[-1]))
    )
    likelihood, X = cases["product"]
    model = mw.Mixture(likelihood, mw.NGGP(alpha=0.8, sigma=0.4))
    result = goodness_of_fit(model, X, "gibbs", replicates=20_000, iterations=5, seed=seed)
    assert result.p_value < 1e-6, result
