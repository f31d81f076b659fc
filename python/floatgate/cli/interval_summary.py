"""Means over several seeds, their intervals and differences, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from rich.text import Text

from floatgate.results.intervals import what_seeds_change
from floatgate.results.result import Result
from floatgate.results.tables import LAST, METRICS, Metric, per_cent

from . import output
from .columns import Column, label, print_columns
from .summary import IMPORTANT, heading, is_worth_a_column, print_run_messages

SHOWN = [
    METRICS[name]
    for name in ("write_amplification", LAST, "hit_ratio", "mean_us", "p99_us", "iops")
]
"""Metrics of the summary."""


def print_intervals(summary: pl.DataFrame, keys: Sequence[str], results: Sequence[Result]) -> None:
    """Prints each combination with its differences to the baseline below, then messages."""
    rows = summary.to_dicts()
    names = ["trace", *keys] if summary["trace"].n_unique() > 1 or not keys else [*keys]
    names += ["drive"] if any(row["drive"] for row in rows) else []
    columns = []
    for name in names:
        lines = [(str(row[name]), "  difference" if name == names[0] else "") for row in rows]
        columns.append(label(name, _interleaved(rows, lines)))
    columns += [
        _column(rows, metric)
        for metric in SHOWN
        if is_worth_a_column(metric, [row[metric.path] for row in rows], results)
    ]
    out = output.console()
    print_columns(out, columns)
    out.print()
    out.print(Text(_meaning(rows[0]["seeds"]), style="dim"))
    if changed := what_seeds_change(results):
        out.print(Text(changed, style="dim"))
    print_run_messages(out, results)


def _interleaved(
    rows: Sequence[Mapping[str, Any]], lines: Sequence[tuple[str, str]]
) -> list[str | Text]:
    """Returns the cells of a column: each row's value, with its difference below, if any."""
    cells: list[str | Text] = []
    for row, (own, difference) in zip(rows, lines, strict=True):
        cells.append(own)
        if any(row[f"{metric.path}.difference"] is not None for metric in SHOWN):
            cells.append(Text(difference, style="dim"))
    return cells


def _column(rows: Sequence[Mapping[str, Any]], metric: Metric) -> Column:
    found = [(row[metric.path], row[f"{metric.path}.ci95"]) for row in rows]
    means = metric.means(metric.short, found)
    texts = [cell.text for cell in means.cells]
    kind = f"{metric.path}.difference_percent"
    shares = [per_cent(row[kind], row[f"{kind}_ci95"]) for row in rows]
    cells = _interleaved(rows, [*zip(texts, shares, strict=True)])
    same = texts[0] if len(set(found)) == 1 < len(found) else None
    rank = IMPORTANT.index(metric.name)
    return Column(heading(means.title), cells, rank=rank, same=same)


def _meaning(seeds: int) -> str:
    differences = "differences to the baseline's run of the same trace"
    if seeds == 1:
        return f"one seed, so no intervals; {differences}, in per cent of it"
    half = f"n = {seeds} seeds \N{PLUS-MINUS SIGN} half of the 95 % confidence interval"
    return f"means of {half} (Student's t); {differences} and seed, in per cent of it"
