"""`mixwood demo`, and the command as a whole."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

from matplotlib.image import imread

import mixwood as mw
from mixwood.cli.folder import free_folder


def test_version(mixwood):
    result = mixwood("--version")
    assert result.exit_code == 0
    assert result.output.strip() == f"mixwood {importlib.metadata.version('mixwood')}"


def test_help_names_the_commands(mixwood):
    result = mixwood("--help")
    assert result.exit_code == 0
    for command in ("fit", "resume", "report", "demo"):
        assert command in result.output
        assert mixwood(command, "-h").exit_code == 0


def test_demo_leaves_a_posterior_a_report_and_a_picture(mixwood):
    result = mixwood("demo", "--draws", "20")
    assert result.exit_code == 0, result.output
    assert "mixwood-demo" in result.output
    assert "with probability" in result.output
    folder = Path("mixwood-demo")
    picture = imread(folder / "overview.png")
    assert picture.shape[0] > 500
    assert picture[..., :3].std() > 0.01
    assert "the truth" in (folder / "report.html").read_text(encoding="utf-8")
    assert mw.load(folder).labels.shape == (4, 20, 1300)


def test_nothing_is_written_over(tmp_path):
    for name in ("demo", "demo-2", "demo-3"):
        folder = free_folder(tmp_path / "demo")
        assert folder == tmp_path / name
        folder.mkdir()


def test_the_command_is_installed():
    command = Path(sys.executable).parent / "mixwood"
    command = command if command.exists() else command.with_suffix(".exe")
    for program in ([command], [sys.executable, "-m", "mixwood"]):
        done = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("mixwood ")
