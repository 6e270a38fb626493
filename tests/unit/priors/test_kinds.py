"""Priors are told apart in their own files: who names a concrete one, and what nobody may do."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mixwood
from mixwood.priors import PRIORS

SOURCE = Path(mixwood.__file__).parent
CONCRETE = {prior.__name__ for prior in PRIORS}

#: Each prior's own file, its twin's and its oracle's, with a registry each.
OWN = ("priors/", "reference/priors/", "testing/parameters/")
#: The only tables with a prior for a key.
REGISTRIES = {"reference/priors/__init__.py", "testing/parameters/__init__.py"}
#: Every other file that names one, and why. None of them asks which prior it was given.
NAMED = {
    "__init__.py": "exports",
    "cli/demo.py": "the model of the demonstration",
    "cli/fit.py": "the default priors",
    "datasets/__init__.py": "the prior from which the data set was simulated",
    "experiments/nips.py": "the model of the paper",
    "experiments/tenk.py": "the model of the paper",
    "experiments/toy.py": "the models of the paper",
    "model.py": "the default prior",
    "sklearn.py": "the default prior",
    "testing/groups.py": "a prior whose law is divided out again",
    "testing/joint.py": "the prior under which a base measure is tested alone",
    "testing/family_check.py": "the prior under which a family is checked",
}


def named(tree):
    """Return the priors that code names: as variables, attributes, imports or text."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found & CONCRETE


def told_apart(tree):
    """Return the lines that ask which prior it is: isinstance, match, comparisons, tables."""
    lines = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked = node.args[1:] if node.func.id in ("isinstance", "issubclass") else []
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            asked = [key for key in node.keys if key is not None]
        else:
            continue
        if any(named(part) for part in asked):
            lines.add(node.lineno)
    return lines


def sources():
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())


def test_few_files_name_a_prior():
    others = {name for name, tree in sources() if named(tree) and not name.startswith(OWN)}
    assert others == set(NAMED)


def test_a_prior_is_named_in_one_file_of_each_kind():
    """Beside the registry: in `priors`, in the twin and in the oracle."""
    for prior in CONCRETE:
        for folder in OWN:
            files = [n for n, tree in sources() if n.startswith(folder) and prior in named(tree)]
            assert len(files) == 2, (prior, files)
            assert f"{folder}__init__.py" in files


def test_nobody_tells_priors_apart():
    found = {name: told_apart(tree) for name, tree in sources()}
    assert {name for name, lines in found.items() if lines} == REGISTRIES
    assert all(len(found[name]) == 1 for name in REGISTRIES)


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(prior, PitmanYor)",
        "isinstance(prior, (mw.NGGP, mw.PitmanYor))",
        "isinstance(prior, NGGP | PitmanYor)",
        "issubclass(type(prior), priors.DirichletProcess)",
        "type(prior) is NGGP",
        "type(prior).__name__ == 'NGGP'",
        "type(prior) in (NGGP, PitmanYor)",
        "table = {NGGP: 1}",
        "table = {'PitmanYor': 1}",
        "match prior:\n    case mw.PitmanYor(theta=1.0):\n        pass",
    ],
)
def test_what_would_be_found(code):
    assert told_apart(ast.parse(code))


def test_what_is_allowed():
    assert not told_apart(ast.parse("isinstance(prior, Prior)\nMixture(Gaussian(), NGGP())"))
