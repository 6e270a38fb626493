"""Make the pictures that `make docs` shows and that need no data from elsewhere, into docs/_made.

The pictures of a page are those that its own examples save: the examples of NAME.md run in an
empty folder, and the pictures and reports they leave there become docs/_made/NAME/. Other pictures
have a script beside this one. What is newer than its page or script and the package stays as it is.

    python docs/pictures/made.py
"""

import contextlib
import doctest
import io
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import consistency
import defaults
import matplotlib as mpl
import overview
import paper_sampler

import mixwood

DOCS = Path(__file__).resolve().parent.parent
TARGET = DOCS / "_made"
SCRIPTS = {
    "consistency": consistency,
    "defaults": defaults,
    "overview": overview,
    "paper_sampler": paper_sampler,
}
doctest.register_optionflag("NUMBER")  # pytest's own


def run_examples(page):
    """Run the examples of a page in the current folder, whatever they print."""
    names = {"__name__": "__main__"}
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        expected = contextlib.suppress(Exception if example.exc_msg else ())
        with expected, contextlib.redirect_stdout(io.StringIO()):
            if not example.options.get(doctest.SKIP):
                exec(compile(example.source, str(page), "single"), names)


def make_page(page, target):
    with TemporaryDirectory() as place, contextlib.chdir(place):
        run_examples(page)
        for file in sorted(Path().iterdir()):
            if file.suffix in (".png", ".html"):
                shutil.copy(file, target / file.name)


def is_current(folder, source):
    """Return whether what is in a folder is newer than its source and the package."""
    stamp = folder / "made"
    package = Path(mixwood.__file__).parent
    everything = (source, *package.rglob("*.py"), *package.glob("_core*.so"))
    newest = max(file.stat().st_mtime for file in everything)
    return stamp.exists() and stamp.stat().st_mtime > newest


def main():
    mpl.use("agg")
    # name of a folder, what it is made of, and how
    tasks = {name: (Path(script.__file__), script.draw) for name, script in SCRIPTS.items()}
    for page in DOCS.rglob("*.md"):
        shown = re.search(rf"_(made|static)/{page.stem}/", page.read_text(encoding="utf-8"))
        if shown and page.stem not in SCRIPTS:
            tasks[page.stem] = (page, lambda target, page=page: make_page(page, target))
    for name, (source, make) in tasks.items():
        target = TARGET / name
        if is_current(target, source):
            continue
        target.mkdir(parents=True, exist_ok=True)
        make(target)
        (target / "made").touch()


if __name__ == "__main__":
    main()
