"""The page of a report: what it says, that it is well formed, and that nothing in it can run."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image
from scipy.sparse import csr_array

import mixwood as mw
import mixwood.report.digest
import mixwood.report.figures
import mixwood.report.tree
from mixwood.plots.colours import cluster_colours
from mixwood.plots.style import COLOURS
from mixwood.report import About, Digest, Known, write_report
from mixwood.report import render as rendered
from mixwood.testing import seed_of

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
VOID = {"meta", "img", "source", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.text = ""
        self.data = {}
        self._open = []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag, tag

    def handle_data(self, data):
        tag, attributes = self._open[-1] if self._open else ("", {})
        if tag == "script" and attributes.get("type") == "application/json":
            self.data[attributes["id"]] = json.loads(data)
        elif tag not in ("script", "style"):
            self.text += " " + data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def render(posterior, about, folder=None):
    return rendered(Digest(posterior, about), folder)


def fitted(X, likelihood, name, **options):
    options = {"draws": 20, "warmup": 20, "chains": 2, "progress": False} | options
    return mw.sample(mw.Mixture(likelihood), X, seed=seed_of(name), **options)


@pytest.fixture
def without_pictures(monkeypatch):
    """Leave out what takes the most time, where a test is about something else."""
    monkeypatch.setattr(mixwood.report.figures, "drawn", lambda *_, **__: "")


@pytest.fixture(scope="module")
def three_classes():
    """Twenty rows of each of three classes, in order: the page compares with them."""
    rng = np.random.default_rng(seed_of("blobs"))
    return rng.normal(size=(60, 2)) + 9 * np.repeat(np.arange(3), 20)[:, None]


@pytest.fixture(scope="module")
def posterior(three_classes):
    return fitted(three_classes, mw.Gaussian(), "page")


@pytest.fixture(scope="module")
def text(posterior):
    known = Known("kind", np.repeat(np.arange(3), 20).tolist(), ["a", "b", "c"])
    about = About("blobs.csv", "all 2 columns are numbers", known, None, {"id": "numbers the rows"})
    return render(posterior, about, "my run")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_the_answer_is_there(page, posterior):
    assert "3 clusters, with probability" in re.sub(r"\s+", " ", page.text)
    assert "adjusted Rand index 1.000" in page.text
    assert "Clusters of blobs.csv" in page.text
    assert "60 rows and 2 columns" in page.text
    assert "numbers the rows" in page.text
    for quantity in posterior.summary().index:
        assert quantity in page.text


def test_the_learned_base_is_told_in_words(page, three_classes, without_pictures):
    assert "The expected share of the variance that is within clusters is" in page.text
    assert re.search("covariance.*: their variances differ by", page.text)
    assert "predict new rows best" not in page.text  # the user named the structure
    left_open = fitted(three_classes, mw.AutoGaussian(), "open")
    open_page = Page(render(left_open, About("x")))
    assert left_open.settings["structure"][1:] in open_page.text
    assert f"{type(left_open.resolved).__name__}, chosen by AutoGaussian()" in open_page.text
    fixed = Page(render(fitted(three_classes, mw.Gaussian(scale="data"), "fixed"), About("x")))
    assert "variance that is within clusters" not in fixed.text
    assert "their variances differ" not in fixed.text


def test_weights_and_known_labels_are_told(three_classes, without_pictures):
    known = np.full(60, -1)
    known[[0, 1, 25]] = 0
    given = {"known": known, "weights": np.full(60, 2.5)}
    text = Page(render(fitted(three_classes, mw.Gaussian(), "known", **given), About("x"))).text
    assert "3 of 60 rows in 1 group that stays together" in text
    assert "60 rows that count as 150" in text
    assert "150 rows and 2 columns" in text


def test_every_part_is_there_and_is_linked(page):
    sections = [attributes["id"] for attributes in page.all("section")]
    assert sections == [
        "answer",
        "clusters",
        "rows",
        "fit",
        "pictures",
        "hierarchy",
        "chains",
        "run",
    ]
    links = [attributes["href"] for attributes in page.all("a") if "download" not in attributes]
    assert set(sections) <= {link[1:] for link in links}
    assert all(link[1:] in sections for link in links)
    assert len(page.all("img")) == 6
    assert all(image["alt"] for image in page.all("img"))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_run_that_is_not_long_enough_says_how_to_go_on(page, posterior):
    assert mixwood.report.judge(posterior).level != "good"
    assert re.search(r"mixwood resume 'my run' --draws \d+00", page.text)


def test_nothing_comes_from_outside(text, page):
    assert "http:" not in text.split("<main>")[0]
    for _, attributes in page.elements:
        for key in ("src", "href", "data", "action", "srcset"):
            assert attributes.get(key, "#").startswith(
                ("#", "data:image/png;base64,", "data:text/csv;charset=utf-8;base64,")
            )
    assert not re.search(r"https?://|//[a-z0-9.-]+\.[a-z]{2,}/|url\((?!#)|@import", text)
    policy = next(a["content"] for a in page.all("meta") if "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy


def test_the_names_of_others_are_only_text(three_classes):
    import pandas as pd

    posterior = fitted(pd.DataFrame(three_classes, columns=[EVIL, "b"]), mw.Gaussian(), "evil")
    known = Known(EVIL, [0] * 60, [EVIL])
    about = About(EVIL, EVIL, known, None, {EVIL: EVIL}, EVIL)
    text = render(posterior, about, EVIL)
    page = Page(text)
    assert page.text.count("<script>alert(1)</script>") >= 6
    assert len(page.all("script")) == 2
    assert "onerror" not in {key for _, attributes in page.elements for key in attributes}
    assert len(page.all("img")) == 6


def test_names_of_rows_are_only_text_too(posterior, without_pictures):
    page = Page(render(posterior, About("x", identifiers={"who": [EVIL] * 60})))
    assert len(page.all("script")) == 2
    assert not page.all("img")
    assert page.data["tree-data"]["names"] == [EVIL] * 60


def test_pictures_have_a_version_for_dark_screens(text):
    pairs = re.findall(
        r'<picture><source media="screen and \(prefers-color-scheme: dark\)" '
        r'srcset="data:image/png;base64,([^"]+)"><img width="\d+" '
        r'src="data:image/png;base64,([^"]+)"',
        text,
    )
    assert len(pairs) == 6
    for one, other in pairs:
        dark, light = (np.asarray(Image.open(BytesIO(base64.b64decode(p)))) for p in (one, other))
        assert dark.shape == light.shape
    dark, light = (
        np.asarray(Image.open(BytesIO(base64.b64decode(p))).convert("L")) for p in pairs[0]
    )
    assert np.median(dark) < 50
    assert np.median(light) > 200


def test_clusters_have_chips_and_what_sets_them_apart(text, page, posterior):
    rows = text.split('<table class="sortable">')[1].split("<tbody>")[1].split("</tbody>")[0]
    rows = rows.split("</tr>")[:-1]
    assert len(rows) == 3
    for k, row in enumerate(rows):
        assert f'style="background:{COLOURS[k]}"></span>{k}</th>' in row
        assert 'data-sort="20.0"' in row
    means = posterior.cluster_parameters()["mean"].mean[:, 0]
    assert "low column" in rows[means.argmin()]
    assert "high column" in rows[means.argmax()]
    assert page.data["tree-data"]["colours"] == list(COLOURS[:3])


def test_no_table_is_wider_than_five_clusters(make_posterior, without_pictures):
    X = np.random.default_rng(seed_of("wide")).normal(size=(60, 3))
    posterior = make_posterior(mw.DiagonalGaussian(), X=X, draws=1, chains=1)
    labels = np.tile(np.arange(60) // 5, (1, 1, 1))
    text = render(dataclasses.replace(posterior, labels=labels), About("x"))
    heads = re.findall(r'<table id="parameters-\d+">.*?<thead>(.*?)</thead>', text, flags=re.S)
    assert [head.count("chip") for head in heads] == [5, 5, 2]
    assert len(re.findall('<th scope="row">column 2 sd</th>', text)) == 3


def test_more_clusters_than_colours_have_those_of_the_picture(make_posterior, without_pictures):
    rng = np.random.default_rng(seed_of("many colours"))
    labels = np.repeat(np.arange(30), 4)
    X = np.stack([labels % 6, labels // 6], axis=1) * 9 + rng.normal(size=(120, 2))
    posterior = make_posterior(mw.DiagonalGaussian(), X=X, draws=1, chains=1)
    digest = Digest(dataclasses.replace(posterior, labels=labels[None, None]), About("x"))
    assert digest.colours == cluster_colours(X, digest.estimate, 30)
    assert digest.colours != [COLOURS[k % 20] for k in range(30)]
    axes = digest.thinned.plot_clusters(
        ax=Figure().add_subplot(), palette=digest.colours, density=False
    )
    drawn = {to_hex(c.get_edgecolor()[0]).upper() for c in axes.collections}
    assert drawn == set(digest.colours)


def test_how_many_rows_are_unsure_is_told(make_posterior, without_pictures):
    posterior = make_posterior(draws=10, chains=1)
    labels = np.tile(np.repeat([0, 1], 6), (1, 10, 1))
    labels[:, :4, 5] = 1  # one row is elsewhere in four of ten draws
    posterior = dataclasses.replace(posterior, labels=labels)
    said = Page(render(posterior, About("x"))).text
    assert "1 of 12 rows is unsure: its cluster is less than 90% certain" in said


def test_data_cannot_end_their_element():
    from mixwood.report.pieces import data_block

    text = data_block("x", {"a": "</script><script>alert(1)</script><!--", "b": "\u2028&"})
    assert text.count("<") == 2
    assert Page(text).data["x"]["a"] == "</script><script>alert(1)</script><!--"


def test_the_tree_of_the_page(page, posterior):
    tree = page.data["tree-data"]
    assert sorted(tree["rows"]) == list(range(60))
    assert len(tree["nodes"]) == 2 * 60 - 1
    assert tree["nodes"][-1][:2] == [0, 60]
    estimate = posterior.point_estimate()
    assert tree["clusters"] == estimate[tree["rows"]].tolist()


def test_one_item_and_one_cluster():
    page = Page(render(fitted([[1.0, 2.0]], mw.Gaussian(), "one"), About("x")))
    assert "1 cluster, with probability" in re.sub(r"\s+", " ", page.text)
    assert page.data["tree-data"]["nodes"] == [[0, 1, 0.0, None, None, None]]


def test_hundreds_of_clusters(make_posterior):
    X = np.random.default_rng(seed_of("hundreds")).normal(size=(600, 2))
    posterior = make_posterior(mw.Gaussian(), X=X, items=600, clusters=300, draws=3)
    page = Page(render(posterior, About("x")))
    sizes = np.bincount(posterior.point_estimate())
    small = np.count_nonzero(sizes < 3)
    assert f"{small} smaller clusters, {sizes[sizes < 3].sum()} rows in all" in page.text
    folded = {attributes["id"] for attributes in page.all("details")}
    assert folded == {"clusters-small", "small-table-rest", "parameters"}


def test_counts_with_words_name_them(without_pictures):
    rng = np.random.default_rng(seed_of("counts"))
    counts = csr_array(rng.poisson(np.repeat([[9, 0.1, 0.1], [0.1, 9, 0.1]], 15, axis=0)))
    posterior = fitted(counts, mw.Multinomial(), "counts")
    page = Page(render(posterior, About("bag", words=[EVIL, "birch", "fir"])))
    assert "birch" in page.text
    assert len(page.all("script")) == 2
    assert "<script>alert(1)</script>" in page.text


def test_a_run_without_data_says_so(tmp_path, posterior, without_pictures):
    posterior.save(tmp_path / "run", include_data=False)
    page = Page(render(mw.load(tmp_path / "run"), About("x")))
    assert "saved without its data" in page.text
    assert "tree-data" not in page.data


def test_a_large_run_is_sampled_and_says_so(posterior, monkeypatch, without_pictures):
    monkeypatch.setattr(mixwood.report.tree, "MOST_ROWS", 20)
    monkeypatch.setattr(mixwood.report.tree, "MOST_LEAVES", 10)
    page = Page(render(posterior, About("x")))
    assert "a sample of 20 of the 60 items" in page.text
    assert "The 10 highest groups" in page.text
    tree = page.data["tree-data"]
    assert len(tree["rows"]) == 20
    assert len(tree["nodes"]) == 19


def test_many_draws_are_thinned_for_the_estimate_and_it_says_so(
    posterior, monkeypatch, without_pictures
):
    monkeypatch.setattr(mixwood.report.digest, "MOST_LABELS", 60 * 2 * 7)
    digest = Digest(posterior, About("x"))
    assert digest.thinned.labels.shape == (2, 7, 60)
    assert "from 7 of each chain's 20 draws" in " ".join(Page(rendered(digest)).text.split())


def test_writing_replaces_the_file_whole(tmp_path, posterior, without_pictures):
    target = tmp_path / "report.html"
    target.write_text("old")
    write_report(posterior, target)
    assert target.read_text(encoding="utf-8").endswith("</html>\n")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(OSError, match="nowhere"):
        write_report(posterior, tmp_path / "nowhere" / "report.html")


def test_categories_that_are_numbers_are_shown_as_they_are(without_pictures):
    frame = pd.DataFrame({"year": [2007, 2009] * 6, "x": np.arange(12.0)})
    model = mw.Mixture(mw.Product({"year": mw.Categorical(), "x": mw.Gaussian()}), mw.NGGP())
    posterior = mw.sample(
        model, frame, draws=10, chains=2, seed=seed_of("year in a report"), progress=False
    )
    page = render(posterior, About("table"))
    assert "year mode" in page
    assert re.search('<td class="number">200[79]</td>', page)
    assert not re.search("2,00[79]", page)


def test_a_run_over_leaves_tells_of_rows_and_leaves(three_classes):
    leaves = mw.stream_leaves(mw.Mixture(), [three_classes], max_leaves=12, seed=1)
    post = fitted(leaves, mw.Gaussian(), "leaves")
    page = Page(render(post, About("x")))
    assert f"60 rows and 2 columns (in {leaves.n_leaves} weighted leaves)" in page.text
    assert "Each item is a weighted leaf" in page.text
    assert "column 1 mean" in page.text
    assert "column 2" not in page.text
    assert "not drawn" not in page.text
    assert sorted(page.data["tree-data"]["rows"]) == list(range(leaves.n_leaves))
