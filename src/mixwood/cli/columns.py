"""Which columns of a file are clustered, and which one is a label to compare with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mixwood.cli.messages import InputError
from mixwood.likelihoods.choose import LEFT_OUT, ColumnChoice, judge_columns

if TYPE_CHECKING:
    from mixwood.readers import Loaded
    from mixwood.report import Known

__all__ = ["Selection", "select"]

#: Columns of these names are probably known labels.
_LABEL_NAMES = ("class", "cluster", "label", "labels", "species", "target", "y")


@dataclass(frozen=True, eq=False)
class Selection:
    """What is clustered, and why some columns are not; `named` where the user chose the columns."""

    values: Any
    words: tuple[str, ...] | None
    known: Known | None
    columns: tuple[ColumnChoice, ...] = ()
    named: bool = False
    groups: Any = None

    @property
    def left_out(self) -> dict[str, str]:
        """The columns that are left out, and why."""
        return {one.column: one.reason for one in self.columns if one.kind == LEFT_OUT}

    @property
    def hint(self) -> str | None:
        """A word on a column that is probably a label and is clustered with the others."""
        if self.known is not None or not hasattr(self.values, "columns"):
            return None
        suspect = [name for name in self.values.columns if name.lower() in _LABEL_NAMES]
        if not suspect or self.values.shape[1] == 1:
            return None
        return (
            f"{suspect[0]!r} is clustered like the other columns; if it holds known labels, "
            f"leave it out: --label {suspect[0]}"
        )


def select(
    loaded: Loaded,
    columns: list[str],
    exclude: list[str],
    label: str | None,
    group: str | None = None,
) -> Selection:
    """Return the columns to cluster.

    Parameters
    ----------
    loaded : Loaded
        The file.
    columns, exclude : list of str
        Names, patterns such as ``x*``, or numbers from 0, several in one string separated by
        commas; no `columns` means all of them.
    label : str, optional
        The column (or, in an ``.npz`` file, the array) of known labels.
    group : str, optional
        The column (or array) of the rows' groups.
    """
    if loaded.values.shape[0] == 1:
        raise InputError(f"{loaded.source} has one row; clustering needs two or more, one per item")
    if loaded.sparse:
        return _select_sparse(loaded, columns, exclude, label, group)
    table = loaded.values
    names = list(table.columns)
    known = None
    if label is not None:
        where = loaded.others.get(label)
        if where is None:
            [name] = _matching([label], names, loaded.source, "--label", exactly=True)
            where = table[name].to_numpy()
            names.remove(name)
        known = _known(label, where)
    groups = None
    if group is not None:
        groups = loaded.others.get(group)
        if groups is None:
            [name] = _matching([group], names, loaded.source, "--group", exactly=True)
            groups = table[name]
            names.remove(name)
    _refuse_twice(columns, loaded.source, {"--label": label, "--group": group})
    wanted = _matching(columns, names, loaded.source, "--columns") if columns else names
    unwanted = _matching(exclude, names, loaded.source, "--exclude") if exclude else []
    wanted = [name for name in wanted if name not in unwanted]
    judged = judge_columns(table[wanted], name=loaded.source, leave_out=not columns)
    left_out = {one.column: one.reason for one in judged if one.kind == LEFT_OUT}
    wanted = [name for name in wanted if name not in left_out]
    if not wanted:
        raise InputError(
            f"{loaded.source}: no column is left to cluster"
            + "".join(f"; {name!r}: {why}" for name, why in left_out.items())
        )
    return Selection(table[wanted], None, known, judged, named=bool(columns), groups=groups)


def _refuse_twice(columns: list[str], source: str, roles: dict[str, str | None]) -> None:
    """Raise if a column is to be clustered by name that is something else already."""
    typed = {part.strip() for text in columns for part in (text, *text.split(","))}
    for option, name in roles.items():
        if name in typed:
            raise InputError(
                f"{source}: column {name!r} is in --columns and in {option}; it can be one of them"
            )


def _select_sparse(
    loaded: Loaded,
    columns: list[str],
    exclude: list[str],
    label: str | None,
    group: str | None,
) -> Selection:
    if columns or exclude:
        raise InputError(f"{loaded.source} is sparse: --columns and --exclude are for tables")
    if label is not None:
        raise InputError(f"{loaded.source} is sparse and has no column {label!r} of labels")
    if group is not None:
        raise InputError(f"{loaded.source} is sparse and has no column {group!r} of groups")
    return Selection(loaded.values, loaded.words, None)


def _matching(
    typed: list[str], names: list[str], source: str, option: str, *, exactly: bool = False
) -> list[str]:
    """Return the columns that names, patterns and numbers mean, each once, in the file's order."""
    found: set[str] = set()
    for text in typed:
        parts = [text] if text in names or exactly else [p.strip() for p in text.split(",")]
        for part in parts:
            matches = [name for name in names if name == part]
            if not matches and not exactly:
                matches = [name for name in names if fnmatchcase(name, part)]
            if not matches and re.fullmatch(r"\d{1,9}", part) and int(part) < len(names):
                matches = [names[int(part)]]
            if not matches:
                raise InputError(f"{source} has no column {part!r} ({option}); {_listed(names)}")
            found.update(matches)
    return [name for name in names if name in found]


def _listed(names: list[str]) -> str:
    some = ", ".join(names[:12])
    return f"its columns are {some}" + (f", ... ({len(names):,} in all)" if len(names) > 12 else "")


def _known(name: str, values: Any) -> Known:
    import pandas

    from mixwood.report import Known

    codes, levels = pandas.factorize(pandas.Series(values).astype(str), sort=True)
    return Known(name, codes.tolist(), [str(level) for level in levels])
