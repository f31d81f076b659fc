"""MiDAS: a chain of groups, whose number and sizes follow from how soon pages are overwritten.

"MiDAS: Minimizing Write Amplification in Log-Structured Systems through Adaptive Group Number and
Size Configuration", FAST 2024: pages that outlive the cleaning of their group move on to the next,
so that groups are of age; a distribution of update intervals (UID) and a Markov chain (MCAM) say
what a configuration costs, and the cheapest is taken; hot pages have a group of their own. As
published: UID is of 1 % of the pages in bins of a quarter of an erase unit; it is decided anew
after every four capacities of writes; a page is hot after three short intervals in a row; where
units of a group have more valid pages when they are cleaned than was predicted, by a tenth of a
unit, the groups from there on become one.

Written from the abstract and these facts, not from the authors' code. Decided here:

- An interval is short if it is shorter than the time that the hot group holds a page; that time is
  among what the model chooses, and the size follows from it.
- Where the distribution is of less than 4096 pages, more are sampled.
- Groups but the last are cleaned in the order of age, when they are larger than they should be; the
  last has what is left, and its emptiest unit is cleaned. `midas_model` says what that costs.
- The share of valid pages is compared over as many units as the group has, opened since the groups
  were decided; not for the last group, after which there is nothing to merge.
- It begins with one group, and is left alone before anything has been cleaned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import DriveShape, HostWrite
from .midas_model import GROUPS, NEVER, ONE_GROUP, Intervals, Plan, Space, best_plan, sampled
from .placement import MovedPages, Placement
from .victim import Candidates, Victim

SOURCE = "MiDAS, FAST 2024; placement and victim policy go together"

DECIDED_EVERY = 4
"""Capacities of host writes."""

IN_A_ROW = 3
"""Short intervals that make a page hot."""

TOLERATED = 0.1
"""By how much more of a unit may be valid than was predicted."""


class Midas(Placement):
    """MiDAS: groups of age, sized by a model of update intervals."""

    name = "midas"
    needs_victim = True
    source = SOURCE
    streams = GROUPS

    def start(self, drive: DriveShape) -> None:
        """Nothing written; one group."""
        self.pages, self.pages_per_unit = drive.logical_pages, drive.pages_per_unit
        self.last = [-1] * drive.logical_pages
        self.short = bytearray(drive.logical_pages)
        self.written = self.units = self.now = 0
        self.next = DECIDED_EVERY * drive.logical_pages
        self.intervals = Intervals(sampled(drive))
        self.follow(ONE_GROUP, 0)

    def follow(self, plan: Plan, now: int) -> None:
        """These groups from now on."""
        self.plan, self.decided = plan, now
        self.cleaned = np.zeros((len(plan.sizes), 2), np.int64)

    def stream(self, write: HostWrite) -> int:
        """The hot group, or the first of the chain."""
        lpn, now = write.lpn, write.clock
        self.now = now
        if now >= self.next:
            self.next += DECIDED_EVERY * self.pages
            window = self.intervals.window(now)
            if self.units:
                drive = Space(self.written, self.units, self.pages_per_unit)
                self.follow(best_plan(window, drive), now)
        before, self.last[lpn] = self.last[lpn], now
        self.intervals.written(lpn, now)
        if before < 0:
            self.written += 1
            return self.stream_of(1)
        is_short = now - before < self.plan.hot
        self.short[lpn] = min(self.short[lpn] + 1, IN_A_ROW) if is_short else 0
        return self.stream_of(0 if self.short[lpn] == IN_A_ROW else 1)

    def moved(self, pages: MovedPages) -> Any:
        """One group on."""
        return self.stream_of(GROUPS - pages.stream)

    def trimmed(self, lpn: int) -> None:
        """It is as if the page had never been written."""
        if self.last[lpn] >= 0:
            self.written -= 1
        self.last[lpn], self.short[lpn] = -1, 0
        self.intervals.trimmed(lpn, self.now)

    def stream_of(self, group: int) -> int:
        """The stream of a group, or of the last one: streams are numbered from the chain's end."""
        return GROUPS - 1 - min(group, len(self.plan.sizes))

    def victim(self) -> Victim:
        """Cleans groups that are too large."""
        return MidasVictim(self)


class MidasVictim(Victim):
    """The oldest unit of a group that is too large, or the emptiest of the last group."""

    name = "midas"
    source = SOURCE

    def __init__(self, placement: Midas) -> None:
        self.placement = placement

    def pick(self, candidates: Candidates) -> int:
        """Group by group, the hot one first."""
        placement = self.placement
        sizes = placement.plan.sizes
        # Each group has a unit open, which is no candidate.
        open_units = sum(size > 0 for size in sizes) + 1
        placement.units = int((candidates.stream < GROUPS).sum()) + open_units
        is_rest = np.ones(len(candidates.unit), bool)
        for group, size in enumerate(sizes):
            if size == 0:
                continue
            own = candidates.stream == placement.stream_of(group)
            if candidates.capacity_pages[own].sum() > size:
                at = int(np.argmin(np.where(own, candidates.sealed_order, NEVER)))
                self._compare(group, candidates, at)
                return int(candidates.unit[at])
            is_rest &= ~own
        # Also what a group that is no more has left, and the map.
        rest = is_rest if is_rest.any() else ~is_rest
        return int(candidates.unit[np.argmin(np.where(rest, candidates.valid_pages, NEVER))])

    def _compare(self, group: int, candidates: Candidates, at: int) -> None:
        """Merges the groups from one on of which more is valid than the model has said."""
        placement = self.placement
        if candidates.opened_at[at] < placement.decided:
            return
        placement.cleaned[group] += candidates.valid_pages[at], candidates.capacity_pages[at]
        valid, pages = placement.cleaned[group]
        plan = placement.plan
        if pages < plan.sizes[group]:
            return
        placement.cleaned[group] = 0
        if valid > (plan.valid[group] + TOLERATED) * pages:
            placement.follow(plan.merged(group), candidates.clock)
