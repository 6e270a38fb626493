"""Which likelihood suits a table: the one rule book, column by column, with a reason for each.

`mixwood.choose`, `mixwood.Product.from_frame`, the scikit-learn estimator and the command line use
it, so one table gets one model. What a column is, `column_rules` says; here is what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mixwood._support.checks import shown
from mixwood._support.types import FloatArray
from mixwood._support.warn import warn
from mixwood.input.categories import learn_categories
from mixwood.input.matrices import is_table, table_columns
from mixwood.likelihoods.auto_gaussian import AutoGaussian
from mixwood.likelihoods.base import Likelihood
from mixwood.likelihoods.bernoulli import Bernoulli
from mixwood.likelihoods.categorical import Categorical
from mixwood.likelihoods.column_rules import (
    BINARY,
    CATEGORIES,
    COUNTS,
    LEFT_OUT,
    NUMBERS,
    SPREAD_COUNTS,
    Judgement,
    judge,
)
from mixwood.likelihoods.diagonal_gaussian import DiagonalGaussian
from mixwood.likelihoods.duplicates import duplicates
from mixwood.likelihoods.gaussian import Gaussian
from mixwood.likelihoods.negative_binomial import NegativeBinomial
from mixwood.likelihoods.poisson import Poisson
from mixwood.likelihoods.product import Product
from mixwood.likelihoods.product_parts import explained
from mixwood.likelihoods.table_layout import plain_label

__all__ = [
    "LEFT_OUT",
    "Choice",
    "ColumnChoice",
    "choose",
    "choose_product",
    "explain_columns",
    "for_numbers",
    "judge_columns",
    "warn_of_unused",
]

#: At most this many columns of numbers have a common covariance matrix: its entries grow with
#: the square of the columns, and a cluster has to have rows for all of them.
MOST_TOGETHER = 30
#: A table with this many times more columns than rows, the first of names, may be transposed.
TRANSPOSED = 5


class ColumnChoice(NamedTuple):
    """What a column is taken for, and why."""

    column: Any
    kind: str
    reason: str


@dataclass(frozen=True)
class Choice:
    """What `mixwood.choose` chooses for a table, and why.

    Attributes
    ----------
    likelihood : Likelihood
        For `mixwood.Mixture`; it takes the table as it is, and later ones with the same columns.
    columns : tuple of ColumnChoice
        For each column of the table ``column``, ``kind`` ("numbers", "counts", "overdispersed
        counts", "categories", "yes or no" or "left out") and ``reason``.
    why : str
        All of it in a few words.
    """

    likelihood: Likelihood
    columns: tuple[ColumnChoice, ...]
    why: str

    def explain(self) -> str:
        """Return each column's likelihood and why, or why it is left out; one line per column.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"id": [7, 9, 4], "price": ["$1,200.50", "$980", "$1,050"]})
        >>> print(choose(table).explain())
        price: AutoGaussian (numbers written with $)
        id: left out (an identifier, by its name and entries that differ)
        """
        return "\n".join(explain_columns(self.likelihood, self.columns))


def choose(
    table: Any, *, name: str = "table", leave_out: bool = True, structure: bool = True
) -> Choice:
    """Choose the likelihood for a table by looking at each column; say what and why.

    Parameters
    ----------
    table : DataFrame
        Of pandas or polars.
    name : str
        What to call it in messages.
    leave_out : bool
        Whether columns are left out that could be used and say nothing about clusters:
        constants, copies, identifiers, numbers of the rows.
    structure : bool
        Whether the covariances of columns of numbers, if there are no others, are left open:
        `AutoGaussian`. They are what they would be next to other columns otherwise.

    Returns
    -------
    Choice
        With ``likelihood``, ``columns``, ``why`` and ``explain()``.

    Notes
    -----
    Each column is looked at by its entries that are not missing and by its name:

    - left out: identifiers (text of which nearly every entry differs; such entries under names
      like ``id``, ``sample`` or ``barcode``; whole numbers that rise evenly from row to row),
      dates and times, columns with one value, and copies of earlier columns, also in other units
      or other words;
    - truth values, zeros and ones, and anything else with two values: `Bernoulli`;
    - text, categories, and whole numbers with at most 5 values: `Categorical`;
    - whole numbers from 0 on with a mean below 30: `Poisson`, or `NegativeBinomial` if it is
      clear that they vary more within clusters: of at least 60 entries, a mixture of up to 3
      negative binomial distributions of one size explains them better than one of up to 8 Poisson
      distributions, by more than 10 of the Bayesian information criterion;
    - all other numbers together. Alone they are an `AutoGaussian`; next to other columns one
      `Gaussian`, if there are at most 30 and more rows than a covariance matrix has parameters,
      else one `DiagonalGaussian`. Missing entries change nothing about that.

    Numbers may be written as 12%, $1,200.50, EUR 12, 1,234,567 or 3,14. Numbers with fewer than 20
    entries are just numbers, unless all are 0 or 1. A column of numbers in which a few entries are
    not is refused. A column that is left out, or is not a number, changes nothing for the others.

    Examples
    --------
    >>> import pandas as pd
    >>> import mixwood as mw
    >>> table = pd.DataFrame({
    ...     "height": [1.62, 1.75, 1.81], "grown": [True, False, True], "name": ["ann", "bo", "cy"],
    ... })
    >>> chosen = mw.choose(table)
    >>> print(chosen.explain())
    grown: Bernoulli (truth values)
    height: Gaussian (numbers)
    name: left out (an identifier, by its name and entries that differ)
    >>> chosen.why
    'the table mixes yes or no columns and numbers'
    >>> mw.choose(table[["height"]]).likelihood
    AutoGaussian()
    """
    judged = _judged(table, name, leave_out)
    columns, parts = judged.columns, judged.parts(name, structure)
    if len(parts) == 1 and judged.bare(table):
        [likelihood] = parts.values()
        return Choice(likelihood, columns, _why(likelihood, judged, codes=True))
    product = Product(parts, notes={one.column: one.reason for one in columns})
    return Choice(product, columns, _why(next(iter(parts.values())), judged, codes=False))


def choose_product(
    table: Any,
    *,
    name: str = "table",
    leave_out: bool = True,
    structure: bool = True,
    warned: bool = False,
) -> Product:
    """Return the choice for a table as a `Product`, whatever its columns; see `choose`.

    With `warned`, a warning names the columns that are left out.
    """
    judged = _judged(table, name, leave_out)
    notes = {one.column: one.reason for one in judged.columns}
    product = Product(judged.parts(name, structure), notes=notes)
    if warned:
        warn_of_unused(judged.columns)
    return product


def judge_columns(
    table: Any, *, name: str = "table", leave_out: bool = True
) -> tuple[ColumnChoice, ...]:
    """Return what each column of a table is taken for, and why; see `choose`."""
    return _judged(table, name, leave_out).columns


def explain_columns(likelihood: Likelihood, columns: Sequence[ColumnChoice]) -> list[str]:
    """Return a line per column: its likelihood and why, or why it is left out."""
    used = tuple(one.column for one in columns if one.kind != LEFT_OUT)
    parts = likelihood.parts if isinstance(likelihood, Product) else {used: likelihood}
    return explained(parts, {one.column: one.reason for one in columns})


def warn_of_unused(columns: Sequence[ColumnChoice]) -> None:
    """Warn of the columns that are left out."""
    unused = ", ".join(f"{one.column!r} ({one.reason})" for one in columns if one.kind == LEFT_OUT)
    if unused:
        warn(f"columns left out: {unused}", UserWarning)


def for_numbers(width: int, rows: int, *, alone: bool = True) -> Likelihood:
    """Return the likelihood for columns of numbers: the one place where it is chosen.

    Parameters
    ----------
    width, rows : int
        How many columns and rows there are.
    alone : bool
        Whether there are no other columns, and the structure may be left open.

    Examples
    --------
    >>> for_numbers(3, 100)
    AutoGaussian()
    """
    if alone:
        return AutoGaussian()
    if width > MOST_TOGETHER or (rows <= width * (width + 1) // 2 and width > 1):
        return DiagonalGaussian()
    return Gaussian()


# --- from the columns to a likelihood


@dataclass(frozen=True, eq=False)
class _Judged:
    """A table's columns: what they are taken for, and what was read of them."""

    columns: tuple[ColumnChoice, ...]
    judgements: tuple[Judgement, ...]
    rows: int

    @property
    def complete(self) -> bool:
        """Whether no entry of the columns of numbers is missing."""
        return all(one.complete for one in self.judgements if one.kind == NUMBERS)

    def parts(self, name: str, structure: bool) -> dict[Any, Likelihood]:
        """Return a likelihood for each kind of column."""
        kinds = (BINARY, CATEGORIES, COUNTS, SPREAD_COUNTS, NUMBERS)
        keys = {kind: labels for kind in kinds if (labels := _of_kind(self.columns, kind))}
        if not self.columns:
            raise ValueError(f"{name} is empty; it needs at least one row and one column")
        if not keys:
            reasons = "; ".join(f"{one.column!r}: {one.reason}" for one in self.columns)
            raise ValueError(f"{name} has no column that could be used ({shown(reasons)})")
        likelihoods: dict[str, Likelihood] = {
            BINARY: Bernoulli(),
            CATEGORIES: Categorical(),
            COUNTS: Poisson(),
            SPREAD_COUNTS: NegativeBinomial(),
            NUMBERS: for_numbers(
                len(keys.get(NUMBERS, [])),
                self.rows,
                alone=structure and list(keys) == [NUMBERS],
            ),
        }
        return {_key(labels): likelihoods[kind] for kind, labels in keys.items()}

    def bare(self, table: Any) -> bool:
        """Tell whether a likelihood can read the table itself, without a `Product`."""
        if any(one.kind == LEFT_OUT or one.notation for one in self.judgements):
            return False
        if not any(one.kind in (BINARY, CATEGORIES) for one in self.judgements):
            return True
        known = map(learn_categories, table_columns(table))
        return all(categories in (None, (False, True)) for categories in known)


def _judged(table: Any, name: str, leave_out: bool) -> _Judged:
    """Return what each column of a table is taken for."""
    if not is_table(table):
        raise TypeError(f"{name} must be a pandas or polars table, got {shown(table)}")
    columns = table_columns(table)
    labels = [plain_label(label) for label in table.columns]
    judged = [
        judge(column, label, f"column {label!r} of {name}", leave_out=leave_out)
        for label, column in zip(labels, columns, strict=True)
    ]
    _warn_if_transposed(len(table), columns, judged, name)
    if leave_out:
        for k, (first, how) in duplicates(columns, judged).items():
            what = (
                f"{labels[first]!r} {how}"
                if how == "in other words"
                else f"{how} {labels[first]!r}"
            )
            judged[k] = replace(judged[k], kind=LEFT_OUT, reason=what)
    told = [
        ColumnChoice(label, one.kind, one.reason) for label, one in zip(labels, judged, strict=True)
    ]
    return _Judged(tuple(told), tuple(judged), len(table))


def _warn_if_transposed(
    rows: int, columns: Sequence[Any], judged: Sequence[Judgement], name: str
) -> None:
    """Warn of a table with many more columns than rows that begins with names."""
    if rows < 2 or len(columns) <= max(TRANSPOSED * rows, 20):
        return
    first = columns[0].to_numpy().tolist()
    names = all(isinstance(value, str) for value in first) and len(set(first)) == rows
    numbers = [one.numbers for one in judged[1:] if one.numbers is not None]
    all_numbers = all(one.numbers is not None or one.kind == LEFT_OUT for one in judged[1:])
    if names and all_numbers and numbers and _rows_differ(np.column_stack(numbers)):
        warn(
            f"{name} has {rows:,} rows and {len(columns):,} columns, the first of them names, and "
            "each row is on a scale of its own. Are the columns your items? Rows are clustered: "
            "if so, transpose the table",
            UserWarning,
        )


def _rows_differ(values: FloatArray) -> bool:
    """Tell whether most of the variance is between rows, as if each were a variable.

    Where rows are items, of very many measurements for example, they are much alike and columns
    differ; or somebody has taken the means from the columns.
    """
    if np.isnan(values).any():
        values = np.where(np.isnan(values), np.nanmean(values), values)
    if np.all(np.abs(values.mean(axis=0)) <= 1e-6 * values.std()):
        return False
    return bool(values.mean(axis=1).var() > 0.5 * values.var())


def _of_kind(columns: Sequence[ColumnChoice], kind: str) -> list[Any]:
    return [one.column for one in columns if one.kind == kind]


def _key(labels: Sequence[Any]) -> Any:
    return labels[0] if len(labels) == 1 else tuple(labels)


def _why(likelihood: Likelihood, judged: _Judged, *, codes: bool) -> str:
    """Return in a few words why a likelihood, or one for each kind of columns, was chosen."""
    columns = judged.columns
    order = (CATEGORIES, BINARY, COUNTS, SPREAD_COUNTS, NUMBERS)
    kinds = [kind for kind in order if _of_kind(columns, kind)]
    words = [f"{kind} columns" if kind == BINARY else kind for kind in kinds]
    width = len(_of_kind(columns, kinds[0]))
    if len(kinds) > 1:
        return f"the table mixes {', '.join(words[:-1])} and {words[-1]}"
    if kinds == [BINARY]:
        return "all entries are 0 or 1" if codes else "all columns are yes or no"
    if kinds != [NUMBERS]:
        return f"all columns are {kinds[0]}"
    if width > MOST_TOGETHER and not likelihood.is_open:
        return f"there are {width:,} columns of numbers, more than {MOST_TOGETHER}"
    if not likelihood.draws_missing:
        return f"{judged.rows:,} rows are few for the covariances of {width} columns of numbers"
    told = "there is one column of numbers" if width == 1 else f"all {width} columns are numbers"
    return told if judged.complete else f"{told}, and it takes missing entries"
