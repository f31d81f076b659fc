"""One small function for each plot: takes a frame from `frames`, returns an Altair chart.

Charts carry no colours and no fonts: the config of the page or picture file adds them (`theme`).
Rows of bars have their label above the bar, not to its left. This layout also works on a phone, and
leaves room for labels of any length, such as a trace's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

import altair as alt
import polars as pl

from floatgate.results.causes import CAUSES

from .palette import domain
from .theme import DASHES, RUNS

Plot = alt.Chart | alt.LayerChart

ROW_HEIGHT = 42
BAR = 15
LABEL_ABOVE = -11
BAR_BELOW = 7
"""Heights of a row and of its bar; offsets of label and bar from the row's middle; in pixels."""

SHORT = "format(datum.value, '~s')"
"""Expression for a label such as 20k. An axis format would write its zero as 0k."""

PLAIN = ",.3~r"
"""Number format of d3 for a label such as 0.5 or 20 000."""

LINE_DIGITS = 6
"""Digits of a number in a line. A line has thousands of points, and tooltips show four digits."""

MARK_BELOW = 24
MARK_HEIGHT = 18
"""Offset of a mark's text from the row's middle, and the extra height of the row, in pixels."""


SEEDS_BELOW = 18
"""Offset of a bar's seed dots from the row's middle, in pixels."""

Marks = tuple[pl.DataFrame, pl.DataFrame]
"""Intervals of bars, and the value of each seed: the result of `intervals.seed_marks`."""


def chart_amplification(
    frame: pl.DataFrame, rows: Sequence[str], limit: float, predicted: pl.DataFrame, marks: Marks
) -> Plot:
    """Returns stacked bars of bytes programmed per byte of the host, by cause.

    The axis ends at `limit`. A row in `predicted` becomes a rule across its run's bar, with the
    closed form's name and value.
    """
    title = "Bytes programmed per byte of the host"
    bars = _stack(frame, rows, CAUSES, title, ",.3f", limit, marks)
    if predicted.is_empty():
        return bars
    laws = alt.Chart(inline_data(predicted)).encode(x="value:Q", y=row_axis(rows))
    tooltip = [
        alt.Tooltip("run:N", title="Run"),
        alt.Tooltip("law:N", title="Closed form"),
        alt.Tooltip("value:Q", title="Predicted", format=",.3f"),
        alt.Tooltip("source:N", title="From"),
    ]
    rule = laws.mark_tick(size=BAR + 8, thickness=2, yOffset=BAR_BELOW, style="mean")
    plot = bars + rule.encode(tooltip=tooltip)
    # The text goes on the side of the rule that has room for it.
    far = pl.col("value") > limit / 2
    text = {"yOffset": MARK_BELOW, "style": "total", "aria": False}
    for here, align in ((predicted.filter(far), "right"), (predicted.filter(~far), "left")):
        if not here.is_empty():
            named = alt.Chart(inline_data(here)).encode(
                x="value:Q", y=row_axis(rows), text="label:N"
            )
            plot += named.mark_text(align=align, **text)
    taller: Plot = plot.properties(height=(ROW_HEIGHT + MARK_HEIGHT) * len(rows))
    return taller


def chart_blame(
    frame: pl.DataFrame,
    rows: Sequence[str],
    parts: Mapping[str, str],
    limit: float,
    unit: str,
    marks: Marks,
) -> Plot:
    """Returns stacked bars of the mean response time by cause, in `unit` per request."""
    return _stack(frame, rows, parts, f"{unit} per request", ",.4~r", limit, marks)


def chart_hit_ratio(frame: pl.DataFrame, rows: Sequence[str], marks: Marks) -> Plot:
    """Returns bars of the share of look-ups that a cache answered."""
    tooltip = [
        alt.Tooltip("run:N", title="Run"),
        alt.Tooltip("value:Q", title="Hit ratio", format=".2%"),
        alt.Tooltip("hits:Q", title="Hits", format=",.0f"),
        alt.Tooltip("misses:Q", title="Misses", format=",.0f"),
    ]
    return chart_shares(frame, rows, "Hit ratio", tooltip, marks)


