"""What notebooks show: small HTML that is safe and needs nothing else, and an example that runs."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas
import pytest

import mixwood as mw

NOTEBOOKS = Path(__file__).resolve().parents[3] / "docs" / "notebooks"
HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """Which tags there are, and whether all are closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(html)

    def handle_starttag(self, tag, _attributes):
        self.seen.append(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_startendtag(self, tag, _attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def post():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[0, 0], [9, 0]], 20, axis=0)
    table = pandas.DataFrame(X, columns=[HOSTILE, "b"])
    return mw.sample(mw.Mixture(), table, draws=30, chains=2, seed=1, progress=False)


def of_posterior(post):
    return post._repr_html_()


def of_ball(post):
    return post.credible_ball()._repr_html_()


def of_tree(post):
    return mw.ibhc(mw.Mixture(mw.Gaussian()), post.X, seed=1)._repr_html_()


def of_model(post):
    return mw.Mixture(mw.Product({HOSTILE: mw.Gaussian()}))._repr_html_()


@pytest.mark.parametrize(
    ("shown", "says", "pictures"),
    [
        (of_posterior, "Posterior: 2 chains of 30 draws, 40 items", 1),
        (of_ball, "95% of the draws", 1),
        (of_tree, "40 rows", 1),
        (of_model, "Mixture of Product clusters", 0),
    ],
)
def test_cards_are_whole_small_and_safe(post, shown, says, pictures):
    html = shown(post)
    tags = Tags(html)
    assert tags.open == []
    assert says in html
    assert tags.seen.count("img") + tags.seen.count("svg") == pictures
    assert "script" not in tags.seen
    assert "http" not in html
    assert len(html) < 200_000


def test_a_posterior_without_data_or_with_very_many_rows_has_a_card(post):
    import dataclasses

    assert "<img" not in dataclasses.replace(post, X=None)._repr_html_()
    n = 1_100_000
    zeros = np.zeros((2, 1))
    many = mw.Posterior(
        np.zeros((2, 1, n), dtype=np.int8), zeros, zeros, {},
        mw.Mixture(mw.Poisson(shape=1.0), mw.DirichletProcess(alpha=1.0)),
        mw.Poisson(shape=1.0, rate=[1.0]), None,
    )  # fmt: skip
    assert "The draws have 1 cluster." in many._repr_html_()


class Display:
    """IPython, as far as progress asks for it."""

    kernel = "a kernel"

    def __init__(self):
        self.texts = []

    def get_ipython(self):
        return self

    def display(self, data, **options):
        assert options == {"raw": True, "display_id": True}
        self.texts.append(data["text/plain"])
        return self

    def update(self, data, **options):
        assert options == {"raw": True}
        self.texts.append(data["text/plain"])


def test_progress_in_a_notebook_ends_in_one_line(monkeypatch):
    display = Display()
    monkeypatch.setitem(sys.modules, "IPython", display)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    X = np.random.default_rng(1).normal(size=(30, 1))
    mw.sample(mw.Mixture(mw.Gaussian()), X, draws=10, warmup=10, chains=2, seed=1)
    assert "chain 0\nchain 1" in display.texts
    assert display.texts[-1].startswith("2 chains done in")
    assert "\n" not in display.texts[-1]


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # of the kernel's own machinery
def test_the_notebooks_run(path, tmp_path):
    nbformat, nbclient = map(pytest.importorskip, ("nbformat", "nbclient"))
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    assert not any(out.output_type == "stream" and out.name == "stderr" for out in outputs)
    shown = [out.data for out in outputs if "data" in out]
    assert sum("mixwood" in data.get("text/html", "") for data in shown) == 4
    assert sum("chains done in" in data.get("text/plain", "") for data in shown) == 1
