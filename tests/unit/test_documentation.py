"""The documentation: every block of code on it is run, and every public name has an entry.

Examples with >>> in docs/ are run by pytest itself (--doctest-glob); the rest is run here.
"""

from __future__ import annotations

import inspect
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import mixwood as mw
from mixwood.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if p.parent.name[0] != "_"),
]

#: What a block may be: run, or shown and no code. A directive has its name in braces.
LANGUAGES = {"python", "sh", "text"}
DIRECTIVES = {"{eval-rst}", "{glossary}", "{image}", "{include}", "{raw}", "{toctree}"}
#: Commands that install or build: a test cannot run them.
NOT_RUN = ("make ", "pip install", "python3 -m venv", ". my-env/", "git clone", "cd ")


#: What makes a command quick enough: reports and experiments have tests of their own.
QUICK = {"fit": ["--no-report"], "reproduce": ["--seconds", "0.001", "--repeats", "1"]}


class Block(NamedTuple):
    page: str
    line: int
    language: str
    code: str


def blocks_of(text, page):
    """Return the fenced blocks of a page."""
    fence = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[2].strip(), found[3])
        for found in fence.finditer(text)
    ]


def unrun(block):
    """Return what is wrong with a block that no test runs, or None."""
    kind = block.language.split()[0] if block.language else ""
    where = f"{block.page}:{block.line}"
    if kind not in LANGUAGES | DIRECTIVES:
        return f"{where}: a block of {kind or 'nothing'!r}; name one of {sorted(LANGUAGES)}"
    lines = [line for line in block.code.splitlines() if line.strip()]
    if kind == "python" and block.page.startswith("docs/") and not lines[0].startswith(">>> "):
        return f"{where}: a python block without >>> is not run"
    if kind == "text" and re.search(
        r"^ *(>>> |import |from \S+ import |mixwood )", block.code, re.M
    ):
        return f"{where}: code that is called text is not run"
    if kind == "sh":
        odd = [line for line in lines if not line.startswith(("mixwood ", *NOT_RUN))]
        return f"{where}: {odd[0]!r} is not run" if odd else None
    return None


BLOCKS = [
    block
    for page in PAGES
    for block in blocks_of(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix())
]


def test_every_block_is_run():
    assert len(BLOCKS) > 100
    assert [complaint for block in BLOCKS if (complaint := unrun(block))] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```python\nimport mixwood\n```\n", "without >>>"),
        ("```\nfoo\n```\n", "a block of 'nothing'"),
        ("```py\n>>> 1\n```\n", "a block of 'py'"),
        ("```text\nmixwood fit x.csv\n```\n", "called text"),
        ("```sh\nrm -r x\n```\n", "'rm -r x' is not run"),
    ],
)
def test_a_block_that_is_not_run_is_found(text, complaint):
    (block,) = blocks_of(text, "docs/new.md")
    assert complaint in unrun(block)


def test_python_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    codes = [block.code for block in BLOCKS if block[0] == "README.md" and block[2] == "python"]
    assert codes
    names = {}
    for code in codes:
        exec(code, names)
    assert names["post"].n_items == 344


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that the commands name, in the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    kind = np.repeat([0, 1], 5)
    iris = pd.DataFrame(rng.normal(5.0 * kind[:, None], 1, (10, 2)), columns=["petal length", "x"])
    iris = iris.assign(species=np.array(["one", "two"])[kind], id=range(10), comment=["a", "b"] * 5)
    iris.to_csv("iris.csv", index=False)
    for name in ("measurements", "table", "cells"):
        iris[["petal length", "x"]].to_csv(f"{name}.csv", index=False)
    penguins = mw.datasets.penguins().groupby("species").head(12)
    penguins.to_csv("penguins.csv", index=False)


@pytest.mark.usefixtures("files")
def test_commands():
    """All of them in one folder, in the order of the pages: some go on with what others did."""
    shown = [line for block in BLOCKS if block.language == "sh" for line in block.code.splitlines()]
    commands = [line.split("|")[0] for line in shown if line.startswith("mixwood ")]
    assert len(commands) > 6
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        result = CliRunner().invoke(app, words + QUICK.get(words[0], []))
        assert result.exit_code == 0, f"{command}\n{result.output}"


def test_every_public_name_has_an_entry():
    reference = "\n".join(
        page.read_text(encoding="utf-8") for page in PAGES if page.parent.name == "api"
    )
    entries = set(re.findall(r"auto\w+:: (?:mixwood\.)?([\w.]+)", reference))
    missing = {name for name in {*mw.__all__, "MixtureClustering"} if name not in entries}
    assert missing == set()
    # arrays of draws are those of its base
    assert ".. autoclass:: Posterior\n   :members:\n   :inherited-members:" in reference
    for name in ("hyper", "datasets", "partitions", "testing", "reference"):
        listed = re.search(rf"automodule:: mixwood.{name}\n   :members:(.*)", reference)[1]
        module = getattr(mw, name)
        public = {each for each in module.__all__ if callable(getattr(module, each))}
        assert listed == "" or public <= {each.strip() for each in listed.split(",")}, name


def test_every_public_thing_says_what_it_is():
    for name in mw.__all__:
        assert inspect.getdoc(getattr(mw, name)), name
