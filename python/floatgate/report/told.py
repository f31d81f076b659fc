"""Warnings and notes of many runs, those that differ in nothing but numbers as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from floatgate.result import Result

from .runs import Run
from .values import NARROW_SPACE

NUMBER = re.compile(rf"(?<![\w.])\d+(?:[{NARROW_SPACE},]\d{{3}})*(?:\.\d+)?(?!\w|\.\d)")
"""A number that stands by itself: `12`, `0.5` and `98,304`, but not that in `p99` or `trace.2`."""


class Told(NamedTuple):
    """A message, and the runs that it is about."""

    text: str
    """Where the runs' numbers differ, the least and the most."""
    runs: Sequence[str]
    each: Sequence[tuple[str, str]] = ()
    """Every run with its own text, where these differ."""


def messages(runs: Sequence[Run], of: Callable[[Result], Sequence[str]]) -> list[Told]:
    """The warnings, or the notes, of the runs, in order of appearance."""
    said = [(run.name, text) for run in runs for text in dict.fromkeys(of(run.result))]
    told = []
    for group in alike(said):
        texts = list(dict.fromkeys(text for _, text in group))
        names = list(dict.fromkeys(name for name, _ in group))
        told.append(Told(merged(texts), names, group if len(texts) > 1 else ()))
    return told


def alike(said: Iterable[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Pairs of a name and a text, those together whose texts differ in numbers only."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for name, text in said:
        groups.setdefault(tuple(NUMBER.split(text)), []).append((name, text))
    return list(groups.values())


def merged(texts: Sequence[str]) -> str:
    """Texts that differ in numbers only as one, with the range where they do."""
    columns = zip(*(NUMBER.findall(text) for text in texts), strict=True)
    ranges = iter([_range(column) for column in columns])
    return NUMBER.sub(lambda _: next(ranges), texts[0])


def _range(numbers: Iterable[str]) -> str:
    ordered = sorted(numbers, key=_value)
    least, most = ordered[0], ordered[-1]
    return least if _value(least) == _value(most) else f"{least} to {most}"


def _value(number: str) -> float:
    return float(number.replace(NARROW_SPACE, "").replace(",", ""))
