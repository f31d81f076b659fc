"""Order in which the engine's host layer changes map entries, with SHRD and without: the slides'
postmark pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

from floatgate import _core
from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.columns import numbers
from floatgate.papers.kit.exhibits import Column, Dots, Exhibit, Numbers, Row
from floatgate.papers.kit.recorded import Request, frame_of
from floatgate.simulation import configs

from .domain import DEVICE, MAP_PAGE, PAGE

ORDERS = {
    "without": "without SHRD",
    "unsorted": "with SHRD, windows as written",
    "with": "with SHRD, windows sorted",
}
ENTRIES = MAP_PAGE // 4
DOTS = 2500
"""Largest number of dots in a plot. A plot cannot show more as separate dots."""


def pattern(bench: Bench, name: str, played: Played, limit: int) -> list[Exhibit]:
    """Returns the picture of a trace, and its numbers."""
    orders = bench.access_pattern(played, limit)
    log = orders["user_pages"]
    rows: list[Row] = []
    numbers: list[Row] = []
    for order, label in ORDERS.items():
        pages = orders[order]
        step = max(1, len(pages) // DOTS)
        rows += [
            {"trace": label, "line": "log" if page >= log else "user", "at": at, "page": page}
            for at, page in list(enumerate(pages))[::step]
        ]
        numbers.append({"order": label, "changes": len(pages), "map_pages": _changes(pages)})
    return [
        Dots(
            key="pattern",
            title="Map entries in the order of their changes",
            caption=f"Those that {limit:,} requests of {name} change, thinned.",
            rows=rows,
            metric="page",
            style=",.0f",
            labels={"user": "the user's pages", "log": "the log"},
            x="at",
            x_title="Map entries changed so far",
            axis="Logical page",
        ),
        Numbers(
            key="pattern-numbers",
            title="How often the next entry is in another map page",
            caption=f"{limit:,} requests of {name}; map pages of {ENTRIES:,} entries.",
            rows=numbers,
            columns=(
                Column("Order", "order"),
                Column("Entries changed", "changes", "{:,}".format),
                Column("Changes of the map page", "map_pages", "{:,}".format),
            ),
        ),
    ]


def _changes(pages: Sequence[int]) -> int:
    """Counts how often an entry is in another map page than the previous entry."""
    frames = [page // ENTRIES for page in pages]
    return sum(a != b for a, b in pairwise(frames))


SLIDES = ((32, 1024), (765, 1025), (128, 1026), (854, 1027))
"""The slides' example: pages in the order of their writes, and their positions in the log, which
begins behind the user's 1,024 pages."""
ALONE = {"host.log": "1MiB", "shrd.exclude_below": "0B", "shrd.remap_threshold": "0"}
"""Packs all small writes, and remaps the log before the next request."""


def worked_example() -> Numbers:
    """Plays the slides' four writes on the engine's host layer, and the remap that follows."""
    pages = [page for page, _ in SLIDES]
    # The last request writes nothing. The remap runs before it.
    requests = [*(Request(page, write=True) for page in pages), Request(0)]
    workload = _core.Workload.recorded("the slides' example", frame_of(requests, PAGE), 1, 1.0)
    config, log = configs.resolve(DEVICE, ALONE), SLIDES[0][1]
    orders = json.loads(
        _core.access_pattern(config, workload, span_bytes=log * PAGE, limit=len(requests))
    )
    logged, remapped = orders["with"][: len(pages)], orders["with"][len(pages) :]
    return Numbers(
        key="example",
        title="The slides' worked example",
        caption=(
            f"Writes of pages {', '.join(map(str, pages))}: where the host layer logs them, and "
            "the order in which it has them remapped."
        ),
        rows=[
            {
                "page": page,
                "slides": slot,
                "ours": logged[at] - orders["user_pages"] + log,
                "remapped": remapped.index(page) + 1,
                "in_order": sorted(pages).index(page) + 1,
            }
            for at, (page, slot) in enumerate(SLIDES)
        ],
        columns=(
            *numbers(str, page="oLPN", slides="tLPN, slides", ours="tLPN, ours"),
            *numbers(str, in_order="Remapped as, slides", remapped="Remapped as, ours"),
        ),
    )
