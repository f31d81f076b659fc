"""Figure of a parameter study: metrics against the swept quantity."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl

from floatgate.results.result import Result
from floatgate.results.tables import Unit

from .. import _core
from . import frames
from .figure import Drawing, Figure, join_title, sentence
from .intervals import seed_marks
from .legends import named
from .predictions import prediction_frame
from .runs import TRACE, Run, Varying, identifying, panels, short_value
from .sweep_chart import SweepAxis, chart_sweep
from .theme import SERIES


class Metric(NamedTuple):
    title: str
    """Title, with the unit."""
    style: str
    """Number format of d3."""
    of: Callable[[Result], float | None]
    predicted: bool = False
    """Whether closed forms predict the metric."""


METRICS = (
    Metric("Write amplification", ",.3f", lambda result: result.write_amplification, True),
    Metric("Map hit ratio", ".1%", lambda result: result.mapping.hit_ratio),
    Metric("Mean response time", ",.4~r", lambda result: result.latency.all.mean_us),
)
"""Metrics of the figure; the last one is in microseconds."""


def sweep(drawn: Sequence[Run], time: Unit) -> list[Figure]:
    """Returns a figure if a quantity has three or more values: a plot per metric and trace."""
    keys = identifying([run.result for run in drawn])
    swept = next(filter(_is_swept, keys), None)
    if swept is None:
        return []
    runs = [_placed(run, i, keys, swept) for i, run in enumerate(drawn)]
    colours = list(dict.fromkeys(run.colour for run in runs))
    places = {(run.panel, run.colour, at) for run, at in zip(runs, swept.values, strict=True)}
    # Two runs at one point of a line differ in a key that this figure cannot show.
    if len(colours) > SERIES or len(places) < len(runs):
        return []
    caption = f"Metrics of whole runs against {swept.key}"
    caption += "; each point is one run." if len(runs[0].seeds) == 1 else "."
    figure = Figure("sweep", f"Against {swept.key}", caption, lines=True)
    if not prediction_frame(runs).is_empty():
        figure.caption += (
            " Dashed, in the same colour: what a closed form predicts, where its assumptions hold."
        )
    for metric in (*METRICS[:-1], _in_unit(METRICS[-1], time)):
        figure.drawings += _metric_drawings(runs, swept, metric)
    if len(colours) > 1:
        figure.legend = named(colours)
    return [figure] if figure.drawings else []


def _in_unit(metric: Metric, unit: Unit) -> Metric:
    name, base = unit

    def scaled(result: Result) -> float | None:
        value = metric.of(result)
        return None if value is None else value / base

    return metric._replace(title=f"{metric.title}, {name}", of=scaled)


def _is_swept(vary: Varying) -> bool:
    """Returns whether the key is a quantity with three or more values; a seed does not count."""
    values = {_core.number(value) for value in vary.values}
    return vary.key not in (TRACE, "seed") and None not in values and len(values) >= 3


def _placed(run: Run, i: int, keys: Sequence[Varying], swept: Varying) -> Run:
    """Assigns the run to a plot by trace, and to a line by the keys that are not swept."""
    traces = [key.values[i] for key in keys if key.key == TRACE]
    others = [key for key in keys if key is not swept and key.key != TRACE]
    line = ", ".join(short_value(key, keys, i) for key in others)
    return dataclasses.replace(run, panel="".join(traces), colour=line or "all runs", dash="")


def _metric_drawings(runs: Sequence[Run], swept: Varying, metric: Metric) -> list[Drawing]:
    """Draws one metric against the swept quantity, a plot for each trace, all on the same scale."""
    values = [metric.of(result) for run in runs for result in run.seeds]
    known = [value for value in values if value is not None]
    if len(set(known)) < 2:
        return []
    texts = dict.fromkeys(swept.values)
    ticks = sorted((_core.number(text) or 0.0, text) for text in texts)
    axis = SweepAxis(swept.key, ticks)
    colours = list(dict.fromkeys(run.colour for run in runs))
    pairs = zip(runs, swept.values, strict=True)
    at = {run.label: _core.number(value) or 0.0 for run, value in pairs}
    drawings = []
    for name, group in panels(runs).items():
        frame = frames.sweep(group, [at[run.label] for run in group], metric.of)
        if not frame.is_empty():
            laws = _laws(group, at) if metric.predicted else frame.clear()
            spread = _spread(group, at, metric)
            ends = [*known, *laws["value"], *spread["low"], *spread["high"]]
            domain = (0.0 if metric.predicted else min(ends), max(ends))
            chart = chart_sweep(
                frame, axis, metric.title, colours, domain, metric.style, laws, spread
            )
            what = sentence(f"{metric.title} against {swept.key}", name, frame)
            if not laws.is_empty():
                what += " Dashed: closed forms."
            drawings.append(Drawing(join_title(metric.title, name), chart, what))
    return drawings


def _spread(runs: Sequence[Run], at: dict[str, float], metric: Metric) -> pl.DataFrame:
    """Returns the intervals of the points that are means over seeds."""
    found, _ = seed_marks(runs, metric.of)
    return _on_lines(found, runs, at)


def _laws(runs: Sequence[Run], at: dict[str, float]) -> pl.DataFrame:
    """Returns the predictions for those runs that have one, at the swept quantity."""
    return _on_lines(prediction_frame(runs), runs, at)


def _on_lines(found: pl.DataFrame, runs: Sequence[Run], at: dict[str, float]) -> pl.DataFrame:
    """Adds to the rows of runs the position on the axis and the colour of the line."""
    colours = {run.label: run.colour for run in runs}
    return found.with_columns(
        at=pl.Series([at[run] for run in found["run"]], dtype=pl.Float64),
        colour=pl.Series([colours[run] for run in found["run"]], dtype=pl.String),
    )
