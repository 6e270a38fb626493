"""Damaged files: readers and run folders refuse them by name, or read them. Nothing else.

Usage: files.py SECONDS [SEED]. With Atheris, which looks where the code branches, or, where that
is not installed (or in the way, as in a build with sanitizers: --blind), with random bytes alone.
What goes wrong ends the program, and leaves the bytes in a file crash-*, which
`files.py --again FILE` tries once more.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

#: Numbers, and other things in a JSON, that are somewhere at an edge.
TELLING = (0, -1, 1, 2, 2**31, 2**63, 10**30, 0.5, -1.5, 1e308, True, None, "", "x", [], {}, [1])
BYTES = (b"\xff" * 8, b"\0" * 8, b"\0\0\0\x80", np.float64(np.nan).tobytes(), b"\n", b",", b"9" * 9)
MEMORY = 2**27
#: The bytes that are tried, for --again if they crash.
LAST = Path("crash-blind")


class Choices:
    """Choices made by bytes; zeros when they are used up."""

    def __init__(self, data):
        self._data = data

    def below(self, n):
        """Return a number from 0 to n - 1."""
        taken, self._data = self._data[:4], self._data[4:]
        return int.from_bytes(taken, "little") % n

    def one_of(self, things):
        return things[self.below(len(things))]

    def rest(self):
        return self._data


def damaged(content, choices):
    """Return bytes that are changed, cut out, doubled or put in in a few places."""
    content = bytearray(content)
    for _ in range(1 + choices.below(4)):
        at, kind = choices.below(len(content) + 1), choices.below(5)
        length = 1 + choices.below(9)
        if kind == 0:
            content[at : at + 1] = bytes([choices.below(256)])
        elif kind == 1:
            some = choices.one_of(BYTES)
            content[at : at + len(some)] = some
        elif kind == 2:
            del content[at : at + length]
        elif kind == 3:
            content[at:at] = content[at : at + length]
        else:
            content[at:at] = choices.one_of(BYTES)
    return bytes(content)


def damaged_json(text, choices):
    """Return a JSON of which one part is another, or not there."""
    content = json.loads(text)
    place = content
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = choices.one_of(keys)
        deeper = place[key]
        if not isinstance(deeper, (dict, list)) or not deeper or choices.below(4) == 0:
            break
        place = deeper
    kind = choices.below(4)
    if kind == 0:
        del place[key]
    elif kind == 1 and type(deeper) is int:
        place[key] = deeper + choices.one_of((-1, 1, 1000))
    elif kind == 2 and type(deeper) is str:
        place[key] = damaged(deeper.encode(), choices).decode(errors="replace")
    else:
        place[key] = choices.one_of(TELLING)
    return json.dumps(content).encode()


# --- the readers ---------------------------------------------------------------------------


def example_files():
    """Return small files of every format, by what their names end with."""
    import pandas as pd
    from scipy import io as scipy_io
    from scipy import sparse

    table = pd.DataFrame({"x": [1.5, 2.0, np.nan], "kind": ["a", "b", "a"], "n": [1, 2, 3]})
    counts = sparse.csr_array(np.array([[0, 2, 1], [3, 0, 0]]))
    files = {
        ".csv": table.to_csv(index=False).encode(),
        ".tsv": table.to_csv(sep="\t", decimal=",").encode(),
        ".dat": b"1.0 2.0\n3.0 4.0\n",
        ".txt": b"2\n3\n3\n1 2 2\n1 3 1\n2 1 3\n",
        ".csv.gz": gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0),
    }
    for name, save in {
        ".npy": lambda f: np.save(f, np.arange(6.0).reshape(3, 2)),
        ".npz": lambda f: np.savez(f, X=np.eye(3), y=np.arange(3)),
        "s.npz": lambda f: sparse.save_npz(f, counts, compressed=False),
        ".mtx": lambda f: scipy_io.mmwrite(f, counts.tocoo()),
        "d.mtx": lambda f: scipy_io.mmwrite(f, np.eye(2)),
        ".parquet": lambda f: table.to_parquet(f),
    }.items():
        file = io.BytesIO()
        save(file)
        files[name] = file.getvalue()
    return files


def try_reader(folder, files, choices):
    """Read a damaged file, and do with it what the command line does next."""
    import mixwood as mw
    from mixwood.readers import ReadError, read

    ending = choices.one_of(sorted(files))
    content = damaged(files[ending], choices) if choices.below(3) else choices.rest()
    path = folder / f"file{ending}"
    path.write_bytes(content)
    header = choices.one_of((None, None, True, False))
    try:
        loaded = read(str(path), header=header)
    except ReadError as error:
        assert path.name in str(error), error
        return
    with contextlib.suppress(TypeError, ValueError):
        if loaded.sparse:
            mw.Multinomial().check(loaded.values)
        else:
            mw.Product.from_frame(loaded.values)


# --- run folders ---------------------------------------------------------------------------


def example_runs(folder):
    """Return small runs, each as the content of its files by their paths."""
    import mixwood as mw

    rng = np.random.default_rng(1)
    rows = rng.normal(size=(9, 2)) + 4 * rng.integers(0, 2, (9, 1))
    counts = rng.poisson(2.0, (9, 3))
    mixed = mw.Product({0: mw.Poisson(), (1, 2): mw.Gaussian()})
    cases = (
        (mw.Gaussian(), mw.NGGP(), rows, mw.Tree(rebuild=3)),
        (mw.Multinomial(), mw.PitmanYor(), counts, mw.PaperTree()),
        (mixed, mw.DirichletProcess(), counts, mw.SplitMerge(subset=4)),
    )
    runs = []
    for k, (likelihood, prior, X, sampler) in enumerate(cases):
        place = folder / f"example{k}"
        mw.sample(
            mw.Mixture(likelihood, prior), X, sampler, draws=4, warmup=3, chains=2,
            seed=1, n_jobs=1, store=place, progress=False,
        )  # fmt: skip
        files = (path for path in sorted(place.rglob("*")) if path.is_file())
        runs.append({str(path.relative_to(place)): path.read_bytes() for path in files})
        shutil.rmtree(place)
    return runs


def damaged_chunk(content, choices):
    """Return a chunk of an array with other numbers and the right checksum."""
    from numcodecs.zstd import compress, decompress

    return compress(damaged(decompress(content), choices), 3, True)


def damaged_checkpoint(content, choices):
    """Return a checkpoint with another header or state and the right checksum."""
    from mixwood.store.checkpoint import MAGIC

    start = len(MAGIC) + 8
    length = int.from_bytes(content[len(MAGIC) : start], "little")
    header, state = content[start : start + length], content[start + length : -32]
    if choices.below(2):
        header = damaged_json(header, choices)
    else:
        state = damaged(state, choices)
    body = MAGIC + len(header).to_bytes(8, "little") + header + state
    return body + hashlib.sha256(body).digest()


def try_run(folder, runs, choices):
    """Load, and go on with, a run some of whose files are damaged."""
    import mixwood as mw

    files = dict(choices.one_of(runs))
    for name in sorted({choices.one_of(sorted(files)) for _ in range(1 + choices.below(2))}):
        kind = choices.below(8)
        if kind == 0:
            files[name] = damaged(files[name], choices)
        elif kind == 1 and len(files) > 1:
            del files[name]
        elif name.endswith(".json"):
            files[name] = damaged_json(files[name], choices)
        elif name.endswith("state"):
            files[name] = damaged_checkpoint(files[name], choices)
        elif "/c." in name:
            files[name] = damaged_chunk(files[name], choices)
    run = folder / "run"
    for name, content in files.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    try:
        post = mw.load(run)
        assert repr(post)
        assert np.all(post.n_clusters >= 1)
        mw.resume(run, draws=choices.one_of((None, 6, 6)), progress=False, max_seconds=0.2)
    except ValueError as error:
        assert str(run) in str(error), error
    except RuntimeError as error:
        assert str(run) in str(error), error
        assert "stopped before" in str(error) or "cannot continue" in str(error), error
    finally:
        shutil.rmtree(run)


# --- the program ---------------------------------------------------------------------------


class Trials:
    """What is done with some bytes."""

    def __init__(self, folder):
        self._folder = folder
        self._files, self._runs = example_files(), example_runs(folder)

    def __call__(self, data):
        """Read a file, or load and resume a run, that these bytes damage."""
        choices = Choices(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if choices.below(3):
                try_reader(self._folder, self._files, choices)
            else:
                try_run(self._folder, self._runs, choices)


def blindly(trial, seconds, seed):
    """Try random bytes for so long."""
    rng = np.random.default_rng(seed)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = rng.bytes(120)
        LAST.write_bytes(data)  # before: a crash leaves no time for it
        trial(data)
        count += 1
    LAST.unlink()
    print(f"{count:,} executions with seed {seed}")


def main(arguments):
    """Do what the arguments say."""
    from mixwood._support import memory

    # No more is asked for than this, whatever a file declares.
    memory.available_bytes = lambda: MEMORY
    blind, again = "--blind" in arguments, "--again" in arguments
    given = [one for one in arguments if not one.startswith("--")]
    try:
        import atheris
    except ImportError:
        blind = True
    with tempfile.TemporaryDirectory() as place:
        if again:
            Trials(Path(place))(Path(given[0]).read_bytes())
            return
        seconds, seed = int(given[0]), int(given[1]) if len(given) > 1 else time.time_ns() % 2**31
        if blind:
            blindly(Trials(Path(place)), seconds, seed)
            return
        with atheris.instrument_imports(include=["mixwood"], enable_loader_override=False):
            import mixwood.cli
            import mixwood.readers.formats
            import mixwood.sampling.resume  # noqa: F401
        limits = ["-max_len=600", "-len_control=0", "-timeout=120", "-rss_limit_mb=6000"]
        options = [f"-max_total_time={seconds}", f"-seed={seed}", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], *limits, *options], Trials(Path(place)))
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
