"""How far partitions are from each other, and from what was drawn.

A partition is an array of labels, one per item; their names and order do not matter.
With cluster sizes ``n_k`` of one partition of ``n`` items, ``m_j`` of another, and ``n_kj``
items in cluster ``k`` of the one and ``j`` of the other, there are two losses:

- variation of information, ``loss="vi"``, always in bits: ``(1/n) {sum_k n_k log2 n_k +
  sum_j m_j log2 m_j - 2 sum_kj n_kj log2 n_kj}``, from 0 to ``log2 n``;
- Binder's with equal costs, ``loss="binder"``: ``(1/n^2) {sum_k n_k^2 + sum_j m_j^2 -
  2 sum_kj n_kj^2}``, the share of the ordered pairs of items on which the two disagree, from 0
  to ``1 - 1/n``.

Both are metrics. Items may stand for several rows each, as weighted leaves do (``sizes``): then
``n``, ``n_k``, ``m_j`` and ``n_kj`` count rows, and the losses are those of the partitions of the
rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood._support.labels import in_order_of_appearance
from mixwood._support.types import FloatArray
from mixwood.input.matrices import as_array

__all__ = [
    "LOSSES",
    "adjusted_rand",
    "binder",
    "expected_loss",
    "losses",
    "variation_of_information",
]

LOSSES = ("vi", "binder")


def variation_of_information(a: Any, b: Any) -> float:
    """Return the variation of information between two partitions, in bits.

    Parameters
    ----------
    a, b : array of n integers
        Labels.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [0, 1, 0, 1])
    2.0
    """
    return _between(a, b, "vi")


def binder(a: Any, b: Any) -> float:
    """Return Binder's loss between two partitions: the share of pairs on which they disagree.

    Of the ``n^2`` ordered pairs, those of an item and itself included.

    Parameters
    ----------
    a, b : array of n integers
        Labels.

    Examples
    --------
    >>> binder([0, 0, 1, 1], [0, 1, 0, 1])
    0.5
    """
    return _between(a, b, "binder")


def adjusted_rand(a: Any, b: Any) -> float:
    """Return the adjusted Rand index of two partitions (Hubert and Arabie, 1985).

    1 if they are equal, and 0 on average if one is a random permutation of the other's labels.
    Neither a loss nor a metric: for comparison with known labels.

    Parameters
    ----------
    a, b : array of n integers
        Labels.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], [5, 5, 2, 2])
    1.0
    """
    first = checked_labels(a, "a")
    second = checked_labels(b, "b", items=len(first))
    # Cells of the contingency table, as few as there are pairs of labels that occur.
    cells = np.unique(first * len(first) + second, return_counts=True)[1]

    def pairs(counts: NDArray[np.int64]) -> float:
        return float((counts * (counts - 1.0)).sum())

    together, rows, columns = pairs(cells), pairs(np.bincount(first)), pairs(np.bincount(second))
    expected = rows * columns / max(pairs(np.array([len(first)])), 1.0)
    most = (rows + columns) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)


def _between(a: Any, b: Any, loss: str) -> float:
    first = checked_labels(a, "a")
    second = checked_labels(b, "b", items=len(first))
    return float(losses(second[None], first, loss)[0])


def expected_loss(draws: Any, candidate: Any, loss: str = "vi", *, sizes: Any = None) -> float:
    """Return the mean loss of a partition against draws from a posterior.

    Parameters
    ----------
    draws : int array of shape (..., n)
        Labels, for example `Posterior.labels`.
    candidate : array of n integers
        Labels of the partition to judge.
    loss : {"vi", "binder"}
        Which loss.
    sizes : array of n integers, optional
        How many rows each item stands for; 1 by default.

    Examples
    --------
    >>> expected_loss([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 0, 1, 1])
    1.0
    >>> expected_loss([[0, 1], [0, 1]], [0, 0], sizes=[2, 2])
    1.0
    """
    return float(np.mean(losses(draws, candidate, loss, sizes=sizes)))


def losses(draws: Any, candidate: Any, loss: str = "vi", *, sizes: Any = None) -> FloatArray:
    """Return the loss of a partition against each draw, as `expected_loss` takes them.

    Examples
    --------
    >>> losses([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 0, 1, 1])
    array([0., 2.])
    """
    from mixwood import _core

    rows = label_rows(draws)
    labels = checked_labels(candidate, "candidate", items=rows.shape[1])
    counted = checked_sizes(sizes, rows.shape[1])
    values = _core.partition_losses(rows, labels.astype(np.int32), counted, checked_loss(loss))
    return np.asarray(values).reshape(np.shape(draws)[:-1])


def checked_loss(loss: Any) -> str:
    """Return `loss`, or raise if there is no loss of that name."""
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(f'loss must be "vi" or "binder", got {shown(loss)}')
    return str(loss)


def checked_labels(labels: Any, name: str, items: int | None = None) -> NDArray[np.int64]:
    """Return labels 0 to K-1 in order of appearance, or raise if they are not a partition."""
    given = as_array(labels, name)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iub":
        raise ValueError(f"{name} must be whole numbers, one label per item, got {shown(labels)}")
    if items is not None and len(given) != items:
        raise ValueError(f"{name} must have {items:,} labels, one per item, got {len(given):,}")
    return in_order_of_appearance(given)


def checked_sizes(sizes: Any, items: int) -> NDArray[np.int32]:
    """Return how many rows each item stands for, or raise if `sizes` does not say that."""
    if sizes is None:
        return np.ones(items, dtype=np.int32)
    given = as_array(sizes, "sizes")
    if given.shape != (items,) or given.dtype.kind not in "iu" or given.min() < 1:
        raise ValueError(
            f"sizes must be {items:,} whole numbers from 1 on, one per item, got {shown(sizes)}"
        )
    total = given.sum(dtype=np.float64)  # integers could wrap around
    if total >= 2**31:
        raise ValueError(f"sizes must sum to less than 2^31, got {total:.17g}")
    return given.astype(np.int32)


def label_rows(draws: Any) -> NDArray[np.int32]:
    """Return draws of labels as rows of a table, every label within ``0..n-1``."""
    given = as_array(draws, "draws")
    if given.ndim < 2 or given.size == 0 or given.dtype.kind not in "iub":
        raise ValueError(
            "draws must be whole numbers of shape (..., n), a row of n labels each, "
            f"got {shown(draws)}"
        )
    rows = given.reshape(-1, given.shape[-1])
    if rows.min() < 0 or rows.max() >= rows.shape[1]:
        rows = np.stack([in_order_of_appearance(row) for row in rows])
    return np.ascontiguousarray(rows, dtype=np.int32)
