"""The sections of a report, each a function from the facts to HTML."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mixwood._support.numbers import chance, duration, number
from mixwood.plots import plot_fit
from mixwood.report import figures
from mixwood.report.base_words import base_in_words
from mixwood.report.clusters import clusters_section
from mixwood.report.digest import SUMMARY_FORMATS
from mixwood.report.groups import groups_section
from mixwood.report.overlap_words import overlap_in_words
from mixwood.report.pieces import WITHOUT_DATA, escaped, paragraph, section, table
from mixwood.report.rows import rows_section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixwood.posterior.posterior import Posterior
    from mixwood.report.digest import Digest

__all__ = ["all_sections"]


def all_sections(
    digest: Digest, tree: dict[str, Any] | None, folder: str | None
) -> list[tuple[str, str, str]]:
    """Return key, short name and HTML of each section.

    Parameters
    ----------
    digest : Digest
    tree : dict, optional
        From `mixwood.report.tree.tree_of`.
    folder : str, optional
        The run folder as one types it.
    """
    in_groups = digest.posterior.groups is not None
    return [
        ("answer", "Answer", _answer(digest, folder)),
        ("clusters", "Clusters", clusters_section(digest)),
        *([("groups", "Groups", groups_section(digest))] if in_groups else []),
        ("rows", "Rows", rows_section(digest)),
        ("fit", "Fit", _fit(digest)),
        ("pictures", "Number", _pictures(digest)),
        ("hierarchy", "Hierarchy", _hierarchy(digest, tree)),
        ("chains", "Chains", _chains(digest)),
        ("run", "The run", _run(digest)),
    ]


def _answer(digest: Digest, folder: str | None) -> str:
    known = digest.about.known
    said = digest.headline
    parts = [
        f'<p class="answer">{escaped(said.leads)}, with probability '
        f"<strong>{escaped(chance(said.probability))}</strong>.</p>",
        *(paragraph(sentence) for sentence in said.details),
        _verdicts(_convergence(digest, folder), _fit_verdict(digest)),
        paragraph(
            "The table and the pictures show the estimate: the single partition that stands best "
            "for all draws, with the least expected variation of information."
            f"{_thinning(digest)}"
        ),
    ]
    if known is not None:
        parts.append(
            paragraph(
                f"Compared with the known labels in {known.name!r} ({len(known.levels):,} of them, "
                f"not used for clustering): adjusted Rand index {digest.adjusted_rand:.3f}, where "
                "1 is the same partition and 0 what chance gives."
            )
        )
    overlapping = overlap_in_words(digest.thinned, digest.estimate)
    parts += [paragraph(text) for text in (*overlapping, *base_in_words(digest.posterior))]
    return section("answer", "How many clusters, and how sure", *parts)


def _thinning(digest: Digest) -> str:
    kept, all_ = digest.thinned.n_draws, digest.posterior.n_draws
    return "" if kept == all_ else f" It was found from {kept:,} of each chain's {all_:,} draws."


def _verdicts(*verdicts: str) -> str:
    """Return the verdicts on a run, side by side where there is room."""
    return f'<div class="verdicts">{"".join(verdicts)}</div>'


def _convergence(digest: Digest, folder: str | None) -> str:
    verdict = digest.verdict
    r_hat = SUMMARY_FORMATS["r_hat"](verdict.r_hat)
    size = SUMMARY_FORMATS["ess_bulk"](verdict.effective_draws)
    numbers = (
        f"Largest R-hat {_defined(r_hat)} (1.01 or less is good), smallest effective sample size "
        f"{_defined(size)} ({100 * digest.posterior.n_chains:,} or more is good)."
    )
    advice = ""
    if verdict.draws_advised is not None and folder is not None:
        command = f"mixwood resume {folder} --draws {verdict.draws_advised}"
        advice = f"<p>To run longer: <code>{escaped(command)}</code></p>"
    return (
        f'<div class="verdict {verdict.level}" id="convergence">{paragraph(verdict.headline)}'
        f"{paragraph(verdict.explanation)}{paragraph(numbers, 'soft')}{advice}</div>"
    )


def _fit_verdict(digest: Digest) -> str:
    """Return whether the model fits: what chains that agree do not tell."""
    fit = digest.fit
    if isinstance(fit, str):
        level, said = "unknown", ["Whether the model fits cannot be told.", f"{fit}."]
    elif fit.ok:
        # without any quantity there is nothing good about it
        level, said = "good" if len(fit.table) else "unknown", fit.sentence.split(": ", 1)
        said = [f"{said[0]}.", f"{said[-1][0].upper()}{said[-1][1:]}"]
    else:
        level, said = "fair", ["The model does not fit everywhere.", fit.sentence]
    link = (
        "" if isinstance(fit, str) else '<p class="soft"><a href="#fit">What was compared</a></p>'
    )
    return (
        f'<div class="verdict {level}" id="fit-verdict">{"".join(map(paragraph, said))}{link}</div>'
    )


_FIT_HELP = (
    "Rows were drawn anew from their clusters, again and again, and compared with the data. "
    "Marks are where the data are; of 20 sets of such rows, 19 are between the dotted lines with "
    "all quantities. In brackets, what is expected."
)


def _fit(digest: Digest) -> str:
    fit = digest.fit
    if isinstance(fit, str):
        return section("fit", "Does the model fit?", paragraph(f"{fit}."))
    if len(fit.table) == 0:
        return section("fit", "Does the model fit?", paragraph(fit.sentence))
    rows = min(len(fit.table), 15)
    return section(
        "fit",
        "Does the model fit?",
        paragraph(fit.sentence),
        paragraph(_FIT_HELP, "soft"),
        figures.drawn(
            "The data against what the model expects",
            (8, 1.6 + 0.26 * rows),
            lambda ax: plot_fit(fit, ax).set_title("", loc="right"),  # the sentence is above
        ),
    )


def _defined(text: str) -> str:
    return "undefined" if text == "-" else text


def _pictures(digest: Digest) -> str:
    some, every = digest.thinned, digest.posterior
    counted = (1,) if digest.headline.one_number else (digest.headline.least, 1)
    return section(
        "pictures",
        "How many, and which rows are together",
        figures.drawn(
            "How many clusters: the posterior probability of each number",
            (8, 3.2),
            *(partial(_numbers, every, least) for least in counted),
        ),
        figures.drawn(
            "Co-clustering: how often two items share a cluster",
            (6.2, 5),
            lambda ax: some.plot_similarity(ax=ax),
        ),
    )


def _numbers(posterior: Posterior, least: int, ax: Axes) -> None:
    posterior.plot_n_clusters(ax=ax, min_size=least)


_TREE_EMPTY = "No merge is chosen: point at one, or click the tree and press Home."
_TREE_HELP = (
    "Each merge joins two groups of items; the lower, the more alike. Below the dotted line, the "
    "probability that a merge is one cluster, P(h), is above 1/2. Point at a merge to see what it "
    "holds. Click the tree; then the wheel zooms and dragging moves it, and a double click fills "
    "the view with a merge. On the keyboard, arrows walk from merge to merge, + and - zoom, Shift "
    "and arrows move, Enter fills the view with the merge, and 0 shows everything."
)


def _hierarchy(digest: Digest, tree: dict[str, Any] | None) -> str:
    if tree is None:
        return section("hierarchy", "Hierarchy", paragraph(WITHOUT_DATA))
    about = "A tree of the items, grown under the model of the run and coloured by cluster."
    if digest.posterior.of_leaves:
        about += " Each item is a weighted leaf, which stands for rows that stay together."
    items, shown = digest.posterior.n_items, len(tree["rows"])
    if shown < items:
        about += f" It shows a sample of {shown:,} of the {items:,} items."
    leaves = sum(node[4] is None for node in tree["nodes"])
    if leaves < shown:
        about += (
            f" The {leaves:,} highest groups are drawn; a leaf in brackets is a group of that many "
            "items."
        )
    return section(
        "hierarchy",
        "Hierarchy",
        paragraph(about),
        f'<p class="soft" id="tree-help">{escaped(_TREE_HELP)}</p>',
        '<div class="tools"><button type="button" id="tree-in">Zoom in</button>'
        '<button type="button" id="tree-out">Zoom out</button>'
        '<button type="button" id="tree-all">Whole tree</button></div>',
        '<svg id="tree" viewBox="0 0 1000 460" tabindex="0" role="application" '
        'aria-label="Tree of the items" aria-describedby="tree-help"></svg>',
        f'<div id="node" aria-live="polite">{paragraph(_TREE_EMPTY, "soft")}</div>',
    )


def _chains(digest: Digest) -> str:
    learned = [name for name in ("width",) if name in digest.posterior.base_scalars()]
    names = ("log_joint", "n_clusters", *learned, *digest.posterior.model.prior.random_parameters)
    traces = [partial(_trace, digest.posterior, name) for name in names]
    return section(
        "chains",
        "The chains",
        figures.drawn("The chains after warm-up", (8, 2.1 * len(traces)), *traces, below=True),
        table(
            digest.summary,
            "summary",
            "Mean, standard deviation, 5% and 95% quantiles, effective sample sizes and R-hat",
            "quantity",
            SUMMARY_FORMATS,
        ),
    )


def _trace(posterior: Posterior, name: str, ax: Axes) -> None:
    posterior.plot_trace(name, ax=ax)
    legend = ax.get_legend()
    if legend is not None and name != "log_joint":  # the first has it for all
        legend.remove()


def _run(digest: Digest) -> str:
    posterior, about = digest.posterior, digest.about
    rows: list[tuple[str, object]] = [("data", about.source)]
    if about.why:
        rows.append(("why this likelihood", about.why))
    rows += [(f"left out: {name}", why) for name, why in about.left_out.items()]
    rows += [
        ("likelihood", _likelihood(posterior)),
        ("prior", repr(posterior.model.prior)),
        *posterior.settings.items(),
    ]
    if about.command:
        rows.append(("command", about.command))
    listed = "".join(f"<dt>{escaped(k)}</dt><dd>{escaped(_setting(v, k))}</dd>" for k, v in rows)
    return section("run", "How it was made", f"<dl>{listed}</dl>")


def _likelihood(posterior: Posterior) -> str:
    """Return the likelihood as the user wrote it, or what it came to where that was open."""
    asked, taken = posterior.model.likelihood, type(posterior.resolved).__name__
    return f"{taken}, chosen by {asked!r}" if asked.is_open else repr(asked)


#: Settings that are counts; a seed is none.
_COUNTS = ("draws", "warmup", "thin", "chains")


def _setting(value: object, name: str = "") -> str:
    if isinstance(value, float):
        return duration(value) if name == "seconds" else number(value)
    if isinstance(value, int) and not isinstance(value, bool) and name in _COUNTS:
        return number(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_setting(entry, key)}" for key, entry in value.items())
    text = str(value)
    return text if len(text) <= 500 else text[:497] + "..."
