"""Tables of hot and cold data (`floatgate.analysis.hotness.Hotness`)."""

from __future__ import annotations

from collections.abc import Callable

from floatgate.results.tables import Cell, Table
from floatgate.results.values import count, fixed, percent, size

from .hotness import Hotness

COLUMNS = {
    "hot_pages": "Hot pages",
    "cold_pages": "Cold pages",
    "hot_writes": "Hot writes",
    "cold_writes": "Cold writes",
    "length_pages": "Write length",
}
"""Columns of the paper's Table 1: pages, page writes, and a length in pages."""

SEQUENCES = 200
"""Maximum number of sequences that the page lists; the JSON file has all."""


def means_cells(found: Hotness) -> list[Cell]:
    """Returns the one row of the paper's Table 1."""
    values = [getattr(found.means, name) for name in COLUMNS]
    digits = [0, 0, 0, 0, 2]
    return [Cell(fixed(v, n), v) for v, n in zip(values, digits, strict=True)]


def means_table(found: Hotness) -> Table:
    """Returns the paper's Table 1, for a terminal."""
    title = "Mean of a sequence"
    return Table(title, [title, *COLUMNS.values()], [[Cell("pages"), *means_cells(found)]])


def sequences_means_table(found: Hotness) -> Table:
    """Returns the paper's Table 1 with the skew of the writes."""
    table = means_table(found)
    gini = found.skew.gini
    (row,) = table.rows
    cells = [*row, Cell(fixed(gini, 3), gini)]
    return Table(table.title, [*table.columns, "Gini coefficient"], [cells])


def extents_table(found: Hotness) -> Table:
    """Returns Figures 1 and 2 of the paper as numbers."""
    rows = [
        [
            Cell("none merged" if row.gap_pages == 1 else count(row.gap_pages), row.gap_pages),
            Cell(fixed(row.extents, 1), row.extents),
            Cell(percent(row.cold_writes_share), row.cold_writes_share),
        ]
        for row in found.extents
    ]
    titles = ["Merged over fewer cold pages than", "Hot extents", "Cold writes in them"]
    return Table("Extents of hot pages", titles, rows)


def top_table(found: Hotness) -> Table:
    """Returns the share of the page writes that the most written pages receive."""
    rows = [
        [
            Cell(f"{100 * top.pages_share:g} %", top.pages_share),
            Cell(percent(top.writes_share), top.writes_share),
        ]
        for top in found.skew.top
    ]
    return Table("Skew", ["Most written pages", "Share of the page writes"], rows)


def distances_table(found: Hotness) -> Table:
    """Returns the histogram of overwrite distances."""
    whole = max(found.overwrites.overwrites, 1)
    rows = [
        [
            Cell(f"{count(bar.from_pages)} to {count(bar.below_pages - 1)}", bar.from_pages),
            Cell(size(bar.from_pages * found.page_bytes), bar.from_pages),
            Cell(count(bar.overwrites), bar.overwrites),
            Cell(percent(bar.overwrites / whole), bar.overwrites),
        ]
        for bar in found.overwrites.histogram
    ]
    titles = ["Page writes in between, 1 the next", "At least, of writes", "Overwrites", "Share"]
    return Table("Distances of overwrites", titles, rows)


def runs_table(found: Hotness, *, short: bool = False) -> Table:
    """Returns how sequential the requests are, by kind; `short` selects columns for a terminal."""
    columns: dict[str, tuple[str, Callable[[float | None], str]]] = {
        "requests": ("Requests", count),
        "continuing_requests_share": ("Continuing", percent),
        "continuing_bytes_share": ("By bytes", percent),
        "runs": ("Runs", count),
        "run_requests_mean": ("In a run", lambda mean: fixed(mean, 2)),
        "run_bytes_mean": ("Mean run", size),
        "run_bytes_p50": ("p50", size),
        "run_bytes_p90": ("p90", size),
        "run_bytes_p99": ("p99", size),
        "run_bytes_max": ("Longest", size),
    }
    if short:
        for name in ("requests", "run_bytes_p50", "run_bytes_p90", "run_bytes_p99"):
            del columns[name]
    rows = []
    for kind in ("all", "reads", "writes"):
        runs = getattr(found.sequentiality, kind)
        if runs.requests:
            values = ((getattr(runs, name), write) for name, (_, write) in columns.items())
            rows.append([Cell(kind, kind), *(Cell(write(value), value) for value, write in values)])
    titles = [title for title, _ in columns.values()]
    return Table("Sequentiality", ["Sequential", *titles], rows)


def sequences_table(found: Hotness) -> Table:
    """Returns one row for each sequence, at most the first `SEQUENCES`."""
    names = [*COLUMNS, "extents"]
    rows = []
    for number, one in enumerate(found.each[:SEQUENCES], 1):
        values = [getattr(one, name) for name in names]
        digits = [0, 0, 0, 0, 2, 0]
        cells = [Cell(fixed(v, n), v) for v, n in zip(values, digits, strict=True)]
        rows.append([Cell(str(number), number), *cells])
    title = "Sequences" if len(rows) == found.sequences else f"The first {SEQUENCES} sequences"
    return Table(title, ["Sequence", *COLUMNS.values(), "Hot extents"], rows)
