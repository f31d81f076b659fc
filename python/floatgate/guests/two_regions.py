"""2R: pages that cleaning has moved are cold, and live in a region of their own.

Source: the abstract of "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 2020. There
are two regions, normal and cold. A page that outlives the cleaning of its unit is cold. There are
no statistics. The basic version cleans the emptiest unit (2R-Greedy). The better version cleans the
oldest unit of the normal region (2R-FIFO), so that pages have time to be overwritten, and fewer are
falsely cold.

We chose details that the abstract does not state. The host's writes go to the normal region, no
matter which data they overwrite. Survivors of either region go to the cold region. 2R-FIFO cleans
the region with the larger dead share: the oldest unit in the normal region, or the emptiest unit in
the cold one. Neither region then has more spare space than the other for its data, and the only
state is the stream of a unit.

The comparison must be between whole regions. The oldest unit of the normal region stays the oldest
until it is cleaned. If it were compared with the emptiest cold unit, a full unit would block the
queue, and younger units that have become empty would wait behind it. Meanwhile the cold region
would lose space that the queue does not return.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import HostWrite
from .placement import MovedPages, Placement
from .victim import Candidates, Victim

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

COLD, NORMAL = 0, 1

SOURCE = "2R, PVLDB 2020; with cleaning.victim python:2r-fifo, or greedy"


class TwoRegions(Placement):
    """2R: pages that cleaning has moved are cold, all other pages are normal."""

    name = "2r"
    source = SOURCE
    streams = 2

    def stream(self, write: HostWrite) -> int:
        """Returns the normal region for every host write."""
        return NORMAL

    def moved(self, pages: MovedPages) -> Any:
        """Returns the cold region for pages that are still valid."""
        return COLD


class OldestNormal(Victim):
    """2R-FIFO: cleans the oldest unit of the normal region,
    or the emptiest unit of the other regions.
    """

    name = "2r-fifo"
    source = SOURCE

    def pick(self, candidates: Candidates) -> int:
        """Picks from the region with the larger dead share; if both are equal,
        from the normal region.
        """
        import numpy as np

        is_normal = candidates.stream == NORMAL
        if _dead_share(candidates, is_normal) >= _dead_share(candidates, ~is_normal):
            choice, order = is_normal, candidates.sealed_order
        else:
            choice, order = ~is_normal, candidates.valid_pages
        own = np.flatnonzero(choice)
        return int(candidates.unit[own[np.argmin(order[own])]])


def _dead_share(candidates: Candidates, of: npt.NDArray[np.bool_]) -> float:
    """Returns the share of dead pages in these units; less than 0 if there are no units."""
    pages = int(candidates.capacity_pages[of].sum())
    return 1 - int(candidates.valid_pages[of].sum()) / pages if pages else -1.0
