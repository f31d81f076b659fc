"""MiDAS: a chain of groups, whose number and sizes follow from how soon pages are overwritten.

"MiDAS: Minimizing Write Amplification in Log-Structured Systems through Adaptive Group Number and
Size Configuration", FAST 2024. Of the paper we had the abstract: pages that outlive the cleaning of
their group move on to the next, so that groups are of age; a distribution of update intervals (UID)
and a Markov chain (MCAM) say what a configuration costs, and the cheapest is taken; hot pages have
a group of their own.

Decided here, as the abstract does not say it:

- UID is of all writes, not of a sample, in bins of an erase unit; it is halved at each decision.
- Groups but the last are cleaned in the order of age, when they are larger than they should be; the
  last has what is left, and its emptiest unit is cleaned. A page's way along the chain is its age:
  it moves on if its interval is longer than the groups before have held it. The last group costs
  u / (1 - u) copies for each page that comes to it, where u is its share of valid pages.
- Group after group is added while the model says that it pays, its size from 32 candidates.
- A page is hot if its last interval was shorter than the time that the hot group holds a page. The
  paper's own filter is not known to us; nor how it notices that the model errs.
- It is decided anew when as many pages have been written as the drive has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import DriveShape, HostWrite
from .placement import MovedPages, Placement
from .victim import Candidates, Victim

SOURCE = "MiDAS, FAST 2024; its model and its hot filter as decided here"

GROUPS = 6
"""Groups at most: the hot one, and the chain."""

SIZES = 32
"""Sizes of a group that are considered."""

NEVER = np.iinfo(np.int64).max

Numbers = npt.NDArray[np.float64]


class Midas(Placement):
    """MiDAS: groups of age, sized by a model. `victim()` is the policy that goes with it."""

    name = "midas"
    source = SOURCE
    streams = GROUPS

    def start(self, drive: DriveShape) -> None:
        """Nothing written; one group."""
        self.bin = drive.pages_per_unit
        self.pages = drive.logical_pages
        # Without what is free for cleaning, and the units that the streams have open.
        self.space = max(drive.units - 2 * GROUPS, 1) * drive.pages_per_unit
        self.last = np.full(drive.logical_pages, -1, np.int64)
        self.intervals = np.zeros(4 * drive.logical_pages // self.bin + 2)
        self.sizes = [float(self.space)]
        self.next = drive.logical_pages

    def stream(self, write: HostWrite) -> int:
        """The hot group, or the first of the chain: streams are numbered from its end."""
        if write.clock >= self.next:
            self.next = write.clock + self.pages
            survival = self._survival()
            self.sizes = best_sizes(survival, self.bin, self.pages, self.space)
            self.intervals /= 2
        before = self.last[write.lpn]
        self.last[write.lpn] = write.clock
        if before < 0:
            return self._stream(1)
        interval = int(write.clock - before)
        self.intervals[min(interval // self.bin, len(self.intervals) - 1)] += 1
        return self._stream(0 if interval < self.sizes[0] else 1)

    def moved(self, pages: MovedPages) -> Any:
        """One group on."""
        return self._stream(GROUPS - pages.stream)

    def victim(self) -> Victim:
        """The victim policy of this placement: both have to be on a drive together."""
        return MidasVictim(self)

    def _stream(self, group: int) -> int:
        return GROUPS - 1 - min(group, len(self.sizes) - 1)

    def _survival(self) -> Numbers:
        """By age in bins, the share of writes that are not overwritten yet."""
        written = max(self.intervals.sum(), 1.0)
        gone: Numbers = np.concatenate([[0.0], np.cumsum(self.intervals[:-1])])
        return np.asarray(1 - gone / written)


class MidasVictim(Victim):
    """The oldest unit of a group that is too large, or the emptiest of the last group."""

    name = "midas-victim"
    source = SOURCE

    def __init__(self, placement: Midas) -> None:
        self.placement = placement

    def pick(self, candidates: Candidates) -> int:
        """Group by group, the hot one first."""
        sizes = self.placement.sizes
        for group, size in enumerate(sizes[:-1]):
            own = candidates.stream == GROUPS - 1 - group
            if candidates.capacity_pages[own].sum() > size:
                return int(
                    candidates.unit[np.argmin(np.where(own, candidates.sealed_order, NEVER))]
                )
        # Also what a group that is no more has left, and the map.
        chain = range(GROUPS - len(sizes) + 1, GROUPS)
        rest = ~np.isin(candidates.stream, chain)
        rest = rest if rest.any() else np.ones_like(rest)
        return int(candidates.unit[np.argmin(np.where(rest, candidates.valid_pages, NEVER))])


def best_sizes(survival: Numbers, bin: int, pages: int, space: int) -> list[float]:
    """Pages of each group: those of the chain as long as one more pays, then what is left."""
    sizes: list[float] = []
    cost = copies(sizes, survival, bin, pages, space)
    while len(sizes) < GROUPS - 1:
        room = space - pages - sum(sizes)
        tried = [[*sizes, room * share / SIZES] for share in range(1, SIZES)]
        costs = [copies(one, survival, bin, pages, space) for one in tried]
        if not tried or min(costs) >= cost:
            break
        cost = min(costs)
        sizes = tried[costs.index(cost)]
    return [*sizes, space - sum(sizes)]


def copies(sizes: list[float], survival: Numbers, bin: int, pages: int, space: int) -> float:
    """Pages that are copied for each that the host writes."""
    held = np.concatenate([[0.0], np.cumsum(survival) * bin])
    ages = np.arange(len(held)) * bin
    age, rate, moved = 0.0, 1.0, 0.0
    for size in sizes:
        age += size / rate
        rate = float(np.interp(age, ages[:-1], survival))
        moved += rate
        if rate <= 0:
            return moved
    valid = pages - float(np.interp(age, ages, held))
    left = space - sum(sizes)
    used = valid / left if left > 0 else 1.0
    return moved + rate * used / (1 - used) if 0 <= used < 1 else np.inf
