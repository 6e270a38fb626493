"""A user's functions, compiled by numba: over all rows at once, or as C functions for the core.

Exceptions cannot leave a C function (numba prints them and returns 0), so each is caught inside
and told by the value returned. Indices are checked. Arrays that a function only reads are
read-only in its types, so that one which writes to them is refused when it is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

__all__ = ["CompiledFamily", "compiled_family", "plain_function"]


class CompiledFamily(NamedTuple):
    """What the core needs of a family; keeping it keeps the functions alive."""

    accumulate: Callable[..., None]  # (X, statistics), row by row
    row_constants: Callable[..., None] | None  # (X, values), row by row
    log_marginal: Any  # C functions, by their `address`
    log_predictive: Any
    log_density: Any


def plain_function(function: Any) -> Any:
    """Return the Python function inside one that numba has compiled already."""
    return getattr(function, "py_func", function)


def _numba() -> Any:
    try:
        import numba
    except ImportError:
        raise ImportError(
            "a family of your own is compiled by numba, which is not installed: "
            "pip install 'mixwood[numba]'"
        ) from None
    return numba


def _compiled(name: str, function: Callable[..., Any], signature: Any) -> Any:
    """Return a function compiled for one signature, or raise with numba's reason in one line."""
    numba = _numba()
    try:
        return numba.njit(signature, boundscheck=True)(function)
    except (numba.core.errors.NumbaError, TypeError) as error:
        raise TypeError(f"{name} cannot be compiled by numba: {_reason(str(error))}") from error


def _reason(message: str) -> str:
    """Return the first line that says what is wrong, and where."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in message.splitlines()]
    said = [line for line in lines if line and not line.startswith("Failed in nopython mode")]
    said = [line for line in said if "Cannot modify readonly array" in line] + said
    place = next((line for line in said if line.startswith("File ")), "")
    return (said[0] if said else message) + (f" ({place})" if place and place != said[0] else "")


def compiled_family(
    accumulate: Callable[..., Any],
    log_marginal: Callable[..., Any],
    row_constant: Callable[..., Any] | None,
    log_predictive: Callable[..., Any] | None,
    log_density: Callable[..., Any] | None,
) -> CompiledFamily:
    """Return the compiled forms of a family's functions; each is compiled once in a process.

    Parameters
    ----------
    accumulate, log_marginal, row_constant, log_predictive, log_density : functions
        As `mixwood.conjugate_family` takes them.
    """
    return CompiledFamily(
        _over_rows(accumulate),
        None if row_constant is None else _values_over_rows(row_constant),
        _c_marginal(log_marginal),
        None if log_predictive is None else _c_predictive(log_predictive),
        None if log_density is None else _c_density(log_density),
    )


def _read() -> Any:
    """Return the type of an array that is only read."""
    t = _numba().types
    return t.Array(t.float64, 1, "C", readonly=True)


@lru_cache(maxsize=64)
def _over_rows(function: Any) -> Any:
    numba = _numba()
    t = numba.types
    accumulate = _compiled("accumulate", function, t.void(_read(), t.float64[::1]))

    @numba.njit(t.void(t.Array(t.float64, 2, "C", readonly=True), t.float64[:, ::1]))
    def over_rows(X, statistics):  # type: ignore[no-untyped-def]
        for i in range(X.shape[0]):
            accumulate(X[i], statistics[i])

    return over_rows


@lru_cache(maxsize=64)
def _values_over_rows(function: Any) -> Any:
    numba = _numba()
    t = numba.types
    constant = _compiled("row_constant", function, t.float64(_read()))

    @numba.njit(t.void(t.Array(t.float64, 2, "C", readonly=True), t.float64[::1]))
    def over_rows(X, values):  # type: ignore[no-untyped-def]
        for i in range(X.shape[0]):
            values[i] = constant(X[i])

    return over_rows


@lru_cache(maxsize=64)
def _c_marginal(function: Any) -> Any:
    numba = _numba()
    t, carray = numba.types, numba.carray
    signature = t.float64(t.float64, _read(), _read())
    marginal = _compiled("log_marginal", function, signature)
    doubles = t.CPointer(t.float64)

    @numba.cfunc(t.int64(t.float64, doubles, t.int64, doubles, t.int64, doubles))
    def log_marginal(n, statistic, size, parameters, count, value):  # type: ignore[no-untyped-def]
        try:
            value[0] = marginal(n, carray(statistic, (size,)), carray(parameters, (count,)))
        except Exception:
            return 1
        return 0

    return log_marginal


@lru_cache(maxsize=64)
def _c_predictive(function: Any) -> Any:
    numba = _numba()
    t, carray = numba.types, numba.carray
    signature = t.float64(_read(), t.float64, _read(), _read())
    predictive = _compiled("log_predictive", function, signature)
    doubles = t.CPointer(t.float64)

    @numba.cfunc(t.int64(doubles, t.int64, t.float64, doubles, t.int64, doubles, t.int64, doubles))
    def log_predictive(x, width, n, statistic, size, parameters, count, value):  # type: ignore[no-untyped-def]
        try:
            value[0] = predictive(
                carray(x, (width,)), n, carray(statistic, (size,)), carray(parameters, (count,))
            )
        except Exception:
            return 1
        return 0

    return log_predictive


@lru_cache(maxsize=64)
def _c_density(function: Any) -> Any:
    numba = _numba()
    t, carray = numba.types, numba.carray
    density = _compiled("log_density", function, t.float64(_read(), _read(), _read()))
    doubles = t.CPointer(t.float64)

    @numba.cfunc(t.int64(doubles, t.int64, doubles, t.int64, doubles, t.int64, doubles))
    def log_density(x, width, drawn, size, parameters, count, value):  # type: ignore[no-untyped-def]
        try:
            value[0] = density(
                carray(x, (width,)), carray(drawn, (size,)), carray(parameters, (count,))
            )
        except Exception:
            return 1
        return 0

    return log_density
