"""Sphinx: `make docs` builds the pages into docs/_build/html, without the network."""

import subprocess
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

project = "mixwood"
author = "The mixwood maintainers"
copyright = author
release = version = installed_version("mixwood")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "_made"]
myst_heading_anchors = 2  # links to page.md#heading
highlight_language = "none"  # formulas; examples with >>> are coloured all the same

# Docstrings write the names of objects in single backticks: link those that have a page.
default_role = "py:obj"
autodoc_typehints = "none"  # the types are in the text of the parameters
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the API pages say which members are shown

html_theme = "furo"
html_title = f"mixwood {version}"
html_static_path = ["_static", "_made"]
html_css_files = ["wide.css"]
html_copy_source = False


def setup(app):
    """Make the pictures; drop the blank line that doctest needs at the end of a block."""
    subprocess.run([sys.executable, Path(__file__).parent / "pictures" / "made.py"], check=True)

    def trim(_app, _name, source):
        source[0] = source[0].replace("\n\n```\n", "\n```\n")

    app.connect("source-read", trim)
