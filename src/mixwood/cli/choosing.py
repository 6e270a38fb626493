"""The likelihood that fits a file, if the user names none, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixwood import likelihoods
from mixwood.cli.messages import InputError
from mixwood.likelihoods.choose import choose, choose_product
from mixwood.readers.loaded import frame_of

if TYPE_CHECKING:
    from mixwood.likelihoods import Likelihood

__all__ = ["chosen", "named"]

#: Sparse numbers that are not counts are made dense up to this many entries.
_MOST_DENSE = 10**7


def named(
    name: str,
    values: Any,
    source: str,
    *,
    leave_out: bool,
    scale: str | None = None,
    columns: dict[str, str] | None = None,
) -> tuple[Any, Likelihood, str]:
    """Return the values, the likelihood that the user named, and that as the reason.

    `columns` are those with a part of their own in it, by the argument that names them.
    """
    kind = getattr(likelihoods, name)
    for argument in columns or {}:
        if argument not in kind().get_params(deep=False):
            takers = [one for one in likelihoods.LIKELIHOODS if argument in vars(one)]
            typed = ", ".join(one.__name__ for one in takers)
            raise InputError(f"--{argument} is for --likelihood {typed}; {name} has none")
    if not kind.reads_tables:
        return values, _scaled(kind(**(columns or {})), scale), "as asked for"
    if not hasattr(values, "columns"):
        raise InputError(f"--likelihood {name} is for tables; sparse counts take Multinomial")
    product = choose_product(values, name=source, leave_out=leave_out, structure=_learned(scale))
    return values, _scaled(product, scale), "as asked for"


def chosen(
    values: Any, source: str, *, leave_out: bool, scale: str | None = None
) -> tuple[Any, Likelihood, str]:
    """Return the values as the likelihood takes them, the likelihood, and why it was chosen."""
    if not hasattr(values, "columns"):
        return _chosen_for_sparse(values, source, scale)
    choice = choose(values, name=source, leave_out=leave_out, structure=_learned(scale))
    return values, _scaled(choice.likelihood, scale), choice.why


def _learned(scale: str | None) -> bool:
    """Tell whether the scale is learned: only then can structures be compared."""
    return scale in (None, "learn")


def _scaled(likelihood: Likelihood, scale: str | None) -> Likelihood:
    """Return the likelihood with the scale that the user named, if any."""
    if scale is None:
        return likelihood
    try:
        return likelihood.with_scale(scale)
    except ValueError as error:
        raise InputError(f"--scale {scale}: {error}") from None


def _chosen_for_sparse(values: Any, source: str, scale: str | None) -> tuple[Any, Likelihood, str]:
    entries = values.data
    if (
        np.all(np.isfinite(entries))
        and np.all(entries >= 0)
        and np.all(entries == np.round(entries))
    ):
        return values, _scaled(likelihoods.Multinomial(), scale), "the entries are sparse counts"
    if values.shape[0] * values.shape[1] > _MOST_DENSE:
        raise InputError(
            f"{source}: sparse entries must be counts (0, 1, 2, ...), and these are not; "
            f"as a dense table of {values.shape[0]:,} x {values.shape[1]:,} they would be too large"
        )
    return chosen(frame_of(values.toarray(), source), source, leave_out=False, scale=scale)
