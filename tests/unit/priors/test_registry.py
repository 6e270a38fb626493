"""One registry of priors, from which the others follow."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import mixwood as mw
from mixwood import priors
from mixwood.cli import names
from mixwood.priors import PRIORS, Prior
from mixwood.reference.priors import _TWINS
from mixwood.store.json_codec import CLASSES
from mixwood.testing.parameters import _LAWS


def test_every_prior_in_the_folder_is_registered():
    found = set()
    for module in pkgutil.iter_modules(priors.__path__, "mixwood.priors."):
        for value in vars(importlib.import_module(module.name)).values():
            if (
                inspect.isclass(value)
                and issubclass(value, Prior)
                and not inspect.isabstract(value)
            ):
                found.add(value)
    assert found == set(PRIORS)


def test_all_are_exported():
    names_of_priors = {prior.__name__ for prior in PRIORS}
    assert {n for n in mw.__all__ if inspect.isclass(getattr(mw, n)) and _is_prior(n)} == (
        names_of_priors
    )
    assert names_of_priors < set(priors.__all__)


def _is_prior(name):
    return issubclass(getattr(mw, name), Prior)


def test_files_may_name_all():
    assert set(CLASSES["priors"]) == {prior.__name__ for prior in PRIORS}


def test_the_command_line_knows_all():
    assert names.PRIORS == {
        "nggp": "NGGP",
        "dirichlet-process": "DirichletProcess",
        "dp": "DirichletProcess",
        "normalized-inverse-gaussian": "NormalizedInverseGaussian",
        "nig": "NormalizedInverseGaussian",
        "pitman-yor": "PitmanYor",
        "py": "PitmanYor",
        "finite-mixture": "FiniteMixture",
        "finite": "FiniteMixture",
        "mfm": "FiniteMixture",
    }
    assert next(iter(names.PRIORS)) == "nggp"  # the default
    assert set(names.PRIORS.values()) == {prior.__name__ for prior in PRIORS}


def test_all_have_a_twin_and_an_oracle():
    assert set(_TWINS) == set(_LAWS) == set(PRIORS)


def test_no_two_have_the_same_name():
    typed = [name for prior in PRIORS for name in (prior.__name__.lower(), *prior.aliases)]
    assert len(set(typed)) == len(typed)
