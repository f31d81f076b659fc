"""MiDAS: a chain of groups whose number and sizes follow from how soon pages are overwritten.

Source: "MiDAS: Minimizing Write Amplification in Log-Structured Systems through Adaptive Group
Number and Size Configuration", FAST 2024. Pages that outlive the cleaning of their group move to
the next group, so groups differ in age. A distribution of update intervals (UID) and a Markov chain
(MCAM) predict the cost of a configuration, and the cheapest is chosen. Hot pages have a group of
their own.

These details are as published:

- UID covers 1 % of the pages, in bins of a quarter of an erase unit.
- The configuration is chosen again after every four capacities of writes.
- A page is hot after three short intervals in a row.
- If the cleaned units of a group have more valid pages than predicted, by a tenth of a unit, this
  group and all later groups are merged.

The code was written from the abstract and these facts, not from the authors' code. We chose:

- An interval is short if it is shorter than the time that the hot group keeps a page. The model
  chooses that time, and the size of the hot group follows from it.
- If 1 % is fewer than 4096 pages, more pages are sampled.
- Groups except the last are cleaned in the order of age, when they exceed their size. The last
  group has the remaining space, and its emptiest unit is cleaned. `midas_model` computes the cost.
- The share of valid pages is compared once the cleaned units add up to the size of the group. Only
  units opened since the groups were chosen count. The last group is not compared, because no group
  follows.
- The chain begins with one group, which is kept until the first cleaning.
"""

from __future__ import annotations

from typing import Any

from .._core import DriveShape, HostWrite
from .midas_plan import GROUPS, NEVER, ONE_GROUP, Plan, Space
from .placement import MovedPages, Placement
from .victim import Candidates, Victim

SOURCE = "MiDAS, FAST 2024; placement and victim policy go together"

DECIDED_EVERY = 4
"""Drive capacities that the host writes between two choices of groups."""

IN_A_ROW = 3
"""Short intervals in a row that make a page hot."""

TOLERATED = 0.1
"""Share of a unit by which the valid pages may exceed the prediction."""


class Midas(Placement):
    """MiDAS: groups by age, sized by a model of update intervals."""

    name = "midas"
    needs_victim = True
    source = SOURCE
    streams = GROUPS

    def start(self, drive: DriveShape) -> None:
        """Begins with no page written, and with one group."""
        from .midas_model import Intervals, sampled

        self.pages, self.pages_per_unit = drive.logical_pages, drive.pages_per_unit
        self.last = [-1] * drive.logical_pages
        self.short = bytearray(drive.logical_pages)
        self.written = self.units = self.now = 0
        self.next = DECIDED_EVERY * drive.logical_pages
        self.intervals = Intervals(sampled(drive))
        self.follow(ONE_GROUP, 0)

    def follow(self, plan: Plan, now: int) -> None:
        """Uses these groups from now on."""
        self.plan, self.decided = plan, now
        self.cleaned = [(0, 0) for _ in plan.sizes]

    def stream(self, write: HostWrite) -> int:
        """Returns the stream of the hot group, or of the first group of the chain."""
        lpn, now = write.lpn, write.clock
        self.now = now
        if now >= self.next:
            self.next += DECIDED_EVERY * self.pages
            window = self.intervals.window(now)
            if self.units:
                from .midas_model import best_plan

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
        """Moves the pages to the next group."""
        return self.stream_of(GROUPS - pages.stream)

    def trimmed(self, lpn: int) -> None:
        """Treats the page as if it had never been written."""
        if self.last[lpn] >= 0:
            self.written -= 1
        self.last[lpn], self.short[lpn] = -1, 0
        self.intervals.trimmed(lpn, self.now)

    def stream_of(self, group: int) -> int:
        """Returns the stream of a group; a higher number than the last group's stands for the last
        group. Streams are numbered from the chain's end.
        """
        return GROUPS - 1 - min(group, len(self.plan.sizes))

    def victim(self) -> Victim:
        """Returns the victim policy, which cleans groups that are too large."""
        return MidasVictim(self)


class MidasVictim(Victim):
    """Cleans the oldest unit of a group that is too large,
    or the emptiest unit of the last group.
    """

    name = "midas"
    source = SOURCE

    def __init__(self, placement: Midas) -> None:
        self.placement = placement

    def pick(self, candidates: Candidates) -> int:
        """Checks the groups in order, the hot group first."""
        import numpy as np

        placement = self.placement
        sizes = placement.plan.sizes
        # Each group has an open unit, which is not a candidate.
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
        # The rest also includes units of merged groups and units of the map.
        rest = is_rest if is_rest.any() else ~is_rest
        return int(candidates.unit[np.argmin(np.where(rest, candidates.valid_pages, NEVER))])

    def _compare(self, group: int, candidates: Candidates, at: int) -> None:
        """Merges a group and all later ones if more of
        its pages are valid than the model predicted.
        """
        placement = self.placement
        if candidates.opened_at[at] < placement.decided:
            return
        valid, pages = placement.cleaned[group]
        valid += int(candidates.valid_pages[at])
        pages += int(candidates.capacity_pages[at])
        placement.cleaned[group] = valid, pages
        plan = placement.plan
        if pages < plan.sizes[group]:
            return
        placement.cleaned[group] = 0, 0
        if valid > (plan.valid[group] + TOLERATED) * pages:
            placement.follow(plan.merged(group), candidates.clock)
