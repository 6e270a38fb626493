"""The table: one row for each set and method, and the means over the sets that all have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.study_defaults.methods import Measures

#: The row of what BIC chooses among mixtures without spikes.
REGULAR = "bic, no spikes"
HEAD = (
    "set", "rows x columns", "classes", "method", "structure", "adjusted Rand", "clusters",
    "mode of K", "held-out density", "R-hat: K", "joint", "width", "CPU s",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """What one method gave on one set: of the whole, and of the rows held out, as far as run."""

    whole: Measures
    held_out: Measures

    def of_regular(self) -> Cell:
        """Return the same for the second choice of `bic`, which has no spikes."""
        return Cell(self.whole.get("regular", {}), self.held_out.get("regular", {}))

    @property
    def rand(self) -> float | None:
        return self.whole.get("rand")

    @property
    def density(self) -> float | None:
        return self.held_out.get("density")

    @property
    def r_hat(self) -> dict[str, float]:
        """R-hat of K, joint and width as far as there are; 1 where no draw differs."""
        known = self.whole.get("r_hat", {})
        wanted = ("n_clusters", "log_joint", "width")
        return {
            name: 1.0 if math.isnan(known[name]) else known[name]
            for name in wanted
            if name in known
        }


@dataclass(frozen=True)
class Line:
    """A set's description and what each method gave on it."""

    name: str
    rows: int
    columns: int
    classes: int
    singular: bool
    cells: Mapping[str, Cell]


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _row(line: Line, method: str, first: bool) -> str:
    cell = line.cells[method]
    whole = cell.whole
    mode = number(whole.get("mode"), 0)
    if "mode_probability" in whole:
        mode += f" ({whole['mode_probability']:.2f})"
    entries = [
        *((line.name, f"{line.rows:,} x {line.columns}", str(line.classes or "-")) if first else
          ("", "", "")),
        method,
        _why_not(whole) or whole.get("structure", "-"),
        number(cell.rand, 3),
        number(whole.get("clusters"), 0),
        mode,
        _why_not(cell.held_out) or number(cell.density, 3),
        *(number(cell.r_hat.get(name), 3) for name in ("n_clusters", "log_joint", "width")),
        number(whole.get("cpu"), 1),
    ]  # fmt: skip
    return "| " + " | ".join(entries) + " |"


def _why_not(measures: Measures) -> str:
    """Return why a fit has no measures, nothing if it has."""
    return f"over {measures['over']} s" if "over" in measures else measures.get("failed", "")


def table(lines: Iterable[Line]) -> str:
    """Return the table in Markdown."""
    rows = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for line in lines:
        rows += [_row(line, method, first=i == 0) for i, method in enumerate(line.cells)]
    return "\n".join(rows)


def common(lines: Sequence[Line], methods: Sequence[str], measure: str) -> dict[str, list[float]]:
    """Return a measure by set, in the order of `methods`, for all sets where each has it.

    Densities of sets in a subspace are left out: they are as large as a floor allows.
    """
    found = {}
    for line in lines:
        if measure == "density" and line.singular:
            continue
        values = [getattr(line.cells.get(method, Cell({}, {})), measure) for method in methods]
        if all(value is not None for value in values):
            found[line.name] = values
    return found


def means(lines: Sequence[Line], methods: Sequence[str]) -> str:
    """Return the means of Rand and density over the sets on which every method has them."""
    text = []
    for measure, title in (("rand", "adjusted Rand"), ("density", "held-out density")):
        values = common(lines, methods, measure)
        if values:
            columns = zip(methods, zip(*values.values(), strict=True), strict=True)
            shown = ", ".join(f"{name} {sum(of) / len(of):.3f}" for name, of in columns)
            text.append(f"mean {title} over {len(values)} sets: {shown}")
    return "\n".join(text)
