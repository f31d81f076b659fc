"""Reports a study: means and intervals as a table, a plot for each axis, all rows as a file."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
from polars.io.plugins import register_io_source

from floatgate import _core
from floatgate.report.page import workload_page
from floatgate.report.quantities import Quantity, quantity_of
from floatgate.report.runs import value_text, value_words
from floatgate.results.intervals import mean_and_half_width
from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT, count, interval, measured, ratio
from floatgate.traces.write import os_error

from .dataset import Dataset, doubts
from .facets import axis_figures
from .rows import DONE, FAILED, check_metric
from .said import told

METRICS = ("write_amplification", "latency.all.mean_us", "latency.all.p99_us")
"""Columns that are shown if none are named."""

FORMS = ("csv", "json", "parquet")
"""Suffixes of the files to which rows can be written."""

LISTED = 500
"""Maximum number of rows of the table in a page."""

MEANS = "Means over seeds \N{PLUS-MINUS SIGN} half of the 95 % confidence interval (Student's t)"

RUNS, BAD = "runs", "failed"


def summary(study: Dataset, metrics: Sequence[str]) -> pl.DataFrame:
    """Returns a row for each combination, over its seeds: counts of runs and failures, and means.

    `METRIC.ci95` is half the width of the mean's 95 % confidence interval, as in
    `floatgate.results.intervals`, and null for a single run. Runs that failed or lack the metric
    are left out of both. Raises ConfigError for a metric that is no column of numbers. Also raises
    it if several runs of one seed are equal in all columns that should distinguish them, because a
    mean over such runs has no meaning.
    """
    axes = study.axes
    rows = _rows(study, axes, metrics)
    _check_apart(study, rows, axes)
    counted = [pl.len().alias(RUNS), (pl.col("status") == FAILED).sum().alias(BAD)]
    runs = [pl.col(metric).drop_nulls() for metric in metrics]
    found = rows.group_by(axes, maintain_order=True).agg(*counted, *runs)
    for metric in metrics:
        pairs = [mean_and_half_width(values) for values in found[metric].to_list()]
        found = found.drop(metric).with_columns(
            pl.Series(metric, [mean for mean, _ in pairs], pl.Float64),
            pl.Series(_half(metric), [half for _, half in pairs], pl.Float64),
        )
    ranks = [_rank(study, axis, found[axis]) for axis in axes]
    return found.sort(*ranks, *axes, nulls_last=True)


def _rank(study: Dataset, axis: str, values: pl.Series) -> pl.Series:
    """Returns the position of each value in the study's file; absent values share the last one."""
    listed = study.head["study"].get("grid", {}).get(axis, [])
    if axis == "trace":
        listed = [one["trace"] for one in study.head["study"].get("traces", []) if "trace" in one]
    places = {value: at for at, value in enumerate(listed) if isinstance(value, str)}
    return pl.Series([places.get(value, len(places)) for value in values], dtype=pl.Int64)


