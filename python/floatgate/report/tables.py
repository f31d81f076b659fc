"""The report's tables, as text ready to be shown; numbers keep their raw value for sorting."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from . import overview
from .frames import KINDS, NAMED
from .runs import Run, Varying, label_runs
from .values import (
    ABSENT,
    SIZES,
    TIMES,
    Document,
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
    unit_of,
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


@dataclass(frozen=True)
class Column:
    """A column of numbers: its heading, with the unit that all of them are in, and its cells."""

    title: str
    cells: list[Cell]


Make = Callable[[str, Sequence[float | None]], Column]
"""Makes a column of a title and the values."""


def written(write: Callable[[float | None], str]) -> Make:
    """Columns whose every number is written by `write`."""
    return lambda title, values: Column(title, [Cell(write(value), value) for value in values])


def in_unit_of(units: Sequence[tuple[str, float]]) -> Make:
    """Columns in the unit that suits their values, which the heading then names."""

    def make(title: str, values: Sequence[float | None]) -> Column:
        name, base = unit_of(values, units)
        known = [None if value is None else value / base for value in values]
        cells = [Cell(measured(value), value) for value in known]
        return Column(f"{title},\N{NO-BREAK SPACE}{name}", cells)

    return make


times = in_unit_of(TIMES)
"""A column of microseconds."""

METRICS: dict[str, tuple[str, Make]] = {
    "write_amplification": ("Write amplification", written(ratio)),
    "data_write_amplification": ("Data write amplification", written(ratio)),
    "hit_ratio": ("Map hit ratio", written(percent)),
    "mean_us": ("Mean", times),
    "p99_us": ("p99", times),
    "p999_us": ("p99.9", times),
    "iops": ("IOPS", written(count)),
    "erases": ("Erases", written(count)),
    "device_seconds": ("Device time,\N{NO-BREAK SPACE}s", written(measured)),
    "lifetime_bytes": ("Lifetime", in_unit_of(SIZES)),
    "warnings": ("Warnings", written(count)),
}
"""Columns of the summary: heading, and how to make the column."""


def summary_rows(results: Sequence[Document]) -> list[dict[str, Any]]:
    """One row per run: `label` and the main metrics, numbers as they are, None where absent.

    Latencies in microseconds over all requests, `hit_ratio` of the mapping cache (0 to 1),
    `erases` of the whole flash for every cause, `lifetime_bytes` that the host can write until
    the mean unit has reached its endurance, `warnings` their number.
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
        "lifetime_bytes": number(result, "lifetime", "host_bytes"),
        "warnings": len(rows_of(result, "warnings")),
    }


def summary_table(runs: Sequence[Run]) -> Table:
    """The main metrics of every run side by side."""
    metrics = [_summary(run) for run in runs]
    columns = []
    for name, (title, make) in METRICS.items():
        made = make(title, [row[name] for row in metrics])
        cells = [dataclasses.replace(cell, metric=name) for cell in made.cells]
        columns.append(Column(made.title, cells))
    return beside("Main metrics", {"Run": [run.name for run in runs]}, columns)


def beside(title: str, names: Mapping[str, Sequence[str]], columns: Sequence[Column]) -> Table:
    """A table of columns: those of text first, by their headings, then those of numbers."""
    texts = [[Cell(text, text) for text in texts] for texts in names.values()]
    every = [*texts, *(column.cells for column in columns)]
    titles = [*names, *(column.title for column in columns)]
    rows = [list(row) for row in zip(*every, strict=True)]
    return Table(title, titles, rows, frozenset(range(len(names))))


def varying_table(keys: Iterable[Varying]) -> Table:
    """What differs between the runs, with the values that occur."""
    rows = [
        [Cell(vary.key), Cell(str(len(vary.distinct))), Cell(" · ".join(vary.distinct))]
        for vary in keys
    ]
    return Table("What varies", ["Key", "Values", "Which"], rows, frozenset({0, 2}))


QUANTILES = {
    "mean": "Mean",
    "stdev": "Std dev",
    "p50": "p50",
    "p95": "p95",
    "p99": "p99",
    "p999": "p99.9",
    "p9999": "p99.99",
    "max": "Max",
}
"""What a result says of its response times, `mean_us` and so on, and the headings."""


