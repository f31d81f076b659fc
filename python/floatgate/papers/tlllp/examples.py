"""TLLLP's worked examples: Figure 1's victim, and the prefetches by Equation 1 and Table 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from floatgate.papers.kit.columns import numbers, texts
from floatgate.papers.kit.exhibits import Column, Numbers, Row
from floatgate.papers.kit.recorded import Request, play

from .domain import DEVICE

PAGE = 2048
ENTRIES = 512
"""Entries in a translation page of the preset."""
UNTIMED = {"queue.arrivals": "closed", "timing": "none"}

SEVEN = {"mapping.cache": "72B"}
"""Three nodes and six entries of 8 bytes: the cache in Figure 1 before TP7 leaves."""
VISITS = {7: ((2, 1), (4, 1)), 1: ((0, 3), (2, 2)), 2: ((0, 3), (3, 2))}
"""Translation pages with the cached entries and the number of look-ups of each. TP7 with Entry2 and
Entry4 is from the paper. The others are ours, with more visits."""
ASKED = (Request(3 * ENTRIES + 2), Request(3 * ENTRIES + 4))
"""Requests that follow, for a page without an entry in the cache."""


def figure_1() -> Numbers:
    """Shows which node leaves. Each node is looked up again after TP3 has come."""
    before = [
        Request(tpn * ENTRIES + entry, write=tpn == 7)
        for tpn, entries in VISITS.items()
        for entry in _in_turn(entries)
    ]
    rows: list[Row] = []
    counted = play([*before, *ASKED], PAGE, DEVICE, UNTIMED | SEVEN)
    for tpn, entries in VISITS.items():
        again = [Request(tpn * ENTRIES + entry) for entry, _ in entries]
        replayed = play([*before, *ASKED, *again], PAGE, DEVICE, UNTIMED | SEVEN)
        kept = (replayed.mapping.hits or 0) - (counted.mapping.hits or 0)
        rows.append(
            {
                "page": f"TP{tpn}",
                "entries": " and ".join(f"Entry{entry}" for entry, _ in entries),
                "visits": sum(visits for _, visits in entries) / len(entries),
                "paper": "leaves" if tpn == 7 else "stays",
                "ours": {0: "leaves", len(entries): "stays"}.get(kept, "in part"),
            }
        )
    return Numbers(
        key="example-figure-1",
        title="Figure 1: the node that leaves",
        caption=f"Three nodes and six entries fill the cache when two entries of TP3 are asked "
        f"for, of which TP7's are dirty. {counted.mapping.evictions} entries leave, "
        f"{counted.mapping.dirty_evictions} of them dirty; translation pages rewritten: "
        f"{counted.flash.programs.map}.",
        rows=rows,
        columns=[
            *texts(page="Node", entries="Entries"),
            Column("Mean visits", "visits", "{:.1f}".format),
            *texts(paper="The paper", ours="Ours"),
        ],
        brief=False,
    )


def _in_turn(entries: Sequence[tuple[int, int]]) -> Iterable[int]:
    """Returns the entries, each repeated by its look-ups, and never one directly after its
    neighbour."""
    rounds = range(max(visits for _, visits in entries))
    return [entry for turn in rounds for entry, visits in entries if turn < visits]


PLAYED = {
    "8 pages from 0": ((0, 8),),
    "8 pages from 508, over the end of a mapping page": ((508, 8),),
    "8 requests of one page, in sequence": tuple((page, 1) for page in range(8)),
    "pages 0, 16, 4, 9": ((0, 1), (16, 1), (4, 1), (9, 1)),
}
"""Requests on an empty cache: first page and number of pages of each."""


def table_1() -> Numbers:
    """Returns windows and prefetches by Equation 1, worked out by hand, next to the engine's
    counts."""
    rows: list[Row] = []
    for (name, requests), mode in product(PLAYED.items(), ("run", "prev")):
        loads = by_hand(requests, mode)
        settings = UNTIMED | {"mapping.cache": "64KiB", "tlllp.fetch_mode": mode}
        ours = play([Request(*one) for one in requests], PAGE, DEVICE, settings).mapping
        rows.append(
            {
                "requests": name,
                "mode": mode,
                "loads": ", ".join("{}: min({} + 1, {}) = {}".format(*load) for load in loads),
                "misses": len(loads),
                "our_misses": ours.misses,
                "ahead": sum(count - 1 for *_, count in loads),
                "our_ahead": ours.prefetched,
            }
        )
    return Numbers(
        key="example-table-1",
        title="Table 1 and Equation 1: what is prefetched",
        caption="For each page that misses: prefetch_num = min(fetch_num + 1, min_fetch_num), and "
        f"no further than the mapping page ends, of {ENTRIES} entries; by hand, and as counted by "
        "the engine.",
        rows=rows,
        columns=[
            *texts(requests="Requests", mode="fetch_mode", loads="Page: prefetch_num, by hand"),
            *numbers(str, misses="Map reads, by hand", our_misses="Ours"),
            *numbers(str, ahead="Loaded ahead, by hand", our_ahead="Ours"),
        ],
        brief=False,
    )


def by_hand(requests: Iterable[tuple[int, int]], mode: str) -> list[tuple[int, int, int, int]]:
    """Returns for each page that misses: the page, fetch_num, the window, and the number of loaded
    entries. The cache is empty at first, and has room for all entries."""
    loads: list[tuple[int, int, int, int]] = []
    cached: set[int] = set()
    last, run, prefetched = -2, 0, 0
    for first, pages in requests:
        for page in range(first, first + pages):
            follows = page == last + 1
            run, prefetched = (run + 1, prefetched) if follows else (0, 0)
            if page not in cached:
                anew = page == first or page // ENTRIES != last // ENTRIES
                window = (2 if anew else 4) * (first + pages - page)
                fetch = run if mode == "run" else prefetched
                prefetched = min(fetch + 1, window)
                count = min(prefetched, ENTRIES - page % ENTRIES)
                cached |= set(range(page, page + count))
                loads.append((page, fetch, window, count))
            last = page
    return loads