def grid(table: pl.DataFrame, metrics: Sequence[str], across: str | None = None) -> Table:
    """Returns a row for each combination, and a column for each metric: mean and half interval.

    `across` is a key that varies. With it, there is a column for each of its values, and a row for
    each metric of each combination of the other keys. Columns without information are left out:
    volumes, failures and intervals if there are none, and with `across` also keys of one value.
    Raises ConfigError for an `across` that does not vary.
    """
    axes = table.columns[: table.columns.index(RUNS)]
    names = [name for name in axes if not table[name].is_null().all()]
    failed = [BAD] if table[BAD].sum() else []
    if across is None:
        rows = [
            [_text(row[name]) for name in (*names, RUNS, *failed)]
            + [_interval(row, metric) for metric in metrics]
            for row in table.iter_rows(named=True)
        ]
        return _grid([*names, RUNS, *failed, *metrics], rows, len(names))
    several = [name for name in names if table[name].n_unique() > 1]
    if across not in several:
        raise _core.ConfigError(
            f"columns: {across} given; expected what varies: {', '.join(several) or 'nothing does'}"
        )
    names = [name for name in several if name != across]
    values = table[across].unique(maintain_order=True).sort(nulls_last=True).to_list()
    found: dict[tuple[Any, ...], dict[Any, dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        found.setdefault(tuple(row[name] for name in names), {})[row[across]] = row
    rows = [
        [*map(_text, key), *([metric] if len(metrics) > 1 else [])]
        + [_text(sum(cell[BAD] for cell in cells.values())) for _ in failed]
        + [_interval(cells.get(value), metric) for value in values]
        for key, cells in found.items()
        for metric in metrics
    ]
    names += ["metric"] if len(metrics) > 1 else []
    heads = [f"{across} = {_text(value)}" for value in values]
    return _grid([*names, *failed, *heads], rows, len(names))


def _grid(heads: list[str], rows: Sequence[Sequence[str]], names: int) -> Table:
    """Returns a table whose first `names` columns identify a row."""
    cells = [[*map(Cell, row)] for row in rows]
    return Table(MEANS, heads, cells, frozenset(range(names)))


def _half(metric: str) -> str:
    return f"{metric}.ci95"


def _interval(row: Mapping[str, Any] | None, metric: str) -> str:
    """Formats a mean and half its interval, or the number of a single run."""
    if row is None or row[metric] is None:
        return ABSENT
    form = ratio if metric.endswith("write_amplification") else measured
    return interval(row[metric], row[_half(metric)], form)


def page(
    study: Dataset, table: pl.DataFrame, metrics: Sequence[str], across: str | None = None
) -> str:
    """Returns a page that needs no network: a plot per axis and metric, the summary as `grid`."""
    axes = study.axes
    quantities = {metric: quantity_of(metric, table[metric]) for metric in metrics}
    rows = _in_units(_rows(study, axes, metrics).filter(status=DONE), quantities)
    ranks = [_rank(study, axis, rows[axis]) for axis in axes]
    headings = {metric: one.heading for metric, one in quantities.items()}
    figures = axis_figures(rows.sort(*ranks, maintain_order=True), axes, headings)
    counts = study.counts()
    table = _in_units(table, quantities)
    shown = _headed(grid(table, metrics, across), headings)
    notes = [*study.notes, *told(study, "notes")]
    if len(shown.rows) > LISTED:
        notes.append(f"the table has the first {LISTED} of {len(shown.rows)} rows")
    tiles = {name: Cell(count(value)) for name, value in counts.items() if value}
    if counts["done"] == counts["planned"]:
        tiles = {"Runs": tiles["done"]}
    return workload_page(
        figures,
        answer=_answer(table, metrics[0], quantities[metrics[0]]) if metrics else "",
        means=replace(shown, rows=shown.rows[:LISTED]),
        name=f"Study of {study.folder.place.rstrip('/').rpartition('/')[2]}",
        subtitle=f"Study · Floatgate {study.head['version']}",
        notes=notes,
        warnings=[*doubts(counts), *told(study, "warnings")],
        summary=Table("Runs", ["", *tiles], [[Cell(""), *tiles.values()]]),
        facts=[("study", json.dumps(study.head["study"])), ("build", study.head["build"])],
    )


def _in_units(table: pl.DataFrame, quantities: Mapping[str, Quantity]) -> pl.DataFrame:
    """Returns the table with each metric and its interval in the unit of the page."""
    return table.with_columns(
        pl.col(name) / one.unit[1]
        for metric, one in quantities.items()
        if one.unit[1] != 1
        for name in (metric, _half(metric))
        if name in table.columns
    )


def _headed(shown: Table, headings: Mapping[str, str]) -> Table:
    """Returns the table with titles of metrics, and the values of keys as people write them."""

    def text(column: str, cell: Cell) -> Cell:
        return replace(cell, text=headings.get(cell.text, value_text(column, cell.text)))

    rows = [[*map(text, shown.columns, row)] for row in shown.rows]
    return replace(shown, columns=[headings.get(one, one) for one in shown.columns], rows=rows)


def _answer(table: pl.DataFrame, metric: str, quantity: Quantity) -> str:
    """Returns a sentence with the combinations of the lowest and of the highest mean; empty if
    fewer than two have one."""
    found = table.drop_nulls(metric).sort(metric)
    if found.height < 2:
        return ""
    axes = table.columns[: table.columns.index(RUNS)]
    several = [name for name in axes if table[name].n_unique() > 1]
    low, high = (
        " ".join(filter(None, (_interval(row, metric), quantity.unit[0])))
        + f" ({', '.join(value_words(key, row[key]) for key in several)})"
        for row in (found.row(0, named=True), found.row(-1, named=True))
    )
    return f"{quantity.title} is lowest at {low}, and highest at {high}."


def export(study: Dataset, path: Path, form: str) -> None:
    """Writes all rows as one of `FORMS`, in batches. Raises OSError."""
    with path.open("wb") as file:
        {"parquet": _write_parquet, "json": _write_json, "csv": _write_csv}[form](study, file)


def _write_parquet(study: Dataset, file: BinaryIO) -> None:
    batches = study.batches()
    first = next(batches)
    source = register_io_source(lambda *_: itertools.chain([first], batches), schema=first.schema)
    try:
        source.sink_parquet(file)
    except pl.exceptions.ComputeError as error:
        raise os_error(error, file.name) from error


def _write_json(study: Dataset, file: BinaryIO) -> None:
    # Row by row, because Polars sets no bound on the memory for the text of all rows.
    written = False
    for frame in study.batches():
        for row in frame.iter_rows(named=True):
            file.write((",\n" if written else "[\n").encode())
            file.write(json.dumps(row, ensure_ascii=False).encode())
            written = True
    file.write(b"\n]\n" if written else b"[]\n")


def _write_csv(study: Dataset, file: BinaryIO) -> None:
    for at, frame in enumerate(study.batches()):
        lists = [name for name, kind in frame.schema.items() if kind == pl.List(pl.String)]
        rows = frame.with_columns(_as_json(frame[name]) for name in lists)
        rows.write_csv(file, include_header=at == 0)


def _as_json(column: pl.Series) -> pl.Series:
    texts = [
        None if one is None else json.dumps(one, ensure_ascii=False) for one in column.to_list()
    ]
    return pl.Series(column.name, texts, dtype=pl.String)


def _rows(study: Dataset, axes: Sequence[str], metrics: Sequence[str]) -> pl.DataFrame:
    for metric in metrics:
        check_metric(metric, study.head["columns"], "metric")
    return study.frame([*axes, "seed", "status", *(name for name in metrics if name not in axes)])


def _check_apart(study: Dataset, rows: pl.DataFrame, axes: Sequence[str]) -> None:
    again = rows.filter(rows.select(*axes, "seed").is_duplicated())
    if again.height:
        raise _core.ConfigError(
            f"{study.folder.place}: {again['trace'][0]}: several runs of one seed that no column "
            "tells apart, because an older version wrote the rows without the options of traces; "
            "run the study again with another --out"
        )


def _text(value: object) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, float):
        return measured(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
