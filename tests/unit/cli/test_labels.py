"""`labels.csv` of run folders, `--labels`, and the columns that name the rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood.cli import labels as module
from mixwood.cli.columns import select
from mixwood.cli.labels import identifiers
from mixwood.readers import Loaded, read

OURS = ["cluster", "certainty", "runner_up", "runner_up_probability"]


@pytest.fixture
def patients(trees, tmp_path):
    """A table with identifiers, one of them a formula."""
    table = trees.assign(patient=[f"P-{k:02d}" for k in range(36)])
    table.loc[3, "patient"] = "=P3"
    path = tmp_path / "patients.csv"
    table.to_csv(path, index=False)
    return path


def test_every_run_has_its_labels(mixwood, patients, quick):
    arguments = ("--label", "kind", *quick, "--no-report", "-o", "out")
    result = mixwood("fit", patients, *arguments, "--labels", "copy.csv", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["labels"] == "copy.csv"
    text = Path("out/labels.csv").read_text(encoding="utf-8")
    assert Path("copy.csv").read_text(encoding="utf-8") == text
    table = pd.read_csv("out/labels.csv")
    assert list(table.columns) == ["row", "patient", "kind", *OURS]
    assert table["patient"].tolist() == ["'=P3" if k == 3 else f"P-{k:02d}" for k in range(36)]
    post = mw.load("out")
    np.testing.assert_array_equal(table["cluster"], post.point_estimate())
    np.testing.assert_allclose(table["certainty"], post.certainty(), atol=1e-6)

    # Missing, then stale: the commands that follow write it anew, identifiers and all.
    Path("out/labels.csv").unlink()
    assert mixwood("report", "out", "--quiet").exit_code == 0
    assert Path("out/labels.csv").read_text(encoding="utf-8") == text
    assert 'download="labels.csv"' in Path("out/report.html").read_text(encoding="utf-8")
    result = mixwood("resume", "out", "--draws", 40, "--no-report")
    assert result.exit_code == 0, result.output
    assert "the cluster of each row: out/labels.csv" in result.stdout
    longer = pd.read_csv("out/labels.csv")
    assert longer["patient"].tolist() == table["patient"].tolist()
    np.testing.assert_allclose(longer["certainty"], mw.load("out").certainty(), atol=1e-6)
    assert mixwood("fit", patients, *arguments, "--force", "--labels", "copy.csv").exit_code == 0


def test_a_file_of_the_user_is_never_replaced(mixwood, trees):
    mw.sample(mw.Mixture(), trees[["x"]], draws=9, warmup=0, seed=1, progress=False).save("saved")
    Path("saved/labels.csv").write_text("id,label\n1,ash\n")
    result = mixwood("report", "saved")
    assert result.exit_code == 0, result.output
    assert "saved/labels.csv is left as it is" in result.stderr
    assert Path("saved/labels.csv").read_text() == "id,label\n1,ash\n"


def test_a_folder_with_labels_of_the_user_is_no_place_for_a_run(mixwood, table, quick):
    Path("mine").mkdir()
    Path("mine/labels.csv").write_text("mine")
    result = mixwood("fit", table, *quick, "-o", "mine")
    assert result.exit_code == 2
    assert "mine holds other files" in result.stderr
    assert Path("mine/labels.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("kind", "a column of known labels is named by --label"),
        ("trees.csv", "trees.csv exists and is not a file of labels"),
        ("folder.csv", "folder.csv is a folder"),
        ("nowhere/labels.csv", "nothing can be written to nowhere"),
        ("/proc/labels.csv", "nothing can be written to /proc"),
    ],
)
def test_a_file_that_cannot_be_written_is_an_error_before_the_run(
    mixwood, table, quick, monkeypatch, labels, said
):
    monkeypatch.setattr(mw, "sample", lambda *_, **__: pytest.fail("too late"))
    Path("folder.csv").mkdir()
    before = table.read_bytes()
    result = mixwood("fit", table, *quick, "--labels", labels, "-o", "out")
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert table.read_bytes() == before
    assert not Path("out").exists()


def test_the_file_that_is_read_is_not_replaced(mixwood, quick):
    Path("labels.csv").write_text("row,x,cluster,certainty,runner_up,runner_up_probability\n")
    result = mixwood("fit", "labels.csv", *quick, "--labels", "labels.csv")
    assert result.exit_code == 2
    assert "give another name" in result.stderr


def kept(table, *, columns=(), exclude=(), label=None, others=None):
    loaded = Loaded(table, "t.csv", "csv", others=others or {})
    return identifiers(loaded, select(loaded, list(columns), list(exclude), label))


def test_what_names_rows_is_kept(trees):
    n = len(trees)
    table = trees.assign(
        number=np.arange(n) + 100,
        holes=[float(k) if k else np.nan for k in range(n)],
        constant="same",
        empty=np.nan,
        day=pd.date_range("2026-01-01", periods=n).strftime("%Y-%m-%d"),
    )
    found = kept(table, exclude=["number,holes"], label="kind")
    assert set(found) == {"number", "holes", "day"}  # the label is kept by itself
    assert found["number"][:2] == [100, 101]
    assert found["holes"][:2] == [None, 1]
    assert found["day"][0] == "2026-01-01"
    json.dumps(found, allow_nan=False)
    assert set(kept(table, columns=["x"])) == {"kind", "number", "holes", "day"}  # y2 measures


def test_names_of_rows_that_are_no_column_are_kept(tmp_path, trees):
    pytest.importorskip("pyarrow")
    X = trees[["x", "y2"]]
    named = X.set_axis([f"r{k}" for k in range(len(X))], axis=0)
    path = tmp_path / "x.parquet"
    named.rename_axis("sample").to_parquet(path)
    loaded = read(str(path))
    assert identifiers(loaded, select(loaded, [], [], None))["sample"][:2] == ["r0", "r1"]
    lines = named.to_csv(sep="\t").lstrip("\t")  # as R writes it: no name above the row names
    (tmp_path / "r.tsv").write_text(lines)
    loaded = read(str(tmp_path / "r.tsv"))
    assert identifiers(loaded, select(loaded, [], [], None))["index"][:2] == ["r0", "r1"]
    np.savez(tmp_path / "x.npz", X=X, who=np.array([b"a", b"b"] * 18), z=np.linspace(0, 1, 36))
    loaded = read(str(tmp_path / "x.npz"))
    assert identifiers(loaded, select(loaded, [], [], None)) == {"who": ["a", "b"] * 18}


def test_very_many_columns_are_not_kept(trees, monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 1)
    table = trees.assign(a=trees["kind"], b=trees["kind"])
    assert list(kept(table, columns=["x"])) == ["kind"]
    monkeypatch.setattr(module, "MOST_CHARACTERS", 10)
    assert kept(table, columns=["x"]) == {}
