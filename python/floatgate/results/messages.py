"""Merges messages that differ only in numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .values import NARROW_SPACE

NUMBER = re.compile(rf"(?<![\w.])\d+(?:[{NARROW_SPACE},]\d{{3}})*(?:\.\d+)?(?!\w|\.\d)")
"""Number that stands alone: `12`, `0.5` and `98,304`, but not the digits of `p99` or `trace.2`."""


def alike(said: Iterable[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Groups pairs of a name and a text; texts of one group differ only in numbers."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for name, text in said:
        groups.setdefault(tuple(NUMBER.split(text)), []).append((name, text))
    return list(groups.values())


def merged(texts: Sequence[str], listed: int = 1) -> str:
    """Merges texts that differ only in numbers, with a range for each number that differs.

    Up to `listed` different numbers are listed in their order, instead of their range.
    """
    columns = zip(*(NUMBER.findall(text) for text in texts), strict=True)
    ranges = iter([_range(column, listed) for column in columns])
    return NUMBER.sub(lambda _: next(ranges), texts[0])


def _range(numbers: Iterable[str], listed: int) -> str:
    different = list(dict.fromkeys(numbers))
    if 1 < len(different) <= listed:
        return f"{', '.join(different[:-1])} and {different[-1]}"
    ordered = sorted(different, key=_value)
    least, most = ordered[0], ordered[-1]
    return least if _value(least) == _value(most) else f"{least} to {most}"


def _value(number: str) -> float:
    return float(number.replace(NARROW_SPACE, "").replace(",", ""))
