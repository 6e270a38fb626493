"""`mixwood report`: of finished runs, of posteriors saved from Python, of folders that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

import mixwood as mw


def test_a_report_is_made_anew(mixwood, table, quick):
    mixwood("fit", table, "--label", "kind", *quick, "--no-report", "-o", "out")
    assert not Path("out/report.html").exists()
    result = mixwood("report", "out")
    assert result.exit_code == 0, result.output
    assert "out/report.html" in result.output
    assert "'kind'" in Path("out/report.html").read_text(encoding="utf-8").replace("&#x27;", "'")
    elsewhere = mixwood("report", "out", "-o", "else.html", "--quiet")
    assert elsewhere.exit_code == 0
    assert elsewhere.output == ""
    assert Path("else.html").stat().st_size > 10_000


def test_the_estimate_of_a_run_is_searched_for_once(mixwood, table, quick, monkeypatch):
    mixwood("fit", table, *quick, "--no-report", "-o", "out")
    monkeypatch.setattr("mixwood.estimates.point_estimate", None)
    for command in ("report", "resume"):
        result = mixwood(command, "out")
        assert result.exit_code == 0, result.output


def test_a_posterior_saved_from_python_has_a_report_too(mixwood, trees):
    X = trees[["x", "y2"]]
    mw.sample(mw.Mixture(), X, draws=20, chains=2, seed=1, progress=False).save("saved")
    result = mixwood("report", "saved")
    assert result.exit_code == 0, result.output
    assert "Clusters of saved" in Path("saved/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["report", "resume"])
def test_what_is_no_run_is_named(mixwood, command):
    Path("empty").mkdir()
    Path("file").write_text("")
    for name in ("nowhere", "empty", "file"):
        result = mixwood(command, name)
        assert result.exit_code == 2, result.output
        assert name in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    assert not list(Path("empty").iterdir())


def test_the_output_must_be_a_file(mixwood, trees):
    mw.sample(mw.Mixture(), trees[["x"]], draws=9, warmup=0, seed=1, progress=False).save("saved")
    Path("folder").mkdir()
    result = mixwood("report", "saved", "-o", "folder")
    assert result.exit_code == 2
    assert "folder is a folder" in result.stderr
