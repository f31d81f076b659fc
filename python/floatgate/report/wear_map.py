"""Figure of wear and valid pages by an erase unit's position on the drive."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import altair as alt
import polars as pl

from floatgate.results.result import WearMap

from .charts import BAR, BAR_BELOW, ROW_HEIGHT, Plot, inline_data, row_axis
from .figure import Figure, add_panels
from .frames import ROW
from .legends import first
from .runs import Run, panels

CELLS = 128
"""Maximum number of cells in a row where several runs are drawn; a cell is a mean over units."""

WIDE = 10
"""Shades follow the logarithm if the highest value exceeds the lowest by more than this factor."""


class Mapped(NamedTuple):
    """Quantity of the map."""

    title: str
    style: str
    """Number format of d3."""
    cells: Callable[[WearMap], Sequence[float]]
    scale: tuple[float, float] | None
    """Ends of the shades; None for the smallest and largest values of the runs."""


MAPS = (
    Mapped("Erases of a unit", ",.2f", lambda map: map.erases, None),
    Mapped("Valid pages at the end", ".1%", lambda map: map.valid, (0.0, 1.0)),
)


def wear_map(drawn: Sequence[Run]) -> list[Figure]:
    """Returns one figure if a result has maps, with a plot for each of `MAPS` and each panel."""
    figure = Figure(
        "wear-map",
        "Wear and validity by erase unit",
        "Erase units in the order of their numbers",
    )
    alone = len(drawn) == 1
    figure.caption += ", in rows from the top left." if alone else ", from left to right."
    joined = False
    for title, style, cells, scale in MAPS:
        found = {panel: map_cells(group, cells, CELLS) for panel, group in panels(drawn).items()}
        if alone:
            found = {"": map_cells(drawn, cells, None)}
        values = [value for frame in found.values() for value in frame["value"]]
        joined |= any((frame["end"] - frame["start"] > 1).any() for frame in found.values())
        if values:
            ends = scale or (min(values), max(values))
            chart = _chart_grid if alone else _chart_rows
            draw = partial(chart, title=title, scale=ends, style=style)
            add_panels(figure, title, found, f"{title} by erase unit", draw)
    figure.caption += " A cell is the mean of neighbouring units." if joined else ""
    return [figure] if figure.drawings else []


def map_cells(
    runs: Sequence[Run], cells: Callable[[WearMap], Sequence[float]], most: int | None
) -> pl.DataFrame:
    """Returns a row for each cell of a run's map: its units, `start` up to `end`; their position
    among all units, `from` and `to`, 0 to 1; and their mean `value`.

    Joins neighbouring cells until there are at most `most`. The last cell may hold fewer units.
    """
    rows = []
    for run in runs:
        values, size = cells(run.result.wear.map), run.result.wear.map.units_per_cell
        units = run.result.drive.units + run.result.drive.reserve_units
        joined = 1 if most is None else max(math.ceil(len(values) / most), 1)
        for at in range(0, len(values), joined):
            part = values[at : at + joined]
            end = min((at + len(part)) * size, units)
            ends = (at * size, end, at * size / units, end / units)
            rows.append((run.label, run.row, *ends, sum(part) / len(part)))
    names = ("start", "end", "from", "to", "value")
    schema = ROW | dict.fromkeys(names, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _chart_grid(
    _: str, frame: pl.DataFrame, title: str, scale: tuple[float, float], style: str
) -> Plot:
    """Draws the cells of one run in rows from the top left."""
    columns = math.ceil(math.sqrt(2 * frame.height))
    rows = math.ceil(frame.height / columns)
    at = pl.int_range(pl.len())
    placed = frame.with_columns(x=at % columns, y=at // columns)
    placed = placed.with_columns(x2=pl.col("x") + 1, y2=pl.col("y") + 1)
    # The axes are hidden: a cell's tooltip shows its position.
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, columns], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[rows, 0], nice=False))
    cells = alt.Chart(inline_data(placed)).mark_rect(strokeWidth=0)
    shaded = cells.encode(x=x, x2="x2:Q", y=y, y2="y2:Q", **_shades(title, scale, style))
    plot: Plot = shaded.properties(height=min(max(12 * rows, 60), 320))
    return plot


def _chart_rows(
    _: str, frame: pl.DataFrame, title: str, scale: tuple[float, float], style: str
) -> Plot:
    """Draws a row of cells for each run."""
    rows = first(frame["row"])
    # Drives of different sizes have cells of the same width: thinner ones would look paler.
    x = alt.X(
        "from:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(
            title="Erase units, from the first to the last", format=".0%", tickCount=5, grid=False
        ),
    )
    bars = alt.Chart(inline_data(frame)).mark_bar(size=BAR, yOffset=BAR_BELOW, strokeWidth=0)
    shaded = bars.encode(x=x, x2="to:Q", y=row_axis(rows), **_shades(title, scale, style))
    plot: Plot = shaded.properties(height=ROW_HEIGHT * len(rows))
    return plot


def _shades(title: str, scale: tuple[float, float], style: str) -> dict[str, Any]:
    """Returns the colour by value with its legend, and the tooltip of a cell."""
    low, high = scale if scale[1] > scale[0] else (scale[0], scale[0] + 1)
    percent = style.endswith("%")
    legend = alt.Legend(
        title=title,
        orient="top",
        direction="horizontal",
        gradientLength=200,
        format=".0%" if percent else "~s",
        tickCount=4,
    )
    # Map units are few, and can wear a hundred times as much as data units.
    kind: Literal["symlog", "linear"] = "symlog" if high > WIDE * max(low, 1) else "linear"
    shades = alt.Scale(type=kind, scheme="viridis", domain=[low, high])
    colour = alt.Color("value:Q", scale=shades, legend=legend)
    tooltip = [
        alt.Tooltip("run:N", title="Run"),
        alt.Tooltip("start:Q", title="Erase units from", format=",.0f"),
        alt.Tooltip("end:Q", title="up to, not with", format=",.0f"),
        alt.Tooltip("value:Q", title=f"{title}, mean", format=style),
    ]
    return {"color": colour, "tooltip": tooltip}
