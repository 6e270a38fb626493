"""The report in a real browser: it shows, zooms, pans, tells what a node holds, loads nothing."""

from __future__ import annotations

import math
import re
import time

import numpy as np
import pandas as pd
import pytest

import mixwood as mw
from mixwood.report import About, labels_csv, write_report
from mixwood.testing import seed_of


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    X, truth = mw.datasets.toy()
    rows = truth < 4
    model = mw.Mixture(mw.Gaussian(), mw.NGGP())
    posterior = mw.sample(
        model, X[rows], draws=30, warmup=20, chains=2, seed=seed_of("browser"), progress=False
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    names = [f"<b>{row}" for row in range(posterior.n_items)]
    about = About(source="<script>alert(1)</script>", identifiers={"name": names})
    write_report(posterior, path, about)
    return path, posterior


@pytest.fixture
def page(browser, report):
    browser.open(report[0])
    return browser


def view(page):
    return tuple(float(page.run(f"tree.dataset.{name}")) for name in ("from", "count"))


def middle_of(page, expression):
    """Scroll an element into view and return where its middle is."""
    page.run(f"({expression}).scrollIntoView({{block: 'center'}})")
    box = page.run(f"JSON.stringify(({expression}).getBoundingClientRect())")
    numbers = {k: float(v) for k, v in re.findall(r'"(\w+)":([-\d.e]+)', box)}
    return numbers["x"] + numbers["width"] / 2, numbers["y"] + numbers["height"] / 2


def test_nothing_is_loaded_and_nothing_is_wrong(page, report):
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert page.errors == []
    assert page.run("document.title") == "Clusters of <script>alert(1)</script>"
    assert page.run("document.images.length") >= 4
    assert page.run("[...document.images].every((image) => image.naturalWidth > 300)")
    assert page.run("document.querySelectorAll('#tree .merge').length") == 2 * 400 - 1
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_policy_forbids_the_network_and_other_scripts(page):
    page.run("fetch('https://example.org/').catch(() => { document.title = 'refused' })")
    page.run("new Promise((done) => setTimeout(done, 200))")
    for _ in range(100):
        if page.run("document.title") == "refused":
            break
    assert page.run("document.title") == "refused"
    page.run(
        "{ const s = document.createElement('script'); s.textContent = 'window.bad = 1'; "
        "document.body.append(s) }"
    )
    assert page.run("window.bad === undefined")


def test_the_labels_are_saved_without_network(page, report, tmp_path):
    page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.run("document.querySelector('a[download]').click()")
    deadline = time.monotonic() + 30
    while not (tmp_path / "labels.csv").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    text = (tmp_path / "labels.csv").read_text(encoding="utf-8")
    names = pd.DataFrame({"name": [f"<b>{row}" for row in range(report[1].n_items)]})
    assert text == labels_csv(report[1].labels_table(names))
    assert page.errors == []


def test_a_node_tells_its_members(page, report):
    _, posterior = report
    n = posterior.n_items
    root = page.run("document.querySelectorAll('#tree .target').length") - 1
    line = f"document.querySelector('#tree [data-node=\"{root}\"]')"
    middle_of(page, "tree")
    place = page.run(
        f"(line => {{ const b = line.getBBox(); const p = new DOMPoint(b.x + b.width / 2, b.y)"
        f".matrixTransform(line.getScreenCTM()); return [p.x, p.y] }})({line})"
    )
    page.mouse("mouseMoved", *place)
    text = page.run("node.textContent")
    assert f"{n} items" in text
    assert re.search(r"P\(h\) [=<>] \d", text)
    estimate = posterior.point_estimate()
    largest = np.bincount(estimate).max()
    assert f"({largest})" in text
    assert page.run(f"tree.dataset.node === '{root}'")


def test_the_wheel_zooms_when_the_tree_has_the_focus(page):
    x, y = middle_of(page, "tree")
    start, whole = view(page)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=0)
    assert view(page) == (start, whole)
    page.run("tree.focus()")
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    _, zoomed = view(page)
    assert math.isclose(zoomed, whole / math.e, rel_tol=1e-3)


def test_dragging_moves_and_the_buttons_zoom(page):
    for _ in range(3):
        page.run("document.getElementById('tree-in').click()")
    before, count = view(page)
    x, y = middle_of(page, "tree")
    page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", x + 100, y, button="left", buttons=1)
    page.mouse("mouseReleased", x + 100, y, button="left", clickCount=1)
    after, unchanged = view(page)
    assert unchanged == count
    assert after < before
    page.run("document.getElementById('tree-all').click()")
    assert view(page)[0] == 0
    page.run("document.getElementById('tree-out').click()")
    assert view(page) == (0, 400)


