"""Values of options: numbers with units, times, percentages, and lists by kind of request.

Functions raise ValueError whose text states the expected form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .expressions import evaluate

NUMBER_MOST = (1 << 63) - 1

KINDS = ("read", "write", "trim")
"""Kinds of requests, in the order of lists of values."""

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}

_NS = {
    **{"d": 86_400_000_000_000, "h": 3_600_000_000_000, "m": 60_000_000_000},
    **{"s": 1_000_000_000, "sec": 1_000_000_000, "ms": 1_000_000, "msec": 1_000_000},
    **{"us": 1000, "usec": 1000},
}

_NUMBER = re.compile(r"(0x[0-9a-f]+|[0-9]+)\s*([a-z]*)", re.IGNORECASE)
_SIZE_UNIT = re.compile(r"([kmgtp]?)(i?)b?", re.IGNORECASE)

_T = TypeVar("_T")


@dataclass(frozen=True)
class Amount:
    """Bytes, or a share of a file in per cent."""

    number: int
    is_percent: bool = False


def whole(text: str, kb_base: int = 1024) -> int:
    """Returns a whole number; `kb_base` 1024 or 1000 is what `k` multiplies by."""

    def unit(name: str) -> int:
        match = _SIZE_UNIT.fullmatch(name)
        if match is None:
            raise ValueError("a whole number with a unit k, m, g, t or p, such as 4k")
        is_binary = (kb_base == 1024) != bool(match[2])
        return int((1024 if is_binary else 1000) ** _POWERS[match[1].lower()])

    return _number(text, unit, "a whole number, such as 4096 or 4k")


def duration(text: str, unit: str) -> int:
    """Returns nanoseconds; `unit` is the unit of a bare number. In an expression, bare numbers are
    microseconds.
    """
    expected = "a time, such as 500ms, 10s or 2m"

    def ns(name: str) -> int:
        unit_ns = _NS.get(name.lower() or unit)
        if unit_ns is None:
            raise ValueError(expected)
        return unit_ns

    if not _is_expression(text):
        return _number(text, ns, expected)
    return _number(text, lambda name: ns(name) // 1000 if name else 1, expected) * 1000


def _is_expression(text: str) -> bool:
    return "(" in text or "*" in text


def _number(text: str, unit: Callable[[str], int], expected: str) -> int:
    """Returns a number with a unit, or the value of an expression of such numbers."""

    def term(token: str) -> int:
        match = _NUMBER.fullmatch(token)
        if match is None:
            raise ValueError(expected)
        return int(match[1], 0 if match[1].lower().startswith("0x") else 10) * unit(match[2])

    number = evaluate(text, term, expected) if _is_expression(text) else term(text.strip())
    if number > NUMBER_MOST:
        raise ValueError("less than 2^63")
    return number


def decimal(text: str, low: float, high: float) -> float:
    """Returns a number from `low` to `high`."""
    expected = f"a number from {low:g} to {high:g}"
    try:
        number = float(text)
    except ValueError:
        raise ValueError(expected) from None
    if not low <= number <= high:
        raise ValueError(expected)
    return number


def flag(text: str | None) -> bool:
    """Returns whether an option is on; without a text it is."""
    if text is None:
        return True
    is_on = {"1": True, "true": True, "0": False, "false": False}.get(text.lower())
    if is_on is None:
        raise ValueError("0 or 1")
    return is_on


def percentage(text: str) -> int:
    """Returns a whole number from 0 to 100, with or without a percent sign."""
    number = whole(text.removesuffix("%"))
    if number > 100:
        raise ValueError("0 to 100 per cent")
    return number


def amount(text: str, kb_base: int) -> Amount:
    """Returns bytes, or a percentage of a file such as 20%."""
    if text.endswith("%"):
        return Amount(percentage(text), True)
    if re.fullmatch(r"[0-9]+\s*z", text, re.IGNORECASE):
        raise ValueError("bytes or a percentage: zones are not modelled")
    return Amount(whole(text, kb_base))


def span(text: str, number: Callable[[str], int]) -> tuple[int, int]:
    """Returns the ends of a range such as 4k-16k; a single number is both ends."""
    low, _, high = text.replace(":", "-").partition("-")
    ends = number(low), number(high or low)
    return min(ends), max(ends)


def by_kind(text: str, value: Callable[[str], _T]) -> list[_T | None]:
    """Returns the values for reads, writes and trims of a list such as `8k,32k`.

    A value without a comma behind it also applies to the kinds that follow. None stands for a kind
    without a value.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > len(KINDS):
        raise ValueError("at most three values: reads, writes, trims")
    given = [value(part) if part else None for part in parts]
    return (given + [given[-1]] * len(KINDS))[: len(KINDS)]


def shares(text: str, number: Callable[[str], int], most: int) -> list[tuple[int, float]]:
    """Returns pairs of a number and its percentage from a list such as `4k/60:64k/40`.

    Numbers without a percentage share what is left. Raises ValueError unless the percentages sum to
    100.
    """
    pairs = [pair.partition("/") for pair in text.split(":") if pair]
    if not 1 <= len(pairs) <= most:
        raise ValueError(f"1 to {most} pairs such as 4k/60")
    return filled([(number(of), share) for of, _, share in pairs])


def filled(pairs: Sequence[tuple[int, str]]) -> list[tuple[int, float]]:
    """Returns the pairs with their percentages as numbers; empty percentages share what is left."""
    given = [percentage(share) if share.strip("%") else None for _, share in pairs]
    left = 100 - sum(share for share in given if share is not None)
    blanks = given.count(None)
    if left < 0 or (left > 0 and not blanks):
        raise ValueError(f"percentages that sum to 100, not {100 - left}")
    each = left / blanks if blanks else 0.0
    return [
        (of, each if share is None else float(share))
        for (of, _), share in zip(pairs, given, strict=True)
    ]


def numbers(text: str) -> tuple[int, ...]:
    """Returns the numbers of a list of numbers and ranges, such as `0,2-4`."""
    listed: list[int] = []
    for part in text.split(","):
        ends = re.fullmatch(r"\s*([0-9]{1,5})\s*(?:-\s*([0-9]{1,5})\s*)?", part)
        if ends is None:
            raise ValueError("numbers and ranges between commas, such as 0,2-4")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not first <= last <= 65_535:
            raise ValueError("ascending ranges of numbers up to 65535")
        listed += range(first, last + 1)
    if len(listed) > 128:
        raise ValueError("at most 128 numbers")
    return tuple(listed)
