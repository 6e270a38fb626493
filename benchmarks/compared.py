"""Two builds by turns: how much faster one is than the other where people wait.

    python -m benchmarks.compared SOURCES_BEFORE [part of a case's name ...]

`SOURCES_BEFORE` is the folder `src` of another checkout, built. Every case runs in a process of
its own, now with the sources before and now with those here, `MIXWOOD_BENCH_REPEATS` times (once
unless set), and the fastest run counts: CPU seconds, and what came out, which need not be the same
draws. Records go to benchmarks/results/compared.jsonl.

- `ibhc FAMILY d`: trees of 5,000 rows. Groups are as far apart as they are wide, and the base
  measure is fixed where a family allows that: then clusters do not have the form that the prior
  says, and trees are cut again and again.
- `defaults NAME`: `sample` with nothing chosen, ten draws after ten of warm-up, one chain.
- `levels L`: a table of five columns with L categories each, start and twenty iterations.
- `ibhc nips`: a tree of the NIPS corpus; needs MIXWOOD_DATA.
- `nips SEED`: the same until `Tree` reaches the log joint of the publication, start included.
- `text`: 20,820 documents of 6,843 words, about 60 subjects, start and ten iterations.
- `topics`: the same where every document has a mixture of 50 subjects of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import record

PATH = record.RESULTS / "compared.jsonl"
REPEATS = int(os.environ.get("MIXWOOD_BENCH_REPEATS", "1"))
SOURCES = Path(__file__).parent.parent / "src"

PROGRAM = """
import os, sys, time, warnings
import numpy as np
from scipy.sparse import csr_array
import mixwood as mw
from mixwood.core import bind_family
from mixwood.experiments.protocol import TimedChain
from mixwood.sampling.initial_partition import initial_labels

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)

def groups(n, d, k=10):
    return rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))

KINDS = ["Gaussian", "DiagonalGaussian", "Poisson", "Bernoulli"] * 2

