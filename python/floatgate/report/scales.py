"""Axes of the bars and dots in the rows of the first screen, in per cent of their width."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from floatgate.results.values import NARROW_SPACE

WIDE = 20
"""Times are on a log scale if the longest exceeds the shortest by more than this factor."""

TICKS = 5
"""Number of intervals between ticks that an axis aims at."""


class Scale(NamedTuple):
    """Axis from 0 to 100 %."""

    at: Callable[[float], float]
    """Position of a value, in per cent of the width."""
    ticks: Sequence[tuple[float, str]]
    """Position and text of every tick."""


def linear(most: float) -> Scale:
    """Returns an axis from 0 that has room for the greatest value."""
    step = _step(most / TICKS)
    end = most * 1.03 or 1.0
    values = [step * i for i in range(math.floor(end / step) + 1)]
    return Scale(lambda value: 100 * value / end, [(100 * v / end, _text(v)) for v in values])


def of_times(values: Sequence[float]) -> Scale:
    """Returns the axis of response times: from 0, or on a log scale where they differ widely."""
    known = [value for value in values if value > 0]
    if not known or max(known) <= WIDE * min(known):
        return linear(max(known, default=1.0))
    low, high = math.log10(min(known) * 0.8), math.log10(max(known) * 1.25)

    def at(value: float) -> float:
        # A time of zero has no logarithm: it is at the left end.
        return 100 * (math.log10(value) - low) / (high - low) if value > 0 else 0.0

    decades = [10.0**n for n in range(math.ceil(low), math.floor(high) + 1)]
    return Scale(at, [(at(value), _text(value)) for value in decades])


def _step(rough: float) -> float:
    """Returns the least of 1, 2, 2.5 or 5 times a power of ten that is at least `rough`."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * n for n in (1, 2, 2.5, 5, 10) if power * n >= rough * 0.999)


def _text(value: float) -> str:
    return f"{value:,.6g}".replace(",", NARROW_SPACE)
