"""The package as a whole: what importing costs, what is exported, whether stubs are in date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mixwood as mw


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_importing_is_light_and_silent():
    heavy = (
        "arviz",
        "matplotlib",
        "pandas",
        "scipy",
        "sklearn",
        "xarray",
        "zarr",
        "joblib",
        "numba",
    )
    loaded = run(f"import mixwood, sys; print([m for m in {heavy!r} if m in sys.modules])")
    assert loaded == "[]"


def test_everything_named_is_there():
    assert run("from mixwood import *; print(len(dir()) > 20)") == "True"
    for name in mw.__all__:
        assert getattr(mw, name) is not None
    assert set(mw.__all__) <= set(dir(mw))
    with pytest.raises(AttributeError, match="nonsense"):
        mw.nonsense  # noqa: B018


def test_functions_stay_functions_whatever_is_imported_first():
    code = "import mixwood.sampling.sample, mixwood as mw; print(callable(mw.sample))"
    assert run(code) == "True"
    assert run("import mixwood as mw; mw.simulate; print(callable(mw.simulate))") == "True"


def test_generated_stubs_are_in_date(tmp_path):
    """`make stubs` writes src/mixwood/_core.pyi; what is installed must say the same."""
    new = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "mixwood._core", "-o", new],
        check=True,
    )
    installed = Path(mw.__file__).with_name("_core.pyi")
    assert installed.read_text() == new.read_text()


def test_typed_marker_is_installed():
    assert Path(mw.__file__).with_name("py.typed").exists()


def test_the_version_is_the_distribution_s():
    from importlib.metadata import version

    assert mw.__version__ == version("mixwood")
