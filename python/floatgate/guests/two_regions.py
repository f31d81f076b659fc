"""2R: pages that cleaning has moved are cold, and live in a region of their own.

"2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 2020. Of the paper we had the
abstract: two regions, normal and cold; a page that outlives the cleaning of its unit is cold; no
statistics; the basic version takes the emptiest unit (2R-Greedy), the better one the oldest of the
normal region (2R-FIFO), so that pages have time to be overwritten and fewer are falsely cold.

Decided here, as the abstract does not say it. The host's writes go to the normal region, whatever
they overwrite. Survivors of either region go to the cold one. 2R-FIFO cleans the region of which
the larger share is dead: the oldest unit if that is the normal one, the emptiest one else. So no
region has more of the spare space than the other for what it holds, and nothing is remembered but
the stream of a unit. It has to be the regions as a whole that are compared. The oldest unit of the
normal region stays what it is until it is cleaned: were it held against the emptiest cold one, a
full one would stop the queue, and younger units that are empty by then would wait behind it, while
the cold region loses space that the queue does not give back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import HostWrite
from .placement import MovedPages, Placement
from .victim import Candidates, Victim

COLD, NORMAL = 0, 1

SOURCE = "2R, PVLDB 2020; with cleaning.victim python:2r-fifo, or greedy"


class TwoRegions(Placement):
    """2R: what cleaning has moved is cold, all else is normal."""

    name = "2r"
    source = SOURCE
    streams = 2

    def stream(self, write: HostWrite) -> int:
        """The host writes to the normal region."""
        return NORMAL

    def moved(self, pages: MovedPages) -> Any:
        """Who is still valid is cold."""
        return COLD


class OldestNormal(Victim):
    """2R-FIFO: the oldest unit of the normal region, or the emptiest one of the others."""

    name = "2r-fifo"
    source = SOURCE

    def pick(self, candidates: Candidates) -> int:
        """From the region of which the larger share is dead; of both alike, the normal one."""
        is_normal = candidates.stream == NORMAL
        if _dead_share(candidates, is_normal) >= _dead_share(candidates, ~is_normal):
            choice, order = is_normal, candidates.sealed_order
        else:
            choice, order = ~is_normal, candidates.valid_pages
        own = np.flatnonzero(choice)
        return int(candidates.unit[own[np.argmin(order[own])]])


def _dead_share(candidates: Candidates, of: npt.NDArray[np.bool_]) -> float:
    """Of the pages of these units; less than 0 of none."""
    pages = int(candidates.capacity_pages[of].sum())
    return 1 - int(candidates.valid_pages[of].sum()) / pages if pages else -1.0
