"""2R: pages that cleaning has moved are cold, and live in a region of their own.

"2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 2020. Of the paper we had the
abstract: two regions, normal and cold; a page that outlives the cleaning of its unit is cold; no
statistics; the basic version takes the emptiest unit (2R-Greedy), the better one the oldest of the
normal region (2R-FIFO), so that pages have time to be overwritten and fewer are falsely cold.

Decided here, as the abstract does not say it: the host's writes go to the normal region, whatever
they overwrite; space goes to the region that needs it; which region is cleaned is decided by the
valid pages of the oldest normal unit and of the emptiest one elsewhere, the fewer, and the normal
one if they are equal. No more is remembered than the stream of a unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
        """The one of the two that has fewer valid pages."""
        normal = np.flatnonzero(candidates.stream == NORMAL)
        others = np.flatnonzero(candidates.stream != NORMAL)
        found = []
        if len(normal):
            found.append(normal[np.argmin(candidates.sealed_order[normal])])
        if len(others):
            found.append(others[np.argmin(candidates.valid_pages[others])])
        return int(candidates.unit[min(found, key=lambda at: int(candidates.valid_pages[at]))])
