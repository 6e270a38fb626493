"""The table of a point estimate's clusters: size, certainty, what sets each apart, parameters."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood._support.checks import shown
from mixwood.likelihoods.base import Column
from mixwood.posterior.cluster_summary import ParameterEstimate, parameter_estimates, parted
from mixwood.posterior.contrasts import contrasts
from mixwood.posterior.markers import markers_from, markers_in_words
from mixwood.posterior.membership import certainty

if TYPE_CHECKING:
    from mixwood._support.types import FloatArray, IntArray
    from mixwood.likelihoods.base import Parameters
    from mixwood.posterior.draws import Draws

__all__ = ["column_names", "describe"]

#: How many words say what a cluster is about.
_TOP_WORDS = 8
#: How many markers are named, how probable they are, and from how many draws.
_MOST_MARKERS, _SURE, _MOST_DRAWS = 4, 0.9, 200


def describe(
    draws: Draws, estimate: IntArray, *, words: Any, level: float, seed: Any, n_draws: int
) -> Any:
    """Return a table with one row per cluster; see `Posterior.describe`."""
    names = column_names(draws, words)
    likelihood = draws.resolved
    estimates = (
        parameter_estimates(
            draws, estimate, level=level, seed=seed, n_draws=n_draws, transform=_shown_parameters
        )
        if likelihood.draws_parameters
        else {}
    )
    pandas = importlib.import_module("pandas")  # only now: heavy; and it has no types to check
    rows = np.bincount(estimate, draws.item_sizes)
    sizes = np.rint(rows).astype(np.int64)
    sure = np.bincount(estimate, draws.item_sizes * certainty(draws, estimate)) / rows
    compared = contrasts(draws, estimate, names, seed=seed, n_draws=min(n_draws, _MOST_DRAWS))
    table: dict[str, Any] = {"size": sizes, "certainty": sure.round(4)}
    others = [contrast for contrast in compared if contrast.kind != "word"]
    if others:
        found = markers_from(others, len(sizes), _MOST_MARKERS, _SURE)
        table["markers"] = [markers_in_words(markers) for markers in found]
    groups = likelihood.described_columns(names)
    for key, value in estimates.items():
        prefix, name = parted(key)
        columns = groups[prefix]
        if name == "df":  # of all clusters: in the summary
            continue
        if name == "words":
            distinct = next(c.effect for c in compared if c.kind == "word")
            table |= _word_columns(value, distinct, columns, prefix)
        elif name == "categories":
            table |= _category_columns(value, columns)
        elif name == "parameters":
            table |= _own_columns(value, columns, prefix)
        else:
            table |= _number_columns(value, columns, name)
    if not likelihood.draws_parameters:
        table |= _data_means(draws, estimate, names)
    index = pandas.RangeIndex(len(table["size"]), name="cluster")
    return pandas.DataFrame(table, index=index)


def _shown_parameters(parameters: Parameters) -> Parameters:
    """Return what a table shows: standard deviations instead of covariances, one per column."""
    result = {}
    for key, values in parameters.items():
        prefix, name = parted(key)
        if name == "covariance":
            result[f"{prefix}sd"] = np.sqrt(np.diagonal(values, axis1=1, axis2=2))
        elif name == "variance":
            spread = np.sqrt(values if values.ndim == 2 else values[:, None])
            result[f"{prefix}sd"] = np.broadcast_to(spread, parameters[f"{prefix}mean"].shape)
        elif name == "size" and f"{prefix}rate" in parameters:
            rate = parameters[f"{prefix}rate"]
            result[f"{prefix}sd"] = np.sqrt(rate * (1 + rate / values))
        elif name == "probabilities":
            result[prefix + ("words" if values.ndim == 2 else "categories")] = values
        else:
            result[key] = values
    return result


def _with_ends(name: str, value: ParameterEstimate, *place: Any) -> dict[str, Any]:
    """Return the mean of a parameter and the ends of its interval, as three columns."""
    ends = {"": value.mean, " low": value.lower, " high": value.upper}
    width = (value.upper - value.lower)[:, *place]
    return {f"{name}{end}": _rounded(values[:, *place], width) for end, values in ends.items()}


def _rounded(values: FloatArray, width: FloatArray) -> FloatArray:
    """Return values to as many digits as their uncertainty leaves: three of the interval's width.

    Examples
    --------
    >>> _rounded(np.array([1234.5678, 0.123456]), np.array([56.7, 0.0123])).tolist()
    [1234.6, 0.1235]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        places = 2 - np.floor(np.log10(width))
    return np.array(
        [
            round(float(value), int(digits)) if np.isfinite(digits) else float(value)
            for value, digits in zip(values, places, strict=True)
        ]
    )


