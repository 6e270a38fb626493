"""The examples of each page run in an empty folder of their own: they may write files."""

import pytest

collect_ignore_glob = ["*.py"]  # scripts of the pictures, without examples


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
