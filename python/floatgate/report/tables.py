"""Tables of the runs of a report, as text ready to print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from floatgate.results.causes import NAMED, blame_names
from floatgate.results.marks import mark
from floatgate.results.result import Result
from floatgate.results.tables import (
    KINDS,
    METRICS,
    Cell,
    Table,
    Unit,
    beside,
    in_unit_of,
    latency_columns,
    written,
)
from floatgate.results.values import (
    ABSENT,
    TIMES,
    count,
    fixed,
    flatten,
    measured,
    percent,
    plain,
    size,
)

from . import overview
from .frames import kept
from .runs import Run, Varying, label_runs
from .units import Units


def summary_rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Returns one row for each run: `label` and the main metrics, as raw numbers or None.

    Latencies are in microseconds over all requests. `hit_ratio` is the mapping cache's, 0 to 1.
    `erases` counts all erases of the flash, for every cause. `lifetime_bytes` is the number of
    bytes that the host can write until the mean unit reaches its endurance. `warnings` is a number.
    """
    return [
        {"label": run.label} | {name: metric.of(run.result) for name, metric in METRICS.items()}
        for run in label_runs(results)
    ]


def summary_table(runs: Sequence[Run], units: Units) -> Table:
    """Returns the main metrics of every run, side by side."""
    columns = [
        units.of(metric).column(metric.title, [metric.of(run.result) for run in runs])
        for metric in METRICS.values()
    ]
    names = {"Run": [run.name for run in runs]}
    if any(marks := [mark(run.result) for run in runs]):
        names["Drive"] = marks
    return beside("Main metrics", names, columns)


def varying_table(keys: Iterable[Varying]) -> Table:
    """Returns the keys that differ between the runs, with the values that occur."""
    rows = [
        [Cell(vary.key), Cell(str(len(vary.distinct))), Cell(" · ".join(vary.distinct))]
        for vary in keys
    ]
    return Table("What varies", ["Key", "Values", "Which"], rows, frozenset({0, 2}))


def latency_table(runs: Sequence[Run], time: Unit) -> Table:
    """Returns the response times of reads, writes and all requests of each run."""
    timed = [
        (run.name, kind, of(run.result))
        for run in runs
        for kind, of in KINDS.items()
        if of(run.result).mean_us is not None
    ]
    names = {"Run": [run for run, _, _ in timed], "Kind": [kind for _, kind, _ in timed]}
    columns = latency_columns([summary for _, _, summary in timed], (time,))
    return beside("Response time by kind of request", names, columns)


TIMES_BY_CAUSE = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "Max": 1.0}
"""Percentiles of the time that a cause took, as shares of the requests, by heading."""


def cause_table(runs: Sequence[Run], units: Sequence[Unit] = TIMES) -> Table:
    """Returns percentiles of the time that requests spent on each cause, by run."""
    names_of = blame_names(run.result for run in runs)
    found = [
        ((run.name, kind, text), one)
        for kind in ("all", "read", "write")
        for cause, text in ({"response": "response"} | names_of).items()
        for run in runs
        if (one := kept(run, kind, cause))
    ]
    titles = enumerate(("Run", "Kind", "Cause"))
    names = {title: [row[i] for row, _ in found] for i, title in titles}
    known = [one for _, one in found]
    times = in_unit_of(units)
    columns = [
        written(percent)("Requests with any", [1 - one.none / one.requests for one in known]),
        times("Mean", [one.mean_us for one in known]),
        *(
            times(name, [one.quantile_us(at) for one in known])
            for name, at in TIMES_BY_CAUSE.items()
        ),
    ]
    return beside("Time by kind of request and cause", names, columns)


def parts_table(title: str, frame: pl.DataFrame, names: Iterable[str], digits: int) -> Table:
    """Returns the numbers behind stacked bars, with a column for each part that occurs."""
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
    """Adds columns with the closed forms after the sums, if any run has a closed form."""
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
    """Returns erases per unit of every run."""
    worn = [run for run in runs if run.result.wear.erases_min is not None]
    wear = [run.result.wear for run in worn]
    columns = [
        written(count)("Least", [one.erases_min for one in wear]),
        written(_hundredths)("Mean", [one.erases_mean for one in wear]),
        written(count)("Most", [one.erases_max for one in wear]),
        written(_hundredths)("Std dev", [one.erases_stdev for one in wear]),
    ]
    return beside("Erases per unit", {"Run": [run.name for run in worn]}, columns)


def _hundredths(value: float | None) -> str:
    return fixed(value, 2)


def operations_table(result: Result) -> Table | None:
    """Returns the flash operations of one run by cause; None if the run had none."""
    kinds = (result.flash.reads, result.flash.programs, result.flash.erases)
    names = NAMED | {"host": "host requests"}
    rows = []
    for key, name in names.items():
        values = [vars(kind).get(key, 0) for kind in kinds]
        if any(values):
            rows.append([Cell(name), *(Cell(count(value), value) for value in values)])
    if not rows:
        return None
    rows.append([Cell("all"), *(Cell(count(kind.total), kind.total) for kind in kinds)])
    return Table("Flash operations by cause", ["Cause", "Reads", "Programs", "Erases"], rows)


def config_rows(result: Result, differing: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Returns every config key of a run, its value, and whether it differs between the runs."""
    marked = set(differing)
    return [(key, value, key in marked) for key, value in flatten(result.config).items()]


def provenance(result: Result) -> list[tuple[str, str]]:
    """Lists the facts needed to repeat a run, and the state of the drive at the start."""
    workload, drive, engine = result.workload, result.drive, result.engine
    requests = [f"{count(workload.requests)} requests", *overview.requests_by_kind(workload)]
    return [
        ("Trace", workload.name or ABSENT),
        ("Trace digest", workload.hash),
        ("Seed", plain(result.seed)),
        ("Floatgate", result.floatgate),
        ("Engine", engine.version),
        ("Start", overview.start(result)),
        ("Workload", ", ".join(requests)),
        ("Pages read", count(workload.read_pages)),
        ("Pages written", count(workload.write_pages)),
        ("Footprint, pages", count(workload.footprint_pages)),
        ("Skipped requests", count(workload.skipped)),
        ("Drive, logical", size(drive.logical_bytes)),
        ("Drive, physical", size(drive.physical_bytes)),
        ("Spare factor", percent(drive.spare_factor)),
        ("Simulated in", f"{measured(engine.wall_seconds)} s"),
        ("Peak memory", size(engine.peak_rss_bytes)),
    ]


def series_limit(frames: Mapping[str, pl.DataFrame]) -> float:
    """Returns the end of the axis of stacked bars for all panels, with room for the totals."""
    sums = [
        float(value)
        for frame in frames.values()
        for value in frame.group_by("row").agg(pl.col("value").sum())["value"]
    ]
    return max(sums, default=1.0) * 1.15
