"""Numbers as a reader wants them: in messages, tables and pictures."""

from __future__ import annotations

from math import isinf, isnan

__all__ = ["chance", "count", "duration", "memory", "number", "percent"]


def count(noun: str, n: int, of: int | None = None, plural: str | None = None) -> str:
    """Return how many there are, perhaps of how many, with the noun in the right number.

    Examples
    --------
    >>> count("row", 1), count("row", 1300), count("row", 500, of=1300), count("row", 3, of=3)
    ('1 row', '1,300 rows', '500 of 1,300 rows', '3 rows')
    >>> count("leaf", 2, plural="leaves")
    '2 leaves'
    """
    if of is not None and of != n:
        return f"{n:,} of {count(noun, of, plural=plural)}"
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {plural or noun + 's'}"


def number(value: float) -> str:
    """Return a number to three digits, or to the nearest whole number from 1,000 on.

    Examples
    --------
    >>> number(3370.4), number(0.0312345), number(999.7), number(-1234567.0)
    ('3,370', '0.0312', '1,000', '-1,234,567')
    >>> number(7.0), number(float("nan")), number(1.5e20)
    ('7', '-', '1.5e20')
    """
    if isnan(value):
        return "-"
    if isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) >= 1e15:
        return f"{value:.3g}".replace("e+", "e")
    if value == round(value) or abs(value) >= 999.5:
        return f"{round(value):,}"
    return f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share as a whole percentage; only none is 0% and only all is 100%.

    Examples
    --------
    >>> percent(0.342), percent(0.999), percent(0.002), percent(1), percent(0)
    ('34%', '>99%', '<1%', '100%', '0%')
    """
    return f"{share:.0%}" if share in (0, 1) else chance(share)


def chance(probability: float) -> str:
    """Return a probability that draws estimate: they can neither rule out nor make certain.

    Examples
    --------
    >>> chance(0.342), chance(1.0), chance(0.002)
    ('34%', '>99%', '<1%')
    """
    if probability < 0.01:
        return "<1%"
    return ">99%" if probability > 0.99 else f"{probability:.0%}"


def memory(size: float) -> str:
    """Return a number of bytes in MiB, in GiB from 1 GiB on, in TiB from 1 TiB on.

    Examples
    --------
    >>> memory(3 * 2**30), memory(5_000_000), memory(8e12)
    ('3.0 GiB', '4.8 MiB', '7.3 TiB')
    """
    for unit, bytes_of_one in (("TiB", 2**40), ("GiB", 2**30)):
        if size >= bytes_of_one:
            return f"{size / bytes_of_one:,.1f} {unit}"
    return f"{size / 2**20:,.1f} MiB"


def duration(seconds: float) -> str:
    """Return a time in the two units that say most of it.

    Examples
    --------
    >>> duration(0.01), duration(0.83), duration(59.96), duration(125.2), duration(7260)
    ('<0.1 s', '0.8 s', '1 min', '2 min 5 s', '2 h 1 min')
    """
    if seconds < 0.05:
        return "<0.1 s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    large, small, units = (
        (*divmod(round(seconds), 60), ("min", "s"))
        if seconds < 3599.5
        else (*divmod(round(seconds / 60), 60), ("h", "min"))
    )
    return f"{large:,} {units[0]}" + (f" {small} {units[1]}" if small else "")
