"""`python -m benchmarks [NAME ...]` runs and records; `python -m benchmarks compare` compares."""

from __future__ import annotations

import sys

from benchmarks import (
    base_cost,
    buckets,
    custom_family,
    estimates,
    gibbs,
    heavy_tails,
    holes,
    one_chain,
    paper_tree,
    prediction,
    record,
    row_errors,
    samplers,
    scale,
    storage,
    tree_sampler,
    trees,
)


def main(names: list[str]) -> None:
    if names == ["compare"]:
        record.compare()
        return
    benchmarks = (
        *gibbs.BENCHMARKS,
        *samplers.BENCHMARKS,
        *trees.BENCHMARKS,
        *buckets.BENCHMARKS,
        *paper_tree.BENCHMARKS,
        *tree_sampler.BENCHMARKS,
        *base_cost.BENCHMARKS,
        *storage.BENCHMARKS,
        *prediction.BENCHMARKS,
        *holes.BENCHMARKS,
        *heavy_tails.BENCHMARKS,
        *row_errors.BENCHMARKS,
        *custom_family.BENCHMARKS,
        *estimates.BENCHMARKS,
        *one_chain.BENCHMARKS,
        *scale.BENCHMARKS,
    )
    known = {benchmark.__name__: benchmark for benchmark in benchmarks}
    for name in names:
        if name not in known:
            raise SystemExit(f"unknown benchmark {name!r}; there are {', '.join(known)}")
    measurements = {}
    for name in names or known:
        for title, values in known[name]().items():
            measurements[title] = values
            shown = ", ".join(
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                for key, value in values.items()
            )
            print(f"{title}: {shown}", flush=True)
    print(f"written: {record.write(measurements).relative_to(record.RESULTS.parent.parent)}")


main(sys.argv[1:])
