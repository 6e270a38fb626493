"""`python -m benchmarks.study_defaults`: are the defaults right? A table, and bars to clear.

    python -m benchmarks.study_defaults --data FOLDER [--quick] [--sets a,b] [--methods after,bic]

Adjusted Rand of the point estimate of a whole set, its number of clusters and the mode of K with
its probability; held-out log density per row, in units of the columns' standard deviations, of a
fit to four fifths of the rows; R-hat; CPU seconds of sampling. Fits are recorded one by one in
benchmarks/results/defaults.jsonl, and not repeated.
"""

from __future__ import annotations

import argparse
import os
from functools import partial

from benchmarks.limits import run_within
from benchmarks.study_defaults.bars import MANY_COLUMNS, STRUCTURES, bars
from benchmarks.study_defaults.methods import METHODS, PARTS, Measures, Options, measure
from benchmarks.study_defaults.records import Records, key
from benchmarks.study_defaults.sets import NAMES, REAL, LabelledSet, load
from benchmarks.study_defaults.table import REGULAR, Cell, Line, means, table

QUICK = {"draws": 200, "warmup": 200, "chains": 2, "limit": 180}
SLOW = {"draws": 1000, "warmup": 500, "chains": 4, "limit": None}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study_defaults")
    parser.add_argument("--data", help="folder with sets/ (otherwise MIXWOOD_DATA)")
    parser.add_argument("--sets", help=f"some of {','.join(NAMES)}")
    parser.add_argument(
        "--methods",
        help=f"some of {','.join(METHODS)}; by default before, after and bic, and the structures "
        f"on {', '.join(MANY_COLUMNS)}",
    )
    parser.add_argument("--quick", action="store_true", help=f"a fast pass: {QUICK}")
    parser.add_argument("--draws", type=int)
    parser.add_argument("--warmup", type=int)
    parser.add_argument("--chains", type=int)
    parser.add_argument("--jobs", type=int, default=1, help="threads of a fit")
    parser.add_argument("--seconds", type=float, help="max_seconds of each fit by mixwood")
    parser.add_argument("--limit", type=int, help="CPU seconds after which a fit is given up")
    parser.add_argument("--cached", action="store_true", help="fit nothing: show what is recorded")
    parser.add_argument("--any-build", action="store_true", help="show other builds' records, too")
    given = parser.parse_args()
    for name, value in (QUICK if given.quick else SLOW).items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    return given


def chosen(text: str | None, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Return the names in a list with commas, all that are known without one."""
    names = known if text is None else tuple(text.split(","))
    for name in names:
        if name not in known:
            raise SystemExit(f"unknown {what} {name!r}; there are {', '.join(known)}")
    return names


def methods_for(name: str, text: str | None) -> tuple[str, ...]:
    if text is None:
        return ("before", "after", *(STRUCTURES if name in MANY_COLUMNS else ()), "bic")
    return chosen(text, METHODS, "method")


def fit(data: LabelledSet, method: str, part: str, options: Options, limit: int | None) -> Measures:
    """Return a fit's measures; or why there are none, which is recorded just the same."""
    try:
        found = run_within(limit, partial(measure, data, method, part, options))
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    return {"over": limit} if found is None else found


def line_of(
    data: LabelledSet, methods: tuple[str, ...], options: Options, records: Records,
    given: argparse.Namespace,
) -> Line:  # fmt: skip
    """Return a set's line, with the fits that are missing made now."""
    cells = {}
    for method in methods:
        parts = []
        for part in PARTS:
            wanted = key(data, method, part, options)
            found = records.find(wanted, 0 if given.cached else given.limit)
            if found is None and not given.cached:
                found = fit(data, method, part, options, given.limit)
                records.add(wanted, found)
                print(f"{data.name}, {method}, {part}: {found}", flush=True)
            parts.append(found or {})
        cells[method] = Cell(*parts)
    if "bic" in cells:
        cells[REGULAR] = cells["bic"].of_regular()
    rows, columns = data.X.shape
    return Line(data.name, rows, columns, data.n_classes, data.singular, cells)


def main() -> None:
    given = arguments()
    if given.data is not None:
        os.environ["MIXWOOD_DATA"] = given.data
    names = chosen(given.sets, NAMES, "set")
    if "MIXWOOD_DATA" not in os.environ and given.sets is None:
        print("neither --data nor MIXWOOD_DATA: without the real sets")
        names = tuple(name for name in names if name not in REAL)
    for name in names:
        methods_for(name, given.methods)  # or it says what is wrong, before the first fit
    options = Options(given.draws, given.warmup, given.chains, given.seconds, given.jobs)
    records = Records(any_build=given.any_build)
    lines = [
        line_of(load(name), methods_for(name, given.methods), options, records, given)
        for name in names
    ]
    print(f"\n{options}\n\n{table(lines)}\n")
    known = (*METHODS, REGULAR)
    shared = [method for method in known if all(method in line.cells for line in lines)]
    print(means(lines, shared))
    if any("after" in line.cells for line in lines):
        print("\n" + "\n".join(str(bar) for bar in bars(lines)))


if __name__ == "__main__":
    main()
