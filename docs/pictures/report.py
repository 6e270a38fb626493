"""Make docs/_static/report.png: the top of a report and its tree, as a browser shows them.

Needs Chromium: python docs/pictures/report.py
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

import mixwood as mw
from mixwood.report import About, Known, write_report

TARGET = Path(__file__).parent.parent / "_static" / "report.png"
WIDTH = 1040
#: What is left out of each view, and how high it is.
VIEWS = (("#clusters", 545), ("header, nav, #answer, #clusters, #pictures", 670))


def main() -> None:
    X, truth = mw.datasets.toy()
    posterior = mw.sample(mw.Mixture(mw.Gaussian(), mw.NGGP()), X, draws=1000, seed=1)
    known = Known("the truth", truth.tolist(), [str(k) for k in range(13)])
    with TemporaryDirectory() as place:
        page = Path(place) / "report.html"
        write_report(posterior, page, About("the toy data", known=known), "mixwood-demo")
        views = [screenshot(page, hidden, height) for hidden, height in VIEWS]
    picture = Image.fromarray(np.concatenate(views))
    picture.quantize(64).save(TARGET, optimize=True)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


def screenshot(page: Path, hidden: str, height: int) -> np.ndarray:
    file, view = page.with_suffix(".png"), page.with_name("view.html")
    style = f"<style>{hidden} {{ display: none }}</style></head>"
    view.write_text(page.read_text(encoding="utf-8").replace("</head>", style, 1), encoding="utf-8")
    options = (
        f"--headless --no-sandbox --disable-gpu --hide-scrollbars --window-size={WIDTH},{height}"
    )
    subprocess.run(
        ["chromium", *options.split(), f"--screenshot={file}", view.as_uri()],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return np.asarray(Image.open(file).convert("RGB"))


if __name__ == "__main__":
    main()
