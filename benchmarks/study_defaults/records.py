"""Records of fits, one line of JSON each, so that a table can be completed in pieces.

A record is found again by its set (and the set's content), method, part, options and build. The
build of `bic` is the version of scikit-learn; of `before`, the version of mixwood alone, as a
fixed base keeps its draws; of all else, what the package's files hold.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mixwood as mw
from benchmarks import record
from benchmarks.study_defaults.methods import Measures, Options
from benchmarks.study_defaults.sets import LabelledSet

PATH = record.RESULTS / "defaults.jsonl"

Key = dict[str, Any]


@cache
def package_content() -> str:
    """Return short text that changes with any source file of the package or its core."""
    folder = Path(mw.__file__).parent
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".so", ".pyd"}:
            total.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return total.hexdigest()[:8]


def key(data: LabelledSet, method: str, part: str, options: Options) -> Key:
    """Return what tells a record from all others."""
    chains = {
        "draws": options.draws,
        "warmup": options.warmup,
        "chains": options.chains,
        "seconds": options.seconds,
    }
    if method == "bic":
        build = f"scikit-learn {version('scikit-learn')}"
    elif method == "before":
        build = f"mixwood {mw.__version__}"
    else:
        build = f"mixwood {mw.__version__} {package_content()}"
    return {
        "set": data.name,
        "content": data.fingerprint,
        "method": method,
        "part": part,
        "options": {} if method == "bic" else chains,
        "build": build,
    }


@dataclass
class Records:
    """All records of a file; with `any_build`, those of other builds stand in for missing ones."""

    path: Path = PATH
    any_build: bool = False
    entries: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.path.exists():
            self.entries = [json.loads(line) for line in self.path.read_text().splitlines()]

    def find(self, wanted: Key, limit: int | None = None) -> Measures | None:
        """Return the last record with this key, one of this build first.

        A fit that was given up counts only if it had as many CPU seconds as there are now.
        """
        without_build = {name: value for name, value in wanted.items() if name != "build"}
        found = None
        for entry in reversed(self.entries):
            known = entry["key"]
            if any(known[name] != value for name, value in without_build.items()):
                continue
            given = entry["measures"].get("over")
            if given is not None and (limit is None or limit > given):
                continue
            if known["build"] == wanted["build"]:
                return dict(entry["measures"])
            if self.any_build and found is None:
                found = dict(entry["measures"])
        return found

    def add(self, known: Key, measures: Measures) -> None:
        """Append a record to the file; several processes may."""
        entry = {"key": known, "commit": record.commit(), "measures": measures}
        self.entries.append(entry)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as lines:
            lines.write(json.dumps(entry) + "\n")
