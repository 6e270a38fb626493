"""What is said of runs that end early."""

import pytest

from mixwood.sampling.stored import warn_or_refuse


@pytest.mark.parametrize(
    ("kept", "said"), [(1, "1 of 1,200 draws"), (1100, "1,100 of 1,200 draws")]
)
def test_a_short_run_says_how_many_draws_are_kept(kept, said):
    with pytest.warns(RuntimeWarning, match=f"^stopped early: kept {said} of each chain$"):
        warn_or_refuse(kept, 1200, [])
