"""Plot of response times by percentile, or by the share of requests."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Literal

import altair as alt
import polars as pl

from floatgate.results.values import SPACE

from .charts import PLAIN, Plot, chart_lines, inline_data

PERCENTILES = {"p50": math.log10(2), "p99": 2.0, "p99.9": 3.0}
"""Percentiles that a plot of response times marks, by name, as numbers of nines."""


def chart_distribution(
    frame: pl.DataFrame,
    colours: Sequence[str],
    dashes: Sequence[str],
    domain: tuple[float, float],
    title: str,
    nines: float | None,
    causes: bool = False,
    steps: bool = False,
) -> Plot:
    """Returns lines of the requests' `time`, on a log scale over the domain.

    With `nines` (the number of nines at which the axis ends), the percentile is on the horizontal
    axis and each step of that axis leaves a tenth of the requests. Otherwise the share of requests
    is on the vertical axis, from 0 to 100 %. `title` names the unit of time. With `causes`,
    lines are causes, not runs. With `steps`, a share stays constant until the next
    point.
    """
    scale = alt.Scale(type="log", domain=list(domain), nice=False)
    axis = alt.Axis(title=title, format=PLAIN, values=log_ticks(*domain))
    line = ("colour", "Cause", "") if causes else ("run", "Run", "")
    tooltip = [line, ("time", title, ",.4~r"), ("share", "Requests no slower", ".7~%")]
    if nines is None:
        x, y = alt.X("time:Q", scale=scale, axis=axis), _share_axis()
        drawn: Literal["step-after", "linear"] = "step-after" if steps else "linear"
        return chart_lines(
            frame, x, y, colours, dashes, tooltip, 300, interpolate=drawn, causes=causes
        )
    top, time = _nines_axis(nines), alt.Y("time:Q", scale=scale, axis=axis)
    turned: Literal["step-before", "linear"] = "step-before" if steps else "linear"
    lines = chart_lines(
        frame, top, time, colours, dashes, tooltip, 300, interpolate=turned, causes=causes
    )
    marks = [{"nines": at, "name": name} for name, at in PERCENTILES.items() if at <= nines]
    if not marks:
        return lines
    base = alt.Chart(inline_data(pl.DataFrame(marks))).encode(x=top)
    rule = base.mark_rule(style="span", strokeDash=[2, 3], aria=False)
    # The names are above the plot, within its width.
    near_end = f"datum.nines > {0.9 * nines}"
    plot: Plot = lines + rule
    for align, where in (("right", near_end), ("center", f"!({near_end})")):
        name = base.mark_text(align=align, y=-6, style="total", aria=False)
        plot += name.encode(text="name:N").transform_filter(where)
    return plot


def _nines_axis(top: float) -> alt.X:
    """Returns the axis of percentiles; each step leaves a tenth of the requests."""
    nines = range(1, math.floor(top) + 1)
    ticks = {0.0: f"0{SPACE}%", math.log10(2): f"50{SPACE}%"} | {
        float(n): f"{100 - 100 / 10**n:.{max(n - 2, 0)}f}{SPACE}%" for n in nines
    }
    return alt.X(
        "nines:Q",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(
            title="Percentile of the requests",
            values=list(ticks),
            labelExpr=f"{json.dumps(list(ticks.values()))}"
            "[datum.value > 0 ? floor(datum.value) + 1 : 0]",
            labelOverlap="greedy",
        ),
    )


def _share_axis() -> alt.Y:
    """Returns the axis of the share of requests no slower than a time, 0 to 100 %."""
    axis = alt.Axis(title="Requests no slower", format=".0%", tickCount=5)
    return alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)


def log_ticks(low: float, high: float) -> list[float]:
    """Returns powers of ten within the domain, with more steps between them where there are few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = range(1, 10) if high < 10 * low else (1, 2, 5) if len(decades) <= 4 else (1,)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return [tick for tick in ticks if low <= tick <= high]
