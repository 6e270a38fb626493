"""The sets, the records, the table and the bars of `python -m benchmarks.study_defaults`."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.limits import run_within
from benchmarks.study_defaults import methods
from benchmarks.study_defaults.bars import bars
from benchmarks.study_defaults.methods import Options, measure
from benchmarks.study_defaults.records import Records, key
from benchmarks.study_defaults.sets import LabelledSet, load
from benchmarks.study_defaults.simulated import SIMULATED, three_groups
from benchmarks.study_defaults.table import REGULAR, Cell, Line, common, means, table

SHAPES = {
    "normal_1": (400, 1, 1),
    "normal_2": (400, 2, 1),
    "normal_5": (400, 5, 1),
    "normal_20": (400, 20, 1),
    "three_groups": (300, 2, 3),
    "four_groups_20": (400, 20, 4),
    "shared_covariance_16": (600, 16, 2),
    "heavy_tails": (450, 2, 3),
    "hundred_clusters": (1000, 2, 100),
    "widths": (600, 2, 4),
    "thin": (600, 2, 4),
    "noise_10": (300, 12, 3),
    "noise_20": (400, 23, 4),
    "two_groups_32": (400, 32, 2),
    "rounded": (300, 2, 3),
    "constant_and_duplicate": (300, 4, 3),
    "sum_column": (300, 3, 3),
}
SHORT = Options(draws=20, warmup=20, chains=2)


def test_all_simulated_sets_are_looked_at() -> None:
    assert SHAPES.keys() == SIMULATED.keys()


@pytest.mark.parametrize("name", SHAPES)
def test_a_simulated_set_is_the_same_each_time(name: str) -> None:
    data, again = load(name), load(name)
    assert (*data.X.shape, data.n_classes) == SHAPES[name]
    assert data.fingerprint == again.fingerprint
    assert np.array_equal(np.unique(data.labels), np.arange(data.n_classes))
    assert data.singular == (name in {"constant_and_duplicate", "sum_column"})


def test_another_seed_is_another_set() -> None:
    assert not np.array_equal(three_groups(1)[0], three_groups(2)[0])


def test_three_groups_are_five_standard_deviations_apart() -> None:
    X, labels = three_groups()
    centres = np.array([X[labels == k].mean(axis=0) for k in range(3)])
    gaps = np.linalg.norm(centres - np.roll(centres, 1, axis=0), axis=1)
    assert np.allclose(gaps, 5, atol=0.5)
    assert np.allclose(np.std(X - centres[labels], axis=0), 1, atol=0.15)


def test_groups_that_share_a_covariance_have_a_third_of_their_range_in_common() -> None:
    data = load("shared_covariance_16")
    groups = [data.X[data.labels == k] for k in (0, 1)]
    within = (np.cov(groups[0].T) + np.cov(groups[1].T)) / 2
    gap = groups[1].mean(axis=0) - groups[0].mean(axis=0)
    assert np.sqrt(gap @ np.linalg.solve(within, gap)) == pytest.approx(8 / 3, abs=0.35)


def test_rounded_rows_are_tied() -> None:
    assert len(np.unique(load("rounded").X, axis=0)) < 100


def test_the_split_has_every_row_once() -> None:
    data = load("three_groups")
    fit, rest = data.split()
    assert (len(fit), len(rest)) == (240, 60)
    assert np.array_equal(np.sort(np.concatenate([fit, rest])), np.arange(300))


def test_unknown_set() -> None:
    with pytest.raises(ValueError, match=r"set must be one of normal_1, .* got 'irises'"):
        load("irises")


@pytest.fixture(scope="module")
def pairs() -> LabelledSet:
    """Two clear groups in units of thousands; the class of every fifth row is not known."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 30)
    X = 1000 * (10 * labels[:, None] + rng.standard_normal((60, 2)))
    return LabelledSet("pairs", X, np.where(np.arange(60) % 5 == 0, -1, labels))


