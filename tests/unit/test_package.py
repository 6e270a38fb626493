"""The package as a whole: what importing costs, what is exported, whether stubs are in date."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mixwood as mw


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
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


SUBINTERPRETER = """
import sys
try:
    import _interpreters as interpreters
    made = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    made = interpreters.create()
code = f'''
import sys
sys.path[:] = {sys.path!r}
try:
    import mixwood
except ImportError as error:
    print(error, flush=True)
'''
interpreters.run_string(made, code)
"""


def test_a_subinterpreter_is_refused_and_does_not_hang():
    pytest.importorskip("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    assert "works in the main interpreter only" in run(SUBINTERPRETER)


def test_everything_named_is_there():
    assert run("from mixwood import *; print(len(dir()) > 20)") == "True"
    for name in mw.__all__:
        assert getattr(mw, name) is not None
    assert set(mw.__all__) <= set(dir(mw))
    with pytest.raises(AttributeError, match="nonsense"):
        mw.nonsense  # noqa: B018


def test_every_package_that_must_be_installed_is_imported():
    source = Path(__file__).parents[2]
    with (source / "pyproject.toml").open("rb") as file:
        needed = tomllib.load(file)["project"]["dependencies"]
    text = "\n".join(path.read_text("utf-8") for path in (source / "src").rglob("*.py"))
    for requirement in needed:
        name = re.split("[><=]", requirement)[0]
        imported = rf"^\s*(from|import) {name}\b|import_module\(.{name}.\)"
        assert re.search(imported, text, re.MULTILINE), name


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


def test_a_first_run_imports_no_more_than_it_needs():
    code = (
        "import sys, mixwood as mw\n"
        "X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]\n"
        "mw.sample(mw.Mixture(), X, draws=2, warmup=0, chains=1, seed=1)\n"
        "print({'joblib', 'pandas', 'rich'} & set(sys.modules))"
    )
    assert run(code) == "set()"
