"""What a report says about the data besides the draws: their origin, known labels, words."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mixwood._support.numbers import count
from mixwood.partitions import adjusted_rand
from mixwood.store.atomic_files import read_json

__all__ = ["About", "Known"]


@dataclass(frozen=True)
class Known:
    """Labels known beforehand: not clustered, only compared with.

    Attributes
    ----------
    name : str
        Of the column.
    codes : list of int
        For each item, which of the levels it has.
    levels : list of str
    """

    name: str
    codes: list[int]
    levels: list[str]

    def adjusted_rand(self, labels: Any) -> float:
        """Return the adjusted Rand index of a partition and the known one: 1 if they are equal.

        Examples
        --------
        >>> Known("species", [0, 0, 1], ["a", "b"]).adjusted_rand([5, 5, 3])
        1.0
        """
        return adjusted_rand(labels, self.codes)


@dataclass(frozen=True)
class About:
    """What is known about the data of a run.

    Attributes
    ----------
    source : str
        What to call the data.
    why : str
        Why the likelihood was chosen.
    known : Known, optional
        Labels to compare with.
    words : list of str, optional
        The names of the columns of sparse counts.
    left_out : dict of str to str
        Columns that were not clustered, and why.
    command : str
        The command that made the run.
    identifiers : dict of str to list
        Columns that name the rows and were not clustered: text, numbers, or None for each item.
    """

    source: str = "the data"
    why: str = ""
    known: Known | None = None
    words: list[str] | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    command: str = ""
    identifiers: dict[str, list[Any]] = field(default_factory=dict)

    def rows(self, items: int) -> Any:
        """Return what is known of each row as a pandas table: what names it, the known label."""
        import pandas

        columns = dict(self.identifiers)
        if self.known is not None:
            columns[self.known.name] = [self.known.levels[code] for code in self.known.codes]
        # As objects: whole numbers among which some are missing stay whole.
        return pandas.DataFrame(columns, index=pandas.RangeIndex(items), dtype=object)

    def text(self) -> str:
        """Return it as JSON, which `read` reads."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path, items: int) -> About:
        """Return what `text` made for a run of this many items, or raise a ValueError."""
        content = read_json(path)
        try:
            known = content.get("known")
            about = cls(
                source=_text(content["source"]),
                why=_text(content["why"]),
                known=None if known is None else _known(known, items),
                words=None if content["words"] is None else [_text(w) for w in content["words"]],
                left_out={_text(k): _text(v) for k, v in content["left_out"].items()},
                command=_text(content["command"]),
                identifiers={
                    _text(name): _entries(name, values, items)
                    for name, values in content.get("identifiers", {}).items()
                },
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not as mixwood writes it: {error}") from error
        return about


def _known(content: dict[str, Any], items: int) -> Known:
    levels = [_text(level) for level in content["levels"]]
    codes = content["codes"]
    if len(codes) != items:
        raise ValueError(f"it has {count('label', len(codes))} for {count('item', items)}")
    if not all(type(code) is int and 0 <= code < len(levels) for code in codes):
        raise ValueError("its labels must be numbers of levels")
    return Known(_text(content["name"]), codes, levels)


def _entries(name: str, values: Any, items: int) -> list[Any]:
    if not isinstance(values, list) or len(values) != items:
        raise ValueError(f"identifiers {name!r} must have one entry for each of {items:,} items")
    if not all(value is None or isinstance(value, (str, int, float)) for value in values):
        raise ValueError(f"identifiers {name!r} must be text or numbers")
    return values


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} must be text")
    return value
