"""`mixwood fit`, driven as a user would: files, choices, results, exit codes, messages."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse

import mixwood as mw


def write_npy(path, X):
    np.save(path, X)


def write_docword(path, X):
    counts = sparse.coo_array(np.round(np.abs(X)))
    rows = [
        f"{i + 1} {j + 1} {int(v)}" for i, j, v in zip(*counts.coords, counts.data, strict=True)
    ]
    Path(path).write_text("\n".join([str(len(X)), "2", str(len(rows)), *rows]) + "\n")


WRITERS = {
    "x.csv": lambda path, X: pd.DataFrame(X).to_csv(path, index=False, header=False),
    "x.tsv": lambda path, X: pd.DataFrame(X).to_csv(path, index=False, sep="\t"),
    "x.csv.gz": lambda path, X: pd.DataFrame(X).to_csv(path, index=False),
    "x.parquet": lambda path, X: pd.DataFrame(X, columns=["a", "b"]).to_parquet(path),
    "x.npy": write_npy,
    "x.npz": lambda path, X: np.savez(path, X=X, y=np.arange(len(X))),
    "x.mtx": lambda path, X: scipy_io.mmwrite(path, sparse.coo_array(np.round(np.abs(X)))),
    "docword.x.txt": write_docword,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_clustered(mixwood, trees, quick, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    WRITERS[name](name, trees[["x", "y2"]].to_numpy())
    result = mixwood("fit", name, *quick, "--no-report", "--json")
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    sparse_counts = name.endswith(("mtx", "txt"))
    gaussians = {"Gaussian", "DiagonalGaussian", "SphericalGaussian"}
    assert outcome["likelihood"] in ({"Multinomial"} if sparse_counts else gaussians)
    assert (outcome["rows"], outcome["columns"]) == (36, 2)
    assert mw.load(outcome["folder"]).labels.shape == (2, 20, 36)
    assert outcome["report"] is None


def test_standard_input(mixwood, table, quick):
    content = table.read_bytes()
    for text in (content, gzip.compress(content)):
        result = mixwood(
            "fit", "-", "--exclude", "kind", *quick, "--no-report", "--json", input=text
        )
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["source"] == "standard input"
    assert Path("stdin-run").is_dir()
    assert Path("stdin-run-2").is_dir()


def test_a_whole_run(mixwood, table, quick):
    result = mixwood("fit", table, "--label", "kind", *quick)
    assert result.exit_code == 0, result.output
    folder = Path("trees-run")
    assert {entry.name for entry in folder.iterdir()} >= {"report.html", "run.log", "input.json"}
    assert "AutoGaussian (all 2 columns are numbers)" in result.stderr
    assert re.search(
        r"^Structure: .* (predict new rows best|are taken), by", result.stdout, re.MULTILINE
    )
    assert re.search(r"^ *width .*^ *nu ", result.stdout, re.MULTILINE | re.DOTALL)
    assert re.match(r"3 clusters, with probability [\d>]+%\.\n", result.stdout)
    assert "Adjusted Rand index with 'kind': 1.000" in result.stdout
    assert "trees-run/report.html" in result.stdout
    assert re.search(r"run longer: mixwood resume trees-run --draws \d+", result.stdout)
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "adjusted Rand index 1.000" in report
    assert "Gaussian (all 2 columns are numbers)" in (folder / "run.log").read_text()
    posterior = mw.load(folder)
    assert posterior.columns == ("x", "y2")
    assert posterior.settings["seed"]["entropy"] == 1


def test_the_draws_are_those_of_sample(mixwood, table, trees, quick):
    mixwood("fit", table, "--columns", "x,y2", *quick, "--no-report", "--prior", "DP")
    model = mw.Mixture(prior=mw.DirichletProcess())
    X = trees[["x", "y2"]]
    expected = mw.sample(model, X, draws=20, warmup=10, chains=2, seed=1, progress=False)
    np.testing.assert_array_equal(mw.load("trees-run").labels, expected.labels)


def test_the_json_object_is_whole(mixwood, table, quick):
    result = mixwood("fit", table, "--label", "kind", *quick, "--json", "-o", "out")
    outcome = json.loads(result.stdout)
    assert outcome["folder"] == "out"
    assert Path(outcome["report"]).is_file()
    assert outcome["adjusted_rand"] == 1.0
    assert outcome["n_clusters"] == outcome["n_groups"] == 3
    assert outcome["headline"].startswith("3 clusters, with probability")
    assert (outcome["group_size"], outcome["rows_outside_groups"]) == (2, 0)
    assert outcome["estimate_n_groups"] == outcome["estimate_n_clusters"] == 3
    assert sum(outcome["n_clusters_probabilities"].values()) == pytest.approx(1)
    assert outcome["probability"] == max(outcome["n_clusters_probabilities"].values())
    assert outcome["finished"] is True
    assert outcome["seconds"] > 0
    assert outcome["r_hat"] is None or outcome["r_hat"] > 0.9
    assert outcome["convergence"] in ("good", "fair", "poor", "unknown")


def test_options_reach_the_run(mixwood, table, quick):
    options = [
        "--sampler",
        "Split-Merge",
        "--prior",
        "pitman_yor",
        "--likelihood",
        "Spherical-Gaussian",
    ]
    result = mixwood(
        "fit",
        table,
        "--exclude",
        "kind",
        *quick,
        "--no-report",
        "--thin",
        2,
        "--init",
        "one",
        *options,
    )
    assert result.exit_code == 0, result.output
    posterior = mw.load("trees-run")
    assert isinstance(posterior.model.prior, mw.PitmanYor)
    assert isinstance(posterior.model.likelihood, mw.SphericalGaussian)
    assert posterior.settings["sampler"].startswith("SplitMerge")
    assert (posterior.settings["thin"], posterior.settings["init"]) == (2, "one")
    assert "as asked for" in result.stderr


@pytest.mark.parametrize("scale", ["learn", "data", "paper"])
def test_the_scale_reaches_the_likelihood(mixwood, table, quick, scale):
    chosen = ["--likelihood", "gaussian", "--scale", scale, "--exclude", "kind", "--no-report"]
    result = mixwood("fit", table, *quick, *chosen, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["likelihood"] == "Gaussian"
    posterior = mw.load("trees-run")
    assert posterior.model.likelihood == mw.Gaussian(scale=scale)
    assert ("width" in posterior.summary().index) == (scale == "learn")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scale", "wide"], "scale must be one of learn, data, paper, got 'wide'"),
        (["--likelihood", "poisson", "--scale", "data"], "--scale data: Poisson has no scale"),
        (
            ["--likelihood", "diagonal-gaussian", "--scale", "paper"],
            "--scale paper: DiagonalGaussian takes scale 'learn' or 'data', got 'paper'",
        ),
    ],
)
def test_a_scale_that_does_not_exist_is_refused(mixwood, table, quick, options, message):
    result = mixwood("fit", table, "--exclude", "kind", *quick, *options)
    assert result.exit_code == 2
    assert message in re.sub(r"[\s│]+", " ", result.stderr)
    assert not Path("trees-run").exists()


def test_quiet_says_nothing(mixwood, table, quick):
    result = mixwood("fit", table, "--exclude", "kind", *quick, "--no-report", "-q")
    assert result.exit_code == 0
    assert result.output == ""


def test_an_existing_run_is_kept_unless_forced(mixwood, table, quick):
    arguments = ("fit", table, "--exclude", "kind", *quick, "--no-report", "-o", "out")
    assert mixwood(*arguments).exit_code == 0
    again = mixwood(*arguments, "--seed", "2")
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert mw.load("out").settings["seed"]["entropy"] == 1
    assert mixwood(*arguments, "--seed", "2", "--force").exit_code == 0
    assert mw.load("out").settings["seed"]["entropy"] == 2
    Path("out/notes.txt").write_text("mine")
    refused = mixwood(*arguments, "--seed", "3", "--force")
    assert refused.exit_code == 2
    assert "notes.txt" in refused.stderr
    assert mw.load("out").settings["seed"]["entropy"] == 2


@pytest.mark.parametrize(
    "wrong", [("--jobs", 0), ("--chains", 100_000), ("--likelihood", "poisson"), ("huge.csv",)]
)
def test_an_old_run_stays_where_the_new_one_cannot_begin(mixwood, table, quick, wrong):
    arguments = ("--exclude", "kind", *quick, "--no-report", "-o", "out")
    assert mixwood("fit", table, *arguments).exit_code == 0
    Path("huge.csv").write_text("a,b\n1,2\n1e300,3\n-1e300,4\n5,6\n")
    before = {p: p.read_bytes() for p in Path("out").rglob("*") if p.is_file()}
    if wrong == ("huge.csv",):
        refused = mixwood("fit", "huge.csv", *arguments[2:], "--force")
    else:
        refused = mixwood("fit", table, *arguments, *wrong, "--force")
    assert refused.exit_code == 2, refused.output
    assert {p: p.read_bytes() for p in Path("out").rglob("*") if p.is_file()} == before
    assert not list(Path().glob(".*"))


def test_the_record_of_the_input_belongs_to_the_run(mixwood, table, quick):
    arguments = ("--exclude", "kind", *quick, "-o", "out")
    assert mixwood("fit", table, *arguments).exit_code == 0
    assert Path("out/report.html").exists()
    other = table.rename(table.with_name("other.csv"))
    result = mixwood("fit", other, *arguments, "--no-report", "--force")
    assert result.exit_code == 0, result.output
    assert json.loads(Path("out/input.json").read_text())["source"] == "other.csv"
    assert not Path("out/report.html").exists()  # the old run's
    log = Path("out/run.log").read_text()
    assert "other.csv: 36 rows" in log
    assert "trees.csv" not in log


def test_a_folder_of_other_files_is_never_touched(mixwood, table, quick):
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    for more in ((), ("--force",)):
        result = mixwood("fit", table, *quick, "-o", "mine", *more)
        assert result.exit_code == 2
        assert "mine holds other files" in result.stderr
    assert [entry.name for entry in Path("mine").iterdir()] == ["notes.txt"]


def test_a_time_limit_ends_the_run_and_says_how_to_go_on(mixwood, table):
    result = mixwood(
        *("fit", table, "--exclude", "kind", "--draws", 10**5, "--warmup", 0, "--thin", 200),
        *("--chains", 1, "--max-seconds", 3, "--no-report", "-o", "out"),
        *("--likelihood", "gaussian", "--scale", "data"),  # no pilots, which count as well
    )
    assert result.exit_code == 0, result.output
    assert "warning: stopped early" in result.stderr
    assert "mixwood resume out" in result.stdout


BAD = {
    "no file": (["none.csv"], "none.csv does not exist"),
    "no such column": (["trees.csv", "--columns", "x,z"], "no column 'z'.*x, y2, kind"),
    "no such label": (["trees.csv", "--label", "species"], "no column 'species'"),
    "nothing left": (["trees.csv", "--exclude", "*"], "no column is left"),
    "no such likelihood": (["trees.csv", "--likelihood", "cauchy"], "must be one of auto-gaussian"),
    "no such prior": (["trees.csv", "--prior", "flat"], "must be one of nggp"),
    "no such sampler": (["trees.csv", "--sampler", "nuts"], "must be one of tree"),
    "no such start": (["trees.csv", "--init", "kmeans"], "must be one of ibhc"),
    "no draws": (["trees.csv", "--draws", "0"], "--draws"),
    "wrong likelihood": (
        ["trees.csv", "--exclude", "kind", "--likelihood", "poisson"],
        "trees.csv has .* in row 0, column 0",
    ),
    "text for numbers": (["trees.csv", "--likelihood", "gaussian"], r"'kind'.*trees\.csv"),
    "no target": (
        ["trees.csv", "--likelihood", "gaussian", "--target", "x"],
        "--target is for --likelihood Regression; Gaussian has none",
    ),
    "no likelihood with an exposure": (["trees.csv", "--exposure", "x"], "--exposure needs a"),
    "a slip": (["slip.csv"], r"column 'b' of slip\.csv holds numbers, but 'abc' in row 2"),
    "a ragged table": (["ragged.csv"], r"ragged\.csv: line 3 has 3 columns"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_ends_with_two_and_a_short_message(mixwood, table, case):
    arguments, message = BAD[case]
    Path("slip.csv").write_text("a,b\n1,2\n2,3\n3,abc\n" + "4,5\n" * 9)
    Path("ragged.csv").write_text("a,b\n1,2\n3,4,5\n")
    result = mixwood("fit", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    text = " ".join(result.stderr.replace("│", " ").split())
    assert re.search(message, text), text
    assert "Traceback" not in text
    if result.stderr.startswith("error"):
        assert len(result.stderr.strip().splitlines()) <= 2
    assert not list(Path().glob("*-run"))


def test_debug_shows_where(mixwood):
    result = mixwood("fit", "none.csv", "--debug")
    assert isinstance(result.exception, ValueError)


@pytest.mark.parametrize(
    ("fault", "said"), [(MemoryError(), "out of memory"), (RuntimeError(), "RuntimeError")]
)
def test_no_message_is_empty(mixwood, table, quick, monkeypatch, fault, said):
    import mixwood as package

    def fail(*_, **__):
        raise fault

    monkeypatch.setattr(package, "sample", fail)
    result = mixwood("fit", table, "--exclude", "kind", *quick)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith(f"error: {said}")


LIMITED = """
import resource
from mixwood._support.memory import available_bytes
resource.setrlimit(resource.RLIMIT_AS, (12 * 10**9, resource.RLIM_INFINITY))
assert available_bytes() < 12 * 10**9, available_bytes()
from mixwood.cli import app
app()
"""


def test_a_limit_on_the_address_space_is_known_and_kept(table, tmp_path):
    pytest.importorskip("resource")
    arguments = ["fit", table, "--exclude", "kind", "--draws", "5", "--chains", "1", "--no-report"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments, "-o", tmp_path / "out", "--quiet"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_other_failures_end_with_one(mixwood, table, quick, monkeypatch):
    import mixwood as package

    def fail(*_, **__):
        raise RuntimeError("the chain broke")

    monkeypatch.setattr(package, "sample", fail)
    result = mixwood("fit", table, "--exclude", "kind", *quick)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "error: the chain broke"
    assert not Path("trees-run").exists()


@pytest.mark.parametrize(
    ("full", "to"),
    [
        ("mixwood.json", None),
        ("state", "continue: mixwood resume out"),
        ("labels.csv", "write it: mixwood report out"),
        ("report.html", "write it: mixwood report out"),
    ],
)
def test_a_full_disk_says_how_to_go_on(mixwood, table, quick, monkeypatch, full, to):
    """From the first time that a file of this name is written on, nothing is."""
    open_, write, found = os.open, os.write, []

    def opened(path, *args, **options):
        found.extend(name for name in [path] if full in str(name))
        return open_(path, *args, **options)

    def limited(descriptor, content):
        if found:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, content)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", opened)
        patch.setattr(os, "write", limited)
        patch.setattr("mixwood.store.chain_store.CHECKPOINT_SECONDS", 0.0)
        result = mixwood("fit", table, *quick, "-o", "out")
    assert result.exit_code == 1
    *_, error, last = ["", *result.stderr.strip().splitlines()]
    if to is None:  # nothing had begun
        assert last.startswith("error: ")
        assert not Path("out").exists()
        return
    assert error.startswith("error: [Errno 28] cannot be written: ")
    assert full in error
    assert last == f"the draws so far are kept; once there is room, to {to}"
    again = mixwood(*to.split()[-2:], "--quiet")
    assert again.exit_code == 0, again.output


def test_each_column_is_explained_before_the_run(mixwood, trees, quick):
    table = trees.assign(
        id=range(36),
        price=[f"${1000 + x:,.2f}" for x in 300 * np.sin(np.arange(36))],
        again=2 * trees["x"],
        day="2021-03-14",
    )
    table.loc[0, "day"] = "2021-03-15"
    table.to_csv("t.csv", index=False)
    result = mixwood("fit", "t.csv", *quick, "--no-report")
    assert result.exit_code == 0, result.output
    expected = [
        "  kind: Categorical (text with 3 categories)",
        "  x: Gaussian with 2 more (numbers)",
        "  y2: Gaussian with 2 more (numbers)",
        "  price: Gaussian with 2 more (numbers written with $)",
        "  id: left out (it numbers the rows)",
        "  again: left out (an exact linear function of 'x')",
    ]
    lines = result.stderr.splitlines()
    first = lines.index(expected[0])
    assert lines[first : first + 6] == expected
    assert lines[first + 6].startswith("  day: left out (dates or times")
    assert expected[3] in Path("t-run/run.log").read_text()
    quiet = mixwood("fit", "t.csv", *quick, "--no-report", "--quiet", "-o", "q")
    assert "left out" not in quiet.stderr
    post = mw.load("t-run")
    assert post.log_density(table).shape == (36,)  # the user's own table
    assert post.predict(pd.read_csv("t.csv")).shape == (36,)


def test_numbers_alone_are_predicted_for_from_the_whole_table(mixwood, trees, quick):
    table = trees.assign(name=[f"tree {k}" for k in range(36)])[["name", "y2", "x"]]
    table.to_csv("t.csv", index=False)
    result = mixwood("fit", "t.csv", *quick, "--no-report")
    assert "AutoGaussian (all 2 columns are numbers)" in result.stderr
    post = mw.load("t-run")
    np.testing.assert_array_equal(post.log_density(table), post.log_density(table[["y2", "x"]]))


def test_of_many_columns_only_those_left_out_get_a_line(mixwood, quick):
    wide = pd.DataFrame(np.random.default_rng(1).normal(size=(12, 50))).add_prefix("c")
    wide.assign(id=range(12)).to_csv("t.csv", index=False)
    result = mixwood("fit", "t.csv", *quick, "--no-report", "--likelihood", "diagonal-gaussian")
    assert result.exit_code == 0, result.output
    assert "  id: left out" in result.stderr
    assert "  c0:" not in result.stderr


def test_a_single_row_and_a_transposed_table_are_told(mixwood, quick):
    Path("one.csv").write_text("x,y\n1.5,2.5\n")
    result = mixwood("fit", "one.csv", *quick)
    assert result.exit_code == 2
    assert "one.csv has one row; clustering needs two or more" in result.stderr
    values = np.random.default_rng(1).normal(size=(3, 30))
    table = pd.DataFrame(values + np.array([[170], [70], [40]])).add_prefix("item ")
    table.insert(0, "variable", ["height", "weight", "age"])
    table.to_csv("wide.csv", index=False)
    result = mixwood("fit", "wide.csv", *quick, "--no-report")
    assert "warning: wide.csv has 3 rows and 31 columns" in result.stderr
    assert "transpose" in result.stderr


def test_identifiers_keep_their_leading_zeros(mixwood, quick):
    rows = [f"{k:03d},{k % 2 * 9 + k / 50}" for k in range(1, 21)]
    Path("t.csv").write_text("id,x\n" + "\n".join(rows) + "\n")
    result = mixwood("fit", "t.csv", *quick, "--no-report", "--labels", "out.csv")
    assert result.exit_code == 0, result.output
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0].startswith("row,id,")
    assert [line.split(",")[1] for line in lines[1:4]] == ["001", "002", "003"]


def test_what_sets_clusters_apart_is_printed_and_in_the_json_object(mixwood, table, quick):
    result = mixwood("fit", table, "--label", "kind", *quick, "--no-report", "-o", "out")
    said = [line for line in result.stdout.splitlines() if line.startswith("Cluster ")]
    assert len(said) == 3
    assert all(re.fullmatch(r"Cluster \d, 12 rows: (high|low) .*\.", line) for line in said), said
    result = mixwood("fit", table, "--label", "kind", *quick, "--no-report", "--json", "-o", "two")
    clusters = json.loads(result.stdout)["clusters"]
    assert [cluster["size"] for cluster in clusters] == [12, 12, 12]
    assert {"column", "how", "effect", "probability"} <= set(clusters[0]["markers"][0])


def test_columns_with_a_part_of_their_own(mixwood, quick):
    rows = "".join(f"{k % 7},{k % 5},{1 + k % 3}\n" for k in range(30))
    Path("counts.csv").write_text("a,b,months\n" + rows)
    result = mixwood("fit", "counts.csv", "--likelihood", "poisson", "--exposure", "months", *quick)
    assert result.exit_code == 0, result.stderr
    [folder] = Path().glob("counts-run")
    assert mw.load(folder).resolved.exposure == 2
    related = ["--likelihood", "regression", "--target", "a", "--output", "related"]
    result = mixwood("fit", "counts.csv", *related, *quick)
    assert result.exit_code == 0, result.stderr
    assert mw.load("related").resolved.target == 0


def test_groups_of_a_column(mixwood, trees, quick):
    trees["site"] = np.arange(len(trees)) % 3
    trees.to_csv("sites.csv", index=False)
    result = mixwood("fit", "sites.csv", "--group", "site", *quick, "--json")
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    post = mw.load(outcome["folder"])
    assert post.groups.names == (0, 1, 2)
    assert "site" not in post.column_names
    assert type(post.model.prior).__name__ == "FiniteMixture"
    assert 'id="groups"' in Path(outcome["report"]).read_text(encoding="utf-8")
    assert [group["rows"] for group in outcome["groups"]] == [12, 12, 12]
    assert all(0.9 < sum(group["shares"]) <= 1 for group in outcome["groups"])
    again = mixwood("report", outcome["folder"])
    assert again.exit_code == 0


def test_groups_that_cannot_be(mixwood, trees, quick):
    trees["site"] = ["a", None] * (len(trees) // 2)
    trees.to_csv("sites.csv", index=False)
    for options, message in (
        (("--group", "nowhere"), "has no column 'nowhere'"),
        (("--group", "site"), "must have a group for every row"),
        (("--group", "x", "--prior", "nggp"), "groups= needs a prior"),
        (("--group", "x", "--columns", "x,y2"), "column 'x' is in --columns and in --group"),
    ):
        result = mixwood("fit", "sites.csv", *options, *quick)
        assert result.exit_code != 0
        assert message in " ".join(result.output.split())
        assert not Path("sites-run").exists()
