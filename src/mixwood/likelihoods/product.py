"""Tables of mixed type: several likelihoods side by side, each for columns of its own."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.types import Data, FloatArray, IntArray
from mixwood.input.categories import Categories
from mixwood.likelihoods.base import Column, Likelihood, Parameters, TargetTerms
from mixwood.likelihoods.cost import warn_of_cost
from mixwood.likelihoods.dependence import warn_of_left_out
from mixwood.likelihoods.learned import base_of_clusters
from mixwood.likelihoods.product_parts import Slice, checked_key, explained, name_of, slices
from mixwood.likelihoods.table_layout import Label, TableLayout, labels_of

if TYPE_CHECKING:
    from mixwood import _core

__all__ = ["Product"]


@dataclass(frozen=True, eq=False, repr=False)
class Product(Likelihood):
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
            if value.why_no_part is not None:
                raise ValueError(f"parts[{key!r}], {type(value).__name__}, {value.why_no_part}")
            if value.width not in (None, len(labels_of(key))):
                raise ValueError(
                    f"parts[{key!r}] names {len(labels_of(key))} columns, but its likelihood is "
                    f"for {value.width}"
                )
        parts = {key: value.placed(labels_of(key)) for key, value in parts.items()}
        labels = [label for key in parts for label in labels_of(key)]
        twice = [label for label, times in Counter(_modelled(parts)).items() if times > 1]
        if twice:
            raise ValueError(f"parts must name a column only once, got {twice[0]!r} twice")
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
            likelihood = part.likelihood.with_categories(counts, part.data)
            parts[part.key] = likelihood.resolve(part.data)
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

    def missing_entries(self, X: Data) -> tuple[IntArray, IntArray]:
        """Return those that the parts draw, one part after the other."""
        assert isinstance(X, np.ndarray)
        rows, columns = [], []
        for part in self._slices(X):
            own_rows, own_columns = part.likelihood.missing_entries(part.data)
            rows.append(part.rows[own_rows])
            columns.append(np.array(part.columns)[own_columns])
        return np.concatenate(rows), np.concatenate(columns)

    def given_columns(self, width: int) -> tuple[int, ...]:
        """Return those of the parts that no other part draws."""
        assert self.columns is not None
        modelled = set(_modelled(self.parts))
        return tuple(k for k, label in enumerate(self.columns) if label not in modelled)

    def exposures_in(self, X: Data) -> dict[str, FloatArray]:
        """Return those of the parts."""
        assert isinstance(X, np.ndarray)
        return {
            f"{name_of(part.key)}: {prefix}": exposures
            for part in self._slices(X)
            for prefix, exposures in part.likelihood.exposures_in(part.data).items()
        }

    def drawn_entries(self, X: Data, latent: FloatArray) -> FloatArray:
        """Return them in the units of the data."""
        assert isinstance(X, np.ndarray)
        found, end = [], 0
        for part in self._slices(X):
            start, end = end, end + part.likelihood.latent_size(part.data)
            found.append(part.likelihood.drawn_entries(part.data, latent[..., start:end]))
        return np.concatenate(found, axis=-1)

    def latent_size(self, X: Data) -> int:
        """Return how many numbers the parts draw."""
        assert isinstance(X, np.ndarray)
        return sum(part.likelihood.latent_size(part.data) for part in self._slices(X))

    def row_scales(self, X: Data, latent: FloatArray) -> FloatArray | None:
        """Return the least scale that a row has in any part, 1 where it has none."""
        assert isinstance(X, np.ndarray)
        found, end = None, 0
        for part in self._slices(X):
            start, end = end, end + part.likelihood.latent_size(part.data)
            own = part.likelihood.row_scales(part.data, latent[..., start:end])
            if own is None:
                continue
            if found is None:
                found = np.ones((*latent.shape[:-1], len(X)))
            found[..., part.rows] = np.minimum(found[..., part.rows], own)
        return found

    @property
    def why_no_leaves(self) -> str | None:
        """The reason of the first part that has one."""
        return next(filter(None, (part.why_no_leaves for part in self.parts.values())), None)

    @property
    def statistic_size(self) -> int:
        """The parts' statistics, one after the other."""
        return sum(part.statistic_size for part in self.parts.values())

    @property
    def means_in_statistic(self) -> NDArray[np.bool_]:
        """The parts' means."""
        return np.concatenate([part.means_in_statistic for part in self.parts.values()])

    @property
    def counts_whole_rows(self) -> bool:
        """Whether one of the parts does."""
        return any(part.counts_whole_rows for part in self.parts.values())

    @property
    def learns_from_rows(self) -> bool:
        """Whether one of the parts does."""
        return any(part.learns_from_rows for part in self.parts.values())

    @property
    def work(self) -> int:
        """That of all parts."""
        return sum(part.work for part in self.parts.values())

    @property
    def matrix_size(self) -> int:
        """That of the widest part."""
        return max(part.matrix_size for part in self.parts.values())

    @property
    def advice_if_wide(self) -> str:
        """What to do about the part that costs most."""
        key, widest = max(self.parts.items(), key=lambda item: item[1].work)
        return f"Most of it is parts[{shown(key)}]. {widest.advice_if_wide}"

    @property
    def base_size(self) -> int:
        """The parts' learned base measures, one after the other."""
        return sum(part.base_size for part in self.parts.values())

    def start_base(self) -> FloatArray:
        """Return where a chain starts."""
        return np.concatenate([part.start_base() for part in self.parts.values()])

    def start_bases(self) -> FloatArray:
        """Return the starts of the parts side by side; those with fewer repeat theirs."""
        starts = [part.start_bases() for part in self.parts.values()]
        count = max(len(rows) for rows in starts)
        return np.hstack([rows[np.arange(count) % len(rows)] for rows in starts])

    def start_points(self, X: Data) -> list[FloatArray]:
        """Return the parts' points side by side, 0 where a row has nothing for a part."""
        assert isinstance(X, np.ndarray)
        sides = []
        for part in self._slices(X):
            points = part.likelihood.start_points(part.data)[:1]
            for found in points:
                all_rows = np.zeros((len(X), found.shape[1]))
                all_rows[part.rows] = found
                sides.append(all_rows)
        return [np.hstack(sides)] if sides else []

    def over_part(self, share: float) -> Product:
        """Return the product of the parts for pilots over a share of the rows."""
        return replace(self, parts={key: one.over_part(share) for key, one in self.parts.items()})

    def log_base_volume(self, base: FloatArray, n: int, clusters: int) -> float:
        """Return the sum of the parts', of those that learn something."""
        return sum(
            part.log_base_volume(own, n, clusters)
            for _, part, own in self._bases(base)
            if part.base_size
        )

    def draw_base(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the hyperpriors of the parts."""
        return np.concatenate([part.draw_base(rng) for part in self.parts.values()])

    def _bases(self, base: FloatArray) -> Iterator[tuple[Any, Likelihood, FloatArray]]:
        """Yield each part with its own columns of base measures (..., base_size)."""
        end = 0
        for key, part in self.parts.items():
            start, end = end, end + part.base_size
            yield key, part, base[..., start:end]

    def base_draws(self, base: FloatArray) -> Parameters:
        """Return what the parts learn, each named by its columns: ``x, y: covariance``."""
        return {
            f"{name_of(key)}: {name}": values
            for key, part, own in self._bases(base)
            for name, values in part.base_draws(own).items()
        }

    def with_scale(self, name: str) -> Likelihood:
        """Return a copy with this scale in every part that has one, or raise if none has."""
        scaled = [part for part in self.parts.values() if part.scales]
        if not scaled:
            return super().with_scale(name)
        parts = {
            key: part.with_scale(name) if part.scales else part for key, part in self.parts.items()
        }
        return replace(self, parts=parts)

    def base_width(self, base: FloatArray) -> FloatArray | None:
        """Return the share of the variance within clusters, the mean over the columns with one."""
        found = [
            (len(labels_of(key)), width)
            for key, part, own in self._bases(base)
            if (width := part.base_width(own)) is not None
        ]
        if not found:
            return None
        return np.asarray(sum(n * width for n, width in found) / sum(n for n, _ in found))

    def draw_parameters(
        self, statistics: FloatArray, rng: np.random.Generator, base: FloatArray | None = None
    ) -> Parameters:
        """Draw the parameters of the parts, each named by its columns: ``x, y: mean``."""
        drawn: Parameters = {}
        bases = base_of_clusters(base, len(statistics), self.base_size)
        end = 0
        for key, part, own_base in self._bases(bases):
            start, end = end, end + part.statistic_size
            own = part.draw_parameters(statistics[:, start:end], rng, own_base)
            drawn |= {f"{name_of(key)}: {name}": values for name, values in own.items()}
        return drawn

    def mean_rows(self, statistics: FloatArray) -> FloatArray:
        """Return the means that the parts give, in the order of the columns of one each.

        Where a part gives more, as the shares of categories, they are side by side.
        """
        assert self.columns is not None
        found: dict[int, FloatArray] = {}
        end = 0
        for key, part in self.parts.items():
            start, end = end, end + part.statistic_size
            means = part.mean_rows(statistics[:, start:end])
            places = [self.columns.index(label) for label in labels_of(key)]
            if means.shape[1] == len(places):
                found |= {place: means[:, [j]] for j, place in enumerate(places)}
            else:
                found[min(places)] = means
        return np.hstack([found[place] for place in sorted(found)])

    def described_columns(self, names: Sequence[str]) -> dict[str, list[Column]]:
        """Return the columns of each part, by what the names of its parameters begin with."""
        assert self.columns is not None
        categories = self.categories or (None,) * len(self.columns)
        columns = map(Column, names, categories)
        found = dict(zip(self.columns, columns, strict=True))
        return {
            f"{name_of(key)}: ": part.parameter_columns([found[label] for label in labels_of(key)])
            for key, part in self.parts.items()
        }

    @property
    def draws_parameters(self) -> bool:
        """Whether all parts draw theirs."""
        return all(part.draws_parameters for part in self.parts.values())

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
        X = np.full((len(labels), len(self.columns)), np.nan)
        place_of = {label: place for place, label in enumerate(self.columns)}
        # Those that are given columns come after those that may draw them.
        widths = {key: len(labels_of(key)) for key in self.parts}
        later = {key: bool(part.given_columns(widths[key])) for key, part in self.parts.items()}
        for key, part in sorted(self.parts.items(), key=lambda item: later[item[0]]):
            start = f"{name_of(key)}: "
            own = {k.removeprefix(start): v for k, v in parameters.items() if k.startswith(start)}
            places = [place_of[label] for label in labels_of(key)]
            like = self._with_drawn(part, given.get(key), X[:, places], rng)
            drawn = part.draw_rows(own, labels, rng, like=like)
            X[:, places] = drawn if isinstance(drawn, np.ndarray) else drawn.toarray()
        return X

    def _with_drawn(
        self, part: Likelihood, like: Data | None, drawn: FloatArray, rng: np.random.Generator
    ) -> Data | None:
        """Return rows that a part is given, with what other parts have drawn of their columns."""
        fixed = part.given_columns(drawn.shape[1])
        there = [j for j in fixed if not np.isnan(drawn[:, j]).any()]
        if not there:
            return like
        if like is None:
            rows = np.where(np.isnan(drawn), 1.0, drawn)
        else:
            n = len(drawn)
            assert isinstance(like, np.ndarray)
            rows = np.array(like if len(like) == n else like[rng.integers(len(like), size=n)])
        rows[:, there] = drawn[:, there]
        return rows

    # --- a target that one of the parts predicts

    @property
    def target_column(self) -> int | None:
        """The number of the column that a part predicts; None where none does, or several do."""
        found = [
            (key, part.target_column)
            for key, part in self.parts.items()
            if part.target_column is not None
        ]
        if len(found) != 1 or self.columns is None:
            return None
        [(key, place)] = found
        return self.columns.index(labels_of(key)[place])

    def target_terms(self, statistics: FloatArray, base: FloatArray | None, X: Data) -> TargetTerms:
        """Return what the part that has a target says of it."""
        assert isinstance(X, np.ndarray)
        own_base = (
            dict.fromkeys(self.parts, None)
            if base is None
            else {key: own for key, _, own in self._bases(base)}
        )
        end = 0
        for part in self._slices(X):
            start, end = end, end + part.likelihood.statistic_size
            if part.likelihood.target_column is not None:
                own = statistics[:, start:end]
                return part.likelihood.target_terms(own, own_base[part.key], part.data)
        return super().target_terms(statistics, base, X)


def _modelled(parts: Mapping[Any, Likelihood]) -> list[Label]:
    """Return the columns that parts model, as often as one does; not those that they are given."""
    found: list[Label] = []
    for key, part in parts.items():
        labels = labels_of(key)
        given = part.given_columns(len(labels))
        found += [label for j, label in enumerate(labels) if j not in given]
    return found
