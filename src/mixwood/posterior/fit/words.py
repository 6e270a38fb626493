"""What a model misses, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mixwood.posterior.fit.normal import FAR
from mixwood.posterior.fit.quantities import Quantity

__all__ = ["Miss", "in_words"]

#: How many kinds of misfit a sentence names, and how many columns of each.
_MOST_KINDS, _MOST_COLUMNS = 2, 4


class Miss(NamedTuple):
    """A quantity, what it is and what it is expected to be; `missed` where these differ much."""

    quantity: Quantity
    observed: float
    expected: float
    low: float
    high: float
    score: float
    missed: bool
    columns: tuple[int, ...]
    clusters: tuple[int, ...]
    two: bool = False
    chain: tuple[int, ...] = ()


def in_words(
    missed: Sequence[Miss], names: Sequence[str], nothing: bool = False
) -> tuple[str, tuple[str, ...]]:
    """Return a sentence, and the kinds of misfit that it names, the worst first.

    Misfit of one kind brings others along: heavy tails are lopsided by chance, a bent cluster is
    dense in the wrong places. So those are named that are at least half as far off as the worst.

    Examples
    --------
    >>> tails = Miss(Quantity("tails", (1,)), 0.021, 0.003, 0.001, 0.005, 9.0, True, (1,), ())
    >>> in_words([tails], ["x", "y"])[0]  # doctest: +NORMALIZE_WHITESPACE
    'The model misses the tails of y, which are heavier: 2.1% of the rows are more than 3 standard
    deviations from the centre of their cluster, 0.3% expected.'
    """
    if nothing:
        return (
            "There is nothing here that could fit or not: the model has no quantities to check.",
            (),
        )
    if not missed:
        return "The model fits: the rows of each cluster look as it expects.", ()
    kinds: dict[str, list[Miss]] = {}
    for miss in sorted(missed, key=lambda miss: -abs(miss.score)):
        kinds.setdefault(_kind(miss), []).append(miss)
    ties = kinds.pop("ties", None)
    worst = max((abs(own[0].score) for own in kinds.values()), default=0.0)
    named: list[tuple[str, list[Miss]]] = []
    for kind, own in kinds.items():
        brought = any(kind in _BRINGS.get(before, ()) for before, _ in named)
        if abs(own[0].score) >= worst / 2 and not brought and len(named) < _MOST_KINDS:
            named.append((kind, own))
    if ties:
        named.append(("ties", ties))
    phrases = [_PHRASES[kind](own, names) for kind, own in named]
    return f"The model misses {'; and '.join(phrases)}.", tuple(kind for kind, _ in named)


#: What misfit of one kind brings along.
_BRINGS = {
    "pieces": ("tails", "bend", "two groups", "asymmetry", "peaks", "dense half", "spread"),
    "two groups": ("tails", "bend", "asymmetry", "peaks", "dense half", "spread"),
    "tails": ("bend", "asymmetry", "peaks", "dense half", "spread"),
    "bend": ("asymmetry", "dense half", "peaks", "tails"),
    "asymmetry": ("bend", "dense half", "peaks"),
    "curve": ("asymmetry", "dense half", "peaks", "spread", "tails"),
    "dependence": ("bend", "asymmetry", "peaks", "dense half", "spread", "tails", "two groups"),
    "spread": ("tails", "peaks", "dense half", "asymmetry"),
}
_SHAPES = ("humps", "peaks", "bend", "asymmetry", "tails", "dense half")


def _kind(miss: Miss) -> str:
    """Return what kind of misfit it is."""
    name = miss.quantity.name
    if miss.chain and name in _SHAPES:
        return "pieces"
    if name in _SHAPES and (miss.two or (name == "humps" and miss.score < 0)):
        return "two groups"
    return "peaks" if name == "humps" else name


def _columns(own: Sequence[Miss], names: Sequence[str]) -> str:
    """Return the columns: "x", "x and y", "x, y, z and 3 more"."""
    found = [names[j] for miss in own for j in miss.columns]
    return _listed(found)


def _listed(found: Sequence[str]) -> str:
    shown = [*found[:_MOST_COLUMNS]]
    if len(found) > _MOST_COLUMNS:
        shown.append(f"{len(found) - _MOST_COLUMNS} more")
    *most, last = shown
    return f"{', '.join(most)} and {last}" if most else last


def _clusters(own: Sequence[Miss]) -> str:
    clusters = own[0].clusters
    if len(clusters) == 1:
        return f"cluster {clusters[0]}"
    return f"clusters {_listed([str(k) for k in clusters])} together"


def _share(share: float) -> str:
    if share in (0, 1):
        return "all" if share else "none"
    if not 0.0005 <= share < 0.9995:
        return "<0.1%" if share < 0.5 else ">99.9%"
    return f"{share:.1%}"


def _tails(own: Sequence[Miss], names: Sequence[str]) -> str:
    heavy = own[0].score > 0
    same = [miss for miss in own if (miss.score > 0) == heavy]
    said = f"the tails of {_columns(same, names)}, which are {'heavier' if heavy else 'lighter'}"
    # A few rows very far out are heavy tails, too, and no larger a share of the rows.
    telling = [miss for miss in same if (miss.observed > miss.expected) == heavy]
    if not telling:
        return said
    one = telling[0]
    where = "" if one is same[0] else f"in {_columns([one], names)}, "
    return (
        f"{said}: {where}{_share(one.observed)} of the rows are more than {FAR:.0f} standard "
        f"deviations from the centre of their cluster, {_share(one.expected)} expected"
    )


def _spread(own: Sequence[Miss], names: Sequence[str]) -> str:
    same = [miss for miss in own if (miss.score > 0) == (own[0].score > 0)]
    return (
        f"the spread of {_columns(same, names)} within clusters, which is "
        f"{own[0].observed:.2g} times as large as expected"
    )


def _asymmetry(own: Sequence[Miss], names: Sequence[str]) -> str:
    return f"the shape of {_columns(own, names)}, which is lopsided within clusters"


def _pieces(own: Sequence[Miss], _names: Sequence[str]) -> str:
    clusters = _listed([str(k) for k in own[0].chain])
    if len(own[0].chain) == 1:  # pieces in most draws, if not in the estimate
        return f"the shape of cluster {clusters}, which is bent or drawn out"
    return (
        f"the shape of clusters {clusters}, which run into each other: together they look like one "
        "group that is bent or drawn out"
    )


def _curve(own: Sequence[Miss], names: Sequence[str]) -> str:
    return f"that {_columns(own, names)} is not linear in its predictors, but curved"


def _bend(own: Sequence[Miss], _names: Sequence[str]) -> str:
    several = len(own[0].clusters) > 1
    return f"the shape of {_clusters(own)}, which {'are' if several else 'is'} bent or lopsided"


def _two(own: Sequence[Miss], _names: Sequence[str]) -> str:
    return f"that {_clusters(own)} look{'s' * (len(own[0].clusters) == 1)} like two groups"


def _peaks(own: Sequence[Miss], _names: Sequence[str]) -> str:
    flat = (own[0].score < 0) == (own[0].quantity.name == "peaks")
    several = len(own[0].clusters) > 1
    how = "flatter" if flat else "more peaked"
    return f"the shape of {_clusters(own)}, which {'are' if several else 'is'} {how} than a normal"


def _dense(own: Sequence[Miss], _names: Sequence[str]) -> str:
    return (
        f"how dense clusters are: {_share(own[0].observed)} of the rows are in their dense half, "
        f"{_share(own[0].expected)} expected"
    )


def _dependence(own: Sequence[Miss], names: Sequence[str]) -> str:
    return (
        f"that {_columns(own, names)} go together within clusters "
        f"(correlation {own[0].observed:.2f})"
    )


def _dispersion(own: Sequence[Miss], names: Sequence[str]) -> str:
    return (
        f"the spread of {_columns(own, names)} within clusters: the variance is "
        f"{own[0].observed:.2g} times the mean, {own[0].expected:.2g} expected"
    )


def _zeros(own: Sequence[Miss], names: Sequence[str]) -> str:
    return (
        f"the zeros of {_columns(own, names)}: {_share(own[0].observed)} of the rows, "
        f"{_share(own[0].expected)} expected"
    )


def _repeats(own: Sequence[Miss], _names: Sequence[str]) -> str:
    how = "more" if own[0].score > 0 else "less"
    return (
        f"how words repeat: {_share(own[0].observed)} of them are in their row already, "
        f"{_share(own[0].expected)} expected; a word used once is used again {how} often"
    )


def _ties(own: Sequence[Miss], names: Sequence[str]) -> str:
    probability = f"probability {_share(own[0].observed)}".replace("probability all", "certainty")
    return (
        f"the ties of {_columns(own, names)}: two rows of a cluster are equal with {probability}, "
        "as rounded values are"
    )


_PHRASES: dict[str, Callable[[Sequence[Miss], Sequence[str]], str]] = {
    "tails": _tails,
    "spread": _spread,
    "asymmetry": _asymmetry,
    "bend": _bend,
    "curve": _curve,
    "pieces": _pieces,
    "two groups": _two,
    "peaks": _peaks,
    "dense half": _dense,
    "dependence": _dependence,
    "dispersion": _dispersion,
    "zeros": _zeros,
    "repeats": _repeats,
    "ties": _ties,
}
