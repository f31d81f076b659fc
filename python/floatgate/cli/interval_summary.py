"""Means over several seeds, their intervals and differences as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from floatgate.report.values import measured

from . import output

if TYPE_CHECKING:
    import polars as pl

COLUMNS = {
    "write_amplification": "WA",
    "mapping.hit_ratio": "map hits",
    "latency.all.mean_us": "mean \N{MICRO SIGN}s",
    "latency.all.p99_us": "p99 \N{MICRO SIGN}s",
    "throughput.iops": "IOPS",
}
"""Metrics of the summary, with titles that fit a terminal."""


def print_intervals(summary: pl.DataFrame, keys: Sequence[str]) -> None:
    """A row for each combination, and below it how it differs from the baseline."""
    rows = summary.to_dicts()
    names = ["trace", *keys] if len({row["trace"] for row in rows}) > 1 or not keys else [*keys]
    drawn = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in names:
        drawn.add_column(name, overflow="fold")
    for title in COLUMNS.values():
        drawn.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        drawn.add_row(*(Text(str(row[name])) for name in names), *_cells(row, ""))
        if any(row[f"{metric}.difference"] is not None for metric in COLUMNS):
            blank = [""] * (len(names) - 1)
            told = Text("  difference", style="dim")
            drawn.add_row(told, *blank, *_cells(row, ".difference"))
    out = output.console()
    out.print(drawn)
    out.print()
    out.print(Text(_meaning(rows[0]["seeds"]), style="dim"))


def _cells(row: Mapping[str, Any], kind: str) -> list[str]:
    cells = []
    for metric in COLUMNS:
        mean = row[f"{metric}{kind}"]
        half = row[f"{metric}{kind}_ci95" if kind else f"{metric}.ci95"]
        sign = "+" if kind and mean is not None and mean > 0 else ""
        width = "" if half is None else f" \N{PLUS-MINUS SIGN} {measured(half)}"
        cells.append("-" if mean is None else f"{sign}{measured(mean)}{width}")
    return cells


def _meaning(seeds: int) -> str:
    if seeds == 1:
        return "one seed, so no intervals; differences to the baseline's run of the same trace"
    return (
        f"means of n = {seeds} seeds \N{PLUS-MINUS SIGN} half of the 95 % confidence interval "
        "(Student's t); differences to the baseline's run of the same trace and seed"
    )
