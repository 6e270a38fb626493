"""What a notebook shows of a posterior: how many clusters, in words, and a picture of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mixwood._support.cards import card
from mixwood._support.numbers import count
from mixwood.plots.inline import inline_picture
from mixwood.report.headline import headline

if TYPE_CHECKING:
    from mixwood.posterior.posterior import Posterior

__all__ = ["posterior_card"]

#: The estimate of a card uses draws with at most this many labels in all: it must be there at once.
_MOST_LABELS = 2 * 10**6
#: The most rows that a picture shows.
_MOST_ROWS = 2000


def posterior_card(posterior: Posterior) -> str:
    """Return a posterior as HTML: its headline, and its clusters.

    Examples
    --------
    >>> import mixwood as mw
    >>> post = mw.sample(mw.Mixture(), [[0.0], [0.1], [9.0]], draws=20, seed=1, progress=False)
    >>> posterior_card(post)[:19]
    '<div class="mixwood'
    """
    each = _MOST_LABELS // (posterior.n_chains * posterior.n_items)
    title = (
        f"Posterior: {count('chain', posterior.n_chains)} of {count('draw', posterior.n_draws)}, "
        f"{count('item', posterior.n_items)}"
    )
    facts = [
        (
            "model",
            f"{type(posterior.resolved).__name__}, {type(posterior.model.prior).__name__}",
        ),
        ("more", "post.describe(), post.check_fit(), post.summary()"),
    ]
    if each == 0 and not posterior.found_estimates:
        few, many = int(posterior.n_clusters.min()), int(posterior.n_clusters.max())
        clusters = count("cluster", many) if few == many else f"{few:,} to {many:,} clusters"
        return card(title, [f"The draws have {clusters}."], facts)
    some = posterior.thinned(max(each, 1))
    estimate = some.point_estimate()
    said = headline(posterior, estimate)
    picture = ""
    if posterior.X is not None:
        try:
            picture = inline_picture(
                "The rows by cluster",
                (6.4, 3.6),
                lambda ax: some.plot_clusters(
                    ax=ax, density=False, max_items=_MOST_ROWS, min_size=said.least
                ),
            )
        except (TypeError, ValueError):  # leaves that have no place
            picture = ""
    return card(title, said.sentences, facts, picture)