@pytest.mark.parametrize("method", ["before", "after"])
def test_measures_of_chains(pairs: LabelledSet, method: str) -> None:
    whole = measure(pairs, method, "whole", SHORT)
    assert (whole["rand"], whole["clusters"], whole["draws"]) == (1.0, 2, 20)
    assert whole["r_hat"].keys() >= {"n_clusters", "log_joint"}
    assert 0 <= whole["p_one"] <= 1
    # In units of standard deviations: in the data's own it would be below -15.
    assert -3 < measure(pairs, method, "held out", SHORT)["density"] < 0


def test_measures_of_mixtures_by_bic(pairs: LabelledSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "MOST_COMPONENTS", 3)
    whole = measure(pairs, "bic", "whole", SHORT)
    assert (whole["regular"]["rand"], whole["regular"]["clusters"]) == (1.0, 2)
    assert -3 < measure(pairs, "bic", "held out", SHORT)["regular"]["density"] < 0


def test_spikes_on_tied_values_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "MOST_COMPONENTS", 3)
    X = np.random.default_rng(0).standard_normal((100, 1))
    X[:40] = 0.25
    best, regular = methods.best_by_bic(X)
    assert best.covariances_.min() < 1e-5
    assert regular.covariances_.min() > 1e-5


def test_records_are_found_again(tmp_path: Path, pairs: LabelledSet) -> None:
    path = tmp_path / "new" / "records.jsonl"
    known = key(pairs, "after", "whole", SHORT)
    assert Records(path).find(known) is None
    Records(path).add(known, {"rand": 0.5})
    Records(path).add(known, {"rand": 0.7})
    assert Records(path).find(known) == {"rand": 0.7}
    assert Records(path).find(key(pairs, "after", "whole", Options())) is None
    assert Records(path).find(key(pairs, "after", "held out", SHORT)) is None
    other = LabelledSet("pairs", pairs.X + 1, pairs.labels)
    assert Records(path).find(key(other, "after", "whole", SHORT)) is None


def test_records_of_other_builds_stand_in_only_if_asked(tmp_path: Path, pairs: LabelledSet) -> None:
    path = tmp_path / "records.jsonl"
    known = key(pairs, "after", "whole", SHORT)
    Records(path).add(known | {"build": "older"}, {"rand": 0.5})
    assert Records(path).find(known) is None
    assert Records(path, any_build=True).find(known) == {"rand": 0.5}
    Records(path).add(known, {"rand": 0.9})
    Records(path).add(known | {"build": "older"}, {"rand": 0.6})
    assert Records(path, any_build=True).find(known) == {"rand": 0.9}


def test_a_fit_given_up_is_tried_again_with_more_time(tmp_path: Path, pairs: LabelledSet) -> None:
    path = tmp_path / "records.jsonl"
    known = key(pairs, "before", "whole", SHORT)
    Records(path).add(known, {"over": 180})
    assert Records(path).find(known, 60) == Records(path).find(known, 180) == {"over": 180}
    assert Records(path).find(known, 181) is None
    assert Records(path).find(known, None) is None


def burn() -> None:
    while time.process_time() < 60:
        pass


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # other tests leave threads
def test_work_within_a_limit() -> None:
    assert run_within(None, partial(int, "3")) == 3
    assert run_within(1, burn) is None
    with pytest.raises(ValueError, match="invalid literal"):
        run_within(5, partial(int, "x"))
    with pytest.raises(RuntimeError, match="exit code 3"):
        run_within(5, partial(os._exit, 3))


def line(name: str, before: float, after: float, **whole: object) -> Line:
    """Return a line where the measures `before` and `after` are both Rand and density."""
    r_hat = {"n_clusters": float("nan"), "log_joint": 1.02}
    cells = {
        "before": Cell({"rand": before}, {"density": before}),
        "after": Cell({"rand": after, "r_hat": r_hat, **whole}, {"density": after}),
        "bic": Cell({"over": 180}, {"failed": "ValueError: no"}),
    }
    return Line(name, 150, 4, 3, name == "digits", {**cells, REGULAR: cells["bic"].of_regular()})


