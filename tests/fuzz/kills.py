"""Work on run folders that is killed (kill -9) at random moments, then done to its end.

Usage: kills.py FOLDER KILLS [SEED [CASE ...]]

Whatever was killed, and how often, what comes out is what comes out of work that nobody disturbs.
All of it is done in forks of this process, which has everything imported and never has a thread
when it forks. A fork is killed after some CPU time, so that how busy the machine is decides little.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import mixwood as mw
from mixwood.cli import app
from mixwood.report import write_report
from mixwood.sampling import chain as chains
from mixwood.store import chain_store, draw_store
from tests.conftest import FAMILIES, PRIORS

ROWS = 24
OPTIONS = {"draws": 36, "warmup": 12, "chains": 2, "n_jobs": 2, "progress": False}
SAMPLERS = {
    "tree": mw.Tree(rebuild=5),
    "blocks": mw.Tree(max_leaves=9),
    "learned": mw.Tree(learn_moves=True, redraw_moves=1),
    "gibbs": mw.Gibbs(subset=9),
    "splitmerge": mw.SplitMerge(),
    "papertree": mw.PaperTree(),
    "slice": mw.Slice(),
}
#: How often a piece of work is killed, at most, before it is left alone.
IN_A_ROW = 4


# --- what is run ---------------------------------------------------------------------------


def _numbers(rng):
    return rng.normal(size=(ROWS, 2)) + 4 * rng.integers(0, 3, (ROWS, 1))


def _runs(rng):
    """Yield names, models, data and arguments: each family with each sampler, and what is apart."""
    priors = list(PRIORS.values())
    for i, (family, make) in enumerate(FAMILIES.items()):
        for j, (name, sampler) in enumerate(SAMPLERS.items()):
            likelihood, X = make(np.random.default_rng(7), ROWS)
            if family == "product" and name == "blocks":
                continue  # its holes are drawn, which takes single rows
            model = mw.Mixture(likelihood, priors[(3 * i + j) % len(priors)])
            yield f"{family}-{name}", model, X, {"sampler": sampler}
    X = _numbers(rng)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    normal, any_number = mw.Mixture(mw.Gaussian()), mw.Mixture(mw.Gaussian(), mw.FiniteMixture())
    errors = mw.Mixture(mw.Gaussian(errors=rng.uniform(0.1, 0.3, X.shape)))
    labels = np.where(np.arange(ROWS) < 6, np.arange(ROWS) // 3, -1)
    yield "holes", normal, holes, {}
    yield "holes-gibbs", normal, holes, {"sampler": "gibbs"}
    yield "student-t", mw.Mixture(mw.StudentT()), X, {}
    yield "student-t-slice", mw.Mixture(mw.StudentT()), X, {"sampler": "slice"}
    yield "errors", errors, X, {}
    yield "known", normal, X, {"known": labels}
    yield "weights", normal, X, {"weights": rng.integers(1, 4, ROWS)}
    yield "groups", any_number, X, {"groups": np.arange(ROWS) % 3}
    yield "groups-gibbs", any_number, X, {"groups": np.arange(ROWS) % 3, "sampler": "gibbs"}
    yield "groups-known", any_number, X, {"groups": np.arange(ROWS) % 3, "known": labels}
    yield "structure", mw.Mixture(), X[:12, :1], {"draws": 6}
    yield "thin", normal, X, {"thin": 3, "init": "one", "sampler": "gibbs"}


class Sampled:
    """A run: `mixwood.sample` to a folder, and `resume` if it came to be one."""

    def __init__(self, name, model, X, arguments):
        self.name = name
        self._sample = lambda run: mw.sample(model, X, seed=3, store=run, **OPTIONS | arguments)

    def begin(self, place):
        """Make what there is before; nothing."""

    def work(self, place):
        run = place / "run"
        if (run / "mixwood.json").exists():
            mw.resume(run, progress=False)
        else:
            self._sample(run)

    def check(self, place):
        """Look at what a kill has left: a run that can be read as far as it is, or nothing."""
        names = os.listdir(place)
        run = place / "run"
        assert set(names) - {"run"} <= {one for one in names if one.startswith(".run.")}, names
        if not run.exists():
            return "a hidden folder" if names else "nothing yet"
        try:
            post = mw.load(run)
        except ValueError as error:
            assert "no draws yet" in str(error), error
            state = any((run / "chains" / str(k) / "state").exists() for k in range(2))
            return "warm-up" if state else "a new folder"
        return "all draws" if post.n_draws == post.settings["draws"] else "some draws"

    def outcome(self, place):
        """Return all that has come out, to be compared."""
        assert set(os.listdir(place)) <= {"run"}, os.listdir(place)
        post = mw.load(place / "run")
        stats = [
            {move: (one["proposed"], one["accepted"]) for move, one in chain.items()}
            for chain in post.stats
        ]
        return repr((digest(post), stats))


class Extended(Sampled):
    """A finished run that is made longer."""

    def begin(self, place):
        self._sample(place / "run")

    def work(self, place):
        mw.resume(place / "run", draws=60, progress=False)


class UntilAgree(Sampled):
    """A run that goes on until its chains agree, or is as long as it may be."""

    def work(self, place):
        run = place / "run"
        if (run / "mixwood.json").exists():
            mw.resume(run, draws=80, progress=False)
        else:
            self._sample(run)
            mw.resume(run, draws=80, progress=False)


class Replaced(Sampled):
    """`Posterior.save` over another run, with a file of the user in its folder."""

    def begin(self, place):
        self._sample(place / "run")
        (place / "run" / "notes.txt").write_text("mine")

    def work(self, place):
        mw.load(place / "run").thinned(8).save(place / "run", overwrite=True)

    def check(self, place):
        assert (place / "run" / "notes.txt").read_text() == "mine"
        return f"{mw.load(place / 'run').n_draws} draws"

    def outcome(self, place):
        assert (place / "run" / "notes.txt").read_text() == "mine"
        return super().outcome(place)


class Looked(Extended):
    """What is found out about a finished run, and kept in its folder."""

    def work(self, place):
        post = mw.load(place / "run")
        post.point_estimate()
        post.certainty()
        write_report(post, place / "run" / "report.html")

    def check(self, place):
        run = place / "run"
        mw.load(run)  # without a warning that the estimates are damaged
        found = [name for name in ("estimates", "report.html") if (run / name).exists()]
        if "report.html" in found:
            assert (run / "report.html").read_text().rstrip().endswith("</html>")
        return " and ".join(found) or "no estimate yet"

    def outcome(self, place):
        post = mw.load(place / "run")
        left = [entry.name for entry in (place / "run").iterdir() if entry.name.startswith(".")]
        assert not left, left
        report = (place / "run" / "report.html").read_text()
        assert report.rstrip().endswith("</html>")
        return repr((post.point_estimate().tolist(), post.certainty().tolist()))


class Fitted(Sampled):
    """`mixwood fit` of a table, and `mixwood resume`."""

    def begin(self, place):
        X = _numbers(np.random.default_rng(1))
        (place / "data.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in X))

    def work(self, place):
        run = place / "run"
        if (run / "mixwood.json").exists():
            self._command("resume", run)
        else:
            length = "--draws 36 --warmup 12 --chains 2"
            options = f"{length} --seed 1 --likelihood gaussian".split()
            self._command("fit", place / "data.csv", "--output", run, *options)

    @staticmethod
    def _command(*arguments):
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                app([str(one) for one in arguments], standalone_mode=False)
        except BaseException:
            print(said.getvalue(), file=sys.__stderr__)
            raise

    def check(self, place):
        (place / "data.csv").unlink()
        try:
            return super().check(place)
        finally:
            self.begin(place)

    def outcome(self, place):
        run = place / "run"
        assert sorted(os.listdir(place)) == ["data.csv", "run"], os.listdir(place)
        assert (run / "report.html").read_text().rstrip().endswith("</html>")
        post = mw.load(run)
        return repr((digest(post), (run / "labels.csv").read_text(), sorted(os.listdir(run))))


def digest(post):
    """Return all numbers of a posterior's draws."""
    arrays = (post.labels, post.log_joint, post.log_u, *post.parameters.values(), post.bases)
    arrays += (post.latents, post.group_values)
    return [None if one is None else (one.shape, one.astype(float).tolist()) for one in arrays]