def chart_shares(
    frame: pl.DataFrame,
    rows: Sequence[str],
    title: str,
    tooltip: Sequence[alt.Tooltip],
    marks: Marks | None = None,
) -> Plot:
    """Returns bars of shares, 0 to 1: the `value` of each `row`."""
    axis = alt.Axis(format=".0%", title=title, values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, 1.12]), axis=axis)
    ends = _bar_ends(frame.select("row", "value"), marks)
    base = alt.Chart(inline_data(frame)).encode(y=row_axis(rows))
    bars = base.mark_bar(size=BAR, yOffset=BAR_BELOW, style="plain").encode(x=x, tooltip=[*tooltip])
    text = _totals(ends, rows, ".1%")
    return in_rows(_with_seeds(bars + text, rows, title, ".2%", marks), rows)


def stacked(
    frame: pl.DataFrame,
    rows: Sequence[str],
    x: alt.X,
    colour: alt.Color,
    order: str,
    tooltip: Sequence[alt.Tooltip],
) -> alt.Chart:
    """Returns horizontal bars of segments, in the order of a column, a bar for each row."""
    bars = alt.Chart(inline_data(frame)).mark_bar(size=BAR, yOffset=BAR_BELOW, style="segment")
    drawn: alt.Chart = bars.encode(
        x=x,
        y=row_axis(rows),
        color=colour,
        order=alt.Order(f"{order}:Q"),
        tooltip=[alt.Tooltip("run:N", title="Run"), *tooltip],
    )
    return drawn


