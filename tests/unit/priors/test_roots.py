"""Where a falling function crosses 0."""

from __future__ import annotations

from math import exp, inf

import numpy as np
import pytest

from mixwood.priors.roots import falling_zero


def test_a_function_that_is_infinite_far_out():
    zero = falling_zero(lambda v: 5 * exp(-v) - 2 if v > -1 else inf)
    assert zero == pytest.approx(np.log(2.5), abs=1e-11)
