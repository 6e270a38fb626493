"""Imports go one way, down the list of layers; the package itself is not imported here."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "mixwood"

#: A part of the package imports from the layers above its own line only, never from its own line.
LAYERS = [
    {"_core"},
    {"_support"},
    {"input", "readers", "hyper"},
    {"priors", "likelihoods", "samplers"},
    {"model"},
    {"core", "simulation", "partitions", "run_spec"},
    {"estimates", "trees"},
    {"posterior"},
    {"store"},
    {"sampling"},
    {"plots"},
    {"report", "sklearn", "distributed", "datasets"},
    {"experiments"},
    {"cli"},
    {"__main__"},
]
#: The twin stands beside these layers: it uses the model and what is above it; the oracles use the
#: twin, and nobody else does.
TWIN, ORACLES = "reference", "testing"
#: Imports of later layers, inside functions that users look for where they are.
CONVENIENCE = {
    ("posterior/component_merging.py", "plots"),
    ("posterior/estimated_draws.py", "store"),
    ("posterior/pictured_draws.py", "plots"),
    ("posterior/posterior.py", "report"),
    ("posterior/posterior.py", "store"),
    ("trees/hierarchy.py", "plots"),
    ("trees/hierarchy.py", "posterior"),
    ("trees/node_table.py", "plots"),
}


def imported_by(file: Path) -> list[tuple[int, str]]:
    """Return lines and parts of the package that a file imports, at the top or in a function."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [f"{module}.{a.name}" for a in node.names] if module == "mixwood" else [module]
        found += [(node.lineno, name.split(".")[1]) for name in names if name[:8] == "mixwood."]
    return found


def level(part: str) -> int:
    return next(k for k, layer in enumerate(LAYERS) if part in layer)


def allowed(own: str, place: str, part: str) -> bool:
    if part in (own, "__version__") or (place, part) in CONVENIENCE:
        return True
    if own == ORACLES:
        return part == TWIN or level(part) < level("trees")
    if own == TWIN:
        return part not in (TWIN, ORACLES) and level(part) <= level("model")
    return part not in (TWIN, ORACLES) and level(part) < level(own)


def back_edges(root: Path) -> list[str]:
    """Return the imports that go the wrong way, each with its place."""
    found = []
    for file in sorted(root.rglob("*.py")):
        place = file.relative_to(root).as_posix()
        own = place.split("/")[0].removesuffix(".py")
        if own != "__init__":  # which shows everything to the user
            found += [
                f"{place}:{line} imports mixwood.{part}"
                for line, part in imported_by(file)
                if not allowed(own, place, part)
            ]
    return found


def test_imports_go_one_way():
    assert back_edges(SOURCE) == []


@pytest.mark.parametrize(
    ("place", "line", "named"),
    [
        ("store/load.py", "from mixwood.sampling.sample import sample", "mixwood.sampling"),
        ("trees/build.py", "def f():\n    from mixwood.reference.priors import psi", "reference"),
        ("priors/base.py", "from mixwood import likelihoods", "mixwood.likelihoods"),
        ("input/matrices.py", "import mixwood.cli.fit", "mixwood.cli"),
    ],
)
def test_a_back_edge_is_found_and_named(tmp_path, place, line, named):
    file = tmp_path / place
    file.parent.mkdir()
    file.write_text(line)
    (found,) = back_edges(tmp_path)
    assert found.startswith(place)
    assert named in found


def test_conveniences_are_still_needed():
    used = {
        (file.relative_to(SOURCE).as_posix(), part)
        for file in SOURCE.rglob("*.py")
        for _, part in imported_by(file)
    }
    assert used >= CONVENIENCE


def test_few_modules_stand_beside_the_folders():
    assert len(list(SOURCE.glob("[a-z]*.py"))) <= 12


def test_the_drawing_in_contributing_shows_every_part_in_this_order():
    drawing = (
        (SOURCE.parents[1] / "CONTRIBUTING.md").read_text().split("```text\n")[1].split("```")[0]
    )
    cells = [re.split(r"  +", line.strip())[0] for line in drawing.splitlines()[1:]]
    line_of = {part.strip("/"): k for k, cell in enumerate(cells) for part in cell.split()}
    parts = {p.name.removesuffix(".py") for p in SOURCE.iterdir() if p.suffix in ("", ".py")}
    parts -= {"__init__", "__main__", "__pycache__"}
    assert parts <= set(line_of)
    for above, below in itertools.pairwise(LAYERS[:-1]):
        assert max(line_of[part] for part in above) < min(line_of[part] for part in below)
