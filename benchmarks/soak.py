"""A long run to a folder: is memory flat, and are the books right in the end?

Usage: python -m benchmarks.soak toy|nips MINUTES [CHAINS]

The run is a process of its own, whose resident memory is looked at from here. In the end every
chain is read back as it was saved, and what it keeps is compared with what follows from its labels
and parameters alone: the statistics of every cluster and node (`Chain.check`) and the log joint.
One line per run is added to results/soak.jsonl.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import mixwood as mw
from benchmarks.data import data_folder
from benchmarks.record import RESULTS, commit
from mixwood.core import bind_family, load_chain, make_chain
from mixwood.store.load import read_checkpoints
from mixwood.store.manifest import read_manifest

#: How often memory is looked at, in seconds, and over which part of the run it must be flat.
EVERY, SETTLED = 10.0, 0.2
#: Draws are few, so that reading them in the end takes no memory; iterations are many.
THIN = {"toy": 100, "nips": 10}
MOST = 10**7


def data(name):
    if name == "toy":
        return mw.Mixture(), mw.datasets.toy()[0]
    from mixwood.readers import read

    return mw.Mixture(mw.Multinomial()), read(
        str(data_folder() / "nips/docword.nips.txt.gz")
    ).values


def run(name, minutes, chains, folder):
    """Be the process that is looked at."""
    model, X = data(name)
    with warnings.catch_warnings(), contextlib.suppress(RuntimeError):
        # It stops early, perhaps before the first draw: its state is what counts.
        warnings.simplefilter("ignore", RuntimeWarning)
        mw.sample(
            model, X, draws=MOST, warmup=20, thin=THIN[name], chains=chains, n_jobs=1, seed=1,
            max_seconds=60 * minutes, store=folder, progress=False,
        )  # fmt: skip


def resident(pid):
    """Return the resident memory of a process in MB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else None  # it has ended


def watched(arguments, folder):
    """Return times and resident memory from when the chains began to when they ended."""
    seen = []
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.soak", *arguments, "--to", folder]
    ) as it:
        while it.poll() is None:
            time.sleep(EVERY)
            memory = resident(it.pid) if it.poll() is None else None
            if memory is not None and (Path(folder) / "chains/0/state").exists():
                seen.append((time.monotonic(), memory))
        assert it.returncode == 0
    return seen[:-1]  # the draws may be read by then


def deviations(folder):
    """Return iterations, and how far each chain's log joint is from one made from scratch."""
    manifest = read_manifest(folder)
    spec = manifest.spec()
    found = []
    for saved in read_checkpoints(folder, manifest):
        family = bind_family(spec.explicit, spec.moved, spec.sampler)
        chain, _ = load_chain(
            spec.explicit, spec.moved, spec.sampler, family, state=saved.state, random=saved.random
        )
        chain.check()  # or it raises
        kept, now = chain.log_joint(), chain.state()
        fresh = make_chain(
            spec.explicit, spec.moved, np.asarray(now["labels"], dtype=np.int32),
            np.random.PCG64(0), spec.sampler, bind_family(spec.explicit, spec.moved, spec.sampler),
        )  # fmt: skip
        values = {key: now[key] for key in ("log_u", "log_alpha", "sigma", "theta")}
        if chain.base_size > 0:
            fresh.set_base(chain.base)
        if chain.latent_size > 0:
            fresh.set_latent(chain.latent)
        fresh.set_state(np.asarray(now["labels"], dtype=np.int32), **values)
        fresh.check()
        found.append((saved.iterations, kept, abs(kept - fresh.log_joint()) / abs(kept)))
    return found


def main(arguments):
    if "--to" in arguments:
        name, minutes, chains, _, folder = arguments
        run(name, float(minutes), int(chains), folder)
        return
    name, minutes, *more = arguments
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "run")
        seen = watched([name, minutes, *(more or ["1"])], folder)
        chains = deviations(Path(folder))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    settled = seen[int(SETTLED * len(seen)) :]
    times, memory = np.array(settled).T
    record = {
        "commit": commit(),
        "data": name,
        "minutes": float(minutes),
        "iterations": [one for one, _, _ in chains],
        "log_joint": [one for _, one, _ in chains],
        "largest_relative_deviation": max(one for _, _, one in chains),
        "memory_mb": {"first": seen[0][1], "settled": memory[0], "last": memory[-1]},
        "mb_per_hour": float(np.polyfit(times, memory, 1)[0] * 3600),
        "folder_mb": size / 2**20,
    }
    print(json.dumps(record, indent=1))
    with (RESULTS / "soak.jsonl").open("a") as file:
        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
