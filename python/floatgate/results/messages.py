"""Merges messages that differ only in numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .values import NARROW_SPACE

NUMBER = re.compile(rf"(?<![\w.])\d+(?:[{NARROW_SPACE},]\d{{3}})*(?:\.\d+)?(?!\w|\.\d)")
"""Number that stands alone: `12`, `0.5` and `98,304`, but not the digits of `p99` or `trace.2`."""


def alike(messages: Iterable[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Groups messages, pairs of a name and a text. Texts of one group differ only in numbers."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for name, text in messages:
        groups.setdefault(tuple(NUMBER.split(text)), []).append((name, text))
    return list(groups.values())


def merged(texts: Sequence[str], listed: int = 1) -> str:
    """Merges texts that differ only in numbers, with a range for each number that differs.

    A number with up to `listed` different values gets the list of its values instead of the range.
    """
    columns = zip(*(NUMBER.findall(text) for text in texts), strict=True)
    ranges = iter([_range(column, listed) for column in columns])
    return NUMBER.sub(lambda _: next(ranges), texts[0])


def _range(numbers: Iterable[str], listed: int) -> str:
    different = list(dict.fromkeys(numbers))
    if 1 < len(different) <= listed:
        return f"{', '.join(different[:-1])} and {different[-1]}"
    ordered = sorted(different, key=_value)
    lowest, highest = ordered[0], ordered[-1]
    return lowest if _value(lowest) == _value(highest) else f"{lowest} to {highest}"


def _value(number: str) -> float:
    return float(number.replace(NARROW_SPACE, "").replace(",", ""))
