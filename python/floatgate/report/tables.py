"""The report's tables, as text ready to be shown; numbers keep their raw value for sorting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from .frames import KINDS, NAMED
from .runs import Run, Varying, label_runs
from .values import (
    ABSENT,
    Result,
    count,
    finite,
    fixed,
    flatten,
    leaf,
    measured,
    number,
    percent,
    plain,
    ratio,
    rows_of,
    size,
    total,
)


@dataclass(frozen=True)
class Cell:
    """One cell: its text, and the number or text to sort by."""

    text: str
    order: float | str | None = None
    metric: str = ""


@dataclass(frozen=True)
class Table:
    """A table whose first column names the row."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    text_columns: frozenset[int] = field(default=frozenset({0}))
    """Columns set as text, to the left; the others are numbers, to the right."""


METRICS = {
    "write_amplification": ("Write amplification", ratio),
    "data_write_amplification": ("Data write amplification", ratio),
    "hit_ratio": ("Map hit ratio", percent),
    "mean_us": ("Mean,\N{NO-BREAK SPACE}µs", measured),
    "p99_us": ("p99,\N{NO-BREAK SPACE}µs", measured),
    "p999_us": ("p99.9,\N{NO-BREAK SPACE}µs", measured),
    "iops": ("IOPS", count),
    "erases": ("Erases", count),
    "device_seconds": ("Device time,\N{NO-BREAK SPACE}s", measured),
    "warnings": ("Warnings", count),
}
"""Columns of the summary: heading with unit, and how to write the number."""


def summary_rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """One row per run: `label` and the main metrics, numbers as they are, None where absent.

    Latencies in microseconds over all requests, `hit_ratio` of the mapping cache (0 to 1),
    `erases` of the whole flash for every cause, `warnings` their number.
    """
    return [_summary(run) for run in label_runs(results)]


def _summary(run: Run) -> dict[str, Any]:
    result = run.result
    return {
        "label": run.label,
        "write_amplification": number(result, "write_amplification"),
        "data_write_amplification": number(result, "data_write_amplification"),
        "hit_ratio": number(result, "mapping", "hit_ratio"),
        "mean_us": number(result, "latency", "all", "mean_us"),
        "p99_us": number(result, "latency", "all", "p99_us"),
        "p999_us": number(result, "latency", "all", "p999_us"),
        "iops": number(result, "throughput", "iops"),
        "erases": total(result, "flash", "erases"),
        "device_seconds": number(result, "throughput", "device_seconds"),
        "warnings": len(rows_of(result, "warnings")),
    }


def summary_table(runs: Sequence[Run]) -> Table:
    """The main metrics of every run side by side."""
    rows = []
    for run in runs:
        metrics = _summary(run)
        cells = [
            Cell(write(metrics[name]), metrics[name], name) for name, (_, write) in METRICS.items()
        ]
        rows.append([Cell(run.name, run.name), *cells])
    return Table("Main metrics", ["Run", *(title for title, _ in METRICS.values())], rows)


def varying_table(keys: Iterable[Varying]) -> Table:
    """What differs between the runs, with the values that occur."""
    rows = [
        [Cell(vary.key), Cell(str(len(vary.distinct))), Cell(" · ".join(vary.distinct))]
        for vary in keys
    ]
    return Table("What varies", ["Key", "Values", "Which"], rows, frozenset({0, 2}))


def latency_table(runs: Sequence[Run]) -> Table:
    """Response times in microseconds, for reads, writes and all requests of each run."""
    names = ("mean", "stdev", "p50", "p95", "p99", "p999", "max")
    rows = []
    for run in runs:
        for kind in KINDS:
            if number(run.result, "latency", kind, "mean_us") is None:
                continue
            times = [number(run.result, "latency", kind, f"{name}_us") for name in names]
            requests = number(run.result, "latency", kind, "requests")
            rows.append(
                [Cell(run.name, run.name), Cell(kind, kind), Cell(count(requests), requests)]
                + [Cell(measured(time), time) for time in times]
            )
    titles = ["Mean", "Std dev", "p50", "p95", "p99", "p99.9", "Max"]
    title = "Response time by kind of request, µs"
    return Table(title, ["Run", "Kind", "Requests", *titles], rows, frozenset({0, 1}))


def parts_table(title: str, frame: pl.DataFrame, names: Iterable[str], digits: int) -> Table:
    """The numbers behind stacked bars: a column per part that occurs."""
    present = [name for name in names if name in set(frame["part"])]
    rows = []
    for (run,), parts in frame.group_by(["run"], maintain_order=True):
        value = dict(zip(parts["part"], parts["value"], strict=True))
        cells = [
            Cell(fixed(value.get(name, 0.0), digits), value.get(name, 0.0)) for name in present
        ]
        whole = float(parts["value"].sum())
        rows.append([Cell(str(run), str(run)), *cells, Cell(fixed(whole, digits), whole)])
    return Table(title, ["Run", *(name.capitalize() for name in present), "Sum"], rows)


