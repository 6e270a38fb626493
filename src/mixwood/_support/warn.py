"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]

#: Whose lines are passed over: ours, and scikit-learn's, whose `fit_predict` calls our `fit`.
_PASSED_OVER = ("mixwood", "sklearn")


def warn(message: str, category: type[Warning]) -> None:
    """Warn, at the first line up the stack that is not the package's own.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("that is odd", UserWarning)
    >>> print(caught[0].message)
    that is odd
    """
    # From 3.12 on the argument skip_file_prefixes could do this.
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in _PASSED_OVER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__")).partition(".")[0]