def test_the_keyboard_walks_the_tree(page):
    page.run("tree.focus()")
    page.press("Home")
    root = int(page.run("tree.dataset.node"))
    sizes = [int(re.match(r"(\d+) items", page.run("node.textContent")).group(1))]
    for _ in range(3):
        page.press("ArrowDown")
        sizes.append(int(re.match(r"(\d+) items", page.run("node.textContent")).group(1)))
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4
    page.press("Enter")
    assert math.isclose(view(page)[1], 1.1 * sizes[-1], abs_tol=0.01)
    for _ in range(3):
        page.press("ArrowUp")
    assert int(page.run("tree.dataset.node")) == root
    page.press("0")
    assert view(page) == (0, 400)
    page.press("+")
    assert view(page)[1] == 250
    page.press("-")
    assert math.isclose(view(page)[1], 400)


def test_every_control_is_reached_by_the_tab_key(page):
    page.run("document.body.tabIndex = -1; document.body.focus()")
    seen = []
    for _ in range(60):
        page.press("Tab")
        seen.append(page.run("document.activeElement.id || document.activeElement.tagName"))
    for name in ("tree-in", "tree-out", "tree-all", "tree"):
        assert name in seen


def shown_in(page, scheme, width=1100):
    page.call("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": scheme}
    ])  # fmt: skip
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=844, deviceScaleFactor=1, mobile=width < 600,
    )  # fmt: skip


@pytest.fixture
def as_shown(page, report):
    """Open the page for a scheme of colours and a width, and afterwards as it was."""

    def show(scheme, width=1100):
        shown_in(page, scheme, width)
        page.open(report[0])

    yield show
    page.call("Emulation.setEmulatedMedia", features=[])
    page.call("Emulation.clearDeviceMetricsOverride")


def test_a_dark_screen_has_a_dark_page_and_dark_pictures(page, as_shown):
    seen = {}
    for scheme in ("light", "dark"):
        as_shown(scheme)
        paper = page.run("getComputedStyle(document.body).backgroundColor")
        ink = page.run("getComputedStyle(document.body).color")
        seen[scheme] = [sum(map(int, re.findall(r"\d+", c)[:3])) for c in (paper, ink)]
        sources = page.run("[...document.images].map((image) => image.currentSrc.length)")
        seen[scheme].append(sources)
        assert page.errors == []
    assert seen["light"][0] > 700 > 300 > seen["light"][1]
    assert seen["dark"][0] < 120 < 500 < seen["dark"][1]
    assert all(a != b for a, b in zip(seen["light"][2], seen["dark"][2], strict=True))


def test_nothing_is_wider_than_a_telephone(page, as_shown):
    as_shown("light", 390)
    assert page.run("document.documentElement.scrollWidth") <= 390
    page.run("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.run("document.documentElement.scrollWidth") <= 390
    # The tree is drawn for this width: letters keep their size.
    assert page.run("tree.viewBox.baseVal.width") < 400


def column(page, table, k):
    rows = f"[...document.querySelectorAll('{table} tbody tr')]"
    return page.run(f"{rows}.map((row) => row.cells[{k}].textContent)")


def test_headings_sort(page, report):
    assert column(page, "#clusters table.sortable", 0) == [str(k) for k in range(4)]
    button = "document.querySelectorAll('#clusters table thead button')[{}]"
    page.run(f"{button.format(0)}.click()")
    assert column(page, "#clusters table.sortable", 0) == ["3", "2", "1", "0"]
    page.run(f"{button.format(0)}.click()")
    assert column(page, "#clusters table.sortable", 0) == ["0", "1", "2", "3"]
    sizes = np.bincount(report[1].point_estimate())
    page.run(f"{button.format(1)}.click()")
    drawn = [int(text) for text in column(page, "#clusters table.sortable", 1)]
    assert drawn == sorted(sizes.tolist(), reverse=True)
    page.run(f"{button.format(3)}.click()")  # text: from A to Z first
    assert page.run("document.querySelector('#clusters th[aria-sort]').textContent").startswith(
        "what"
    )
    apart = column(page, "#clusters table.sortable", 3)
    assert apart == sorted(apart)
    assert page.errors == []


def test_parameters_unfold_on_paper(page):
    assert not page.run("document.getElementById('parameters').open")
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert page.run("document.getElementById('parameters').open")
    page.run("window.dispatchEvent(new Event('afterprint'))")
    assert not page.run("document.getElementById('parameters').open")


def test_leaves_have_names_and_probabilities_can_be_read(page):
    page.run("tree.focus()")
    page.press("Home")
    text = page.run("node.textContent")
    assert re.search(r"P\(h\) (< 0\.001|> 0\.999|= 0\.\d+)", text)
    assert "<b>" in text
    for _ in range(8):
        page.press("+")
    names = page.run(
        "[...document.querySelectorAll('#tree .names text')].map((t) => t.textContent)"
    )
    assert names
    assert all(re.fullmatch(r"<b>\d+", name) for name in names)
