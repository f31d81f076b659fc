"""When a claim holds: an estimate against what is claimed, at each point of a domain; and in words.

A claim names a region in which a number lies. At one point it *holds* where the whole interval of
our estimate is in the region, *fails* where none of it is, and is *ambiguous* in between. The
verdict is where in the domain it holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from floatgate.intervals import CONFIDENCE, mean_and_half_width, t_quantile

from . import boxes
from .paper import HOLDS

FAILS_HERE = "fails"
AMBIGUOUS = "ambiguous"
CASES = (FAILS_HERE, AMBIGUOUS, HOLDS)
"""What can be at a point, worst first."""

EVERYWHERE = "holds everywhere"
NOWHERE = "holds nowhere"
AT_ONE = {
    HOLDS: "holds at the one point asked",
    AMBIGUOUS: "ambiguous at the one point asked",
    FAILS_HERE: "does not hold at the one point asked",
}
"""Verdicts of which one point is the domain."""

TOLERANCE = 1.5
"""A stated number is met within this factor of it. The TLLLP paper's two numbers for one effect,
-12 % over its workloads and -16.64 % on one of them, are a factor of 1.39 apart: excerpts of such
workloads cannot be asked for less than what lies between these workloads themselves."""
FACTORS = (1.1, 1.25, TOLERANCE, 2.0)
"""What verdicts are shown for beside: a tenth, a quarter, and twice."""


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

    def at(self, confidence: float) -> Estimate:
        """The same with an interval of another confidence, above 0 and below 1: as many standard
        errors as Student's t has there for these runs."""
        if self.runs < 2:
            return self
        wider = t_quantile(self.runs - 1, confidence) / t_quantile(self.runs - 1)
        return replace(self, half=self.half * wider)

    @property
    def low(self) -> float:
        return self.mean - self.half

    @property
    def high(self) -> float:
        return self.mean + self.half


def confidence_of_each(intervals: int) -> float:
    """The confidence of each of so many intervals with which all of them hold at once at 95 %, as
    Bonferroni has it: also where they are of the same seeds."""
    return 1 - (1 - CONFIDENCE) / max(intervals, 1)


@dataclass(frozen=True)
class Region:
    """The numbers for which a claim is true, ends included."""

    low: float = -math.inf
    high: float = math.inf
    stated: float | None = None
    """The number that the paper prints, if it does."""

    @classmethod
    def about(cls, stated: float, factor: float = TOLERANCE) -> Region:
        """Within a factor of a number, which is not 0."""
        ends = sorted((stated / factor, stated * factor))
        return cls(ends[0], ends[1], stated)

    def within(self, factor: float) -> Region | None:
        """The same with another factor than `TOLERANCE`; None where that does not make the ends.
        Numbers that are relative to what is stated are about 1."""
        stated = 1.0 if self.stated is None else self.stated
        made = Region.about(stated)
        if (made.low, made.high) != (self.low, self.high):
            return None
        return replace(Region.about(stated, factor), stated=self.stated)

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
    """The verdict over the points of a domain that were measured, at least one.

    Where two boxes of choices say exactly which points these are, in the shortest words for that.
    """
    if len(cases) == 1:
        return AT_ONE[cases[0][1]]
    good = [place for place, case in cases if case == HOLDS]
    unclear = sum(case == AMBIGUOUS for _, case in cases)
    if len(good) == len(cases):
        return EVERYWHERE
    if not good:
        return f"{NOWHERE}, ambiguous in {unclear} of {len(cases)} points" if unclear else NOWHERE
    bad = [place for place, case in cases if case != HOLDS]
    return f"holds{_where(axes, good, bad)}{_open(unclear, len(bad))}"


Places = Sequence[Mapping[str, str]]


def _where(axes: Sequence[Named], good: Places, bad: Places) -> str:
    for most in (1, 2):
        if told := [", or where ".join(union) for union in _boxes(axes, good, bad, most)]:
            return f" where {min(told, key=len)}"
        if told := [", nor where ".join(union) for union in _boxes(axes, bad, good, most)]:
            return f", but not where {min(told, key=len)}"
    return f" {_slices(axes, good, bad)}"


def _open(unclear: int, others: int) -> str:
    """How many of the points where it does not hold are those of which nobody knows."""
    if not unclear:
        return ""
    if unclear < others:
        return f"; ambiguous in {unclear} of the {others} others"
    return f"; ambiguous in {'the other' if others == 1 else f'all {others} others'}"


def _boxes(axes: Sequence[Named], inside: Places, outside: Places, most: int) -> list[list[str]]:
    """The unions of so many boxes that are exactly the points inside, each box in words."""
    every = [(axis.key, choice) for axis in axes for choice in axis.choices]
    bit = {one: 1 << i for i, one in enumerate(every)}
    whole = [sum(bit[axis.key, choice] for choice in axis.choices) for axis in axes]

    def point(place: Mapping[str, str]) -> int:
        return sum(bit[axis.key, place[axis.key]] for axis in axes)

    def words(box: int) -> str:
        sides = [{c for c in axis.choices if bit[axis.key, c] & box} for axis in axes]
        kept = zip(axes, whole, sides, strict=True)
        return " and ".join(_said(axis, side) for axis, all_of, side in kept if all_of & ~box)

    others = list(map(point, outside))
    found = boxes.unions(list(map(point, inside)), others, most)
    return [[words(boxes.widened(box, whole, others)) for box in union] for union in found]


def _slices(axes: Sequence[Named], good: Places, bad: Places) -> str:
    """The choices with which it holds whatever the others are, and how many points are left; if
    there are none, the choice with which it holds most often."""
    sure = {
        axis.key: {place[axis.key] for place in good} - {place[axis.key] for place in bad}
        for axis in axes
    }
    left = [p for p in good if all(p[key] not in choices for key, choices in sure.items())]
    parts = [_said(axis, sure[axis.key]) for axis in axes if sure[axis.key]]
    if not parts:
        return f"in {len(good)} of {len(good) + len(bad)} points{_most(axes, good, bad)}"
    others = len(left) + len(bad)
    rest = f", and in {len(left)} of the {others} other points" if left else ""
    return f"where {' or '.join(parts)}{rest}"


def _most(axes: Sequence[Named], good: Places, bad: Places) -> str:
    """How often it holds with the choice with which it holds most often; nothing if it holds as
    often with each."""
    counted = []
    for axis, choice in ((one, choice) for one in axes for choice in one.choices):
        held, failed = (sum(place[axis.key] == choice for place in of) for of in (good, bad))
        if held:
            counted.append((held / (held + failed), held, held + failed, _said(axis, {choice})))
    share, held, asked, words = max(counted, key=lambda one: one[:2])
    is_alike = share == len(good) / (len(good) + len(bad))
    number = "all" if held == len(good) else held
    return "" if is_alike else f", {number} of them among the {asked} where {words}"


def _said(axis: Named, choices: set[str]) -> str:
    known = [choice for choice in axis.choices if choice in choices]
    return f"{axis.text} is {' or '.join(known)}"


def grid(sides: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Every combination of a choice on each axis, the last axis varying fastest."""
    return [dict(zip(sides, choices, strict=True)) for choices in product(*sides.values())]
