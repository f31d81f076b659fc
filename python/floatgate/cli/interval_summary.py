"""Means over several seeds, their intervals and differences, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from rich.text import Text

from floatgate.report.intervals import Unit, per_cent, unit_and_text, with_interval
from floatgate.results.intervals import what_seeds_change
from floatgate.results.result import Result
from floatgate.results.values import TIMES

from . import output
from .columns import Column, label, print_columns
from .summary import LAST, differs, print_run_messages

PLAIN: Sequence[Unit] = (("", 1.0),)

COLUMNS: Mapping[str, tuple[str, Sequence[Unit]]] = {
    "write_amplification": ("WA", PLAIN),
    LAST: ("last quarter", PLAIN),
    "mapping.hit_ratio": ("map hits", (("%", 0.01),)),
    "latency.all.mean_us": ("mean", TIMES),
    "latency.all.p99_us": ("p99", TIMES),
    "throughput.iops": ("IOPS", PLAIN),
}
"""Metrics of the summary, with titles that fit a terminal, and their possible units."""


def print_intervals(summary: pl.DataFrame, keys: Sequence[str], results: Sequence[Result]) -> None:
    """Prints each combination with its differences to the baseline below, then messages."""
    rows = summary.to_dicts()
    names = ["trace", *keys] if summary["trace"].n_unique() > 1 or not keys else [*keys]
    names += ["drive"] if any(row["drive"] for row in rows) else []
    columns = []
    for name in names:
        lines = [(str(row[name]), "  difference" if name == names[0] else "") for row in rows]
        columns.append(label(name, _interleaved(rows, lines)))
    shown = [metric for metric in COLUMNS if metric != LAST or differs(results)]
    columns += [_column(rows, metric) for metric in shown]
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
        if any(row[f"{metric}.difference"] is not None for metric in COLUMNS):
            cells.append(Text(difference, style="dim"))
    return cells


def _column(rows: Sequence[Mapping[str, Any]], metric: str) -> Column:
    name, units = COLUMNS[metric]
    means = [(row[metric], row[f"{metric}.ci95"]) for row in rows]
    unit, texts = unit_and_text(means, units)
    kind = f"{metric}.difference_percent"
    shares = [per_cent(row[kind], row[f"{kind}_ci95"]) for row in rows]
    cells = _interleaved(rows, [*zip(texts, shares, strict=True)])
    same = texts[0] if len(set(means)) == 1 < len(means) else None
    return Column(f"{name}\n{unit}" if unit else name, cells, same=same)


def _meaning(seeds: int) -> str:
    differences = "differences to the baseline's run of the same trace"
    if seeds == 1:
        return f"one seed, so no intervals; {differences}, in per cent of it"
    half = with_interval(f"means of n = {seeds} seeds", "half of the 95 % confidence interval")
    return f"{half} (Student's t); {differences} and seed, in per cent of it"