def with_predictions(table: Table, predicted: pl.DataFrame) -> Table:
    """The table of amplifications with the closed forms beside the sums, where there are some."""
    if predicted.is_empty():
        return table
    found = {row["run"]: row for row in predicted.iter_rows(named=True)}
    rows = []
    for row in table.rows:
        law = found.get(row[0].text)
        cells = [Cell(ABSENT), Cell(ABSENT)]
        if law:
            text = f"{law['law']} ({law['source']})"
            cells = [Cell(fixed(law["value"], 3), law["value"]), Cell(text, text)]
        rows.append([*row, *cells])
    columns = [*table.columns, "Predicted", "Closed form"]
    return Table(table.title, columns, rows, table.text_columns | {len(columns) - 1})


def wear_table(runs: Sequence[Run]) -> Table:
    """Erases per unit of every run."""
    names = ("erases_min", "erases_mean", "erases_max", "erases_stdev")
    rows = []
    for run in runs:
        values = [number(run.result, "wear", name) for name in names]
        if any(value is not None for value in values):
            low, mean, high, stdev = values
            texts = [count(low), fixed(mean, 2), count(high), fixed(stdev, 2)]
            cells = [Cell(text, value) for text, value in zip(texts, values, strict=True)]
            rows.append([Cell(run.name, run.name), *cells])
    return Table("Erases per unit", ["Run", "Least", "Mean", "Most", "Std dev"], rows)


def operations_table(result: Result) -> Table | None:
    """Flash operations of one run by cause; None when the result has none."""
    kinds = ("reads", "programs", "erases")
    names = NAMED | {"host": "host requests"}
    rows = []
    for key, name in names.items():
        values = [number(result, "flash", kind, key) for kind in kinds]
        if any(values):
            rows.append([Cell(name), *(Cell(count(value)) for value in values)])
    if not rows:
        return None
    sums = [total(result, "flash", kind) for kind in kinds]
    rows.append([Cell("all"), *(Cell(count(value)) for value in sums)])
    return Table("Flash operations by cause", ["Cause", "Reads", "Programs", "Erases"], rows)


def config_rows(result: Result, differing: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Every config key of a run with its value, and whether it differs between the runs."""
    marked = set(differing)
    return [(key, value, key in marked) for key, value in flatten(leaf(result, "config")).items()]


def provenance(result: Result) -> list[tuple[str, str]]:
    """What it takes to run this again, and how the drive stood at the start."""
    pairs = [
        ("Trace", plain(leaf(result, "workload", "name") or ABSENT)),
        ("Trace digest", plain(leaf(result, "workload", "hash") or ABSENT)),
        ("Seed", plain(leaf(result, "seed")) if leaf(result, "seed") is not None else ABSENT),
        ("Floatgate", plain(leaf(result, "floatgate") or ABSENT)),
        ("Engine", plain(leaf(result, "engine", "version") or ABSENT)),
        ("Start", _start(result)),
    ]
    return [*pairs, *_workload(result), *_drive(result), *_cost(result)]


def _start(result: Result) -> str:
    fill = leaf(result, "start", "fill")
    if fill is None:
        return ABSENT
    parts = [f"fill: {plain(fill)}"]
    volumes = number(result, "start", "volumes")
    if volumes:
        parts.append(f"{volumes:.3g} drive volumes written before the run")
    settled = leaf(result, "start", "settled")
    if settled is not None:
        parts.append("settled" if settled else "not settled")
    factor = number(result, "start", "write_amplification")
    if factor is not None:
        parts.append(f"write amplification {ratio(factor)} at its end")
    return ", ".join(parts)


def _workload(result: Result) -> list[tuple[str, str]]:
    names = ("requests", "reads", "writes", "trims", "flushes")
    counts = [(name, number(result, "workload", name)) for name in names]
    text = ", ".join(f"{count(value)} {name}" for name, value in counts if value)
    pairs = [("Workload", text or ABSENT)]
    for name, title in (
        ("read_pages", "Pages read"),
        ("write_pages", "Pages written"),
        ("footprint_pages", "Footprint, pages"),
        ("skipped", "Skipped requests"),
    ):
        pairs.append((title, count(number(result, "workload", name))))
    return pairs


def _drive(result: Result) -> list[tuple[str, str]]:
    spare = number(result, "drive", "spare_factor")
    return [
        ("Drive, logical", size(number(result, "drive", "logical_bytes"))),
        ("Drive, physical", size(number(result, "drive", "physical_bytes"))),
        ("Spare factor", percent(spare)),
    ]


def _cost(result: Result) -> list[tuple[str, str]]:
    seconds = number(result, "engine", "wall_seconds")
    return [
        ("Simulated in", ABSENT if seconds is None else f"{measured(seconds)} s"),
        ("Peak memory", size(number(result, "engine", "peak_rss_bytes"))),
    ]


def messages(runs: Sequence[Run], kind: str) -> list[tuple[str, list[str]]]:
    """Each different text under `kind` (`warnings`, `notes`) with the runs that carry it."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for text in rows_of(run.result, kind):
            names = found.setdefault(str(text), [])
            if run.name not in names:
                names.append(run.name)
    return list(found.items())


def series_limit(frames: Mapping[str, pl.DataFrame]) -> float:
    """Where the axis of stacked bars ends, in all panels alike, with room for the totals."""
    sums = [
        float(value)
        for frame in frames.values()
        for value in frame.group_by("row").agg(pl.col("value").sum())["value"]
        if finite(value) is not None
    ]
    return max(sums, default=1.0) * 1.15
