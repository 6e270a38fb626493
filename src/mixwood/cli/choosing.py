"""The likelihood that fits a file, if the user names none, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood.cli.messages import InputError

if TYPE_CHECKING:
    from mixwood.likelihoods import Likelihood

__all__ = ["choose", "named"]

#: Up to so many columns each cluster has a full covariance matrix of its own.
MOST_COLUMNS = 30
#: Sparse numbers that are no counts are made dense up to so many entries.
_MOST_DENSE = 10**7


def named(name: str, values: Any) -> tuple[Any, Likelihood, str]:
    """Return the values, the likelihood that the user named, and that as the reason."""
    import mixwood

    if name == "Product":
        return values, mixwood.Product.from_frame(_as_table(values)), "as asked for"
    return values, getattr(mixwood, name)(), "as asked for"


def _as_table(values: Any) -> Any:
    if not hasattr(values, "columns"):
        raise InputError("--likelihood product is for tables; sparse counts take multinomial")
    return values


def choose(values: Any, source: str) -> tuple[Any, Likelihood, str]:
    """Return the values as the likelihood takes them, the likelihood, and why it was chosen."""
    if hasattr(values, "columns"):
        return _choose_for_table(values)
    return _choose_for_sparse(values, source)


def _choose_for_sparse(values: Any, source: str) -> tuple[Any, Likelihood, str]:
    import mixwood
    from mixwood.readers.loaded import frame_of

    entries = values.data
    if (
        np.all(np.isfinite(entries))
        and np.all(entries >= 0)
        and np.all(entries == np.round(entries))
    ):
        return values, mixwood.Multinomial(), "the entries are sparse counts"
    if values.shape[0] * values.shape[1] > _MOST_DENSE:
        raise InputError(
            f"{source}: sparse entries must be counts (0, 1, 2, ...), and these are not; "
            f"as a dense table of {values.shape[0]:,} x {values.shape[1]:,} they would be too large"
        )
    return _choose_for_table(frame_of(values.toarray(), source))


def _choose_for_table(table: Any) -> tuple[Any, Likelihood, str]:
    import mixwood

    numeric = [column.dtype.kind in "biuf" for _, column in table.items()]
    binary = [_is_binary(column) for _, column in table.items()]
    width = table.shape[1]
    if all(binary):
        return table, mixwood.Bernoulli(), "all entries are 0 or 1"
    if not all(numeric) or any(binary):
        kinds = "text" if not all(numeric) else "yes-or-no columns"
        product = mixwood.Product.from_frame(table)
        return (
            table,
            product,
            f"the table mixes numbers and {kinds}" if any(numeric) else ("the columns are text"),
        )
    if table.isna().to_numpy().any():
        reason = "the columns are numbers, and entries are missing, which it integrates out"
        return table, mixwood.DiagonalGaussian(), reason
    if width > MOST_COLUMNS:
        reason = f"there are {width} columns of numbers, more than {MOST_COLUMNS}"
        return table, mixwood.DiagonalGaussian(), reason
    reason = "there is one column of numbers" if width == 1 else f"all {width} columns are numbers"
    return table, mixwood.Gaussian(), reason


def _is_binary(column: Any) -> bool:
    if column.dtype.kind not in "biuf":
        return False
    return bool(column.dropna().isin([0, 1]).all())
