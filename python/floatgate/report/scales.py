"""Axes of the bars and dots in the rows of the first screen, in per cent of their width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from floatgate.results.values import NARROW_SPACE

WIDE = 20
"""Times are on a log scale if the longest exceeds the shortest by more than this factor."""

TICKS = (5, 4, 3, 2)
"""Numbers of intervals between the ticks of a linear axis, in the order of preference."""

ENOUGH = 4
"""A log axis with at least this many ticks needs no ticks between powers of ten."""

DIGIT = 5.6
"""Width of a character of a tick in the narrowest column: 7 of 125 pixels, in per cent."""

GAP = 4.0
"""Minimum gap between two texts in the narrowest column: 5 pixels, in per cent."""


class Tick(NamedTuple):
    """Tick of an axis with its text."""

    at: float
    """Position in per cent of the width."""
    text: str

    @property
    def anchor(self) -> str:
        """Side of the text that is at the tick, as SVG names it: no text leaves its axis."""
        half = DIGIT * len(self.text) / 2
        return "start" if self.at < half else "end" if self.at > 100 - half else "middle"

    @property
    def extent(self) -> tuple[float, float]:
        """Ends of the text in the narrowest column, in per cent of the width."""
        width = DIGIT * len(self.text)
        begin = self.at - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]
        return begin, begin + width


class Scale(NamedTuple):
    """Axis from 0 to 100 %."""

    at: Callable[[float], float]
    """Position of a value, in per cent of the width."""
    ticks: Sequence[Tick]


def linear(most: float) -> Scale:
    """Returns an axis from 0 that has room for the greatest value."""
    end = most * 1.03 or 1.0

    def at(value: float) -> float:
        return 100 * value / end

    return Scale(at, _rounded(at, most or 1.0, end))


def of_times(values: Sequence[float]) -> Scale:
    """Returns the axis of response times: from 0, or on a log scale where they differ widely."""
    known = [value for value in values if value > 0]
    if not known or max(known) <= WIDE * min(known):
        return linear(max(known, default=1.0))
    low, high = math.log10(min(known) * 0.8), math.log10(max(known) * 1.25)

    def at(value: float) -> float:
        # A time of zero has no logarithm: it is at the left end.
        return 100 * (math.log10(value) - low) / (high - low) if value > 0 else 0.0

    return Scale(at, _decades(at, low, high))


def _rounded(at: Callable[[float], float], most: float, end: float) -> list[Tick]:
    """Returns the ticks of a linear axis: as many as fit without overlapping labels."""
    step = 0.0
    for many in TICKS:
        step = _step(most / many)
        ticks = _ticks(at, [step * i for i in range(math.floor(end / step) + 1)])
        if _are_apart(ticks):
            return ticks
    return _ticks(at, [0.0, step])


def _decades(at: Callable[[float], float], low: float, high: float) -> list[Tick]:
    """Returns the ticks of a log axis between two powers of ten.

    They are the powers of ten, or every second or third one. If all powers fit and are few, three
    times a power is also a tick where there is room for it.
    """
    powers = range(math.floor(low), math.ceil(high) + 1)
    tens, threes = (
        _ticks(at, [one * 10.0**n for n in powers if low <= math.log10(one) + n <= high])
        for one in (1, 3)
    )
    thinned = (tens[::every] for every in range(1, len(tens)))
    ticks = next(filter(_are_apart, thinned), tens[-1:])
    if len(ticks) == len(tens):
        ticks = _filled(ticks, threes)
    return ticks if len(ticks) > 1 else _filled([], threes)


def _filled(ticks: Sequence[Tick], others: Sequence[Tick]) -> list[Tick]:
    """Adds other ticks, if their labels overlap no label, until there are `ENOUGH` ticks."""
    found = [*ticks]
    for tick in others:
        fuller = sorted([*found, tick])
        found = fuller if len(found) < ENOUGH and _are_apart(fuller) else found
    return found


def _ticks(at: Callable[[float], float], values: Sequence[float]) -> list[Tick]:
    return [Tick(at(value), _text(value)) for value in values]


def _are_apart(ticks: Sequence[Tick]) -> bool:
    """Returns whether the texts have a `GAP` between them."""
    return all(one.extent[1] + GAP <= other.extent[0] for one, other in pairwise(ticks))


def _step(rough: float) -> float:
    """Returns the least of 1, 2, 2.5 or 5 times a power of ten that is at least `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * n for n in (1, 2, 2.5, 5, 10) if power * n >= rough * 0.999)


def _text(value: float) -> str:
    return f"{value:,.6g}".replace(",", NARROW_SPACE)
