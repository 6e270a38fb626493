"""The paper's experiments: what a run keeps, that it is kept, the tables and the command."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from scipy.sparse import csr_array
from typer.testing import CliRunner

import mixwood as mw
from mixwood.cli import app
from mixwood.experiments import nips, running, tenk, toy
from mixwood.experiments.cache import RunCache, digest_of_data
from mixwood.experiments.pictures import average_trace
from mixwood.experiments.protocol import (
    Arm,
    Budget,
    Case,
    Experiment,
    Run,
    TimedChain,
    pooled,
    timed_run,
)
from mixwood.experiments.table import figures, markdown, paper_figures

PAPER = os.environ.get("MIXWOOD_PAPER")  # the LaTeX text of the paper, not part of the project
runner = CliRunner()


def small_experiment(n=40):
    X, truth = mw.datasets.toy()
    arms = (
        Arm("Gibbs", mw.Gibbs(), "Gibbs"),
        Arm("SplitMerge", mw.SplitMerge(), "SM"),
        Arm("Tree", mw.Tree()),
        Arm("again", mw.Gibbs()),
    )
    model = mw.Mixture(mw.Gaussian(scale="paper"), mw.NGGP())
    case = Case("toy-nggp", "NGGP", X[:n], model, "on-top", arms)
    return Experiment("small", "Small", (case,), {}, scatter=(X[:n], truth[:n]))


def test_the_base_measure_is_that_of_the_paper(monkeypatch):
    """Nothing is learned: the paper fixed all of it."""
    corpus = csr_array(np.eye(3, 4))  # the real one is not part of the project
    monkeypatch.setattr(mw.datasets, "nips", lambda _: (corpus, np.array(list("abcd"))))
    published = {"toy": mw.Gaussian(scale="paper"), "10k": mw.Gaussian(scale="paper")}
    published["nips"] = mw.Multinomial(beta=0.1)
    for experiment in (toy.experiment(), tenk.experiment(), nips.experiment()):
        for case in experiment.cases:
            assert case.model.likelihood == published[experiment.name]
            assert case.model.likelihood.resolve(case.X).base_size == 0


def made_run(joint, log_r=(-2.0, 1.0, 10), ess=5.0, seconds=0.1):
    summary = {"max_log_lik": joint, "ess": ess, "seconds": seconds}
    summary |= dict(zip(("log_r", "log_r_sd", "proposals"), log_r, strict=True))
    return Run(summary, np.array([0.0, 1.0]), np.array([joint - 9, joint]))


@pytest.mark.parametrize(
    "sampler", [mw.Gibbs(), mw.SplitMerge(), mw.Tree(), mw.PaperTree(), mw.Slice()]
)
def test_a_run_keeps_its_trace_and_what_the_tables_need(sampler):
    X = mw.datasets.toy()[0][:60]
    model = mw.Mixture(mw.Gaussian(scale="paper").resolve(X), mw.NGGP())
    seen = []
    timed = TimedChain(model, X, np.zeros(60, np.int32), sampler, seed=3)
    run = timed_run(timed, 0.05, lambda chain: seen.append(chain.seconds))
    assert run.times[-1] >= 0.05
    assert np.all(np.diff(run.times) > 0)
    assert len(run.times) <= 400
    assert run.summary["iterations"] == len(seen)
    assert run.summary["max_log_lik"] >= run.log_joint.max()
    assert run.log_joint[0] == run.summary["start_log_lik"]
    assert 1 <= run.summary["clusters"] <= 60
    # The joint is that which sample() reports: constants of the rows included.
    assert timed.log_joint[-1] == pytest.approx(
        timed.chain.log_joint() + model.likelihood.row_constants(X).sum()
    )
    has_ratio = isinstance(sampler, mw.SplitMerge | mw.Tree | mw.PaperTree)
    assert np.isfinite(run.summary["log_r"]) == has_ratio


def test_the_first_half_is_warm_up(monkeypatch):
    X = mw.datasets.toy()[0][:60]
    model = mw.Mixture(mw.Gaussian(scale="paper").resolve(X), mw.NGGP())
    timed = TimedChain(model, X, np.zeros(60, np.int32), mw.Gibbs(), seed=3)
    frozen_at = []

    class Watched:
        def __init__(self, chain):
            self.chain = chain

        def __getattr__(self, name):
            return getattr(self.chain, name)

        def freeze(self):
            frozen_at.append(timed.seconds)
            self.chain.freeze()

    monkeypatch.setattr(timed, "chain", Watched(timed.chain))
    timed_run(timed, 0.04)
    assert len(frozen_at) == 1
    assert frozen_at[0] >= 0.02


def test_pooled_is_the_deviation_of_all_proposals(seed):
    groups = [np.random.default_rng(seed + k).normal(k, 1 + k, 50 * (k + 1)) for k in range(3)]
    mean, deviation, count = pooled([(len(g), g.mean(), g.std()) for g in groups])
    everything = np.concatenate(groups)
    assert (mean, deviation, count) == pytest.approx(
        (everything.mean(), everything.std(), len(everything))
    )
    assert pooled([])[2] == 0


def test_average_trace_holds_each_state_until_the_next():
    runs = [
        Run({}, np.array([0.0, 1.0, 3.0]), np.array([-9.0, -6.0, -1.0])),
        Run({}, np.array([0.5, 2.0]), np.array([-8.0, -2.0])),
    ]
    times = np.array([0.1, 1.0, 2.5, 9.0])
    np.testing.assert_allclose(average_trace(runs, times), [-8.5, -7.0, -4.0, -1.5])


def test_an_interrupted_experiment_goes_on(tmp_path, monkeypatch):
    experiment, budget = small_experiment(), Budget(seconds=0.01, repeats=2)
    calls = []

    def interrupted(timed, seconds, watch):
        calls.append((type(timed.sampler).__name__, timed.seed))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return timed_run(timed, seconds, watch)

    monkeypatch.setattr(running, "timed_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.run_experiment(experiment, budget, tmp_path)
    results = running.run_experiment(experiment, budget, tmp_path)
    # The third, interrupted, is run again; "again" is the same run as "Gibbs".
    kinds = ["Gibbs", "SplitMerge", "Tree"]
    assert calls == [(kind, 0) for kind in [*kinds, "Tree"]] + [(kind, 1) for kind in kinds]
    runs = results["toy-nggp"]
    assert [len(some) for some in runs.values()] == [2, 2, 2, 2]
    assert runs["again"][0].summary == runs["Gibbs"][0].summary

    before = len(calls)
    running.run_experiment(experiment, budget, tmp_path)
    assert len(calls) == before
    running.run_experiment(experiment, Budget(seconds=0.02, repeats=1), tmp_path)
    assert len(calls) == before + 3  # other seconds: other runs


def test_all_samplers_have_the_same_start(tmp_path, monkeypatch):
    starts = {}

    def watched(timed, seconds, watch):
        starts.setdefault(timed.seed, []).append(timed.labels)
        return timed_run(timed, seconds, watch)

    monkeypatch.setattr(running, "timed_run", watched)
    running.run_experiment(small_experiment(300), Budget(0.005, 2), tmp_path)
    for labels in starts.values():
        assert len(labels) == 3
        assert all(np.array_equal(labels[0], other) for other in labels)
    assert not np.array_equal(starts[0][0], starts[1][0])


def test_a_broken_file_of_the_cache_is_no_run(tmp_path):
    cache, identity = RunCache(tmp_path), {"seed": 1, "sampler": "Gibbs()"}
    run = made_run(-10.0)
    cache.write(identity, run)
    again = cache.read(identity)
    assert again is not None
    assert again.summary == run.summary
    np.testing.assert_array_equal(again.log_joint, run.log_joint)
    assert cache.read(identity | {"seed": 2}) is None
    path = cache.path(identity)
    for content in (path.read_bytes()[:100], b""):
        path.write_bytes(content)
        assert cache.read(identity) is None


def test_digest_of_data_sees_shape_and_values():
    from scipy.sparse import csr_array

    X = np.arange(6.0)
    dense = {digest_of_data(Y) for Y in (X.reshape(2, 3), X.reshape(3, 2), X[::-1].reshape(2, 3))}
    assert len(dense) == 3
    Y = csr_array(X.reshape(2, 3))
    assert digest_of_data(Y) != digest_of_data(2 * Y)


def test_table_has_the_papers_layout():
    runs = {
        "Gibbs": [made_run(-10.0, (float("nan"), float("nan"), 0)) for _ in range(2)],
        "SplitMerge": [made_run(-1234.5), made_run(-1236.5, (-4.0, 1.0, 10), float("nan"))],
        "Tree": [made_run(-3.0)],
        "again": [made_run(-3.0, ess=float("nan"))],
    }
    cases = small_experiment().cases
    lines = markdown(cases, {"toy-nggp": runs}).splitlines()
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:] if line]
    assert table[0] == [
        "", "max log-lik", "paper", "ESS", "paper", "log r", "paper", "time / iter", "paper",
    ]  # fmt: skip
    assert table[2][:3] == ["Gibbs", "-10.0 (0.0)", "-1,594.7 (18.2)"]
    assert table[2][5:7] == ["-", "-"]
    assert table[3] == [
        "SplitMerge", "-1,235.5 (1.4)", "-1,588.5 (1.1)", "5.0", "36.3 (54.7)",
        "-3.0 (1.4)", "-325.9 (233.3)", "0.1 (0)", "0.0698 (0.014)",
    ]  # fmt: skip
    assert table[4] == ["Tree", "-3.0", "-", "5.0", "-", "-2.0 (1.0)", "-", "0.1", "-"]
    assert table[5][3] == "-"
    assert len({len(line) for line in lines[2:]}) == 1


def test_figures_of_runs():
    found = figures([made_run(-10.0), made_run(-12.0)])
    assert found["max_log_lik"] == pytest.approx((-11.0, np.sqrt(2)))
    assert found["log_r"] == pytest.approx((-2.0, 1.0))


def test_paper_figures():
    paper = paper_figures()
    assert list(paper) == ["toy-dp", "toy-nggp", "10k", "nips"]
    assert paper["toy-dp"]["Gibbs"]["max_log_lik"] == (-1730.4069, 64.6268)
    assert paper["10k"]["tgMCMC"]["log_r"] == (-8.7375, 21.9222)
    assert paper["nips"]["SM_sub"]["seconds"] == (49.9563, 0.8667)
    assert "log_r" not in paper["nips"]["Gibbs"]
    for name, samplers in paper.items():
        subsets = [] if name.startswith("toy") else ["Gibbs_sub", "SM_sub"]
        assert list(samplers) == ["Gibbs", "SM", *subsets, "tgMCMC"]


@pytest.mark.skipif(not PAPER, reason="MIXWOOD_PAPER does not name the paper's text")
def test_paper_figures_are_those_of_the_text():
    cell = r"(-?\d+\.\d+) \\\\ \((\d+\.\d+)\)"
    in_text = re.findall(cell, Path(PAPER).read_text())
    ours = [
        pair
        for samplers in paper_figures().values()
        for columns in samplers.values()
        for pair in columns.values()
    ]
    assert ours == [(float(mean), float(deviation)) for mean, deviation in in_text]


def test_experiments_are_the_papers():
    cases = {case.name: case for case in (*toy.experiment().cases, *tenk.experiment().cases)}
    for case in cases.values():
        assert case.init == "on-top"
        assert case.model.likelihood.scale == "paper"
    paper = paper_figures()
    for name in ("toy-dp", "toy-nggp", "10k"):
        assert {arm.paper for arm in cases[name].arms} - {None} == set(paper[name])
    assert [arm.sampler.global_moves for arm in cases["toy-G"].arms] == [1, 10, 20, 50]
    assert [arm.sampler.depth for arm in cases["toy-D"].arms] == [0, 1, 2, 3]
    assert toy.experiment().budgets["full"] == Budget(10, 10)
    assert tenk.experiment().budgets["full"] == Budget(1000, 10)


def test_nips_experiment(tmp_path, monkeypatch):
    corpus = mw.datasets.nips.__module__
    X = mw.Multinomial().check(np.ones((5, 4)))
    monkeypatch.setattr(f"{corpus}.nips", lambda _: (X, ["word"] * 4))
    (case,) = nips.experiment(tmp_path).cases
    assert case.init == "ibhc"
    assert case.model.likelihood.beta == 0.1
    assert isinstance(case.model.prior, mw.NGGP)
    assert nips.experiment(tmp_path).budgets["full"] == Budget(10_000, 10)


def test_command_writes_tables_and_pictures(tmp_path):
    arguments = ["reproduce", "toy", "--seconds", "0.01", "--repeats", "1"]
    result = runner.invoke(app, [*arguments, "--folder", str(tmp_path)])
    assert result.exit_code == 0, result.output
    folder = tmp_path / "toy"
    table = (folder / "table.md").read_text()
    assert table in result.output
    assert table.count("| Slice") == 2
    assert "| D = 3" in table
    summaries = json.loads((folder / "summaries.json").read_text())
    assert len(summaries["toy-dp"]["Tree"]) == 1
    for name in ("scatter", "toy-dp", "toy-nggp", "toy-G", "toy-D"):
        picture = imread(folder / f"{name}.png")
        assert picture[..., :3].std() > 0.01
    again = runner.invoke(app, [*arguments, "--folder", str(tmp_path)])
    assert "16/18 toy-D, D = 1" in again.output
    assert again.output.count("(kept)") == 18


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["toy", "--quick", "--full"], "one of --quick and --full"),
        (["toy", "--data", "x"], "for nips only"),
        (["nips"], "MIXWOOD_DATA"),
        (["other"], "other"),
    ],
)
def test_command_refuses(arguments, said, monkeypatch):
    monkeypatch.delenv("MIXWOOD_DATA", raising=False)
    result = runner.invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert said in re.sub(r"[\s│]+", " ", result.output)
