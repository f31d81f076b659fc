"""Verdict at one point: where our interval lies, seen from the numbers that a claim names.

A claim names a region. At a point our number is *as claimed* where its whole interval is in the
region. Outside, it is *more* than claimed beyond the end that goes further in the claim's own
direction, and else *less*. It is *open* where the interval crosses an end of the region.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from floatgate.results.intervals import CONFIDENCE, mean_and_half_width, t_quantile

LESS, MORE, STRADDLES, AS_CLAIMED = "less", "more", "open", "as claimed"
RANK = {LESS: 0, MORE: 0, STRADDLES: 1, AS_CLAIMED: 2}
"""How near a case is to the claim."""

ABOVE, BELOW = "above", "below"

TOLERANCE = 1.5
"""A stated number is met within this factor of it. The TLLLP paper's two numbers for one effect,
-12 % over its workloads and -16.64 % on one of them, are a factor of 1.39 apart: excerpts of such
workloads cannot be asked for less than what lies between these workloads themselves."""
FACTORS = (1.1, 1.25, TOLERANCE, 2.0)
"""Factors that verdicts are also given for: a tenth, a quarter, and twice."""


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
    beyond: str = ""
    """Which end has *more than claimed* behind it, `ABOVE` or `BELOW`. Empty: neither; whatever is
    outside falls short of the claim."""

    @classmethod
    def about(cls, stated: float, factor: float = TOLERANCE) -> Region:
        """Within a factor of a number, which is not 0; farther from 0 is more than claimed."""
        ends = sorted((stated / factor, stated * factor))
        return cls(ends[0], ends[1], stated, ABOVE if stated > 0 else BELOW)

    def within(self, factor: float) -> Region | None:
        """The same with another factor than `TOLERANCE`; None where that does not make the ends.
        Numbers that are relative to what is stated are about 1."""
        stated = 1.0 if self.stated is None else self.stated
        made = Region.about(stated)
        if (made.low, made.high) != (self.low, self.high):
            return None
        return replace(Region.about(stated, factor), stated=self.stated, beyond=self.beyond)

    def case(self, ours: Estimate) -> str:
        """What our number is at a point where we have this estimate."""
        if self.low <= ours.low and ours.high <= self.high:
            return AS_CLAIMED
        if ours.high < self.low:
            return MORE if self.beyond == BELOW else LESS
        if self.high < ours.low:
            return MORE if self.beyond == ABOVE else LESS
        return STRADDLES

    def margin(self, ours: Estimate) -> float:
        """How far inside the nearer end the mean lies; below 0 outside."""
        return min(ours.mean - self.low, self.high - ours.mean)

    def rank(self, ours: Estimate) -> tuple[int, float]:
        """Orders estimates by how far they are from the region, the farthest first."""
        return RANK[self.case(ours)], self.margin(ours)


def farthest(cases: Iterable[str]) -> str:
    """Of the cases of several values, that of all of them together."""
    return min(cases, key=lambda case: (RANK[case], case == MORE))
