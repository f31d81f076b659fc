"""A study for people: means of combinations as a table, a plot per axis, and all rows as a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import altair as alt
import polars as pl

from floatgate import _core
from floatgate.report.charts import Plot, SweepAxis, chart_sweep, inline_data, row_axis
from floatgate.report.figure import Drawing, Figure
from floatgate.report.page import workload_page
from floatgate.report.tables import Cell, Table
from floatgate.report.values import ABSENT, count, measured

from .dataset import Dataset
from .rows import DONE, FAILED

METRICS = ("write_amplification", "latency.all.mean_us", "latency.all.p99_us")
"""The columns that are shown where none are named."""

FORMS = ("csv", "json", "parquet")
"""The files that rows can be written to, by their suffixes."""

POINTS = 40
"""Values of an axis that are drawn; more are taken together, as many runs in each."""

LISTED = 500
"""Rows of the table in a page."""

RUNS, BAD = "runs", "failed"


def summary(study: Dataset, metrics: Sequence[str]) -> pl.DataFrame:
    """A row for each combination, over its seeds: the runs, those that failed, means of metrics.

    Raises ConfigError for a metric that is no column of numbers.
    """
    axes = _axes(study)
    rows = _rows(study, axes, metrics)
    means = [pl.col(metric).mean() for metric in metrics]
    counted = [pl.len().alias(RUNS), (pl.col("status") == FAILED).sum().alias(BAD)]
    found = rows.group_by(axes, maintain_order=True).agg(*counted, *means)
    return found.sort(axes, nulls_last=True)


def text_rows(table: pl.DataFrame) -> list[list[str]]:
    """The heads and rows of a summary as text; columns that say nothing are left out."""
    silent = ["volume"] if table["volume"].is_null().all() else []
    silent += [] if table[BAD].sum() else [BAD]
    shown = table.drop(silent)
    return [shown.columns, *([*map(_text, row)] for row in shown.rows())]


def page(study: Dataset, table: pl.DataFrame, metrics: Sequence[str]) -> str:
    """A page that needs no network: a plot per axis and metric, and the summary."""
    axes = _axes(study)
    rows = _rows(study, axes, metrics).filter(status=DONE)
    figures = [_figure(rows, axis, metrics) for axis in axes if rows[axis].n_unique() > 1]
    counts = study.counts()
    warnings = [f"{counts[BAD]} runs have failed"] if counts[BAD] else []
    if counts["missing"]:
        warnings.append(f"{counts['missing']} of {counts['planned']} runs are missing")
    heads, *lines = text_rows(table)
    notes = []
    if len(lines) > LISTED:
        notes.append(f"the table has the first {LISTED} of {len(lines)} combinations")
    cells = [[Cell(text) for text in line] for line in lines[:LISTED]]
    tiles = {name: Cell(count(value)) for name, value in counts.items()}
    return workload_page(
        figures,
        name=f"Study of {study.folder.place.rstrip('/').rpartition('/')[2]}",
        subtitle=f"Study · Floatgate {study.head['version']}",
        notes=notes,
        warnings=warnings,
        summary=Table("Runs", ["", *tiles], [[Cell(""), *tiles.values()]]),
        facts=[("study", json.dumps(study.head["study"])), ("build", study.head["build"])],
        table=Table("Means over seeds", heads, cells, frozenset(range(len(axes)))),
    )


def export(frame: pl.DataFrame, path: Path, form: str) -> None:
    """Writes rows as one of `FORMS`. Raises OSError."""
    with path.open("wb") as file:
        if form == "parquet":
            frame.write_parquet(file)
        elif form == "json":
            # Row by row: Polars has no bound on what it makes of all of them.
            for at, row in enumerate(frame.iter_rows(named=True)):
                file.write((",\n" if at else "[\n").encode())
                file.write(json.dumps(row, ensure_ascii=False).encode())
            file.write(b"\n]\n" if frame.height else b"[]\n")
        else:
            lists = [name for name, kind in frame.schema.items() if kind == pl.List(pl.String)]
            frame.with_columns(_as_json(frame[name]) for name in lists).write_csv(file)


def _as_json(column: pl.Series) -> pl.Series:
    texts = [
        None if one is None else json.dumps(one, ensure_ascii=False) for one in column.to_list()
    ]
    return pl.Series(column.name, texts, dtype=pl.String)


def _axes(study: Dataset) -> list[str]:
    return ["trace", "volume", *study.varied]


def _rows(study: Dataset, axes: Sequence[str], metrics: Sequence[str]) -> pl.DataFrame:
    for metric in metrics:
        kind = study.head["columns"].get(metric)
        if kind not in ("Int64", "Float64"):
            raise _core.ConfigError(f"metric: {metric} given; expected a column of numbers")
    return study.frame([*axes, "status", *(name for name in metrics if name not in axes)])


def _figure(rows: pl.DataFrame, axis: str, metrics: Sequence[str]) -> Figure:
    caption = f"Means over all runs with a value of {axis}; the bars go from the least to the most."
    figure = Figure(f"axis-{axis.replace('.', '-')}", f"Against {axis}", caption, lines=True)
    for metric in metrics:
        spread = _spread(rows, axis, metric)
        if not spread.is_empty():
            is_number = rows[axis].dtype.is_numeric()
            draw = _against_numbers if is_number else _against_names
            what = f"{metric} against {axis}; {rows.height} runs."
            figure.drawings.append(Drawing(metric, draw(spread, axis, metric), what))
    if not figure.drawings:
        figure.reasons.append("Not drawn: no run has a number there.")
    return figure


def _spread(rows: pl.DataFrame, axis: str, metric: str) -> pl.DataFrame:
    """Mean, least and most of a metric at each value of an axis, or in groups of values."""
    known = rows.filter(pl.col(metric).is_not_null() & pl.col(axis).is_not_null())
    known = known.select(at=axis, value=pl.col(metric).cast(pl.Float64)).sort("at")
    values = known["at"].n_unique()
    if values > POINTS and known["at"].dtype.is_numeric():
        group = (pl.col("at").rank("dense") - 1) * POINTS // values
        known = known.with_columns(at=pl.col("at").mean().over(group))
    found = known.group_by("at", maintain_order=True).agg(
        pl.col("value").mean(), low=pl.col("value").min(), high=pl.col("value").max()
    )
    return found.head(POINTS)


def _against_numbers(spread: pl.DataFrame, axis: str, metric: str) -> Plot:
    named = spread.with_columns(
        run=pl.format("{} = {}", pl.lit(axis), "at"), colour=pl.lit(axis), dash=pl.lit("")
    )
    ticks = [(float(at), f"{at:.4g}") for at in spread["at"]]
    domain = (float(min(spread["low"])), float(max(spread["high"])))
    return chart_sweep(
        named.drop("low", "high"),
        SweepAxis(axis, ticks),
        metric,
        [axis],
        domain,
        ",.4~r",
        spread=named.select("at", "low", "high", "colour"),
    )


def _against_names(spread: pl.DataFrame, axis: str, metric: str) -> Plot:
    """Dots with bars: a row for each name."""
    named = spread.with_columns(row=pl.col("at").cast(pl.String)).drop("at")
    x = alt.X("value:Q", title=metric, scale=alt.Scale(zero=False))
    tooltip = [
        alt.Tooltip("row:N", title=axis),
        alt.Tooltip("value:Q", title="mean", format=",.4~r"),
        alt.Tooltip("low:Q", title="least", format=",.4~r"),
        alt.Tooltip("high:Q", title="most", format=",.4~r"),
    ]
    base = alt.Chart(inline_data(named)).encode(y=row_axis([*named["row"]]))
    bars = base.mark_rule(style="span").encode(x=alt.X("low:Q", title=metric), x2="high:Q")
    dots = base.mark_point(filled=True, size=55).encode(x=x, tooltip=tooltip)
    plot: Plot = (bars + dots).properties(height=42 * named.height)
    return plot


def _text(value: object) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, float):
        return measured(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