def rows(family, n, d, k=10, z=None):
    alone = z is None
    z = rng.integers(k, size=n) if alone else z
    if family == "Product":
        return np.hstack([rows(kind, n, d // len(KINDS), k, z) for kind in KINDS]).astype(float)
    if family == "Poisson":
        return rng.poisson(rng.gamma(2.0, 2.0, size=(k, d))[z])
    if family == "NegativeBinomial":
        means = rng.gamma(2.0, 4.0, size=(k, d))[z]
        return rng.negative_binomial(3.0, 3 / (3 + means))
    if family == "Bernoulli":
        return (rng.random((n, d)) < rng.beta(0.5, 0.5, size=(k, d))[z]).astype(float)
    if family == "Categorical":
        chances = rng.dirichlet(np.ones(4), size=(k, d)).cumsum(axis=-1)[z]
        return (rng.random((n, d, 1)) > chances).sum(axis=-1).clip(0, 3)
    return groups(n, d, k) if alone else rng.normal(size=(k, d))[z] + rng.normal(size=(n, d))

def documents(n, words, subjects=60, mixed=False):
    common = 1 / np.arange(1, words + 1) ** 0.9
    common = rng.permutation(common / common.sum())
    own = rng.gamma(np.maximum(0.12 * words * common, 1e-3), size=(subjects, words))
    laws = 0.85 * own / own.sum(axis=1, keepdims=True) + 0.15 * common
    if mixed:
        law = lambda i: (rng.dirichlet(np.full(subjects, 0.1)) @ laws).cumsum()
    else:
        summed = laws.cumsum(axis=1)
        law = lambda i: summed[z[i]]
    z = rng.integers(subjects, size=n)
    lengths = rng.lognormal(4.6, 0.6, size=n).astype(int) + 5
    drawn = [np.searchsorted(p, p[-1] * rng.random(m)) for p, m in
             ((law(i), m) for i, m in enumerate(lengths))]
    starts = np.concatenate([[0], lengths.cumsum()])
    X = csr_array((np.ones(starts[-1]), np.concatenate(drawn), starts), shape=(n, words))
    X.sum_duplicates()
    return X

def likelihood(family, d):
    if family == "Product":
        each = d // len(KINDS)
        columns = [tuple(range(p * each, (p + 1) * each)) for p in range(len(KINDS))]
        return mw.Product({c: likelihood(f, each) for c, f in zip(columns, KINDS)})
    fixed = {"scale": "data"} if family.endswith("Gaussian") else {}
    return getattr(mw, family)(**fixed)

def model(family, d=2):
    return mw.Mixture(likelihood(family, d), mw.NGGP(1.0, 0.5))

def until_paper(X, given, seed):
    data = given.likelihood.check(X)
    explicit = mw.Mixture(given.likelihood.resolve(data), given.prior)
    sampler = mw.Tree()
    own = np.random.SeedSequence(seed)
    family = bind_family(explicit, data, sampler)
    labels = initial_labels("ibhc", explicit, family, data.shape[0], own, sampler.start_leaves)
    chain = TimedChain(explicit, data, labels, sampler, seed, family)
    while chain.log_joint[-1] < -4_243_009 and chain.seconds < 60:
        chain.iterate()
    return chain.log_joint[-1], chain.chain.n_clusters

def run(X, some, warmup=10, draws=10):
    post = mw.sample(some, X, draws=draws, warmup=warmup, chains=1, seed=1, progress=False)
    return float(np.mean(post.log_joint)), float(np.mean(post.n_clusters))

kind, *rest = sys.argv[1:]
mw.sample(mw.Mixture(), rng.normal(size=(50, 2)), draws=1, warmup=0, chains=1, progress=False)
mw.ibhc(model("Gaussian"), rng.normal(size=(50, 2)), seed=0)
if kind == "ibhc":
    if rest == ["nips"]:
        X = mw.datasets.nips(os.environ["MIXWOOD_DATA"] + "/nips")[0]
        given = mw.Mixture(mw.Multinomial(beta=0.1), mw.NGGP(1.0, 0.5))
    else:
        X, given = rows(rest[0], 5000, int(rest[1])), model(rest[0], int(rest[1]))
    began = time.process_time()
    tree = mw.ibhc(given, X, seed=1)
    found = float(tree.log_evidence_bound), float(tree.n_clusters)
elif kind == "defaults":
    X = {"toy": lambda: mw.datasets.toy()[0], "sixteen": lambda: groups(1000, 16, 4)}[rest[0]]()
    began = time.process_time()
    found = run(X, mw.Mixture())
elif kind == "nips":
    X = mw.datasets.nips(os.environ["MIXWOOD_DATA"] + "/nips")[0]
    began = time.process_time()
    found = until_paper(X, mw.Mixture(mw.Multinomial(beta=0.1), mw.NGGP(1.0, 0.5)), int(rest[0]))
elif kind == "levels":
    levels = int(rest[0])
    z = rng.integers(5, size=1000)
    X = (z[:, None] * levels // 5 + rng.integers(levels // 5, size=(1000, 5))) % levels
    X[0], X[1] = 0, levels - 1
    began = time.process_time()
    found = run(X, mw.Mixture(mw.Categorical(), mw.NGGP(1.0, 0.5)))
else:
    X = documents(20_820, 6_843, *((50, True) if kind == "topics" else ()))
    began = time.process_time()
    found = run(X, mw.Mixture(mw.Multinomial()), 5, 5)
print(time.process_time() - began, *found)
"""

CASES = (
    *(
        f"ibhc {family} {d}"
        for family in ("Gaussian", "DiagonalGaussian", "SphericalGaussian", "StudentT")
        for d in (2, 20, 100)
    ),
    *("ibhc Categorical 50", "ibhc Poisson 50", "ibhc NegativeBinomial 50"),
    *("ibhc Bernoulli 200", "ibhc Product 40"),
    *("defaults toy", "defaults sixteen"),
    *("levels 100", "levels 1000", "levels 10000", "levels 100000"),
    *("ibhc nips", "nips 0", "nips 1", "nips 2", "text", "topics"),
)


def measured(case: str, sources: Path) -> tuple[float, float, float]:
    """Return CPU seconds, a log density and the number of clusters of one run."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *case.split()],
        env={**os.environ, "PYTHONPATH": str(sources)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, log_density, clusters = (float(value) for value in done.stdout.split())
    return seconds, log_density, clusters


def compared(case: str, before: Path) -> dict[str, float]:
    """Return the fastest run of each, by turns, and the ratio."""
    runs = [(measured(case, before), measured(case, SOURCES)) for _ in range(REPEATS)]
    first, second = (min(pair[side] for pair in runs) for side in (0, 1))
    names = ("seconds", "log density", "clusters")
    entry = {f"{name} before": value for name, value in zip(names, first, strict=True)}
    entry |= {f"{name} after": value for name, value in zip(names, second, strict=True)}
    return {**entry, "before / after": first[0] / second[0]}


def main() -> None:
    """Measure, print and record."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    before, parts = Path(sys.argv[1]), sys.argv[2:]
    found = {}
    for case in CASES:
        if parts and not any(part in case for part in parts):
            continue
        found[case] = compared(case, before)
        print(
            case, {name: float(f"{value:.6g}") for name, value in found[case].items()}, flush=True
        )
    entry = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": record.commit(),
        "load": os.getloadavg()[0],
        "cases": found,
    }
    with PATH.open("a") as file:
        file.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    main()
