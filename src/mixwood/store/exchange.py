"""Two folders exchange their names in one step, where the system can do that."""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["exchange"]

_HERE = -100  # AT_FDCWD: paths are relative to the working folder
_EXCHANGE = 2  # RENAME_EXCHANGE
#: What kernels and file systems answer that do not know how.
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def exchange(one: Path, other: Path) -> bool:
    """Let two names change what they stand for; False, and nothing done, where that cannot be.

    Linux has this since 3.15, on most file systems; Python has no function for it.

    Raises
    ------
    OSError
        If it fails although the system can do it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     one, other = Path(place, "one"), Path(place, "other")
    ...     (one / "mine").mkdir(parents=True)
    ...     other.mkdir()
    ...     exchange(one, other) == (other / "mine").exists()
    True
    """
    try:
        import ctypes

        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, AttributeError):  # not Linux, or an old C library
        return False
    if renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNKNOWN:
        return False
    raise OSError(code, os.strerror(code), str(one), None, str(other))
