"""The order in which map entries are changed, with SHRD and without: the slides' postmark pictures.

The engine's host layer says which; here they are only thinned and named.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .batch import Bench, Played
from .paper import Column, Dots, Exhibit, Numbers
from .shrd_runs import MAP_PAGE

ORDERS = {
    "without": "without SHRD",
    "unsorted": "with SHRD, windows as written",
    "with": "with SHRD, windows sorted",
}
ENTRIES = MAP_PAGE // 4
DOTS = 2500
"""In a plot; more cannot be told apart."""


def exhibits(bench: Bench, name: str, played: Played, limit: int) -> list[Exhibit]:
    """The picture of a trace, and what it says in numbers."""
    found = bench.access_pattern(played, limit)
    rows: list[dict[str, Any]] = []
    numbers: list[dict[str, Any]] = []
    for line, label in ORDERS.items():
        pages = found[line]
        step = max(1, len(pages) // DOTS)
        rows += [
            {"trace": label, "line": _where(page, found), "at": at, "page": page}
            for at, page in list(enumerate(pages))[::step]
        ]
        numbers.append({"order": label, "changes": len(pages), "map_pages": _changes(pages)})
    return [
        Dots(
            key="pattern",
            title="Logical page",
            caption=f"Map entries that the first {limit:,} requests of {name} change, thinned.",
            rows=rows,
            metric="page",
            style=",.0f",
            labels={"user": "the user's pages", "log": "the log"},
            x="at",
            x_title="Map entries changed so far",
        ),
        Numbers(
            key="pattern-numbers",
            title="How often the next entry is in another map page",
            caption=f"The first {limit:,} requests of {name}; map pages of {ENTRIES:,} entries.",
            rows=numbers,
            columns=(
                Column("Order", "order"),
                Column("Entries changed", "changes", lambda value: f"{value:,}"),
                Column("Changes of the map page", "map_pages", lambda value: f"{value:,}"),
            ),
        ),
    ]


def _where(page: int, found: dict[str, Any]) -> str:
    return "log" if page >= found["user_pages"] else "user"


def _changes(pages: Sequence[int]) -> int:
    """How often an entry is in another map page than the one before."""
    frames = [page // ENTRIES for page in pages]
    return sum(a != b for a, b in pairwise(frames))
