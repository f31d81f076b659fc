"""Measures and regions that several papers share: one line's number against another line's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .claims import At, Measure, Point, signed
from .exhibits import Format
from .verdicts import ABOVE, TOLERANCE, Region

EFFECT = 0.005
"""Smallest effect: half a per cent, or half a point. A paper that prints whole per cents prints a
smaller one as 0."""
MORE, LESS = Region(low=EFFECT), Region(high=-EFFECT)
NEAR_ONE = Region(1 / TOLERANCE, TOLERANCE, beyond=ABOVE)
"""Region for our number as a multiple of a paper's number."""

Test = tuple[tuple[str, ...], tuple[str, ...], Measure[Point], Region, Format]
"""Last arguments of a claim: workloads, lines, measure, region, and format of a value."""
Of = Callable[[At[Point], str], float]
"""Measures a number of one workload at a point."""


def ratio(number: str, line: str, base: str) -> Of[Point]:
    """Returns the measure of a line's number, a field of a point, as a multiple of the base's."""
    return lambda at, workload: (
        getattr(at(workload, line), number) / getattr(at(workload, base), number)
    )


def relative(number: str, line: str, base: str) -> Of[Point]:
    """Returns the measure of a line's relative change from the base line."""
    of: Of[Point] = ratio(number, line, base)
    return lambda at, workload: of(at, workload) - 1


def difference(number: str, line: str, base: str) -> Of[Point]:
    return lambda at, workload: (
        getattr(at(workload, line), number) - getattr(at(workload, base), number)
    )


def on(workload: str, of: Of[Point]) -> Measure[Point]:
    return lambda at: {"": of(at, workload)}


def on_each(workloads: Iterable[str], of: Of[Point]) -> Measure[Point]:
    return lambda at: {name: of(at, name) for name in workloads}


def multiples(numbers: Mapping[str, tuple[float, Measure[Point]]]) -> Measure[Point]:
    """Returns the measure of our numbers as multiples of the stated ones in `numbers`."""
    return lambda at: {key: ours(at)[""] / stated for key, (stated, ours) in numbers.items()}


def times(ratio: float) -> str:
    return signed(ratio, "{:.2f} times")
