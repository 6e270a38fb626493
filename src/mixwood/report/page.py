"""The page of a report, put together from its sections."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from mixwood._support.numbers import count
from mixwood.report.about import About
from mixwood.report.digest import Digest
from mixwood.report.pieces import data_block, escaped, paragraph
from mixwood.report.rows import row_names
from mixwood.report.sections import all_sections
from mixwood.report.tree import tree_of
from mixwood.store.atomic_files import write_bytes

if TYPE_CHECKING:
    from mixwood.posterior.posterior import Posterior

__all__ = ["render", "write_page", "write_report"]


def write_report(
    posterior: Posterior,
    path: str | os.PathLike[str],
    about: About | None = None,
    folder: str | None = None,
) -> None:
    """Write the report of a run as one HTML file.

    Parameters
    ----------
    posterior : Posterior
        The run. Without its data, what needs them is left out, and the report says so.
    path : path
        The file, replaced if it exists.
    about : About, optional
        Where the data came from, known labels, words.
    folder : str, optional
        The run folder, to be named in commands that continue it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import mixwood as mw
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> post = mw.sample(mw.Mixture(), X, draws=20, chains=2, seed=1, progress=False)
    >>> with TemporaryDirectory() as place:
    ...     write_report(post, Path(place) / "report.html")
    ...     (Path(place) / "report.html").read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    write_page(Digest(posterior, about or About()), Path(path).expanduser(), folder)


def write_page(digest: Digest, target: Path, folder: str | None = None) -> None:
    """Write the report of what is computed already; see `write_report`."""
    write_bytes(target, render(digest, folder).encode())


def render(digest: Digest, folder: str | None = None) -> str:
    """Return the page as text; see `write_report`."""
    from mixwood import __version__

    tree = None
    if digest.posterior.X is not None:
        names = row_names(digest)
        tree = tree_of(digest.posterior, digest.estimate, digest.colours, names)
    sections = all_sections(digest, tree, None if folder is None else shlex.quote(folder))
    style = _resource("report.css")
    script = _resource("dendrogram.js") + _resource("tables.js")
    return _filled(
        _resource("template.html"),
        policy=escaped(_policy(script)),
        generator=escaped(f"mixwood {__version__}"),
        title=escaped(f"Clusters of {digest.about.source}"),
        style=style,
        subtitle=_subtitle(digest.posterior),
        navigation=" ".join(f'<a href="#{key}">{escaped(short)}</a>' for key, short, _ in sections),
        sections="\n".join(text for _, _, text in sections),
        footer=paragraph(
            f"Made by mixwood {__version__}. This file is self-contained: it loads nothing."
        ),
        data="" if tree is None else data_block("tree-data", tree),
        script=script,
    )


def _resource(name: str) -> str:
    return resources.files("mixwood.report").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """Return what the page may do: run this one script, show pictures within it, nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _filled(template: str, **parts: str) -> str:
    """Put the parts into the template in one pass: what is put in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found.group(1)], template)


def _subtitle(posterior: Posterior) -> str:
    columns = "" if posterior.X is None else f" and {count('column', int(posterior.X.shape[1]))}"
    rows = count("row", round(float(posterior.item_sizes.sum())))
    leaves = count("weighted leaf", posterior.n_items, plural="weighted leaves")
    return paragraph(
        f"{rows}{columns}{f' (in {leaves})' if posterior.of_leaves else ''}; "
        f"{count('chain', posterior.n_chains)} of {count('draw', posterior.n_draws)}",
        "soft",
    )