def test_table() -> None:
    lines = [line("iris", 0.5, 0.95, mode=3, mode_probability=0.9, clusters=3, cpu=1.25)]
    rows = table(lines).splitlines()
    assert len({row.count("|") for row in rows}) == 1
    assert rows[2].startswith("| iris | 150 x 4 | 3 | before | - | 0.500 |")
    assert rows[3].split(" | ")[5:] == [
        "0.950", "3", "3 (0.90)", "0.950", "1.000", "1.020", "-", "1.2 |"
    ]  # fmt: skip
    assert "over 180 s" in rows[4]
    assert "ValueError: no" in rows[4]


def test_means_are_over_sets_that_all_methods_have() -> None:
    lines = [line("iris", 0.5, 0.9), line("wine", 0.6, 0.8), line("digits", 0.1, 0.1)]
    assert means(lines, ("before", "after")).splitlines() == [
        "mean adjusted Rand over 3 sets: before 0.400, after 0.600",
        "mean held-out density over 2 sets: before 0.550, after 0.850",  # digits is singular
    ]
    assert common(lines, ("before", "bic"), "rand") == {}


def verdicts(lines: list[Line]) -> dict[str, bool | None]:
    return {bar.asked: bar.passed for bar in bars(lines)}


def test_bars() -> None:
    found = verdicts([line("iris", 0.5, 0.9), line("normal_1", 0.3, 0.8, p_one=0.81)])
    assert found["iris: adjusted Rand > 0.9"] is False  # not above it
    assert found["normal_1: P(K = 1) > 0.8 in every chain"] is True
    assert found["wine: adjusted Rand > 0.85"] is None
    assert found["unbalance: clusters is 8"] is None
    assert found["held-out density better than before by 0.15 in the mean of 2 sets"] is True
    assert found["R-hat of K, joint and width at most 1.05 on sets under 2,000 rows"] is True
    assert found["rand better than that of bic in the mean of 0 sets"] is None


def test_bars_name_the_sets_that_fail() -> None:
    lines = [
        line("three_groups", 0.5, 0.44, mode=4, r_hat={"n_clusters": float("inf")}),
        line("unbalance", 0.5, 0.46, clusters=8),
    ]
    by_name = {bar.asked: bar for bar in bars(lines)}
    density = by_name["held-out density no worse than before by more than 0.05 on any set"]
    assert (density.passed, density.found) == (False, "three_groups -0.060")
    r_hat = by_name["R-hat of K, joint and width at most 1.05 on sets under 2,000 rows"]
    assert str(r_hat).startswith("FAIL  ")
    assert r_hat.found == "three_groups inf"
    assert by_name["three_groups: mode of K is 3"].passed is False
    assert by_name["unbalance: clusters is 8"].passed is True


def test_the_mean_over_named_sets_needs_them_all() -> None:
    names = (
        "iris", "wine", "thyroid", "crabs", "hepta", "a1", "s1", "s2", "unbalance", "mk3", "dense"
    )  # fmt: skip
    lines = [line(name, 0.5, 0.88) for name in names]
    asked = "mean adjusted Rand of 11 named sets > 0.87"
    assert verdicts(lines)[asked] is True
    assert verdicts(lines[1:])[asked] is None


def test_many_columns_against_the_best_structure() -> None:
    known = line("noise_20", 0.5, 0.9)
    by_hand = {name: Cell({"rand": r}, {"density": r}) for name, r in
               (("full", 0.2), ("diagonal", 0.93), ("spherical", 0.5))}  # fmt: skip
    found = verdicts([Line("noise_20", 400, 23, 4, False, {**known.cells, **by_hand})])
    assert found["noise_20: rand as good as that of the best structure by hand"] is False
    assert found["noise_20: density as good as that of the best structure by hand"] is True