def share_axis(title: str) -> alt.X:
    """Returns the axis of a stack from 0 to 100 %."""
    axis = alt.Axis(format=".0%", title=title, tickCount=5)
    return alt.X("value:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)


def part_colour(parts: Mapping[str, str], frame: pl.DataFrame) -> alt.Color:
    """Returns the colours of causes or uses; the legend has only those that the frame has."""
    present = [part for part in parts.values() if part in set(frame["part"])]
    scale = alt.Scale(domain=domain(parts))
    return alt.Color("part:N", scale=scale, legend=alt.Legend(values=present))


def _bar_ends(totals: pl.DataFrame, marks: Marks | None) -> pl.DataFrame:
    """Adds to `totals` (a `value` for each `row`) the column `end`, where the row's text begins."""
    if marks is None or marks[0].is_empty():
        return totals.with_columns(end="value")
    ends = totals.join(marks[0].select("row", "high"), on="row", how="left", maintain_order="left")
    return ends.select("row", "value", end=pl.max_horizontal("value", "high"))


def _totals(ends: pl.DataFrame, rows: Sequence[str], style: str) -> alt.Chart:
    """Writes the value of each bar behind the bar's end."""
    text = alt.Chart(inline_data(ends)).encode(
        x="end:Q", y=row_axis(rows), text=alt.Text("value:Q", format=style)
    )
    drawn: alt.Chart = text.mark_text(
        align="left", dx=5, yOffset=BAR_BELOW, style="total", aria=False
    )
    return drawn


def _with_seeds(
    bars: alt.LayerChart, rows: Sequence[str], title: str, style: str, marks: Marks | None
) -> alt.LayerChart:
    """Adds whiskers to bars over several seeds, and below each bar a dot for each seed."""
    if marks is None or marks[0].is_empty():
        return bars
    spread, dots = (alt.Chart(inline_data(frame)).encode(y=row_axis(rows)) for frame in marks)
    run = alt.Tooltip("run:N", title="Run")
    ends = [
        alt.Tooltip(f"{field}:Q", title=f"{title}, {name}", format=style)
        for field, name in (("value", "mean"), ("low", "95 % from"), ("high", "to"))
    ]
    whiskers = spread.mark_rule(yOffset=BAR_BELOW, y2Offset=BAR_BELOW, style="mean").encode(
        x=alt.X("low:Q"), x2="high:Q", tooltip=[run, *ends]
    )
    one = alt.Tooltip("value:Q", title=title, format=style)
    points = dots.mark_point(filled=True, size=16, yOffset=SEEDS_BELOW, style="mean").encode(
        x=alt.X("value:Q"), tooltip=[run, alt.Tooltip("seed:N", title="Seed"), one]
    )
    drawn: alt.LayerChart = bars + whiskers + points
    return drawn


def chart_timeline(
    frame: pl.DataFrame,
    metric: str,
    title: str,
    colours: Sequence[str],
    dashes: Sequence[str],
    domain: tuple[float, float],
    style: str,
    *,
    band: bool,
) -> Plot:
    """Returns lines of a column of the frame over the run; `style` is a d3 number format.

    With `band`, a band extends from the column `low` to the column `high` of the metric.
    """
    axis = alt.Axis(
        title="Host pages written", labelExpr=SHORT, grid=False, tickCount=6, labelOverlap="greedy"
    )
    x, y = alt.X("pages:Q", axis=axis), metric_axis(metric, domain, style)
    tooltip = [
        ("run", "Run", ""),
        (metric, f"{title}, mean", style),
        (f"{metric}_low", "Least of a window", style),
        (f"{metric}_high", "Most of a window", style),
        ("pages", "Host pages written", ",.0f"),
        ("seconds", "Device time, s", ",.4~r"),
    ]
    plot = chart_lines(frame, x, y, colours, dashes, tooltip, 170)
    if not band:
        return plot
    area = alt.Chart(plot.data).mark_area(opacity=0.18, clip=True, aria=False)
    low = metric_axis(f"{metric}_low", domain, style)
    drawn: Plot = plot + area.encode(
        x=x, y=low, y2=f"{metric}_high:Q", color=line_colour(colours), detail="run:N"
    )
    return drawn


def chart_wear_histogram(frame: pl.DataFrame) -> Plot:
    """Returns bars of the number of erase units by their erase count, for one run."""
    # A bar covers the whole numbers that it counts.
    edges = frame.with_columns(start=pl.col("first") - 0.5, end=pl.col("last") + 0.5)
    plot: Plot = (
        alt.Chart(inline_data(edges))
        .mark_bar(style="plain")
        .encode(
            x=alt.X(
                "start:Q",
                bin="binned",
                scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(title="Erases of a unit", grid=False, format="d", tickMinStep=1),
            ),
            x2="end:Q",
            y=alt.Y("units:Q", axis=alt.Axis(title="Erase units", tickCount=5, format="~s")),
            tooltip=[
                alt.Tooltip("first:Q", title="Erases, from", format=",.0f"),
                alt.Tooltip("last:Q", title="to", format=",.0f"),
                alt.Tooltip("units:Q", title="Erase units", format=",.0f"),
            ],
        )
        .properties(height=240)
    )
    return plot


def chart_wear_range(frame: pl.DataFrame, rows: Sequence[str], limit: float) -> Plot:
    """Returns a line from the smallest to the largest number of erases of a unit for each run.

    The bar covers one standard deviation on each side of the mean, within these ends.
    """
    scale = alt.Scale(domain=[0, limit], nice=True)
    axis = alt.Axis(title="Erases of a unit", labelExpr=SHORT, tickCount=8)
    tooltip = [
        alt.Tooltip("run:N", title="Run"),
        alt.Tooltip("low:Q", title="Least", format=",.0f"),
        alt.Tooltip("mean:Q", title="Mean", format=",.2f"),
        alt.Tooltip("high:Q", title="Most", format=",.0f"),
        alt.Tooltip("stdev:Q", title="Standard deviation", format=",.2f"),
    ]
    base = alt.Chart(inline_data(frame)).encode(y=row_axis(rows), tooltip=tooltip)
    span = base.mark_rule(yOffset=BAR_BELOW, y2Offset=BAR_BELOW, style="span").encode(
        x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"
    )
    body = base.mark_bar(size=BAR, yOffset=BAR_BELOW, style="plain")
    body = body.encode(x="near:Q", x2="far:Q")
    mean = base.mark_tick(size=BAR + 6, thickness=2, yOffset=BAR_BELOW, style="mean")
    return in_rows(span + body + mean.encode(x="mean:Q"), rows)


def _stack(
    frame: pl.DataFrame,
    rows: Sequence[str],
    parts: Mapping[str, str],
    title: str,
    style: str,
    limit: float,
    marks: Marks,
) -> Plot:
    """Returns horizontal stacked bars with the total at the end of each bar."""
    axis = alt.Axis(title=title, format=PLAIN, tickCount=8)
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, limit], nice=False), axis=axis)
    tooltip = [
        alt.Tooltip("part:N", title="Cause"),
        alt.Tooltip("value:Q", title=title, format=style),
        alt.Tooltip("share:Q", title="Share", format=".1%"),
    ]
    order = frame.sort("order")
    bars = stacked(order, rows, x, part_colour(parts, frame), "order", tooltip)
    totals = order.group_by("row", maintain_order=True).agg(pl.col("value").sum())
    text = _totals(_bar_ends(totals, marks), rows, style)
    return in_rows(
        _with_seeds(cast("alt.LayerChart", bars + text), rows, title, style, marks), rows
    )


