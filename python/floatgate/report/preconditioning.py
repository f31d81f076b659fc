"""Preconditioning recipes as a page and a picture."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import altair as alt
import polars as pl

from floatgate.analysis.precondition_tables import (
    facts,
    recipes_table,
    shortest,
    shortest_table,
    steady_words,
)
from floatgate.analysis.preconditioning import Judged, Preconditioned
from floatgate.files.writing import write_table, write_whole
from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT, size

from . import page
from .charts import Plot, inline_data, line_colour, near
from .figure import Drawing, Figure
from .legends import named
from .pictures import write_figure

COMPUTED = re.compile(r"\b(span|requests|writes)=\d+(,|$)")
"""Keys of the workload whose values the command computes."""

TICKS = (-100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100)
"""Distances with a label on the axis, in per cent.

The axis is linear between -1 and 1 and logarithmic outside.
"""

VOLUMES = "Volumes written by the workload"
SIGNED = "format(datum.value, datum.value ? '+d' : 'd')"


def write_precondition(found: Preconditioned, directory: Path) -> list[Path]:
    """Writes precondition.html, results.json, the curves as a table, and the figure as SVG.

    The directory must exist. Returns the paths of the page and of the picture, if there is one.
    Raises `OSError` when a file cannot be written.
    """
    figure = distance_figure(found)
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    write_whole(directory / "results.json", (text + "\n").encode())
    write_table(directory, "distances", found.points)
    path = directory / "precondition.html"
    write_whole(path, _page(found, figure).encode())
    return [path, *([write_figure(figure, directory, "svg")] if figure.drawings else [])]


def distance_figure(found: Preconditioned) -> Figure:
    """Returns the figure of distances by volumes that the workload has written, with its table.

    Each recipe has a curve.
    """
    figure = Figure(
        "distance",
        "Distance from the steady state",
        "Write amplification relative to the steady state, in per cent, over the volumes (drive "
        "capacities) that the workload has written after the recipe. Dashed: 1, 3 and 5 %.",
        lines=True,
        wide=True,
    )
    figure.table = recipes_table(found)
    if found.steady.write_amplification is None:
        figure.reasons.append("Not drawn: no steady state was found.")
        return figure
    own = [one for one in found.recipes if "workload" in one.name or one.name == "snia"]
    others = [one for one in found.recipes if one not in own]
    levels = [int(level) for level in found.shortest]
    panels = (("Recipes for any workload", others), ("With the workload itself", own))
    for heading, group in panels:
        names = [one.title for one in group]
        chart = chart_distance(_points(found, group), names, levels)
        what = f"Distance from the steady state after {len(group)} recipes."
        figure.drawings.append(Drawing(heading, chart, what, named(names)))
    return figure


def chart_distance(points: pl.DataFrame, names: Sequence[str], levels: Sequence[int]) -> Plot:
    """Returns lines of the `distance` of each `recipe` by `volumes`, with rules at the levels."""
    x = alt.X("volumes:Q", axis=alt.Axis(title=VOLUMES, grid=False, tickMinStep=1))
    far = points["distance"].to_list()
    low, high = min(-5.0, *far), max(5.0, *far)
    y = alt.Y(
        "distance:Q",
        scale=alt.Scale(type="symlog", constant=1, domain=[low, high], nice=False),
        axis=alt.Axis(title="Distance, %", values=[*TICKS], labelExpr=SIGNED, grid=False),
    )
    colour = line_colour(names, "recipe")
    base = alt.Chart(inline_data(points)).encode(x=x, y=y, color=colour)
    line = base.mark_line(strokeWidth=2, strokeJoin="round", clip=True, point=False)
    at = pl.DataFrame({"level": [sign * level for level in levels for sign in (-1, 1)]})
    rule = alt.Chart(inline_data(at)).mark_rule(strokeDash=[4, 4], style="span")
    tooltip = [
        ("recipe", "Recipe", ""),
        ("volumes", "Volumes", ".2f"),
        ("distance", "Distance, %", "+.2f"),
    ]
    return near(alt.layer(line, rule.encode(y="level:Q")).properties(height=300), tooltip)


def _points(found: Preconditioned, group: Sequence[Judged]) -> pl.DataFrame:
    titles = {one.name: one.title for one in group}
    points = found.points.filter(pl.col("recipe").is_in([*titles]))
    return points.with_columns(pl.col("recipe").replace(titles))


def _volumes(one: Judged) -> str:
    return f"{one.volumes:.3g} volume{'' if one.volumes == 1 else 's'}"


def _answer(found: Preconditioned) -> str:
    """Returns a sentence with the steady state and the shortest recipe; empty without a state."""
    if found.steady.write_amplification is None:
        return ""
    text = f"Write amplification is steady at {steady_words(found)}."
    level = next(iter(found.shortest))
    one = shortest(found, level)
    if one is None:
        return f"{text} No recipe is within {level} % of it."
    return f"{text} The shortest recipe within {level} % of it: {one.title} ({_volumes(one)})."


def _page(found: Preconditioned, figure: Figure) -> str:
    tiles = [("Steady write amplification", Cell(steady_words(found)))]
    for level in found.shortest:
        one = shortest(found, level)
        title, volumes = ("", ABSENT) if one is None else (f": {one.title}", _volumes(one))
        tiles.append((f"Within {level} %{title}", Cell(volumes)))
    tiles.append(("Capacity", Cell(size(found.capacity_bytes))))
    names, cells = [name for name, _ in tiles], [cell for _, cell in tiles]
    return page.workload_page(
        [figure],
        name=f"{found.device}: preconditioning for {COMPUTED.sub('', found.workload).rstrip(':,')}",
        subtitle="Preconditioning report · Floatgate",
        notes=found.notes,
        warnings=found.warnings,
        answer=_answer(found),
        summary=Table("Preconditioning", ["", *names], [[Cell(""), *cells]]),
        facts=[*facts(found), *((f"start.play, {one.name}", one.play) for one in found.recipes)],
        table=shortest_table(found),
    )
