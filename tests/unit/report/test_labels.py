"""The labels of all rows: CSV that no spreadsheet runs, a download, the rows to doubt."""

from __future__ import annotations

import base64
import csv
import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mixwood.report import About, Digest, Known, is_labels_csv, labels_csv
from mixwood.report import pieces as pieces_module
from mixwood.report.labels import spreadsheet_text
from mixwood.report.rows import rows_section
from mixwood.testing import seed_of

FORMULAS = [
    "=1+2",
    "+49 30 1234",
    "-x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1+2",
    '=cmd|"/c calc"!A1',
    "-1-cmd",
    "--1",
    "\uff1d1",
]
HARMLESS = ["a", "", "-5", "+1.5e-3", "-.5", "1-2", "a=b", "x@y.org", "'quoted", "P-01"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_become_text(text):
    assert spreadsheet_text(text) == "'" + text.replace("\r", "\n")


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_and_numbers_stay_as_they_are(text):
    assert spreadsheet_text(text) == text


def test_a_carriage_return_begins_no_row(make_posterior):
    table = make_posterior().labels_table(pd.DataFrame({"a": ["x\r=1+2", "x\r\n=1"] * 6}))
    text = labels_csv(table)
    assert "\r" not in text
    assert [row[1] for row in lines_of(text)[1:3]] == ["x\n=1+2", "x\n=1"]
    assert '"x\n=1+2"' in text


def lines_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def test_no_cell_of_the_file_runs(make_posterior):
    posterior = make_posterior(items=len(FORMULAS))
    n, safe = len(FORMULAS), [spreadsheet_text(text) for text in FORMULAS]
    mine = pd.DataFrame({"=name": FORMULAS, "shift": -np.arange(n), "size": [-0.5] * n})
    mine["kind"] = pd.Categorical(FORMULAS)
    head, *rows = lines_of(labels_csv(posterior.labels_table(mine)))
    assert head[:5] == ["row", "'=name", "shift", "size", "kind"]
    assert [row[0] for row in rows] == [str(k) for k in range(n)]
    assert [row[1] for row in rows] == safe
    assert [row[4] for row in rows] == safe
    assert [row[2] for row in rows] == [str(-k) for k in range(n)]
    assert {row[3] for row in rows} == {"-0.5"}
    index = pd.DataFrame({"a": range(n)}, index=pd.Index(FORMULAS, name="@id"))
    head, *rows = lines_of(labels_csv(posterior.labels_table(index)))
    assert head[0] == "'@id"
    assert [row[0] for row in rows] == safe


def test_the_file_is_read_back(make_posterior, tmp_path):
    posterior = make_posterior()
    days = pd.date_range("2026-01-01", periods=12)
    table = posterior.labels_table(pd.DataFrame({"day": days, "name": ["a,b", None] * 6}))
    path = tmp_path / "labels.csv"
    assert not is_labels_csv(path)
    path.write_text(labels_csv(table), encoding="utf-8")
    assert is_labels_csv(path)
    back = pd.read_csv(path, index_col="row", parse_dates=["day"])
    np.testing.assert_array_equal(back["cluster"], table["cluster"])
    np.testing.assert_allclose(back["certainty"], table["certainty"], atol=1e-6)
    np.testing.assert_array_equal(back["runner_up"], table["runner_up"].astype(float))
    assert (back["day"] == days).all()
    assert back["name"].isna().sum() == 6
    path.write_text("id,label\n1,2\n")
    assert not is_labels_csv(path)


def wavering(make_posterior, items):
    """A posterior of two clusters in which rows are sometimes in the other one."""
    posterior = make_posterior(items=items, draws=40)
    rng = np.random.default_rng(seed_of("wavering"))
    labels = np.tile(np.arange(items) % 2, (2, 40, 1))
    chances = np.linspace(0.15, 0.02, items)
    flips = rng.random(labels.shape) < chances
    flips[..., :2] = False  # labels are in order of appearance
    return replace(posterior, labels=np.where(flips, 1 - labels, labels))


ABOUT = About(
    known=Known("kind", [0, 1] * 6, ["ash", "fir"]),
    identifiers={"id": [12345, None] * 6, "who": ["<b>=x</b>" + "y" * 100] * 12},
)


def test_the_page_lists_the_rows_to_doubt_and_holds_all(make_posterior):
    digest = Digest(wavering(make_posterior, 12), ABOUT)
    text = rows_section(digest)
    [data] = re.findall(
        r'<a class="button" download="labels.csv" href="data:text/csv[^,]*;base64,([^"]*)"', text
    )
    assert base64.b64decode(data).decode() == digest.labels_csv
    head, first, second, *_ = lines_of(digest.labels_csv)
    assert head[:4] == ["row", "id", "who", "kind"]
    assert first[:2] == ["0", "12345"]
    assert second[1:4:2] == ["", "fir"]
    rows = re.findall(r'<th scope="row"[^>]*>(\d+)</th>', text)
    order = digest.labels["certainty"].sort_values(kind="stable").index
    assert rows == [str(k) for k in order]
    assert "<td>12345</td>" in text  # what names a row is not written as a number
    assert "<b>" not in text
    assert "&lt;b&gt;=x&lt;/b&gt;yyy" in text
    assert "y" * 60 not in text


def test_at_most_twenty_rows_are_listed(make_posterior):
    text = rows_section(Digest(wavering(make_posterior, 30), About()))
    assert len(re.findall(r'<th scope="row"', text)) == 20


def test_a_page_of_certain_rows_says_so(make_posterior):
    posterior = make_posterior()
    one = replace(posterior, labels=np.zeros_like(posterior.labels))
    text = rows_section(Digest(one, About()))
    assert "No row is in doubt" in text
    assert "<table" not in text


def test_what_is_too_long_for_a_link_is_in_the_folder(make_posterior, monkeypatch):
    monkeypatch.setattr(pieces_module, "LONGEST_LINK", 100)
    text = rows_section(Digest(make_posterior(), About()))
    assert "data:" not in text
    assert "labels.csv of the run folder" in text


@pytest.mark.parametrize(
    "identifiers", [{"id": ["a"]}, {"id": "ab"}, {"id": [1, [2]]}, {"id": {"a": 1, "b": 2}}]
)
def test_damaged_identifiers_are_refused(tmp_path, identifiers):
    path = tmp_path / "input.json"
    path.write_text(About(identifiers=identifiers).text())
    with pytest.raises(ValueError, match=r"input\.json is not as mixwood writes it: identifiers"):
        About.read(path, items=2)


def test_identifiers_are_read_back_and_old_runs_have_none(tmp_path):
    path = tmp_path / "input.json"
    path.write_text(ABOUT.text(), encoding="utf-8")
    assert About.read(path, items=12) == ABOUT
    old = re.sub(r', "identifiers": \{\}', "", About("x.csv").text())
    assert "identifiers" not in old
    path.write_text(old)
    assert About.read(path, items=2) == About("x.csv")