def cases():
    """Return every case by its name."""
    found = [Sampled(*one) for one in _runs(np.random.default_rng(5))]
    _, *gaussian = next(_runs(np.random.default_rng(5)))
    for kind in (Extended, UntilAgree, Replaced, Looked, Fitted):
        found += [kind(kind.__name__.lower(), *gaussian)]
    return {one.name: one for one in found}


# --- how it is killed ----------------------------------------------------------------------


def in_a_fork(work, place):
    """Start a process that does one thing and ends."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(place)
            code = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    return child


def finished(work, place):
    """Do something in a fork; return the CPU time that it took."""
    child = in_a_fork(work, place)
    _, status, used = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, (work, status)
    return used.ru_utime + used.ru_stime


def killed(work, place, seconds):
    """Do something in a fork that is killed after so much CPU time; tell whether it came to it."""
    child = in_a_fork(work, place)
    clock = (~child << 3) | 2  # that of the process, as clock_getcpuclockid has it
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.clock_gettime(clock) >= seconds:
            os.kill(child, signal.SIGKILL)
            break
        time.sleep(0.0003)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def quiet():
    """Let nothing wait for disks, and checkpoints and files come often."""
    os.fsync = lambda _: None
    chains.SLICE_SECONDS = 0.0
    chain_store.CHECKPOINT_SECONDS = 0.003
    chain_store.LARGEST_SHARE = 1.0
    draw_store.DRAWS_AT_ONCE, draw_store.CHUNK_ENTRIES = 5, 3 * ROWS
    warnings.simplefilter("error")
    # What a run that was killed says when it is read, and tiny runs when they end.
    for harmless in ("unfinished", "stopped early", "chains", ".*R-hat", ".*draws"):
        warnings.filterwarnings("ignore", f".*{harmless}")


def run(folder, kills, seed, names):
    """Kill so often, and check; return where the kills were."""
    dice, known, chosen = random.Random(seed), cases(), {}
    where, done = Counter(), 0
    order = [name for name in known if not names or name in names]
    while done < kills:
        dice.shuffle(order)
        for name in order:
            case = known[name]
            if name not in chosen:
                whole = folder / f"{name}-whole"
                whole.mkdir()
                finished(case.begin, whole)
                duration = finished(case.work, whole)
                chosen[name] = case.outcome(whole), duration
            expected, duration = chosen[name]
            place = folder / f"{name}-{done}"
            place.mkdir()
            finished(case.begin, place)
            for _ in range(dice.randint(1, IN_A_ROW)):
                if not killed(case.work, place, dice.uniform(0.0, duration)):
                    break
                where[type(case).__name__, case.check(place)] += 1
                done += 1
            finished(case.work, place)
            assert case.outcome(place) == expected, (name, place)
            for path in sorted(place.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            place.rmdir()
            if done >= kills:
                break
    return where, len(chosen)


def main(place, kills, seed="1", *names):
    quiet()
    where, tried = run(Path(place), int(kills), int(seed), names)
    for (kind, what), count in sorted(where.items()):
        print(f"  {count:5} {kind}: {what}")
    after = os.times()
    seconds = after.children_user + after.children_system + after.user + after.system
    print(f"killed {sum(where.values())} in {tried} cases, {seconds:.0f} CPU seconds")


if __name__ == "__main__":
    main(*sys.argv[1:])
