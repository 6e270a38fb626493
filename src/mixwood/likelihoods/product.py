"""Tables of mixed type: several likelihoods side by side, each for columns of its own."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray
from mixwood.input.categories import Categories
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.cost import warn_of_cost
from mixwood.likelihoods.dependence import warn_of_left_out
from mixwood.likelihoods.product_base import LearnedByParts
from mixwood.likelihoods.product_draws import DrawnByParts
from mixwood.likelihoods.product_errors import ErrorsOfParts
from mixwood.likelihoods.product_parts import (
    Slice,
    checked_key,
    explained,
    modelled,
    refuse_given_errors,
    slices,
)
from mixwood.likelihoods.product_rows import RowsOfParts
from mixwood.likelihoods.table_layout import Label, TableLayout, labels_of

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Product"]


@dataclass(frozen=True, eq=False, repr=False)
class Product(RowsOfParts, ErrorsOfParts, LearnedByParts, DrawnByParts):
    """Tables of mixed type: each part describes columns of its own, independent in a cluster.

    Parameters
    ----------
    parts : mapping
        From columns to their likelihood. A key is a column's name, its number (from 0), or a
        tuple of those. Columns that no key names are left out.
    layout : TableLayout, optional
        What `fitted_to` has learned of the table. Not for you to give.
    notes : mapping, optional
        Why `from_frame` chose as it did. Not for you to give.

    Notes
    -----
    With the columns of part ``p``, over those rows of the cluster that have them::

        P(X_c) = prod_p P_p(X_c[:, columns of p])

    Data are a pandas or polars table, whose columns are found by name, or an array, whose
    columns are found by number. In a table, columns under `Categorical` and `Bernoulli` may be
    text, categories or truth values. Their categories are learned from the data that the model
    is fitted to, and later tables are coded alike; a category never seen is an error.

    A missing entry is skipped where the columns of a part are independent
    (`DiagonalGaussian`, `Bernoulli`, `Categorical`, `Poisson`), and drawn along with the clusters
    where they are not (`Gaussian`). A part skips a row that has none of its entries; other parts
    refuse one that has only some.

    In a part ``Gaussian(errors=...)`` errors have an entry for each row of the table. Those of new
    rows are given to `Posterior.predict` alone, ``errors=[...]``, or by the columns of their part,
    ``errors={("x", "y"): [...]}``, where several parts may have some.

    Examples
    --------
    >>> import mixwood as mw
    >>> mw.Product({("x", "y"): mw.Gaussian(), "visits": mw.Poisson(shape=1), "kind": mw.Bernoulli()})
    Product({('x', 'y'): Gaussian(r=None, nu=None, mean=None, scale='learn'), 'visits': Poisson(shape=1.0, rate=None, exposure=None), 'kind': Bernoulli(a=None, b=None, columns=None)})
    """  # noqa: E501

    parts: Mapping[Any, Likelihood]
    layout: TableLayout | None = None
    notes: Mapping[Any, str] | None = None
    skips_missing = True
    reads_tables = True

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Mapping):
            raise TypeError(
                "parts must be a mapping from columns to likelihoods, for example "
                f"mw.Product({{'age': mw.Gaussian()}}), got {shown(self.parts)}"
            )
        if not self.parts:
            raise ValueError("parts must name at least one column")
        parts = {checked_key(key): value for key, value in self.parts.items()}
        for key, value in parts.items():
            if not isinstance(value, Likelihood):
                raise TypeError(f"parts[{key!r}] must be a likelihood, got {shown(value)}")
            if value.reads_tables:
                raise TypeError(f"parts[{key!r}] is a Product; put its parts here instead")
            if value.width not in (None, len(labels_of(key))):
                raise ValueError(
                    f"parts[{key!r}] names {len(labels_of(key))} columns, but its likelihood is "
                    f"for {value.width}"
                )
        parts = {key: value.placed(labels_of(key)) for key, value in parts.items()}
        labels = [label for key in parts for label in labels_of(key)]
        twice = [label for label, times in Counter(modelled(parts)).items() if times > 1]
        if twice:
            raise ValueError(f"parts must name a column only once, got {twice[0]!r} twice")
        refuse_given_errors(parts)
        if self.layout is not None and set(self.layout.columns) != set(labels):
            raise ValueError(f"layout must be of the columns of parts, got {shown(self.layout)}")
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
        The rules are those of `mixwood.choose`, which needs no product where one likelihood does.

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
        from mixwood.likelihoods.choose import choose_product

        return choose_product(frame, name="frame", warned=True)

    def explain(self) -> str:
        """Return each column's likelihood and, after `from_frame`, why; one line per column."""
        return "\n".join(explained(self.parts, self.notes or {}))

    def __repr__(self) -> str:
        return f"Product({dict(self.parts)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Product):
            return NotImplemented
        return self.layout == other.layout and dict(self.parts) == dict(other.parts)

    def __hash__(self) -> int:
        return hash(tuple(self.parts))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's argument, as scikit-learn asks for it."""
        return {"parts": self.parts}

    @property
    def width(self) -> int:
        """How many columns are used."""
        return len(self._labels())

    @property
    def columns(self) -> tuple[Label, ...] | None:
        """The columns that are used, in the order of the checked matrix; None while open."""
        return None if self.layout is None else self.layout.columns

    @property
    def categories(self) -> tuple[Categories | None, ...] | None:
        """Of each column the categories, None where it holds numbers; None while open."""
        return None if self.layout is None else self.layout.levels

    def nominal_columns(self, width: int) -> tuple[bool, ...]:
        """Return for each column whether it holds codes whose order means nothing."""
        owner = {label: part for key, part in self.parts.items() for label in labels_of(key)}
        return tuple(owner[label].nominal for label in self.columns or self._labels())

    @property
    def left_out(self) -> dict[Any, str]:
        """The columns that parts leave out, by their labels."""
        return {
            labels_of(key)[j]: why
            for key, part in self.parts.items()
            for j, why in part.left_out.items()
        }

    def names_in(self, X: Any) -> tuple[str, ...] | None:
        """Return the names of the columns that are used, or None without names."""
        return self._layout_in(X, "X").names_in(X)

    def own_names(self) -> tuple[str, ...] | None:
        """Return the names of the columns that are used, if all have one."""
        names = tuple(name for name in self.columns or () if isinstance(name, str))
        return names if self.columns and len(names) == len(self.columns) else None

    def fitted_to(self, X: Any, *, name: str = "X") -> tuple[Product, Data]:
        """Return a copy with categories learned and parameters explicit, and `X` as one matrix."""
        located, data = self.located_in(X, name=name)
        explicit = located.resolve(data)
        warn_of_left_out(explicit.left_out)
        warn_of_cost(explicit, data.shape[0])
        return explicit, data

    def located_in(self, X: Any, *, name: str = "X") -> tuple[Product, Data]:
        """Return a copy with places and categories learned, and `X` as one matrix."""
        located = replace(self, layout=self._layout_in(X, name))
        return located, located.check(X, name=name)

    def check(self, X: Any, *, name: str = "X", width: int | None = None) -> FloatArray:
        """Return the columns used as one matrix, NaN where missing, text as codes.

        A table's columns are found by name. An array has the columns of the table that was
        fitted, or only those that are used, in the table's order.
        """
        layout = self._layout_in(X, name)
        matrix = layout.read(X, name)
        for _ in self._slices(matrix, layout, name):
            pass  # each part has looked at its columns
        return matrix

    def _layout_in(self, X: Any, name: str) -> TableLayout:
        return TableLayout.of(self.parts, X, name) if self.layout is None else self.layout

    def _layout_of_matrix(self) -> TableLayout:
        """Return the layout, or that of a matrix of the numbered columns."""
        if self.layout is not None:
            return self.layout
        labels = self._labels()
        if not all(isinstance(label, int) for label in labels):
            raise ValueError(
                "parts name columns, whose places and categories only the table tells: "
                "use fitted_to(X) instead of check(X) and resolve"
            )
        return TableLayout.numbered(labels)

    def _labels(self) -> tuple[Label, ...]:
        """Return all columns; numbers alone in order."""
        labels = list(dict.fromkeys(label for key in self.parts for label in labels_of(key)))
        numbers = all(isinstance(label, int) for label in labels)
        return tuple(sorted(labels) if numbers else labels)

    # --- parts of a checked matrix

    def _slices(
        self, matrix: FloatArray, layout: TableLayout | None = None, name: str = "X"
    ) -> Iterator[Slice]:
        """Yield each part with its columns, its rows and its data."""
        return slices(self.parts, (layout or self._layout_of_matrix()).columns, matrix, name)

    def resolve(self, X: Data) -> Product:
        """Return a copy whose parts are all explicit, from checked `X` where open."""
        assert isinstance(X, np.ndarray)
        layout = self._layout_of_matrix()
        parts = {}
        for part in self._slices(X, layout):
            if len(part.rows) == 0:
                raise ValueError(f"X has no entry at all in the columns of parts[{part.key!r}]")
            known = [layout.levels[k] for k in part.columns]
            counts = [None if categories is None else len(categories) for categories in known]
            own = part.likelihood.of_rows(part.rows, len(X), name=f"parts[{part.key!r}]: errors")
            explicit = own.with_categories(counts, part.data).resolve(part.data)
            if part.likelihood.has_errors:  # it keeps those of all rows
                explicit = explicit.with_rows_of(part.likelihood)
            parts[part.key] = explicit
        return replace(self, parts=parts, layout=layout)

    @property
    def is_open(self) -> bool:
        """Whether a part stands for several others."""
        return any(part.is_open for part in self.parts.values())

    def candidates(self, X: Data) -> list[Likelihood]:
        """Return the products, explicit, of what comes into question for each open part."""
        assert isinstance(X, np.ndarray)
        explicit = self.resolve(X)
        choices = [
            part.likelihood.candidates(part.data)
            if part.likelihood.is_open
            else [explicit.parts[part.key]]
            for part in self._slices(X)
        ]
        keys = list(self.parts)
        combined = itertools.product(*choices)
        return [replace(explicit, parts=dict(zip(keys, one, strict=True))) for one in combined]

    @property
    def in_words(self) -> str:
        """What the clusters have in the columns that could have been described otherwise."""
        return ", ".join(words for part in self.parts.values() if (words := part.in_words))

    @property
    def tied_to_columns(self) -> int:
        """What of the columns the clusters depend on: the most of any part."""
        return max(part.tied_to_columns for part in self.parts.values())

    def resolve_standard(self, width: int) -> Product:
        """Return a copy whose open parameters are those of standardized data."""
        layout = self.layout or TableLayout.numbered(self._labels())
        parts = {k: p.resolve_standard(len(labels_of(k))) for k, p in self.parts.items()}
        return replace(self, parts=parts, layout=layout)

    def bind(self, X: Data) -> _core.Family:
        """Return the compiled family over the rows of `X`: those of the parts side by side."""
        from mixwood import _core

        assert isinstance(X, np.ndarray)
        families, places = [], []
        for part in self._slices(X):
            families.append(part.likelihood.of_rows(part.rows, len(X)).bind(part.data))
            place = np.full(len(X), -1, dtype=np.int32)
            place[part.rows] = np.arange(len(part.rows))
            places.append(place)
        return _core.product(tuple(families), tuple(places), len(X))

    def with_scale(self, name: str) -> Likelihood:
        """Return a copy with this scale in every part that has one, or raise if none has."""
        scaled = [part for part in self.parts.values() if part.scales]
        if not scaled:
            return super().with_scale(name)
        parts = {
            key: part.with_scale(name) if part.scales else part for key, part in self.parts.items()
        }
        return replace(self, parts=parts)
