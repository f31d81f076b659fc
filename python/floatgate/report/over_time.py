"""Figures of changes during a run, with one value for each window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from floatgate.results.values import TIMES, unit_of

from . import charts, frames
from .figure import Drawing, Figure, join_title, sentence
from .legends import line_legend, own_legend, say_missing, series, some, span
from .runs import Run, panels

BULK = (0.02, 0.98)
"""Quantiles that enclose the bulk of the values; the axis is chosen for the bulk."""

FAR = 3
"""An axis leaves out values further from the bulk than this many times the bulk's width."""


class Metric(NamedTuple):
    """Column of the timeline."""

    name: str
    title: str
    style: str
    """Number format of d3."""
    absent: str
    """Reason why a run may lack the metric."""


STATE = (
    Metric("write_amplification", "Write amplification", ",.3f", "the host wrote nothing"),
    Metric("hit_ratio", "Map hit ratio", ".1%", "there is no mapping cache"),
    Metric("write_mb_s", "Writes, MB/s", ",.4~r", "time was not simulated"),
)

UNTIMED = "there are no response times (none in the workload, or time was not simulated)"
TIMED = (
    Metric("mean_us", "Mean", ",.4~r", UNTIMED),
    Metric("p50_us", "p50", ",.4~r", UNTIMED),
    Metric("p99_us", "p99", ",.4~r", UNTIMED),
    Metric("p999_us", "p99.9", ",.4~r", UNTIMED),
    Metric("max_us", "Max", ",.4~r", UNTIMED),
)

Frames = dict[str, pl.DataFrame]
"""Timeline of the runs, by panel."""


def over_time(drawn: Sequence[Run]) -> list[Figure]:
    """Returns the figures of the drive's state and of the response times over the run."""
    columns = [metric.name for metric in (*STATE, *TIMED)]
    found = {name: frames.timeline(group, columns) for name, group in panels(drawn).items()}
    timed, found = _in_units(found)
    known = {label for frame in found.values() for label in frame["run"]}
    long = [run for run in drawn if run.label in known]
    short = [run.name for run in drawn if run.label not in known]
    state = Figure(
        "timeline",
        "Over the run",
        "Each point is one window of the run, at the number of pages the host had written.",
        lines=True,
    )
    if short:
        who = "" if len(short) == len(drawn) else f" ({some(short)})"
        state.reasons.append(f"No timeline where a run has fewer than two windows{who}.")
    latency = Figure(
        "latency-over-time",
        "Response time over the run",
        "Mean and percentiles of the response times of all requests, window by window.",
        lines=True,
    )
    for figure, metrics in ((state, STATE), (latency, timed)):
        for metric in metrics:
            _add(figure, drawn, long, found, metric)
        if figure.drawings:
            figure.legend = line_legend(drawn)
    return [state, latency] if long else [state]


def _in_units(found: Frames) -> tuple[list[Metric], Frames]:
    """Converts the response times into units that suit the plots, which share one set of frames."""
    metrics = []
    for metric in TIMED:
        ends = span(found.values(), metric.name) or (0.0, 0.0)
        unit, base = unit_of(ends[1:], TIMES)
        metrics.append(metric._replace(title=f"{metric.title}, {unit}"))
        found = {
            name: frame.with_columns(pl.col(metric.name) / base) for name, frame in found.items()
        }
    return metrics, found


def _add(
    figure: Figure, drawn: Sequence[Run], long: Sequence[Run], found: Frames, metric: Metric
) -> None:
    """Adds the plots of one metric, one for each panel on one scale, or the reason for no plot."""
    known = {name: frame.drop_nulls(metric.name) for name, frame in found.items()}
    if long:
        say_missing(figure, known.values(), long, metric.absent, metric.title)
    values = [float(value) for frame in known.values() for value in frame[metric.name]]
    if not values:
        return
    low, high = robust_span(values)
    beyond = sum(not low <= value <= high for value in values)
    if beyond:
        figure.reasons.append(
            f"{metric.title}: the axis leaves out {beyond} of {len(values)} windows, which are far "
            f"from the others ({min(values):.4g} to {max(values):.4g} in all); triangles at its "
            "edge mark them."
        )
    for name, frame in known.items():
        if frame.is_empty():
            continue
        group = panels(drawn)[name]
        chart = charts.chart_timeline(
            found[name],
            metric.name,
            metric.title,
            *series(drawn, group),
            _domain(low, high, metric.style),
            metric.style,
            _beyond(frame, metric.name, low, high),
        )
        what = sentence(f"{metric.title} over host pages written", name, frame)
        own = own_legend(drawn, group)
        figure.drawings.append(Drawing(join_title(metric.title, name), chart, what, own))


def _domain(low: float, high: float, style: str) -> tuple[float, float]:
    """Returns the ends of the axis, which must differ."""
    if high > low:
        return low, high
    return (0.0, 1.0) if style.endswith("%") else (low - 0.5, high + 0.5)


def robust_span(values: Sequence[float]) -> tuple[float, float]:
    """Returns the ends of an axis without the values that would flatten the rest."""
    column = pl.Series(values)
    low, high = (column.quantile(share, "linear") or 0.0 for share in BULK)
    room = FAR * (high - low)
    if room == 0:
        return min(values), max(values)
    inside = [value for value in values if low - room <= value <= high + room]
    return min(inside), max(inside)


def _beyond(frame: pl.DataFrame, name: str, low: float, high: float) -> pl.DataFrame:
    """Returns the windows outside an axis, with the nearest end of the axis as `edge`."""
    value = pl.col(name)
    columns = ("colour", "pages", name)
    outside = frame.filter((value < low) | (value > high)).select(*columns)
    return outside.with_columns(edge=value.clip(low, high))
