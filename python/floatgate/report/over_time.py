"""Figures of changes during a run: means over a few windows, within a band of their extremes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from floatgate.results.tables import Unit
from floatgate.results.values import count, measured, percent

from . import charts, frames
from .figure import Drawing, Figure, join_title, sentence
from .frames import LINE
from .legends import line_legend, own_legend, say_missing, series, some
from .runs import Run, panels

OVER_TIME = " over the run"
"""End of the name of a metric's course over the run, in the list of what the page leaves out."""

POINTS = 32
"""Maximum number of points of a line. A line through windows of about one erase unit would show
only the sawtooth of their write amplification."""

BULK = (0.05, 0.95)
"""Quantiles that enclose the bulk of the values; the axis is chosen for the bulk."""

BANDED = 4
"""Maximum number of lines in a plot with bands: more bands would hide the lines."""

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


def over_time(drawn: Sequence[Run], time: Unit) -> list[Figure]:
    """Returns the figures of the drive's state and of the response times over the run."""
    unit, base = time
    columns = [metric.name for metric in (*STATE, *TIMED)]
    groups = panels(drawn)
    windows = {
        name: frames.timeline(group, [*columns, "host_bytes"]) for name, group in groups.items()
    }
    times = [pl.col(metric.name) / base for metric in TIMED]
    windows = {name: frame.with_columns(times) for name, frame in windows.items()}
    found = {name: rated(banded(frame, columns, POINTS)) for name, frame in windows.items()}
    band = " Band: least to most of the windows." if _is_banded(groups.values()) else ""
    known = {label for frame in found.values() for label in frame["run"]}
    long = [run for run in drawn if run.label in known]
    short = [run.name for run in drawn if run.label not in known]
    state = Figure(
        "timeline",
        "Over the run",
        f"Means over windows of the run, at the number of pages the host had written.{band}",
        lines=True,
    )
    if short and not long:
        state.absent.append((state.title, "no run has two windows"))
    elif short:
        state.reasons.append(f"No timeline where a run has fewer than two windows ({some(short)}).")
    latency = Figure(
        "latency-over-time",
        "Response time over the run",
        "Mean and percentiles of the response times of all requests in a window, as means over a "
        f"few windows.{band}",
        lines=True,
    )
    timed = [metric._replace(title=f"{metric.title}, {unit}") for metric in TIMED]
    for figure, metrics in ((state, STATE), (latency, timed)):
        for metric in metrics:
            _add(figure, drawn, long, found, windows, metric)
        if figure.drawings:
            figure.legend = line_legend(drawn)
    return [state, latency] if long else [state]


def banded(frame: pl.DataFrame, metrics: Sequence[str], most: int) -> pl.DataFrame:
    """Joins neighbouring windows of each run until it has at most `most` points.

    A point is at the end of its last window. Each metric is a mean, with its extremes in the
    columns `METRIC_low` and `METRIC_high`.
    """
    joined = (pl.len().over("run") / most).ceil()
    at = (pl.int_range(pl.len()).over("run") / joined).floor().alias("point")
    return (
        frame.group_by(*LINE, at, maintain_order=True)
        .agg(
            pl.col("pages", "seconds", "host_bytes").last(),
            pl.col(metrics).mean(),
            pl.col(metrics).min().name.suffix("_low"),
            pl.col(metrics).max().name.suffix("_high"),
        )
        .drop("point")
    )


def rated(frame: pl.DataFrame) -> pl.DataFrame:
    """Replaces each mean of write rates by the bytes of the joined windows, divided by their time.

    Windows of a burst that end at one moment share one rate.
    """
    moments = frame.group_by("run", "seconds", maintain_order=True).agg(pl.last("host_bytes"))
    columns = (pl.col(name) for name in ("host_bytes", "seconds"))
    size, time = (column - column.shift(fill_value=0).over("run") for column in columns)
    rates = moments.select("run", "seconds", rate=pl.when(time > 0).then(size / time / 1e6))
    joined = frame.join(rates, on=["run", "seconds"], how="left", maintain_order="left")
    return joined.with_columns(write_mb_s=pl.coalesce("rate", "write_mb_s")).drop("rate")


def _is_banded(groups: Iterable[Sequence[Run]]) -> bool:
    return all(len(group) <= BANDED for group in groups)


def _add(
    figure: Figure,
    drawn: Sequence[Run],
    long: Sequence[Run],
    found: Frames,
    windows: Frames,
    metric: Metric,
) -> None:
    """Adds the plots of one metric, one for each panel on one scale, or the reason for no plot."""
    known = {name: frame.drop_nulls(metric.name) for name, frame in found.items()}
    if long:
        say_missing(figure, known.values(), long, metric.absent, metric.title)
    every = [frame[metric.name].drop_nulls() for frame in windows.values()]
    values = [float(value) for column in every for value in column]
    if not values:
        return
    if metric.style.endswith("%") and len(set(values)) == 1:
        figure.absent.append((f"{metric.title}{OVER_TIME}", f"all {percent(values[0])}"))
        return
    low, high = domain(values, metric.style)
    beyond = sum(not low <= value <= high for value in values)
    if beyond:
        figure.reasons.append(
            f"{metric.title}: the axis leaves out {count(beyond)} of {count(len(values))} windows, "
            f"which are far from the others (all: {measured(min(values))} to "
            f"{measured(max(values))})."
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
            (low, high),
            metric.style,
            band=_is_banded(panels(drawn).values()),
        )
        what = sentence(f"{metric.title} over host pages written", name, frame)
        own = own_legend(drawn, group)
        figure.drawings.append(Drawing(join_title(metric.title, name), chart, what, own))


def domain(values: Sequence[float], style: str) -> tuple[float, float]:
    """Returns the ends of the axis: from 0, unless the values are shares that are far from 0."""
    low, high = robust_span(values)
    return (low if style.endswith("%") else 0.0), high or 1.0


def robust_span(values: Sequence[float]) -> tuple[float, float]:
    """Returns the ends of an axis without the values that would flatten the rest."""
    column = pl.Series(values)
    low, high = (column.quantile(share, "linear") or 0.0 for share in BULK)
    room = FAR * (high - low)
    if room == 0:
        return min(values), max(values)
    inside = [value for value in values if low - room <= value <= high + room]
    return min(inside), max(inside)
