"""Tables of mixed type: several likelihoods side by side, each for columns of its own."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mixwood.checks import shown
from mixwood.data import column_names, column_numbers, is_table, real_matrix, table_columns
from mixwood.families.base import Column, Data, FloatArray, IntArray, Likelihood, Parameters
from mixwood.families.categorical import Categorical
from mixwood.levels import Levels, codes_of, learn_levels

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Product"]

Label: TypeAlias = "str | int"


class _Slice(NamedTuple):
    """One part of a product over checked data."""

    key: Any
    likelihood: Likelihood
    columns: list[int]  # of the checked matrix
    rows: IntArray  # those that have something for it
    data: Data  # as the likelihood's own `check` returns them


@dataclass(frozen=True, eq=False, repr=False)
class Product(Likelihood):
    """Tables of mixed type: each part describes columns of its own, independent in a cluster.

    Parameters
    ----------
    parts : mapping
        From columns to their likelihood. A key is a column's name, its number (from 0), or a
        tuple of those. Columns that no key names are left out.
    columns, positions, table_width, levels, notes
        What `fitted_to` has learned of the table: which columns are used, in the order of the
        checked matrix; where they are in the table, and how many it has; the levels of each
        column that is text or categories (None for numbers); and why `from_frame` chose as it
        did. Not for you to give.

    Notes
    -----
    With the columns of part ``p``, over those rows of the cluster that have them::

        P(X_c) = prod_p P_p(X_c[:, columns of p])

    Data are a pandas or polars table, whose columns are found by name, or an array, whose
    columns are found by number. In a table, columns under `Categorical` and `Bernoulli` may be
    text, categories or truth values. Their levels are learned from the data that the model is
    fitted to, and later tables are coded alike; a level never seen is an error.

    A missing entry is skipped where the columns of a part are independent
    (`DiagonalGaussian`, `Bernoulli`, `Categorical`, `Poisson`). Other parts skip a row that
    has none of their entries, and refuse one that has only some.

    Examples
    --------
    >>> import mixwood as mw
    >>> mw.Product({("x", "y"): mw.Gaussian(), "visits": mw.Poisson(), "kind": mw.Categorical()})
    Product({('x', 'y'): Gaussian(r=0.1, nu=None, mean=None, scale='data'), 'visits': Poisson(shape=1.0, rate=None), 'kind': Categorical(beta=1.0, n_categories=None)})
    """  # noqa: E501

    parts: Mapping[Any, Likelihood]
    columns: tuple[Label, ...] | None = None
    positions: tuple[int, ...] | None = None
    table_width: int | None = None
    levels: tuple[Levels | None, ...] | None = None
    notes: Mapping[Any, str] | None = None
    skips_missing = True

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Mapping):
            raise TypeError(
                "parts must be a mapping from columns to likelihoods, for example "
                f"mw.Product({{'age': mw.Gaussian()}}), got {shown(self.parts)}"
            )
        if not self.parts:
            raise ValueError("parts must name at least one column")
        parts = {_checked_key(key): value for key, value in self.parts.items()}
        for key, value in parts.items():
            if not isinstance(value, Likelihood):
                raise TypeError(f"parts[{key!r}] must be a likelihood, got {shown(value)}")
            if isinstance(value, Product):
                raise TypeError(f"parts[{key!r}] is a Product; put its parts here instead")
            if value.width not in (None, len(_labels(key))):
                raise ValueError(
                    f"parts[{key!r}] names {len(_labels(key))} columns, but its likelihood is "
                    f"for {value.width}"
                )
        labels = [label for key in parts for label in _labels(key)]
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise ValueError(f"parts must name a column only once, got {twice[0]!r} twice")
        object.__setattr__(self, "parts", parts)

    @classmethod
    def from_frame(cls, frame: Any) -> Product:
        """Choose a likelihood for each column of a table; `explain` tells what and why.

        Parameters
        ----------
        frame : DataFrame
            Of pandas or polars.

        Returns
        -------
        Product

        Warns
        -----
        UserWarning
            Naming the columns that are left out.

        Notes
        -----
        Each column is looked at by its entries that are not missing:

        - left out: dates, columns with one value, text of which nearly every entry differs,
          whole numbers that only count the rows;
        - truth values, and anything with two values: `Bernoulli`;
        - text, categories, and whole numbers with at most 5 values: `Categorical`;
        - whole numbers from 0 on with a mean below 30: `Poisson`;
        - all other numbers: one `Gaussian` for all of them if they are at most 10 and nothing
          is missing, else one `DiagonalGaussian`.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({
        ...     "height": [1.62, 1.75, 1.81, 1.68], "smoker": [True, False, False, True],
        ... })
        >>> print(Product.from_frame(frame).explain())
        smoker: Bernoulli (truth values)
        height: Gaussian (numbers)
        """
        from mixwood.families.choice import choose_parts

        parts, notes = choose_parts(frame)
        return cls(parts, notes=notes)

    def explain(self) -> str:
        """Return for each column its likelihood and, after `from_frame`, why; a line a column."""
        notes = dict(self.notes or {})
        lines = []
        for key, likelihood in self.parts.items():
            for label in _labels(key):
                reason = notes.pop(label, None)
                with_others = f" with {len(_labels(key)) - 1} more" if len(_labels(key)) > 1 else ""
                why = f" ({reason})" if reason else ""
                lines.append(f"{label}: {type(likelihood).__name__}{with_others}{why}")
        lines += [f"{label}: left out ({reason})" for label, reason in notes.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Product({dict(self.parts)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Product):
            return NotImplemented
        learned = ("columns", "positions", "table_width", "levels")
        same = all(getattr(self, name) == getattr(other, name) for name in learned)
        return same and dict(self.parts) == dict(other.parts)

    def __hash__(self) -> int:
        return hash(tuple(self.parts))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's argument, as scikit-learn asks for it."""
        return {"parts": self.parts}

    @property
    def width(self) -> int:
        """How many columns are used."""
        return sum(len(_labels(key)) for key in self.parts)

    # --- from the user's table to one matrix

    def names_in(self, X: Any) -> tuple[str, ...] | None:
        """Return the names of the columns that are used, or None without names."""
        names = column_names(X)
        located = self._located(X, "X")
        assert located.columns is not None
        if names is None:
            return None
        return tuple(names[j] for j in located._positions_in(X, "X"))

    def fitted_to(self, X: Any, *, name: str = "X") -> tuple[Product, Data]:
        """Return a copy with levels learned and parameters explicit, and `X` as one matrix."""
        located = self._located(X, name)
        data = located.check(X, name=name)
        return located.resolve(data), data

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return the columns used as one matrix, NaN where missing, text as codes.

        A table's columns are found by name. An array has the columns of the table that was
        fitted, or only those that are used, in the table's order.
        """
        located = self._located(X, name)
        matrix = located._matrix(X, name)
        for _ in located._slices(matrix, name):
            pass  # each part has looked at its columns
        return matrix

    def _located(self, X: Any, name: str) -> Product:
        """Return a copy that knows where its columns are in `X`, and their levels."""
        if self.columns is not None:
            return self
        where = {label: place for key in self.parts for label, place in self._find(key, X, name)}
        labels = tuple(sorted(where, key=where.__getitem__))
        positions = tuple(where[label] for label in labels)
        if len(set(positions)) < len(positions):
            raise ValueError(f"parts name a column of {name} both by its name and by its number")
        levels: list[Levels | None] = [None] * len(labels)
        table_width = len(X.columns) if is_table(X) else self._array_width(X, name)
        if is_table(X):
            columns = table_columns(X)
            owner = {label: p for key, p in self.parts.items() for label in _labels(key)}
            for k, label in enumerate(labels):
                if _learns_levels(owner[label]):
                    levels[k] = learn_levels(columns[positions[k]])
        return replace(
            self,
            columns=labels,
            positions=positions,
            table_width=table_width,
            levels=tuple(levels),
        )

    def _find(self, key: Any, X: Any, name: str) -> Iterator[tuple[Label, int]]:
        """Yield the columns of a key and where they are in `X`."""
        labels = [_plain_label(label) for label in X.columns] if is_table(X) else None
        width = len(labels) if labels is not None else self._array_width(X, name)
        for label in _labels(key):
            if labels is not None and label in labels:
                if labels.count(label) > 1:
                    raise ValueError(f"{name} has several columns named {label!r}")
                yield label, labels.index(label)
            elif isinstance(label, int) and label < width:
                yield label, label
            elif labels is not None:
                raise ValueError(
                    f"{name} has no column {label!r}, which parts name; it has "
                    f"{shown(', '.join(map(repr, labels)))}"
                )
            elif isinstance(label, str):
                raise ValueError(
                    f"parts name the column {label!r}, but {name} is an array without names; "
                    "give a table, or number the columns"
                )
            else:
                raise ValueError(
                    f"{name} has no column {label}, which parts name; it has {width} columns"
                )

    def _array_width(self, X: Any, name: str) -> int:
        return int(real_matrix(X, name=name, missing=True).shape[1])

    def _positions_in(self, X: Any, name: str) -> list[int]:
        """Return where the columns are in a table."""
        assert self.columns is not None
        return [place for label in self.columns for _, place in self._find(label, X, name)]

    def _matrix(self, X: Any, name: str) -> FloatArray:
        """Return the used columns, as numbers and codes."""
        assert self.columns is not None
        assert self.positions is not None
        assert self.levels is not None
        if is_table(X):
            if len(X) == 0:
                raise ValueError(f"{name} is empty; it needs at least one row")
            columns = table_columns(X)
            matrix = np.empty((len(X), len(self.columns)))
            for k, place in enumerate(self._positions_in(X, name)):
                label, levels = self.columns[k], self.levels[k]
                matrix[:, k] = self._column(columns[place], label, levels, name)
            return real_matrix(matrix, name=name, missing=True)
        matrix = real_matrix(X, name=name, missing=True)
        used, whole = len(self.columns), self.table_width
        if matrix.shape[1] == whole and whole != used:
            return np.ascontiguousarray(matrix[:, list(self.positions)])
        if matrix.shape[1] != used:
            raise ValueError(
                f"{name} has the wrong number of columns: {matrix.shape[1]}, but {whole} are "
                f"needed, as in the table that was fitted"
                + ("" if used == whole else f", or the {used} that are used")
            )
        return matrix

    def _column(self, column: Any, label: Label, levels: Levels | None, name: str) -> FloatArray:
        place = f"column {label!r} of {name}"
        if levels is not None:
            return codes_of(column, levels, place)
        return column_numbers(column, place)

    # --- parts of a checked matrix

    def _slices(self, matrix: FloatArray, name: str = "X") -> Iterator[_Slice]:
        """Yield each part with its columns, its rows and its data."""
        columns = self.columns if self.columns is not None else self._default_columns()
        for key, likelihood in self.parts.items():
            places = [columns.index(label) for label in _labels(key)]
            entries = np.ascontiguousarray(matrix[:, places])
            own = f"{name}[{key!r}]"
            rows = _rows_with_entries(entries, likelihood, _labels(key), own)
            if len(rows) < len(entries):
                entries, own = entries[rows], f"{own} (rows without it left out)"
            data: Data = entries
            if len(rows):
                data = likelihood.check(entries, name=own, width=len(places))
            elif not isinstance(likelihood.check(np.zeros((1, len(places)))), np.ndarray):
                data = _no_counts(len(places))
            yield _Slice(key, likelihood, places, rows, data)

    def _default_columns(self) -> tuple[Label, ...]:
        """Return the columns in the order of a matrix that is not known to come from a table."""
        labels = [label for key in self.parts for label in _labels(key)]
        if all(isinstance(label, int) for label in labels):
            return tuple(sorted(labels))
        return tuple(labels)

    def resolve(self, X: Data) -> Product:
        """Return a copy whose parts are all explicit, from checked `X` where open."""
        assert isinstance(X, np.ndarray)
        located = self._numbered()
        assert located.levels is not None
        parts = {}
        for part in located._slices(X):
            if len(part.rows) == 0:
                raise ValueError(f"X has no entry at all in the columns of parts[{part.key!r}]")
            levels = [located.levels[k] for k in part.columns]
            parts[part.key] = _with_levels(part, levels).resolve(part.data)
        return replace(located, parts=parts)

    def _numbered(self) -> Product:
        """Return a copy whose columns are those of a matrix, if it is not `fitted_to` a table."""
        if self.columns is not None:
            return self
        labels = self._default_columns()
        if not all(isinstance(label, int) for label in labels):
            raise ValueError(
                "parts name columns, whose places and levels only the table tells: "
                "use fitted_to(X) instead of check(X) and resolve"
            )
        return self._with_columns(labels)

    def _with_columns(self, labels: tuple[Label, ...]) -> Product:
        count = len(labels)
        return replace(
            self,
            columns=labels,
            positions=tuple(range(count)),
            table_width=count,
            levels=(None,) * count,
        )

    def resolve_standard(self, width: int) -> Product:
        """Return a copy whose open parameters are those of standardized data."""
        located = self if self.columns is not None else self._with_columns(self._default_columns())
        parts = {k: p.resolve_standard(len(_labels(k))) for k, p in self.parts.items()}
        return replace(located, parts=parts)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`: those of the parts side by side."""
        from mixwood import _core

        assert isinstance(X, np.ndarray)
        families, places = [], []
        for part in self._slices(X):
            families.append(part.likelihood.bind(part.data))
            place = np.full(len(X), -1, dtype=np.int32)
            place[part.rows] = np.arange(len(part.rows))
            places.append(place)
        return _core.product(tuple(families), tuple(places), len(X))

    def row_constants(self, X: Data) -> FloatArray:
        """Return the sum of the parts' log factors."""
        assert isinstance(X, np.ndarray)
        total = np.zeros(len(X))
        for part in self._slices(X):
            if len(part.rows):
                total[part.rows] += part.likelihood.row_constants(part.data)
        return total

    @property
    def statistic_size(self) -> int:
        """The parts' statistics, one after the other."""
        return sum(part.statistic_size for part in self.parts.values())

    def draw_parameters(self, statistics: FloatArray, rng: np.random.Generator) -> Parameters:
        """Draw the parameters of the parts, each named by its columns: ``x, y: mean``."""
        drawn: Parameters = {}
        end = 0
        for key, part in self.parts.items():
            start, end = end, end + part.statistic_size
            own = part.draw_parameters(statistics[:, start:end], rng)
            drawn |= {f"{_name(key)}: {name}": values for name, values in own.items()}
        return drawn

    def described_columns(self, names: Sequence[str]) -> dict[str, list[Column]]:
        """Return the columns of each part, by what the names of its parameters begin with."""
        assert self.columns is not None
        levels = self.levels or (None,) * len(self.columns)
        columns = map(Column, names, levels)
        found = dict(zip(self.columns, columns, strict=True))
        return {f"{_name(key)}: ": [found[label] for label in _labels(key)] for key in self.parts}

    def draw_rows(
        self,
        parameters: Parameters,
        labels: IntArray,
        rng: np.random.Generator,
        like: Data | None = None,
    ) -> FloatArray:
        """Draw the columns of each part; nothing is missing in them."""
        assert self.columns is not None
        given = {}
        if isinstance(like, np.ndarray):
            given = {part.key: part.data for part in self._slices(like) if len(part.rows)}
        X = np.empty((len(labels), len(self.columns)))
        for key, part in self.parts.items():
            start = f"{_name(key)}: "
            own = {k.removeprefix(start): v for k, v in parameters.items() if k.startswith(start)}
            drawn = part.draw_rows(own, labels, rng, like=given.get(key))
            places = [self.columns.index(label) for label in _labels(key)]
            X[:, places] = drawn if isinstance(drawn, np.ndarray) else drawn.toarray()
        return X


