"""Verdict at one point: the position of our interval relative to the claimed numbers.

Our number is *as claimed* if its whole interval is in the claimed region, and *open* if the
interval crosses an end. An interval outside the region is *more* if it lies beyond the end in the
claim's own direction, otherwise *less*.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from floatgate.results.intervals import CONFIDENCE, mean_and_half_width, t_quantile

LESS, MORE, STRADDLES, AS_CLAIMED = "less", "more", "open", "as claimed"
RANK = {LESS: 0, MORE: 0, STRADDLES: 1, AS_CLAIMED: 2}
"""Rank of a case: a higher rank is nearer to the claim."""

ABOVE, BELOW = "above", "below"

TOLERANCE = 1.5
"""A stated number is met within this factor. The TLLLP paper states -12 % over its workloads and
-16.64 % on one of them, a factor of 1.39 apart. Excerpts cannot be more precise than that."""
FACTORS = (1.1, 1.25, TOLERANCE, 2.0)
"""Factors for which verdicts are also given: a tenth, a quarter, and twice."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, and half the width of its 95 % confidence interval (Student's t)."""

    mean: float
    half: float
    """0 if nothing is random. Infinite if there is one run but other seeds would differ."""
    runs: int
    random: bool

    @classmethod
    def of(cls, values: Sequence[float], random: bool) -> Estimate:
        """Returns the estimate from one value per seed; without randomness all are equal."""
        if not random:
            return cls(values[0], 0.0, 1, False)
        mean, half = mean_and_half_width(values)
        assert mean is not None, "an estimate is of one value or more"
        return cls(mean, math.inf if half is None else half, len(values), True)

    def at(self, confidence: float) -> Estimate:
        """Returns the estimate with an interval of another confidence (0 to 1, exclusive)."""
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
    """Returns the confidence of each of `intervals` intervals that hold simultaneously at 95 %
    (Bonferroni, so they may share seeds)."""
    return 1 - (1 - CONFIDENCE) / max(intervals, 1)


@dataclass(frozen=True)
class Region:
    """The numbers for which a claim is true, ends included."""

    low: float = -math.inf
    high: float = math.inf
    stated: float | None = None
    """The number that the paper prints, if any."""
    beyond: str = ""
    """The end behind which a number is *more*: `ABOVE` or `BELOW`. Empty: every number outside is
    *less*."""

    @classmethod
    def about(cls, stated: float, factor: float = TOLERANCE) -> Region:
        """Returns the region within a factor of a number other than 0. Farther from 0 is more than
        claimed."""
        ends = sorted((stated / factor, stated * factor))
        return cls(ends[0], ends[1], stated, ABOVE if stated > 0 else BELOW)

    def within(self, factor: float) -> Region | None:
        """Returns this region with another factor than `TOLERANCE`, or None if `TOLERANCE` did not
        make its ends. Without a stated number its middle is 1."""
        stated = 1.0 if self.stated is None else self.stated
        made = Region.about(stated)
        if (made.low, made.high) != (self.low, self.high):
            return None
        return replace(Region.about(stated, factor), stated=self.stated, beyond=self.beyond)

    def case(self, ours: Estimate) -> str:
        """Returns the case of our number at a point with this estimate."""
        if self.low <= ours.low and ours.high <= self.high:
            return AS_CLAIMED
        if ours.high < self.low:
            return MORE if self.beyond == BELOW else LESS
        if self.high < ours.low:
            return MORE if self.beyond == ABOVE else LESS
        return STRADDLES

    def margin(self, ours: Estimate) -> float:
        """Returns how far the mean lies inside the nearer end. Negative outside."""
        return min(ours.mean - self.low, self.high - ours.mean)

    def rank(self, ours: Estimate) -> tuple[int, float]:
        """Sort key by nearness to the region, the farthest estimate first."""
        return RANK[self.case(ours)], self.margin(ours)


def farthest(cases: Iterable[str]) -> str:
    """Returns the case of several values together: the case farthest from the claim."""
    return min(cases, key=lambda case: (RANK[case], case == MORE))
