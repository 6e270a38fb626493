"""The folders of the C++ core: includes go one way, and no two files have one name.

A plain reading of the sources; nothing is built.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

CPP = Path(__file__).parents[2] / "cpp"

#: Each layer may include those before it, and itself; layers of one line do not know each other.
ORDER = (
    ("archive.hpp", "interrupt.hpp", "memory.hpp", "numerics"),
    ("parallel.hpp",),
    ("random",),
    ("prior", "family", "estimate"),
    ("tree",),
    ("state",),
    ("move",),
    ("chain.hpp",),  # what all samplers are
    ("sampler",),
    ("bindings",),
)
LEVEL = {layer: level for level, layers in enumerate(ORDER) for layer in layers}
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def layer_of(path: Path) -> str:
    """Return the folder below mixwood/ (or the file right in it); all of bindings/ is one layer."""
    parts = path.parts
    return parts[1] if parts[0] == "mixwood" else parts[0]


def wrong_includes(sources: dict[Path, str]) -> list[str]:
    """Return the includes that go against the order, given the text of each file."""
    wrong = []
    for path, text in sources.items():
        here = layer_of(path)
        for name in INCLUDE.findall(text):
            there = layer_of(Path(name)) if name.startswith("mixwood/") else here
            if there != here and LEVEL[there] >= LEVEL[here]:
                wrong.append(f"{path} includes {name}, but {there} comes after or beside {here}")
    return wrong


def sources() -> dict[Path, str]:
    files = (path for path in CPP.rglob("*") if path.suffix in {".hpp", ".cpp", ".inc"})
    found = {path.relative_to(CPP): path.read_text() for path in files}
    return {path: text for path, text in found.items() if path.parts[0] != "kernels"}


def test_includes_go_one_way():
    assert wrong_includes(sources()) == []


def test_an_include_against_the_order_is_named():
    text = '#include "mixwood/state/partition.hpp"\n#include "mixwood/prior/prior.hpp"\n'
    (found,) = wrong_includes({Path("mixwood/tree/arena.hpp"): text})
    assert "mixwood/tree/arena.hpp includes mixwood/state/partition.hpp" in found
    text = '#include "mixwood/family/family.hpp"\n'
    assert len(wrong_includes({Path("mixwood/prior/prior.hpp"): text})) == 1


def test_file_names_are_unique():
    names = Counter(path.name for path in CPP.rglob("*") if path.is_file())
    assert [name for name, count in names.items() if count > 1] == []