def _name(key: Any) -> str:
    return ", ".join(map(str, _labels(key)))


def _labels(key: Any) -> tuple[Label, ...]:
    """Return the columns that a key names."""
    return key if isinstance(key, tuple) else (key,)


def _plain_label(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _checked_key(key: Hashable) -> Any:
    """Return a key with plain labels, or raise if it is not made of names and numbers."""
    labels = tuple(_plain_label(label) for label in (key if isinstance(key, tuple) else (key,)))
    for label in labels:
        number = isinstance(label, int) and not isinstance(label, bool) and label >= 0
        if not isinstance(label, str) and not number:
            raise TypeError(
                "parts must have columns as keys: a name, a number from 0 on, or a tuple of "
                f"those, got {shown(key)}"
            )
    if not labels:
        raise ValueError("parts must have columns as keys, got an empty tuple")
    return labels if isinstance(key, tuple) else labels[0]


def _learns_levels(likelihood: Likelihood) -> bool:
    """Tell whether the columns of a part are levels; with numbers of categories given, codes."""
    given = isinstance(likelihood, Categorical) and likelihood.n_categories is not None
    return likelihood.reads_levels and not given


def _with_levels(part: _Slice, levels: list[Levels | None]) -> Likelihood:
    """Return a part's likelihood with as many categories as there are levels."""
    likelihood = part.likelihood
    if not isinstance(likelihood, Categorical) or likelihood.n_categories is not None:
        return likelihood
    seen = likelihood.resolve(part.data).n_categories
    counts = [n if known is None else len(known) for n, known in zip(seen, levels, strict=True)]
    return replace(likelihood, n_categories=counts)


def _rows_with_entries(
    entries: FloatArray, likelihood: Likelihood, labels: tuple[Label, ...], name: str
) -> IntArray:
    """Return the rows that have something for a part, or raise at one with only some of it."""
    if likelihood.skips_missing:
        return np.arange(len(entries))
    missing = np.isnan(entries)
    everything = missing.all(axis=1)
    some = missing.any(axis=1) & ~everything
    if some.any():
        row = int(np.argmax(some))
        column = labels[int(np.argmax(missing[row]))]
        raise ValueError(
            f"{name} has a missing value in row {row}, column {column!r}, and others in that "
            f"row; {type(likelihood).__name__} needs all of them or none. Fill it in, or use "
            "a likelihood that skips single entries (DiagonalGaussian)"
        )
    return np.flatnonzero(~everything)


def _no_counts(width: int) -> Data:
    from scipy.sparse import csr_array

    return csr_array((0, width))
