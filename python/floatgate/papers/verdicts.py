"""When a claim holds: an estimate against what is claimed, at each point of a domain; and in words.

A claim names a region in which a number lies. At one point it *holds* where the whole interval of
our estimate is in the region, *fails* where none of it is, and is *ambiguous* in between. The
verdict is where in the domain it holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from floatgate.intervals import mean_and_half_width

from .paper import HOLDS

FAILS_HERE = "fails"
AMBIGUOUS = "ambiguous"
CASES = (FAILS_HERE, AMBIGUOUS, HOLDS)
"""What can be at a point, worst first."""

EVERYWHERE = "holds everywhere"
NOWHERE = "holds nowhere"

TOLERANCE = 1.5
"""A stated number is met within this factor of it. The TLLLP paper's two numbers for one effect,
-12 % over its workloads and -16.64 % on one of them, are a factor of 1.39 apart: excerpts of such
workloads cannot be asked for less than what lies between these workloads themselves."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, and half the width of its 95 % confidence interval (Student's t)."""

    mean: float
    half: float
    """0 where nothing is random, infinite where one run of many that there could be was made."""
    runs: int
    random: bool

    @classmethod
    def of(cls, values: Sequence[float], random: bool) -> Estimate:
        """From a value per seed. What is not random has one value, which is exact."""
        if not random:
            return cls(values[0], 0.0, 1, False)
        mean, half = mean_and_half_width(values)
        assert mean is not None, "an estimate is of one value or more"
        return cls(mean, math.inf if half is None else half, len(values), True)

    @property
    def low(self) -> float:
        return self.mean - self.half

    @property
    def high(self) -> float:
        return self.mean + self.half


@dataclass(frozen=True)
class Region:
    """The numbers for which a claim is true, ends included."""

    low: float = -math.inf
    high: float = math.inf
    stated: float | None = None
    """The number that the paper prints, if it does."""

    @classmethod
    def about(cls, stated: float) -> Region:
        """Within `TOLERANCE` of a number, which is not 0."""
        ends = sorted((stated / TOLERANCE, stated * TOLERANCE))
        return cls(ends[0], ends[1], stated)

    def case(self, ours: Estimate) -> str:
        """What is at a point of which we have this estimate."""
        if self.low <= ours.low and ours.high <= self.high:
            return HOLDS
        return FAILS_HERE if ours.high < self.low or self.high < ours.low else AMBIGUOUS

    def margin(self, ours: Estimate) -> float:
        """How far inside the nearer end the mean lies; below 0 outside."""
        return min(ours.mean - self.low, self.high - ours.mean)


@dataclass(frozen=True)
class Named:
    """An axis as a verdict words it: "the spare space is 15 % or 25 %"."""

    key: str
    text: str
    choices: Sequence[str]


def worded(axes: Sequence[Named], cases: Sequence[tuple[Mapping[str, str], str]]) -> str:
    """The verdict over the points of a domain that were measured, at least one."""
    good = [place for place, case in cases if case == HOLDS]
    unclear = sum(case == AMBIGUOUS for _, case in cases)
    if len(good) == len(cases):
        return EVERYWHERE
    if not good:
        return f"{NOWHERE}, ambiguous in {unclear} of {len(cases)} points" if unclear else NOWHERE
    bad = [place for place, case in cases if case != HOLDS]
    if box := _box(axes, good, bad):
        return f"holds where {box}"
    if box := _box(axes, bad, good):
        return f"holds, but not where {box}"
    return f"holds {_slices(axes, good, bad)}"


def _box(
    axes: Sequence[Named], inside: Sequence[Mapping[str, str]], outside: Sequence[Mapping[str, str]]
) -> str:
    """The choices on some axes that say exactly which points are inside; else nothing."""
    sides = {axis.key: {place[axis.key] for place in inside} for axis in axes}

    def tells(keys: Sequence[str]) -> bool:
        return not any(all(place[key] in sides[key] for key in keys) for place in outside)

    kept = [axis.key for axis in axes]
    if not tells(kept):
        return ""
    for axis in axes:
        fewer = [key for key in kept if key != axis.key]
        kept = fewer if tells(fewer) else kept
    return " and ".join(_said(axis, sides[axis.key]) for axis in axes if axis.key in kept)


def _slices(
    axes: Sequence[Named], good: Sequence[Mapping[str, str]], bad: Sequence[Mapping[str, str]]
) -> str:
    """The choices with which it holds whatever the others are, and how many points are left."""
    sure = {
        axis.key: {place[axis.key] for place in good} - {place[axis.key] for place in bad}
        for axis in axes
    }
    left = [p for p in good if all(p[key] not in choices for key, choices in sure.items())]
    total = len(good) + len(bad)
    parts = [_said(axis, sure[axis.key]) for axis in axes if sure[axis.key]]
    if not parts:
        return f"in {len(good)} of {total} points"
    others = len(left) + len(bad)
    rest = f", and in {len(left)} of the {others} other points" if left else ""
    return f"where {' or '.join(parts)}{rest}"


def _said(axis: Named, choices: set[str]) -> str:
    known = [choice for choice in axis.choices if choice in choices]
    return f"{axis.text} is {' or '.join(known)}"


def grid(sides: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Every combination of a choice on each axis, the last axis varying fastest."""
    return [dict(zip(sides, choices, strict=True)) for choices in product(*sides.values())]
