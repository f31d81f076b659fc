"""Plot of a sweep: a metric against the values of one quantity."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import altair as alt
import polars as pl

from .charts import Plot, chart_lines, inline_data, line_colour, metric_axis


@dataclass(frozen=True)
class SweepAxis:
    """Swept config key, with its values as numbers and as the texts given."""

    key: str
    ticks: list[tuple[float, str]]

    def encoding(self) -> alt.X:
        """Returns the axis, with each value of the sweep as a tick, labelled as given."""
        values = [value for value, _ in self.ticks]
        # A tick takes the label of the nearest value, because a log scale does not return values
        # exactly.
        texts = json.dumps([text for _, text in self.ticks])
        sums = " + ".join(f"(datum.value > {(a + b) / 2!r})" for a, b in pairwise(values))
        scale = alt.Scale(zero=False, nice=False, padding=14)
        if values[0] > 0 and values[-1] / values[0] >= 4:
            scale = alt.Scale(type="log", nice=False, padding=14)
        return alt.X(
            "at:Q",
            scale=scale,
            axis=alt.Axis(
                title=self.key, values=values, labelExpr=f"{texts}[{sums or 0}]", labelOverlap=True
            ),
        )


def chart_sweep(
    frame: pl.DataFrame,
    axis: SweepAxis,
    metric: str,
    colours: Sequence[str],
    domain: tuple[float, float],
    style: str,
    predicted: pl.DataFrame | None = None,
    spread: pl.DataFrame | None = None,
) -> Plot:
    """Returns lines of a metric of whole runs against the swept quantity.

    `predicted` has `at`, `value` and `colour`: a dashed line for each colour. `spread` has `at`,
    `low`, `high` and `colour`: the interval of a value.
    """
    y = metric_axis("value", domain, style)
    tooltip = [("run", "Run", ""), ("value", metric, style)]
    lines = chart_lines(frame, axis.encoding(), y, colours, [""], tooltip, 220, dots=True)
    if spread is not None and not spread.is_empty():
        ends = alt.Chart(inline_data(spread)).mark_rule(strokeWidth=1.5, aria=False)
        low = metric_axis("low", domain, style)
        high, colour = alt.Y2("high:Q"), line_colour(colours)
        lines += ends.encode(x=axis.encoding(), y=low, y2=high, color=colour)
    if predicted is None or predicted.is_empty():
        return lines
    marks = alt.Chart(inline_data(predicted)).encode(
        x=axis.encoding(), y=y, color=line_colour(colours)
    )
    plot: Plot = lines + marks.mark_line(strokeDash=[4, 4], strokeWidth=1.5, point=False)
    return plot
