"""Two versions of the core side by side: what building them takes, and how fast their samplers are.

    python -m benchmarks.build sources OLD NEW    two check-outs: CPU seconds of a build, and size
    python -m benchmarks.build speed OLD NEW      two Pythons in which the versions are installed

The speeds are CPU seconds of the same draws (same data, start and seed), in many short turns, so
that a busy machine slows both; the median of the ratios is what counts. Only the compiled core is
called: where Python modules lie does not matter. `MIXWOOD_DATA` names the folder with nips/;
without it only the toy data are used.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks import record

ROUNDS = {"toy": 101, "nips": 25}

#: Runs in each version's Python: reads one case per line, answers with its CPU seconds.
WORKER = '''
import os, sys, time
import numpy as np
import mixwood as mw
from mixwood import _core

DRAW_ALL = {"subtree_moves": -1, "split_moves": -1, "leaf_moves": -1, "rebuild": 4,
            "warmup_rebuild": 4, "max_leaves": 0}
OPTIONS = {"gibbs": {"subset": 0}, "splitmerge": {"scans": 5, "subset": 0}, "slice": {},
           "papertree": {"global_moves": 10, "depth": 3, "local_sweep": 1}, "tree": DRAW_ALL}
PRIOR = {"prior": "generalized_gamma", "alpha": (1.0, 1.0), "sigma": (1.0, 1.0), "theta": None,
         "start": {"alpha": 1.0, "sigma": 0.2, "theta": 0.0}}
VALUES = {"log_u": 3.0, "log_alpha": 0.0, "sigma": 0.2, "theta": 0.0}

def toy():
    X, labels = mw.datasets.toy()
    X = np.ascontiguousarray(X - X.mean(axis=0))
    return _core.gaussian(X, 0.05, 4.0, np.eye(2)), labels.astype(np.int32)

def nips():
    X, _ = mw.datasets.nips(os.path.join(os.environ["MIXWOOD_DATA"], "nips"))
    X = X.tocsr()
    X.sort_indices()
    labels = np.random.default_rng(0).integers(0, 40, X.shape[0]).astype(np.int32)
    arrays = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.int32)
    return _core.multinomial(*arrays, X.shape[1], 0.1), labels

def leaves_of(family, n):
    """Weighted leaves of the toy data, from a collapsed forest."""
    forest = grown(family)
    forest.collapse(n)
    sums = forest.leaf_sums(0, forest.n_leaves)
    return family.leaves(sums["statistics"], sums["size"], sums["log_apart"], sums["weight"])

def grown(family, rows=None):
    forest = _core.Forest(family, "generalized_gamma", **VALUES, rule="balanced")
    forest.insert(np.arange(family.n_rows if rows is None else rows))
    return forest

families, chains = {}, {}
def family_of(data):
    if data not in families:
        families[data] = toy() if data == "toy" else nips()
    return families[data]

def chain_of(data, sampler):
    if (data, sampler) not in chains:
        family, labels = family_of(data)
        if sampler == "leaves":
            family = leaves_of(family, 300)
            labels = np.zeros(family.n_rows, dtype=np.int32)
        chain = _core.Chain(family, **PRIOR, labels=labels, bit_generator=np.random.PCG64(1),
                            sampler="tree" if sampler == "leaves" else sampler,
                            options=OPTIONS["tree" if sampler == "leaves" else sampler])
        chain.iterate()
        chains[data, sampler] = chain
    return chains[data, sampler]

def bhc(family, rows):
    forest = _core.Forest(family, "generalized_gamma", **VALUES, rule="balanced")
    forest.agglomerate(np.arange(rows))

print("ready", flush=True)
for line in sys.stdin:
    data, what, count = line.split()
    count = int(count)
    if what == "ibhc":
        run = lambda family=family_of(data)[0]: grown(family, count)
    elif what == "bhc":
        run = lambda family=family_of(data)[0]: bhc(family, count)
    else:
        run = lambda chain=chain_of(data, what): chain.iterate(count)
    start = time.process_time()
    run()
    print(time.process_time() - start, flush=True)
'''

#: Data, sampler (or tree) and iterations (or rows) of one turn.
CASES = (
    ("toy", "gibbs", 60),
    ("toy", "splitmerge", 40),
    ("toy", "tree", 40),
    ("toy", "slice", 60),
    ("toy", "papertree", 40),
    ("toy", "leaves", 60),
    ("toy", "ibhc", 1300),
    ("toy", "bhc", 400),
    ("nips", "gibbs", 1),
    ("nips", "splitmerge", 1),
    ("nips", "tree", 4),
    ("nips", "slice", 1),
    ("nips", "papertree", 1),
    ("nips", "ibhc", 300),
)
#: What is compiled for every family; the rest runs on the erased one.
TEMPLATES = ("gibbs", "splitmerge", "tree")


class Version:
    """An installed core that runs cases on demand."""

    def __init__(self, python: str) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [python, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment,
        )  # fmt: skip
        self._answer()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a core failed; see above")
        return line

    def seconds(self, case: tuple[str, str, int]) -> float:
        assert self.process.stdin is not None
        print(*case, file=self.process.stdin, flush=True)
        return float(self._answer())


def speeds(old: str, new: str) -> dict[str, dict[str, float | str]]:
    """Return, for each case, the ratio of CPU seconds, new over old."""
    versions = [Version(old), Version(new)]
    results: dict[str, dict[str, float | str]] = {}
    for case in CASES:
        if case[0] == "nips" and "MIXWOOD_DATA" not in os.environ:
            continue
        times: list[list[float]] = [[], []]
        for version in versions:
            version.seconds(case)  # the first also makes the data and the chain
        for turn in range(ROUNDS[case[0]]):
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                times[which].append(versions[which].seconds(case))
        pairs = [after / before for before, after in zip(*times, strict=True)]
        results[f"{case[1]} on {case[0]}"] = {
            "old_ms": 1e3 * min(times[0]) / case[2],
            "new_ms": 1e3 * min(times[1]) / case[2],
            "new_over_old": median(pairs),
            "run_on": "templates" if case[1] in TEMPLATES else "the erased family",
        }
    return results


def build(sources: Path, python: str) -> dict[str, float | str]:
    """Return what a clean build takes, in CPU seconds, and how large it is."""
    cmake_folder = subprocess.run(
        [python, "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for command in (
            ["cmake", "-G", "Ninja", "-S", sources, "-B", folder, f"-DPython_EXECUTABLE={python}",
             f"-Dnanobind_DIR={cmake_folder}", "-DCMAKE_BUILD_TYPE=Release"],
            ["cmake", "--build", folder],
        ):  # fmt: skip
            subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        (extension,) = Path(folder).glob("_core*.so")
        return {
            "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "user_s": after.ru_utime - before.ru_utime,
            "extension_mb": extension.stat().st_size / 1e6,
        }


def builds(old: str, new: str) -> dict[str, dict[str, float | str]]:
    """Return what building each of the two check-outs takes."""
    return {
        "clean build, old": build(Path(old), sys.executable),
        "clean build, new": build(Path(new), sys.executable),
    }


def main(what: str, old: str, new: str) -> None:
    measured = {"sources": builds, "speed": speeds}[what](old, new)
    for name, values in measured.items():
        print(name, values)
    print(f"written: {record.write(measured).name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
