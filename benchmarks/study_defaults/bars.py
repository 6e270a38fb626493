"""The bars that the defaults have to clear, each passed, failed, or not measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.study_defaults.table import REGULAR, Cell, Line, common

RAND = {"three_groups": 0.93, "four_groups_20": 0.99, "iris": 0.9, "wine": 0.85, "thyroid": 0.85,
        "a1": 0.93, "tenk": 0.99}  # fmt: skip
MODES = {"three_groups": 3, "four_groups_20": 4}
IN_MEAN = (
    "iris", "wine", "thyroid", "crabs", "hepta", "a1", "s1", "s2", "unbalance", "mk3", "dense"
)  # fmt: skip
MANY_COLUMNS = ("digits", "two_groups_32", "noise_20")
STRUCTURES = ("full", "diagonal", "spherical")
#: Two fits of one model differ by this much by chance.
CHANCE = {"rand": 0.02, "density": 0.05}


@dataclass(frozen=True)
class Bar:
    """What is asked, what was found, and whether that is enough: None if not measured."""

    asked: str
    found: str
    passed: bool | None

    def __str__(self) -> str:
        word = {True: "pass", False: "FAIL", None: "not measured"}[self.passed]
        return f"{word:12}  {self.asked}: {self.found}"


def at_least(asked: str, value: float | None, bar: float, strictly: bool = True) -> Bar:
    """Return the bar that asks for a value above `bar` (or not below it)."""
    if value is None:
        return Bar(asked, "-", None)
    return Bar(asked, f"{value:.3f}", value > bar if strictly else value >= bar)


def _equal(asked: str, value: float | None, wanted: int) -> Bar:
    return Bar(asked, "-", None) if value is None else Bar(asked, f"{value}", value == wanted)


def bars(lines: Sequence[Line], method: str = "after") -> list[Bar]:
    """Return all bars for one method, against `before`, `bic` and the structures by hand."""
    cells = {line.name: line.cells[method] for line in lines if method in line.cells}
    return [
        *_on_sets(cells),
        _mean_rand(cells),
        *_density_against_before(lines, method),
        _r_hat(lines, method),
        *(_against(lines, method, "bic", measure) for measure in ("rand", "density")),
        *(_against(lines, method, REGULAR, measure) for measure in ("rand", "density")),
        *_many_columns(lines, method),
    ]


def _on_sets(cells: dict[str, Cell]) -> list[Bar]:
    def of(name: str, measure: str) -> float | None:
        return cells[name].whole.get(measure) if name in cells else None

    found = [
        at_least(f"normal_{d}: P(K = 1) > 0.8 in every chain", of(f"normal_{d}", "p_one"), 0.8)
        for d in (1, 2, 5, 20)
    ]
    wanted = [(name, "mode", "mode of K", k) for name, k in MODES.items()]
    for name, measure, title, k in [*wanted, ("unbalance", "clusters", "clusters", 8)]:
        found.append(_equal(f"{name}: {title} is {k}", of(name, measure), k))
    return found + [
        at_least(f"{name}: adjusted Rand > {bar}", of(name, "rand"), bar)
        for name, bar in RAND.items()
    ]


def _mean_rand(cells: dict[str, Cell]) -> Bar:
    values = [cells[name].rand for name in IN_MEAN if name in cells]
    known = [value for value in values if value is not None]
    mean = float(np.mean(known)) if len(known) == len(IN_MEAN) else None
    return at_least(f"mean adjusted Rand of {len(IN_MEAN)} named sets > 0.87", mean, 0.87)


def _density_against_before(lines: Sequence[Line], method: str) -> list[Bar]:
    gains = {name: b - a for name, (a, b) in common(lines, ("before", method), "density").items()}
    asked = "held-out density no worse than before by more than 0.05 on any set"
    worse = {name: gain for name, gain in gains.items() if gain < -0.05}
    worst = Bar(asked, _listed(worse) or f"on {len(gains)} sets", not worse if gains else None)
    mean = float(np.mean(list(gains.values()))) if gains else None
    title = f"held-out density better than before by 0.15 in the mean of {len(gains)} sets"
    return [worst, at_least(title, mean, 0.15, strictly=False)]


def _r_hat(lines: Sequence[Line], method: str) -> Bar:
    small = [line for line in lines if line.rows < 2000 and method in line.cells]
    largest = {
        line.name: max(line.cells[method].r_hat.values())
        for line in small
        if line.cells[method].r_hat
    }
    above = {name: value for name, value in largest.items() if not value <= 1.05}
    asked = "R-hat of K, joint and width at most 1.05 on sets under 2,000 rows"
    return Bar(asked, _listed(above) or f"on {len(largest)} sets", not above if largest else None)


def _against(lines: Sequence[Line], method: str, peer: str, measure: str) -> Bar:
    values = common(lines, (peer, method), measure)
    asked = f"{measure} better than that of {peer} in the mean of {len(values)} sets"
    if not values:
        return Bar(asked, "-", None)
    theirs, ours = np.mean(list(values.values()), axis=0)
    return Bar(asked, f"{ours:.3f} against {theirs:.3f}", bool(ours > theirs))


def _many_columns(lines: Sequence[Line], method: str) -> list[Bar]:
    found = []
    for name in MANY_COLUMNS:
        line = [line for line in lines if line.name == name]
        for measure, chance in CHANCE.items():
            values = common(line, (*STRUCTURES, method), measure).get(name)
            asked = f"{name}: {measure} as good as that of the best structure by hand"
            if values is None:
                found.append(Bar(asked, "-", None))
            else:
                best, ours = max(values[:-1]), values[-1]
                found.append(Bar(asked, f"{ours:.3f} against {best:.3f}", ours >= best - chance))
    return found


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())
