"""Effect of single writes on ETI's extents, worked out by hand from section 4 of the paper: the
cases of Figure 3, a full table, and ageing with each reading of the merged counter.

A result has the number of extents, but not the extents. Later writes reveal their ends and
counters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from floatgate.papers.eti.domain import DEVICE
from floatgate.papers.kit.batch import PAGE
from floatgate.papers.kit.recorded import Request, play

if TYPE_CHECKING:
    from collections.abc import Mapping

    from floatgate.results.result import Result

PAGES = 1024
"""Pages of the new drive: 16 blocks, half of them spare."""
DRIVE = {"flash.blocks": "16", "capacity.spare_factor": "0.5", "start.overwrites": "0"}

Writes = tuple[tuple[int, int], ...]
"""First page and length of each write, in pages."""


@dataclass(frozen=True)
class Step:
    text: str
    writes: Writes
    extents: tuple[tuple[int, int], ...]
    """First page of each extent after the writes, with its counter."""
    most: int = 2048
    period: int = 4096
    """Writes from one ageing to the next."""
    merge: str = "mean"

    @property
    def set(self) -> dict[str, str]:
        numbers = {"eti.extents": str(self.most), "eti.decay_period": str(self.period)}
        return numbers | {"eti.merge_value": self.merge}


FOUR: Writes = ((100, 100), (100, 100), (150, 100), (0, 50))
HOT: Writes = (*FOUR, *(((100, 50),) * 8), *(((200, 50),) * 9))
SIX = ((0, 1), (50, 0), (100, 10), (150, 3), (200, 10), (250, 0))
# These writes fill a table of six extents. Further writes inside an extent then change nothing.
IDLE: Writes = ((500, 1),) * len(HOT)
THREE = ((0, 0), (100, 1), (200, 0))
# Halved, 3 over 100 pages, 1 over 300 and 0 over 624.
COLD: Writes = (*(((0, 100),) * 7), *(((100, 300),) * 3))

STEPS = (
    Step("B: inside an extent, which becomes three", FOUR[:1], THREE),
    Step("A: the same extent", FOUR[:2], ((0, 0), (100, 2), (200, 0))),
    Step(
        "D: parts of two extents, both become two",
        FOUR[:3],
        ((0, 0), (100, 2), (150, 3), (200, 1), (250, 0)),
    ),
    Step(
        "C: the beginning of an extent, which becomes two",
        FOUR,
        ((0, 1), (50, 0), (100, 2), (150, 3), (200, 1), (250, 0)),
    ),
    Step("8 and 9 times two extents", HOT, SIX),
    Step(
        "ageing: halved, and cold neighbours are one",
        HOT,
        ((0, 0), (100, 5), (150, 1), (200, 5), (250, 0)),
        period=len(HOT),
    ),
    Step("ageing again: all are cold", (*HOT, *IDLE), ((0, 0),), most=6, period=len(HOT)),
    *(
        Step(f"cold ones are one: {merge}", COLD, ((0, counter),), period=len(COLD), merge=merge)
        for merge, counter in (("mean", 0), ("plain_mean", 1), ("max", 3), ("min", 0))
    ),
    Step("a table of three: an extent's part is not counted", ((100, 100), (150, 10)), THREE, 3),
    Step(
        "a table of three: an extent is counted if all of it is written",
        ((100, 100), (150, 10), (90, 200)),
        ((0, 0), (100, 2), (200, 0)),
        3,
    ),
)
ALL: Writes = ((0, PAGES),)
"""Splits nothing. Extents are counted before ageing, so the next write shows the result of
ageing."""


def played(writes: Writes, set: Mapping[str, str]) -> Result:
    requests = [Request(start, pages, write=True) for start, pages in writes]
    return play(requests, PAGE, DEVICE, DRIVE | dict(set))


def extents_after(step: Step) -> int:
    """Returns the number of extents after the step: the sum over all writes minus the sum without
    the last write."""

    def total(writes: Writes) -> int:
        mean = played(writes, step.set).placement.extents_mean
        return round((mean or 0.0) * len(writes))

    return total((*step.writes, *ALL)) - total(step.writes)


@pytest.mark.parametrize("step", STEPS, ids=[step.text for step in STEPS])
def test_extents_and_counters_are_those_by_hand(step: Step) -> None:
    """A write to a whole extent splits nothing and adds one to its counter. So it is hot with a
    threshold up to the counter plus one, and with no higher threshold."""
    ends = pairwise([*(start for start, _ in step.extents), PAGES])
    sizes = [(start, end - start) for start, end in ends]
    probes = [replace(step, writes=(*step.writes, probe)) for probe in sizes]
    found = [extents_after(one) for one in (step, *probes)]
    assert found == [len(step.extents)] * len(found)
    counters = [counter for _, counter in step.extents]
    asked = [
        (writes, step.set | {"eti.hot_threshold": str(counter + above)})
        for probe, counter in zip(probes, counters, strict=True)
        for above in (1, 2)
        for writes in (probe.writes, step.writes)
    ]
    hot = [played(writes, set).placement.streams[1].host_pages for writes, set in asked]
    added = [after - before for after, before in zip(hot[::2], hot[1::2], strict=True)]
    assert added == [pages for _, size in sizes for pages in (size, 0)]


def test_searches_from_the_extent_found_last() -> None:
    """Of 1, 3, 3 and 5 extents the writes begin in the numbers 0, 1, 1 and 0. The extents found
    last have the last page of the write before: 0, 1, 1 and 3."""
    search = played(FOUR, {}).placement.extent_search
    assert (search.commands, search.in_last) == (4, 3)
    assert search.walk == (1 + 2 + 2 + 1) / 4
    assert search.walk_from_last == (1 + 1 + 1 + 4) / 4
    assert search.halving == (0 + 2 + 2 + 3) / 4
    # One step finds out that it is another extent, 2 double the distance to 2 and 4, 1 halves.
    assert search.halving_from_last == (1 + 1 + 1 + (1 + 2 + 1)) / 4
