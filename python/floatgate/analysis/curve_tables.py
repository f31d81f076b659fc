"""The mapping cache's hit-ratio curve (`floatgate.map_curve`) in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.results.tables import Cell, Table
from floatgate.results.values import count, percent, size

Document = Mapping[str, Any]

SIZES = 12
"""Maximum number of rows in the short table."""


def source_words(document: Document) -> str:
    """States whether the curve is exact or sampled, and the expected error of a sampled curve."""
    sample = document["sample"]
    if not sample:
        return "exact"
    return (
        f"sampled: {percent(sample['rate'])} of the pages ({count(sample['pages'])}); the mean "
        f"error is below {percent(document['expected_error'])} of the accesses in 19 of 20 cases"
    )


def needed_table(document: Document) -> Table:
    """Returns the cache sizes that reach given shares of the achievable hits."""
    rows = [
        [
            Cell(f"{row['percent']} %", row["percent"]),
            Cell(_at_most(document, row) + size(row["bytes"]), row["bytes"]),
            Cell(count(row["entries"]), row["entries"]),
            Cell(percent(row["hit_ratio"]), row["hit_ratio"]),
        ]
        for row in document["needed"]
    ]
    titles = ["Of the hits that can be had", "Cache", "Entries", "Hit ratio"]
    return Table("What is needed", titles, rows)


def sizes_table(document: Document, *, short: bool = False) -> Table:
    """Returns the hit ratio at each cache size.

    With `short`, the table has a few powers of two and the last point.
    """
    points = document["points"]
    if short:
        powers = [point for point in points if point["entries"].bit_count() == 1]
        step = -(-len(powers) // (SIZES - 1)) if powers else 1
        few = powers[::-step][::-1] if powers else []
        points = [*few, *(point for point in points[-1:] if point not in few)]
    rows = [
        [
            Cell(size(point["bytes"]), point["bytes"]),
            Cell(count(point["entries"]), point["entries"]),
            Cell(percent(point["hit_ratio"]), point["hit_ratio"]),
        ]
        for point in points
    ]
    return Table("Hit ratio by cache size", ["Cache", "Entries", "Hit ratio"], rows)


def _at_most(document: Document, row: Mapping[str, Any]) -> str:
    """Returns `≤` for a size that may be too large: a sample has no points at smaller sizes."""
    first = document["points"][0]["entries"]
    return "≤ " if document["sample"] and row["entries"] == first else ""
