"""Effect of single writes on ETI's extents: the cases of Figure 3, on the engine.

The figure is lost. Its text (section 4) has a write that matches an extent, and writes that are
"matched by 1 or 2 new extents". A result contains the number of extents but not the extents
themselves. `tests/papers/test_paper_eti_example.py` derives their ends and counters from later
writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from floatgate.papers.kit.batch import PAGE
from floatgate.papers.kit.exhibits import Numbers, columns_of
from floatgate.papers.kit.recorded import Request, play

from .domain import DEVICE

if TYPE_CHECKING:
    from floatgate.results.result import Result

PAGES = 1024
"""Pages of the new drive: 16 blocks, half of them spare."""
DRIVE = {"flash.blocks": "16", "capacity.spare_factor": "0.5", "start.overwrites": "0"}

Writes = tuple[tuple[int, int], ...]
"""First page and length of each write, in pages."""


@dataclass(frozen=True)
class Step:
    """A sequence of writes from the beginning, and the extents after it, worked out by hand."""

    text: str
    writes: Writes
    extents: tuple[tuple[int, int], ...]
    """First page of each extent, with its counter."""
    most: int = 2048
    period: int = 4096
    """Writes from one ageing to the next."""

    @property
    def set(self) -> dict[str, str]:
        return {"eti.extents": str(self.most), "eti.decay_period": str(self.period)}

    @property
    def said(self) -> str:
        """Formats the extents as a text, "0-99: 0, 100-199: 1"."""
        ends = pairwise([*(start for start, _ in self.extents), PAGES])
        counters = (counter for _, counter in self.extents)
        return ", ".join(f"{a}-{b - 1}: {n}" for (a, b), n in zip(ends, counters, strict=True))


FOUR: Writes = ((100, 100), (100, 100), (150, 100), (0, 50))
HOT: Writes = (*FOUR, *(((100, 50),) * 8), *(((200, 50),) * 9))
SIX = ((0, 1), (50, 0), (100, 10), (150, 3), (200, 10), (250, 0))
# These writes fill a table of six extents. Further writes inside an extent then change nothing.
IDLE: Writes = ((500, 1),) * len(HOT)
THREE = ((0, 0), (100, 1), (200, 0))

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


def worked_example() -> Numbers:
    return Numbers(
        key="example",
        title="Figure 3: what writes do to extents",
        caption=(
            f"A new drive of {PAGES:,} pages. By hand: the pages of each extent, and its counter. "
            "The figure is lost: which of B, C and D is which is our reading of the text."
        ),
        rows=[
            {
                "step": step.text,
                "write": f"{step.writes[-1][0]}-{sum(step.writes[-1]) - 1}",
                "extents": step.said,
                "by_hand": len(step.extents),
                "ours": extents_after(step),
            }
            for step in STEPS
        ],
        columns=(
            *columns_of(step="", write="Last write", extents="By hand"),
            *columns_of(str, by_hand="Extents", ours="Extents, ours"),
        ),
    )