Told = Sequence[tuple[str, str, str]]
"""Fields of a tooltip: field, title, and d3 number format (empty for text)."""


def chart_lines(
    frame: pl.DataFrame,
    x: alt.X,
    y: alt.Y,
    colours: Sequence[str],
    dashes: Sequence[str],
    tooltip: Told,
    height: int,
    dots: bool = False,
    interpolate: Literal["linear", "step-after", "step-before"] = "linear",
    causes: bool = False,
) -> Plot:
    """Returns lines of runs, or of causes; the tooltip describes the point next to the pointer."""
    data = inline_data(frame, LINE_DIGITS)
    base = alt.Chart(data).encode(x=x, y=y, color=line_colour(colours, causes=causes))
    line = base.mark_line(
        strokeWidth=2,
        strokeJoin="round",
        clip=True,
        point=False,
        interpolate=interpolate,
    )
    if len(dashes) > 1:
        pattern = alt.Scale(domain=list(dashes), range=[list(dash) for dash in DASHES])
        line = line.encode(strokeDash=alt.StrokeDash("dash:N", scale=pattern, legend=alt.Legend()))
    points = [base.mark_point(filled=True, size=55)] if dots else []
    return near(alt.layer(line, *points).properties(height=height), tooltip)


def metric_axis(field: str, domain: tuple[float, float], style: str) -> alt.Y:
    """Returns the axis of a metric, in per cent if the metric's d3 number format is in per cent."""
    axis = alt.Axis(title=None, format=".0%" if style.endswith("%") else PLAIN, tickCount=5)
    return alt.Y(f"{field}:Q", scale=alt.Scale(domain=list(domain), nice=True), axis=axis)


def line_colour(
    colours: Sequence[str], field: str = "colour", *, causes: bool = False
) -> alt.Color:
    """Returns the colours of runs in the order of their names; with `causes`, those of causes."""
    names = list(colours)
    scale = alt.Scale(domain=names) if causes else alt.Scale(domain=names, range=RUNS)
    return alt.Color(f"{field}:N", scale=scale, legend=alt.Legend())


def near(plot: Plot, tooltip: Told) -> Plot:
    """Adds a tooltip for the point of the first layer that is nearest to the pointer.

    The page's script shows the tooltip. A selection of Vega-Lite would draw, for each point, the
    point and the area in which it attracts the pointer: thousands of invisible elements.
    """
    told: Plot = plot.properties(usermeta={"near": [list(one) for one in tooltip]})
    return told


def row_axis(rows: Sequence[str], above: float = LABEL_ABOVE) -> alt.Y:
    """Returns an axis with one band for each run, its label inside the plot above the bar.

    `above` is the offset of the label from the band's middle in pixels.
    """
    return alt.Y(
        "row:N",
        sort=list(rows),
        scale=alt.Scale(domain=list(rows)),
        axis=alt.Axis(
            title=None,
            domain=False,
            ticks=False,
            grid=False,
            labelAlign="left",
            labelPadding=0,
            labelOffset=above,
            labelFontSize=12,
            labelLimit=alt.ExprRef("width"),
            labelOverlap=False,
        ),
    )


def in_rows(chart: alt.LayerChart, rows: Sequence[str]) -> Plot:
    plot: Plot = chart.properties(height=ROW_HEIGHT * len(rows))
    return plot


def inline_data(frame: pl.DataFrame, digits: int = 8) -> alt.InlineData:
    """Returns the frame as data inside the spec, without a row limit or global settings.

    Eight digits are more than a bar or its tooltip shows, and halve the bytes. The data is one
    string, because Altair checks and copies lists number by number, which takes seconds for many
    runs.
    """
    text = frame.with_columns(pl.selectors.float().round_sig_figs(digits)).write_json()
    return alt.InlineData(values=text, format=alt.JsonDataFormat(type="json"))
