"""A small table in a file, and the commands driven within this process."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from mixwood.cli import app
from mixwood.testing import seed_of


@pytest.fixture
def quick():
    """Options of a run that is over at once."""
    return ["--draws", "20", "--warmup", "10", "--chains", "2", "--seed", "1", "--jobs", "1"]


@pytest.fixture
def mixwood(tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder, as if it were typed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, **options):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)

    return run


@pytest.fixture(scope="session")
def trees():
    """A table of two numbers and the cluster that each row was drawn from."""
    rng = np.random.default_rng(seed_of("blobs"))
    kinds = np.repeat(["ash", "birch", "fir"], 12)
    centres = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 12, axis=0)
    points = centres + rng.normal(size=(36, 2))
    return pd.DataFrame({"x": points[:, 0], "y2": points[:, 1], "kind": kinds})


@pytest.fixture
def table(tmp_path, trees):
    """The same in a file."""
    path = tmp_path / "trees.csv"
    trees.to_csv(path, index=False)
    return path
