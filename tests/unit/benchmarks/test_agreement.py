"""What `python -m benchmarks.agreement` measures, and what it says of chains that disagree."""

from __future__ import annotations

import numpy as np
import pytest

import mixwood as mw
from benchmarks import agreement
from benchmarks.agreement import Plan, Problem, Trace, measures

PLAN = Plan(seconds=1.0, chains=2)
WIDE = len(agreement.SCALARS) + agreement.PAIRS


def traces(apart: float = 0.0, pairs_apart: bool = False) -> list[Trace]:
    """Return two chains that see the same, or two things."""
    found = []
    for number in range(2):
        rng = np.random.default_rng(number)
        values = rng.normal(size=(400, WIDE))
        values[:, 2] = 0.0  # no width
        values[:, 0] += apart * number
        values[:, -1] = float(pairs_apart and number == 1)
        found.append(Trace("one", np.linspace(0.01, 1.0, 400), values, 400, {}))
    return found


def test_chains_that_agree():
    found = measures(traces(), PLAN)
    assert max(value for name, value in found["r_hat"].items() if name in agreement.SCALARS) < 1.05
    assert found["r_hat"]["width"] == 1.0
    assert 100 < found["ess_per_second"]["log_joint"] < 800  # 400 draws in a second of both


def test_chains_that_disagree_in_one_number_or_in_one_pair():
    assert measures(traces(apart=3), PLAN)["r_hat"]["n_clusters"] > 1.5
    other = measures(traces(pairs_apart=True), PLAN)
    assert other["r_hat"]["pairs"] > 1.5
    assert other["agreed_after"] is None


def test_chains_in_warm_up_are_not_asked():
    late = [Trace(t.start, t.times + 0.3, t.values, 400, {}) for t in traces()]
    assert agreement.r_hats(late, 0.2, 0.4) is None


@pytest.mark.parametrize("start", ["ibhc", "one", "kmeans"])
def test_a_chain_is_watched(start):
    X = np.random.default_rng(1).normal(size=(40, 1)) + 9 * (np.arange(40) % 2)[:, None]
    model = mw.Mixture(mw.Gaussian().resolve(X))
    trace = agreement.run(Problem("two", model, X, ""), Plan(0.2, 1, (start,)), 0)
    assert trace.start == start
    assert trace.values.shape == (len(trace.times), WIDE)
    assert np.median(trace.values[:, 0]) >= 2
    assert "leaf" in trace.moves
    assert set(np.unique(trace.values[:, 4:])) <= {0.0, 1.0}
