"""Figures of a study: a metric against each axis, with 95 % intervals over seeds.

Each line is a value of a second key, and each plot a combination of the others. With too many
combinations for plots, a number is a mean over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import altair as alt
import polars as pl

from floatgate.report.charts import Plot, inline_data, line_colour, row_axis
from floatgate.report.figure import Drawing, Figure, join_title
from floatgate.report.legends import named
from floatgate.report.runs import value_text, value_words
from floatgate.report.sweep_chart import SweepAxis, chart_sweep
from floatgate.report.theme import SERIES
from floatgate.results.intervals import mean_and_half_width

POINTS = 40
"""Maximum number of values on an axis: more numbers are grouped, more names are left out."""

PANELS = 12
"""Maximum number of plots of a metric."""

LABEL, STEP = 24, 12
"""Heights in pixels of a row's label, and of each dot below the label."""

INTERVAL = "A bar is the 95 % confidence interval of a mean over seeds (Student's t)"


class Facets(NamedTuple):
    """Keys that vary in a figure, except its axis, by the way in which it shows them."""

    line: str | None
    """Key that has a colour for each value."""
    panels: Sequence[str]
    """Keys whose combinations have a plot each."""
    averaged: Sequence[str]
    """Keys over which each seed's number is a mean."""


def axis_figures(
    rows: pl.DataFrame, axes: Sequence[str], metrics: Mapping[str, str]
) -> list[Figure]:
    """Returns a figure for each axis with several values. `rows` has a row for each run, and
    `metrics` the title of each metric."""
    several = [axis for axis in axes if rows[axis].n_unique() > 1]
    shown = {axis: facets(rows, several, axis) for axis in several}
    first = _first_colours(rows, [one.line for one in shown.values()])
    return [
        _figure(rows, axis, one, metrics, first.get(one.line or "", 0))
        for axis, one in shown.items()
    ]


def _first_colours(rows: pl.DataFrame, lines: Iterable[str | None]) -> dict[str, int]:
    """Returns the number of the first colour of each key, so that each value on the page has a
    colour of its own where the colours suffice."""
    first: dict[str, int] = {}
    used = 0
    for key in dict.fromkeys(key for key in lines if key):
        first[key] = used
        used += rows[key].n_unique()
    return first if used <= SERIES else {}


def facets(rows: pl.DataFrame, several: Sequence[str], axis: str) -> Facets:
    """Assigns each key that varies, except the axis, to a field of `Facets`."""
    others = [key for key in several if key != axis]
    line = next((key for key in reversed(others) if rows[key].n_unique() <= SERIES), None)
    rest = [key for key in others if key != line]
    if rest and rows.select(rest).n_unique() > PANELS:
        return Facets(line, (), rest)
    return Facets(line, rest, ())


def levels(rows: pl.DataFrame, axis: str, shown: Facets, metric: str) -> pl.DataFrame:
    """Returns the mean of a metric at each level of a figure, and the ends of its interval.

    The columns are `panel`, `colour`, `at`, `value`, `low` and `high`; a level with a single seed
    has no ends. More than `POINTS` numbers on the axis are joined to that many groups.
    """
    line = [shown.line] if shown.line else []
    known = rows.with_columns(
        panel=_texts(rows, shown.panels), colour=_texts(rows, line), at=axis
    ).filter(pl.col(metric).is_not_null() & pl.col("at").is_not_null())
    if known["at"].dtype.is_numeric():
        known = _grouped(known.sort("at"))
    places = ["panel", "colour", "at"]
    seeds = known.group_by(*places, "seed", maintain_order=True).agg(
        value=pl.col(metric).cast(pl.Float64).mean()
    )
    found = seeds.group_by(places, maintain_order=True).agg("value")
    pairs = [mean_and_half_width(values) for values in found["value"].to_list()]
    ends = {
        "low": [None if half is None or mean is None else mean - half for mean, half in pairs],
        "high": [None if half is None or mean is None else mean + half for mean, half in pairs],
    }
    means = pl.Series("value", [mean for mean, _ in pairs], pl.Float64)
    columns = [pl.Series(name, values, pl.Float64) for name, values in ends.items()]
    return found.with_columns(means, *columns)


def _grouped(known: pl.DataFrame) -> pl.DataFrame:
    values = known["at"].n_unique()
    if values <= POINTS:
        return known
    group = (pl.col("at").rank("dense") - 1) * POINTS // values
    return known.with_columns(at=pl.col("at").mean().over(group))


def _texts(rows: pl.DataFrame, keys: Sequence[str]) -> pl.Series:
    words = [
        ", ".join(value_words(key, value) for key, value in zip(keys, values, strict=True))
        for values in (rows.select(keys).iter_rows() if keys else [()] * rows.height)
    ]
    return pl.Series(words, dtype=pl.String)


