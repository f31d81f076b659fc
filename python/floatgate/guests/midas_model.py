"""Model of MiDAS: update intervals of a workload, and the cost of groups under them.

The update intervals of some pages are recorded over a window (UID, the update interval distribution
of the paper). A life table turns them into the share of pages that reaches each age. An interval
that began before the window, or has not ended, counts for the ages that were observed (Kaplan and
Meier, 1958). A Markov chain (MCAM) then follows a page from group to group. Times are counted in
pages that the host has written, sizes in pages, and rates in pages for each page that the host
writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._core import DriveShape
from .midas_plan import GROUPS, NEVER, ONE_GROUP, Plan, Space

HORIZON = 8
"""Ages up to this many capacities are distinguished. Older pages are assumed to stay for ever."""

AGES, HOT_AGES = 24, 8
"""Numbers of ages, in geometric series, at which a group of the chain and the hot group may end."""

WORTH = 0.05
"""Share of the copies that a further group must save.

Smaller savings are lost in the sampling noise.
"""

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Intervals:
    """Update intervals of some pages, in a window of time."""

    def __init__(self, pages: Iterable[int]) -> None:
        self._recent: dict[int, tuple[int, ...]] = {page: (NEVER,) * 3 for page in pages}
        self._begun: dict[int, int] = {}
        self._ended: list[tuple[int, int, int]] = []
        self._since = 0

    def written(self, page: int, now: int) -> None:
        """Ends the page's interval, if it has one, and begins the next."""
        if page not in self._recent:
            return
        begun = self._begun.get(page)
        if begun is not None:
            recent = self._recent[page]
            self._ended.append((max(recent), begun, now))
            self._recent[page] = (now - begun, *recent[:2])
        self._begun[page] = now

    def trimmed(self, page: int, now: int) -> None:
        """Ends the page's interval, and begins none."""
        begun = self._begun.pop(page, None)
        if begun is not None:
            self._ended.append((max(self._recent[page]), begun, now))

    def window(self, now: int) -> Window:
        """Returns the intervals since the last window, and ends the window."""
        lasting = [(max(self._recent[page]), begun, now) for page, begun in self._begun.items()]
        rows = np.array(self._ended + lasting, np.int64).reshape(-1, 3)
        longest, begun, until = rows.T
        window = Window(
            longest=longest,
            first=np.maximum(self._since - begun, 0),
            last=until - begun,
            has_ended=np.arange(len(rows)) < len(self._ended),
            is_new=begun >= self._since,
        )
        self._ended, self._since = [], now
        return window


