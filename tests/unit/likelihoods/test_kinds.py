"""A likelihood answers for itself: nothing outside asks which one it is, and one list names all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import mixwood as mw
from mixwood.cli.names import LIKELIHOODS as TYPED
from mixwood.likelihoods import LIKELIHOODS, AutoGaussian, CustomFamily
from mixwood.reference.families.registry import _TWINS
from mixwood.store.json_codec import decode, encode

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "src" / "mixwood"
NAMES = {kind.__name__ for kind in (*LIKELIHOODS, AutoGaussian, CustomFamily)}

#: Where kinds may be told apart, and why.
ALLOWED = {
    "likelihoods/": "a likelihood may know itself, and the rule book names those it chooses",
    "reference/families/registry.py": "the twin of each",
}


def _named(node: ast.AST) -> set[str]:
    """Return the likelihoods among the names of an expression: a class, or a tuple of some."""
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    names = {getattr(part, "id", getattr(part, "attr", "")) for part in parts}
    return names & NAMES


def told_apart(source: str) -> Iterator[int]:
    """Yield the lines that ask which likelihood something is."""
    for node in ast.walk(ast.parse(source)):
        asked: set[str] = set()
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "isinstance",
            "issubclass",
        ):
            asked = _named(node.args[1])
        elif isinstance(node, ast.MatchClass):
            asked = _named(node.cls)
        elif isinstance(node, ast.Dict):
            asked = {name for key in node.keys if key is not None for name in _named(key)}
        elif isinstance(node, ast.Compare):
            asked = {name for side in (node.left, *node.comparators) for name in _named(side)}
        if asked:
            yield node.lineno


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(x, Gaussian)",
        "isinstance(x, (int, likelihoods.Poisson))",
        "issubclass(x, mw.Product)",
        "match x:\n    case Categorical():\n        pass",
        "{Multinomial: 1}[type(x)]",
        "type(x) is Bernoulli",
        "type(x) in (Gaussian, CustomFamily)",
    ],
)
def test_the_search_finds_every_way_to_ask(code):
    assert list(told_apart(code))


def test_the_search_leaves_other_code_alone():
    assert not list(told_apart("x = Gaussian(); isinstance(x, Likelihood); {'Gaussian': 1}"))


def test_nothing_outside_asks_which_likelihood_it_is():
    found = [
        f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        if not str(file.relative_to(SOURCE)).startswith(tuple(ALLOWED))
        for line in told_apart(file.read_text(encoding="utf-8"))
    ]
    assert not found, f"let the likelihood say it (likelihoods/base.py): {', '.join(found)}"


def test_the_registry_is_all_there_is():
    """Likewise what users import, the twins, the codec, the command line and the manual."""
    concrete = {
        value
        for value in vars(mw.likelihoods).values()
        if isinstance(value, type) and issubclass(value, mw.Likelihood)
    }
    assert concrete == {*LIKELIHOODS, AutoGaussian, CustomFamily, mw.Likelihood}
    assert set(_TWINS) == {*LIKELIHOODS, CustomFamily}
    assert set(TYPED.values()) == {"AutoGaussian"} | {kind.__name__ for kind in LIKELIHOODS}
    manual = (ROOT / "docs" / "api" / "likelihoods.md").read_text(encoding="utf-8").split()
    for kind in LIKELIHOODS:
        assert getattr(mw, kind.__name__) is kind
        assert kind.__name__ in mw.__all__
        assert any(word.split("(")[0] == kind.__name__ for word in manual)


@pytest.mark.parametrize("kind", [*LIKELIHOODS, AutoGaussian])
def test_every_one_of_them_can_be_saved(kind):
    likelihood = kind({"x": mw.Gaussian()}) if kind.reads_tables else kind()
    assert decode(encode(likelihood, apart := []), apart) == likelihood


def test_only_one_of_them_stands_for_others():
    """It is the default of a mixture, has no twin, and cannot be bound before data decide."""
    ones = [kind({0: mw.Gaussian()}) if kind.reads_tables else kind() for kind in LIKELIHOODS]
    assert [one for one in (*ones, AutoGaussian()) if one.is_open] == [AutoGaussian()]
    assert mw.Product({0: AutoGaussian()}).is_open  # through its part
    assert mw.Mixture().likelihood == AutoGaussian() == mw.Mixture("auto").likelihood
    for one in AutoGaussian().candidates(np.eye(3)):
        assert AutoGaussian().stands_for(one)
        assert not one.is_open
    assert not AutoGaussian().stands_for(mw.Poisson())
    with pytest.raises(TypeError, match="stands for others"):
        AutoGaussian().bind(np.eye(3))


def test_what_they_say_of_themselves(family_case):
    likelihood, X = family_case(12)
    resolved, data = likelihood.fitted_to(X)
    assert resolved.sparse_statistics == (not isinstance(data, np.ndarray))
    assert likelihood.reads_sparse == resolved.sparse_statistics
    assert len(resolved.nominal_columns(resolved.width)) == resolved.width
    empty = resolved.no_rows(resolved.width)
    assert type(empty) is type(data)
    assert empty.shape == (0, resolved.width)
    if likelihood.reads_counts:
        with pytest.raises(ValueError, match="negative"):
            likelihood.check(-np.ones((2, resolved.width)))
