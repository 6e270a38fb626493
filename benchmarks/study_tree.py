"""How many of each move an iteration of `Tree` should make: effective samples per CPU second.

    python -m benchmarks.study_tree

The numbers chosen are in cpp/mixwood/sampler/tree.hpp and move/leaf_scan.hpp.
"""

from __future__ import annotations

import mixwood as mw
from benchmarks.tree_sampler import effective_samples

SECONDS = 4.0


def main() -> None:
    """Print a line for each choice, overlapping toy data (1,300 rows, some 22 clusters)."""
    candidates = {"Gibbs": mw.Gibbs()}
    for subtrees, splits, leaves, rebuild in (
        (0, 0, 1300, 0),
        (0, 0, 325, 0),
        (20, 0, 1300, 0),
        (200, 0, 1300, 0),
        (0, 20, 1300, 0),
        (0, 200, 1300, 0),
        (20, 20, 1300, 20),
        (20, 20, 1300, 100),
        (200, 200, 1300, 100),
    ):
        sampler = mw.Tree(subtrees, splits, leaves, rebuild)
        candidates[f"{subtrees} subtrees, {splits} splits, {leaves} leaves, {rebuild}"] = sampler
    for name, sampler in candidates.items():
        rates = effective_samples(sampler, SECONDS, seeds=(1, 2))
        print(name, {key: round(float(value), 3) for key, value in rates.items()}, flush=True)


if __name__ == "__main__":
    main()