def latency_table(runs: Sequence[Run]) -> Table:
    """Response times of reads, writes and all requests of each run; a unit to each column."""
    timed = [
        (run, kind)
        for run in runs
        for kind in KINDS
        if number(run.result, "latency", kind, "mean_us") is not None
    ]

    def values(name: str) -> list[float | None]:
        return [number(run.result, "latency", kind, name) for run, kind in timed]

    columns = [written(count)("Requests", values("requests"))]
    columns += [times(title, values(f"{name}_us")) for name, title in QUANTILES.items()]
    names = {"Run": [run.name for run, _ in timed], "Kind": [kind for _, kind in timed]}
    return beside("Response time by kind of request", names, columns)


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
    names = {"erases_min": "Least", "erases_mean": "Mean", "erases_max": "Most"}
    names["erases_stdev"] = "Std dev"
    worn = [
        run for run in runs if any(number(run.result, "wear", name) is not None for name in names)
    ]
    columns = []
    for name, title in names.items():
        whole = name in ("erases_min", "erases_max")
        write = count if whole else lambda value: fixed(value, 2)
        columns.append(written(write)(title, [number(run.result, "wear", name) for run in worn]))
    return beside("Erases per unit", {"Run": [run.name for run in worn]}, columns)


def operations_table(result: Document) -> Table | None:
    """Flash operations of one run by cause; None when the result has none."""
    kinds = ("reads", "programs", "erases")
    names = NAMED | {"host": "host requests"}
    rows = []
    for key, name in names.items():
        values = [number(result, "flash", kind, key) for kind in kinds]
        if any(values):
            rows.append([Cell(name), *(Cell(count(value), value) for value in values)])
    if not rows:
        return None
    sums = [total(result, "flash", kind) for kind in kinds]
    rows.append([Cell("all"), *(Cell(count(value), value) for value in sums)])
    return Table("Flash operations by cause", ["Cause", "Reads", "Programs", "Erases"], rows)


def config_rows(result: Document, differing: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Every config key of a run with its value, and whether it differs between the runs."""
    marked = set(differing)
    return [(key, value, key in marked) for key, value in flatten(leaf(result, "config")).items()]


def provenance(result: Document) -> list[tuple[str, str]]:
    """What it takes to run this again, and how the drive stood at the start."""
    pairs = [
        ("Trace", plain(leaf(result, "workload", "name") or ABSENT)),
        ("Trace digest", plain(leaf(result, "workload", "hash") or ABSENT)),
        ("Seed", plain(leaf(result, "seed")) if leaf(result, "seed") is not None else ABSENT),
        ("Floatgate", plain(leaf(result, "floatgate") or ABSENT)),
        ("Engine", plain(leaf(result, "engine", "version") or ABSENT)),
        ("Start", overview.start(result) or ABSENT),
    ]
    return [*pairs, *_workload(result), *_drive(result), *_cost(result)]


def _workload(result: Document) -> list[tuple[str, str]]:
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


def _drive(result: Document) -> list[tuple[str, str]]:
    spare = number(result, "drive", "spare_factor")
    return [
        ("Drive, logical", size(number(result, "drive", "logical_bytes"))),
        ("Drive, physical", size(number(result, "drive", "physical_bytes"))),
        ("Spare factor", percent(spare)),
    ]


def _cost(result: Document) -> list[tuple[str, str]]:
    seconds = number(result, "engine", "wall_seconds")
    return [
        ("Simulated in", ABSENT if seconds is None else f"{measured(seconds)} s"),
        ("Peak memory", size(number(result, "engine", "peak_rss_bytes"))),
    ]


def series_limit(frames: Mapping[str, pl.DataFrame]) -> float:
    """Where the axis of stacked bars ends, in all panels alike, with room for the totals."""
    sums = [
        float(value)
        for frame in frames.values()
        for value in frame.group_by("row").agg(pl.col("value").sum())["value"]
        if finite(value) is not None
    ]
    return max(sums, default=1.0) * 1.15