def _number_columns(value: ParameterEstimate, columns: list[Column], name: str) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for j, (column, known) in enumerate(columns):
        # of truth values and the like, the probability of the second
        title = column if known is None or len(known) < 2 else f"{column} = {known[1]}"
        table |= _with_ends(f"{title} {name}", value, j)
    return table


def _own_columns(value: ParameterEstimate, columns: list[Column], prefix: str) -> dict[str, Any]:
    """Return the parameters of a user's family, which may not have named them."""
    count = value.mean.shape[1]
    titles = [column.name for column in columns] or [f"parameter {j}" for j in range(count)]
    table: dict[str, Any] = {}
    for j, title in enumerate(titles):
        table |= _with_ends(f"{prefix}{title}", value, j)
    return table


def _data_means(draws: Draws, estimate: IntArray, names: Sequence[str]) -> dict[str, Any]:
    """Return the mean of every column of numbers, where parameters cannot be drawn."""
    rows = draws.data_for("describe")
    if not isinstance(rows, np.ndarray):  # leaves have no rows
        return {}
    known = [
        column for group in draws.resolved.described_columns(names).values() for column in group
    ]
    categorical = {column.name for column in known if column.categories is not None}
    return {
        f"{name} mean": [
            float(np.nanmean(rows[estimate == k, j])) for k in range(estimate.max() + 1)
        ]
        for j, name in enumerate(names)
        if name not in categorical
    }


def _word_columns(
    value: ParameterEstimate, distinct: FloatArray, columns: list[Column], prefix: str
) -> dict[str, Any]:
    """Return the most distinctive words of each cluster, and the probability of the first.

    Of a single cluster, the most probable ones.
    """
    rank = value.mean if len(distinct) == 1 else distinct
    order = np.argsort(-rank, axis=1, kind="stable")[:, :_TOP_WORDS]
    rows = np.arange(len(order))
    first = ParameterEstimate(*(values[rows, order[:, 0]][:, None] for values in value))
    words = [", ".join(columns[v].name for v in row) for row in order]
    return {f"{prefix}words": words} | _with_ends(f"{prefix}first word probability", first, 0)


def _category_columns(value: ParameterEstimate, columns: list[Column]) -> dict[str, Any]:
    """Return the most probable category of each column, and its probability."""
    table: dict[str, Any] = {}
    for j, column in enumerate(columns):
        mode = value.mean[:, j].argmax(axis=1)
        rows = np.arange(len(mode))
        table[f"{column.name} mode"] = (
            mode if column.categories is None else [column.categories[code] for code in mode]
        )
        likeliest = ParameterEstimate(*(values[rows, j, mode][:, None] for values in value))
        table |= _with_ends(f"{column.name} probability", likeliest, 0)
    return table


def column_names(draws: Draws, words: Any) -> Sequence[str]:
    """Return the names of the columns: the user's `words`, or those of the data."""
    width = draws.data_for("describe").shape[1]
    if words is None:
        return draws.column_names
    try:
        names = None if isinstance(words, str) else [str(word) for word in words]
    except Exception:  # it is nothing to go through
        names = None
    if names is None or len(names) != width:
        raise ValueError(f"words must be {width} names, one per column of X, got {shown(words)}")
    return names
