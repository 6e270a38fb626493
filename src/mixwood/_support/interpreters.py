"""The interpreter that runs the package: the main one, or it would wait for itself forever."""

from __future__ import annotations

from importlib import import_module

__all__ = ["refuse_subinterpreters"]


def refuse_subinterpreters() -> None:
    """Raise an ImportError in any interpreter of the process but the first.

    The compiled core takes the lock of Python back through the main interpreter, as nanobind
    and numpy do; in another one that never comes back.
    """
    for name in ("_interpreters", "_xxsubinterpreters"):  # from 3.13 on, and before
        try:
            module = import_module(name)
        except ImportError:
            continue
        if module.get_current() != module.get_main():
            raise ImportError(
                "mixwood works in the main interpreter only, and this is a subinterpreter; use "
                "threads or processes (for mod_wsgi: WSGIApplicationGroup %{GLOBAL})"
            )
        return