@dataclass(frozen=True)
class Window:
    """Update intervals in a window: one array element each."""

    longest: Integers
    """Longest of the page's three previous intervals. With any higher limit of short intervals, the
    page is hot.
    """
    first: Integers
    """Age at which the page was first observed in the window."""
    last: Integers
    """Age at which the page was overwritten, or at the end of the window."""
    has_ended: npt.NDArray[np.bool_]
    is_new: npt.NDArray[np.bool_]
    """Whether the interval began in the window."""

    def split(self, hot: int, bin: int, bins: int) -> tuple[float, Numbers, Numbers]:
        """Returns the share of hot writes,
        and the shares of hot and of other pages that reach each age, in bins.
        """
        is_hot = self.longest < hot
        share = is_hot[self.is_new].mean() if self.is_new.any() else 0.0
        return float(share), self._alive(is_hot, bin, bins), self._alive(~is_hot, bin, bins)

    def _alive(self, chosen: npt.NDArray[np.bool_], bin: int, bins: int) -> Numbers:
        first = np.minimum(self.first[chosen] // bin, bins)
        last = np.minimum(self.last[chosen] // bin, bins)
        seen = np.cumsum(np.bincount(first, minlength=bins + 1))
        seen[1:] -= np.cumsum(np.bincount(last, minlength=bins + 1))[:-1]
        ended = np.bincount(last[self.has_ended[chosen]], minlength=bins + 1)
        lives = np.cumprod(1 - ended / np.maximum(seen, 1))
        return np.concatenate([[1.0], lives[: bins - 1]])


def best_plan(window: Window, drive: Space) -> Plan:
    """Returns the hot group and the chain with the fewest predicted copies."""
    unit = drive.pages_per_unit
    bin = max(unit // 4, 1)
    bins = HORIZON * drive.valid // bin
    best = ONE_GROUP
    if len(window.last) == 0 or bins < AGES:
        return best
    for hot in [0, *np.geomspace(unit, drive.valid, HOT_AGES)]:
        in_bins = round(hot / bin)
        share, lives_hot, lives = window.split(in_bins * bin, bin, bins)
        chain = Chain(in_bins, share, lives_hot, lives, drive, bin)
        found = chain.best()
        if found.copies < best.copies * (1 - WORTH):
            best = found
    return best


class Chain:
    """Markov chain of a hot group of some age, followed by groups by age.

    A host page goes to the hot group with probability `share`, and otherwise to the first group of
    the chain. Every group except the last is cleaned in the order of age, so pages leave it at a
    certain age. Pages that are still valid move to the next group, and from the hot group to the
    first group of the chain.
    """

    def __init__(
        self, hot: int, share: float, lives_hot: Numbers, lives: Numbers, drive: Space, bin: int
    ) -> None:
        self.hot, self.bin, self.drive = hot, bin, drive
        self.share = share if hot else 0.0
        self.lives_hot = lives_hot
        later = np.concatenate([lives_hot[hot:], np.full(hot, lives_hot[-1])])
        flow = (1 - self.share) * lives + self.share * later
        # Indexed by the age since a page came to the chain. The chain holds at most the valid pages
        # outside the hot group.
        self.rest = drive.valid - self.share * float(lives_hot[:hot].sum()) * bin
        held = np.concatenate([[0.0], np.cumsum(flow) * bin])
        self.flow = np.where(held[:-1] < self.rest, flow, 0.0)
        self.held = np.minimum(held, self.rest)

    def best(self) -> Plan:
        """Returns the best plan: adds groups to the chain while the model predicts a gain."""
        tried = np.geomspace(self.drive.pages_per_unit, self.drive.valid * HORIZON / 2, AGES)
        ends: list[int] = []
        plan = self.plan(ends)
        while len(ends) < GROUPS - 2:
            later = [round(age / self.bin) for age in tried]
            more = [[*ends, end] for end in later if end > (ends[-1] if ends else 0)]
            plans = [self.plan(one) for one in more]
            if not plans:
                break
            found = min(range(len(plans)), key=lambda at: plans[at].copies)
            if plans[found].copies >= plan.copies * (1 - WORTH):
                break
            ends, plan = more[found], plans[found]
        return plan

    def plan(self, ends: list[int]) -> Plan:
        """Returns the plan for a chain whose groups, except the last,
        end at these ages, in bins.
        """
        lives = float(self.lives_hot[self.hot])
        sizes = [self.share * self.hot * self.bin]
        valid = [lives]
        copies = self.share * lives
        at = 0
        for end in ends:
            rate, left = float(self.flow[at]), float(self.flow[end])
            sizes.append(rate * (end - at) * self.bin)
            valid.append(left / rate if rate else 0.0)
            copies += left
            at = end
        if any(0 < size < self.drive.pages_per_unit for size in sizes):
            copies = np.inf  # A group cannot be smaller than a unit.
        groups = (self.hot > 0) + len(sizes)
        room = self.drive.of(groups) - sum(sizes)
        moved, share = self._last(at, room)
        return Plan(self.hot * self.bin, tuple(sizes), (*valid, share), copies + moved)

    def _last(self, at: int, room: float) -> tuple[float, float]:
        """Returns the copies of the last group,
        and the share of valid pages in its units when cleaned.

        The last group is a log in which pages go round. A round of r host writes programs all
        arriving pages, and all pages that have survived one round, two rounds, and so on; together
        these fill the log. The room is stretched by s = 1 + 1/(2b). If all pages are alike, the
        model equals Desnoyers' law of greedy cleaning (`models.uniform.greedy_desnoyers`). With two
        kinds of pages and large b, it equals his law of FIFO cleaning
        (`models.hotcold.fifo_mixed`). Source: Desnoyers, SYSTOR 2012.
        """
        rate = float(self.flow[at])
        stays = max(self.rest - float(self.held[-1]), 0.0)
        stretched = room * (1 + 0.5 / self.drive.pages_per_unit)
        spare = stretched - (self.rest - float(self.held[at]))
        if spare <= 0:
            return np.inf, 1.0
        if rate <= 0:
            return 0.0, 0.0
        low, high = spare / rate, stretched / rate
        for _ in range(24):
            round_ = (low + high) / 2
            steps = int((len(self.flow) - at) * self.bin / round_) + 1
            ages = at + np.arange(steps) * (round_ / self.bin)
            come = self.flow[np.minimum(ages.astype(np.int64), len(self.flow) - 1)]
            has_room = round_ * float(come.sum()) + stays < stretched
            low, high = (round_, high) if has_room else (low, round_)
        return max(room / low - rate, 0.0), max(1 - rate * low / room, 0.0)


def sampled(drive: DriveShape) -> list[int]:
    """Returns the pages whose intervals are recorded: 1 % of the pages, or 4096 if that is more."""
    wanted = min(max(drive.logical_pages // 100, 4096), drive.logical_pages)
    drawn = np.random.default_rng(0).permutation(drive.logical_pages)[:wanted]
    return [int(page) for page in drawn]
