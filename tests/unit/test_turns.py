"""Which of the long runs are made this time: all pairs of what they try; in turn all triples."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace

import pytest

from tests.conftest import _of_this_time

VALUES = {
    "prior": [f"prior {k}" for k in range(11)],
    "family": [f"family {k}" for k in range(10)],
    "sampler": [f"sampler {k}" for k in range(5)],
}


class Item:
    function = None

    def __init__(self, values, turn):
        self.callspec = SimpleNamespace(params=dict(zip(VALUES, values, strict=True)))
        self.mark = pytest.mark.in_turn(turn).mark if turn else None

    def get_closest_marker(self, name):
        return self.mark if name == "in_turn" else None


def chosen(seed, turn="sampler"):
    items = [Item(values, turn) for values in product(*VALUES.values())]
    return {tuple(item.callspec.params.values()) for item in _of_this_time(items, seed)}


@pytest.mark.parametrize("seed", ["0", "3", "1753000000", "a word"])
def test_every_pair_is_tried_every_time(seed):
    triples = chosen(seed)
    assert len(triples) == 11 * 10  # a fifth
    for one, other in combinations(range(3), 2):
        pairs = {(triple[one], triple[other]) for triple in triples}
        names = list(VALUES)
        assert len(pairs) == len(VALUES[names[one]]) * len(VALUES[names[other]])


def test_every_triple_has_its_turn():
    runs = [chosen(str(seed)) for seed in range(100, 105)]
    assert len(set.union(*runs)) == sum(map(len, runs)) == 11 * 10 * 5


def test_what_is_not_marked_is_always_tried():
    assert len(chosen("1", turn=None)) == 11 * 10 * 5