def _figure(
    rows: pl.DataFrame, axis: str, shown: Facets, metrics: Mapping[str, str], first: int
) -> Figure:
    """Draws the metrics against an axis; the colours begin with number `first`."""
    is_number = rows[axis].dtype.is_numeric()
    figure = Figure(f"axis-{axis.replace('.', '-')}", f"Against {axis}", "", lines=is_number)
    found = {metric: levels(rows, axis, shown, metric) for metric in metrics}
    figure.caption = _caption(axis, shown, [*found.values()])
    own = list(dict.fromkeys(text for frame in found.values() for text in frame["colour"]))
    colours = [*(f"no line {i}" for i in range(first)), *own]
    for metric, frame in found.items():
        title = metrics[metric]
        for (panel,), group in frame.group_by("panel", maintain_order=True):
            draw = _against_numbers if is_number else _against_names
            values = group["at"].n_unique()
            drawn = group.filter(
                pl.col("at").is_in(group["at"].unique(maintain_order=True).head(POINTS).to_list())
            )
            what = f"{join_title(title, panel)} against {axis}; {values} values."
            plot = draw(drawn, axis, title, colours, _reach(frame))
            note = f"The first {POINTS} of {values:,} are drawn." if values > POINTS else ""
            figure.drawings.append(Drawing(join_title(title, panel), plot, what, text=note))
    if len(own) > 1:
        figure.legend = named(colours)[first:]
    if not figure.drawings:
        figure.reasons.append("Not drawn: no run has a number there.")
    return figure


def _caption(axis: str, shown: Facets, found: Sequence[pl.DataFrame]) -> str:
    """Describes a point and its bar."""
    counts = {value is None for frame in found for value in frame["low"]}
    text = f"Means over seeds at each value of {axis}."
    if shown.averaged:
        text += f" Each seed's number is its mean over {', '.join(shown.averaged)}."
    if counts == {True}:
        return f"{text} Each level has a single seed, so there are no bars."
    alone = "; a level with a single seed has none" if True in counts else ""
    return f"{text} {INTERVAL}{alone}."


def _reach(frame: pl.DataFrame) -> tuple[float, float]:
    """Returns the ends of the axis of all plots of a metric: from 0, intervals included."""
    ends = [value for name in ("value", "low", "high") for value in frame[name].drop_nulls()]
    return min(0.0, *ends), max(ends)


def _against_numbers(
    frame: pl.DataFrame, axis: str, metric: str, colours: Sequence[str], reach: tuple[float, float]
) -> Plot:
    names = [
        f"{axis} {at:.4g}{', ' * bool(colour)}{colour}"
        for at, colour in frame.select("at", "colour").iter_rows()
    ]
    points = frame.with_columns(run=pl.Series(names, dtype=pl.String), dash=pl.lit(""))
    values = frame["at"].unique().sort()
    ticks = [(float(at), value_text(axis, f"{at:.4g}")) for at in values]
    bars = points.drop_nulls("low").select("at", "low", "high", "colour")
    points = points.drop("low", "high", "panel").sort("at")
    sweep = SweepAxis(axis, ticks)
    return chart_sweep(points, sweep, metric, colours, reach, ",.4~r", spread=bars)


def _against_names(
    frame: pl.DataFrame, axis: str, metric: str, colours: Sequence[str], reach: tuple[float, float]
) -> Plot:
    """Draws a row for each name, with a dot and a bar for each colour."""
    named_rows = frame.with_columns(row=pl.col("at").cast(pl.String)).drop("at")
    rows = list(dict.fromkeys(named_rows["row"]))
    drawn = [colour for colour in colours if colour in set(frame["colour"])]
    height = LABEL + STEP * len(drawn) + 6
    scale = alt.Scale(domain=list(reach), nice=True, zero=False)
    x, low = (alt.X(f"{name}:Q", title=metric, scale=scale) for name in ("value", "low"))
    tooltip = [alt.Tooltip("row:N", title=axis)]
    if len(drawn) > 1:
        tooltip.append(alt.Tooltip("colour:N", title="Line"))
    ends = (("value", "mean"), ("low", "95 % from"), ("high", "to"))
    tooltip += [alt.Tooltip(f"{name}:Q", title=title, format=",.4~r") for name, title in ends]
    layers: list[alt.Chart] = []
    for i, colour in enumerate(drawn):
        own = named_rows.filter(colour=colour)
        offset = LABEL + STEP * i + STEP / 2 - height / 2
        for kind, data in (("bar", own.drop_nulls("low")), ("dot", own)):
            if data.is_empty():
                continue
            base = alt.Chart(inline_data(data)).encode(
                y=row_axis(rows, 10 - height / 2), color=line_colour(colours), tooltip=tooltip
            )
            if kind == "dot":
                layers.append(base.mark_point(filled=True, size=55, yOffset=offset).encode(x=x))
            else:
                rule = base.mark_rule(strokeWidth=1.5, yOffset=offset, y2Offset=offset)
                layers.append(rule.encode(x=low, x2=alt.X2("high:Q")))
    plot: Plot = alt.LayerChart(layer=layers, height=height * len(rows))
    return plot
