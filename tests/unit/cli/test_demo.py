"""The commands, driven as a user would."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

from matplotlib.image import imread
from typer.testing import CliRunner

import mixwood as mw
from mixwood.cli import app

runner = CliRunner()


def test_version():
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output.strip() == f"mixwood {importlib.metadata.version('mixwood')}"


def test_help_names_the_commands():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_demo_leaves_a_posterior_and_a_picture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("mixwood-demo", "mixwood-demo-2"):
        result = runner.invoke(app, ["demo", "--draws", "20"])
        assert result.exit_code == 0, result.output
        assert folder in result.output
        assert "Number of clusters" in result.output
        picture = imread(Path(folder) / "overview.png")
        assert picture.shape[0] > 500
        assert picture[..., :3].std() > 0.01
        assert mw.load(folder).labels.shape == (4, 20, 1300)


def test_the_command_is_installed():
    command = Path(sys.executable).parent / "mixwood"
    if not command.exists():
        command = Path(sys.executable).parent / "mixwood.exe"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("mixwood ")
