"""Where a falling function crosses 0."""

from __future__ import annotations

from math import exp, inf

import numpy as np
import pytest
from scipy.optimize import brentq

from mixwood.priors.roots import TOLERANCE, _between, falling_zero
from mixwood.testing import seed_of

FUNCTIONS = {
    "line": lambda v: 40 - v,
    "steep": lambda v: 3.0 - exp(min(v, 700.0)),
    "cubic": lambda v: -((v - 2.5) ** 3) + 0.01,
    "root": lambda v: 1.3 - np.sign(v) * abs(v) ** 0.1,
    "jump": lambda v: 1.0 if v < 0.3 else -1e300,
    "exact": lambda v: -v,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_steps_are_those_of_scipy(name):
    rng = np.random.default_rng(seed_of("roots"))
    for low, high in zip(rng.uniform(-50, -1, 20), rng.uniform(45, 90, 20), strict=True):
        f = FUNCTIONS[name]
        expected = brentq(f, low, high, xtol=TOLERANCE, rtol=TOLERANCE)
        assert _between(f, float(low), float(high)) == expected


def test_a_function_that_is_infinite_far_out():
    zero = falling_zero(lambda v: 5 * exp(-v) - 2 if v > -1 else inf)
    assert zero == pytest.approx(np.log(2.5), abs=1e-11)
