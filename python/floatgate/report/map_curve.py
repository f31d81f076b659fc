"""The mapping cache's hit-ratio curve (`floatgate.map_curve`) as a page and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
import polars as pl

from floatgate.analysis.curve_tables import Document, needed_table, sizes_table, source_words
from floatgate.files.writing import write_whole
from floatgate.results.tables import Cell, Table
from floatgate.results.values import SPACE, count, percent, size

from . import page
from .charts import Plot, inline_data, near
from .figure import Drawing, Figure
from .pictures import write_figure

LABELLED = (50, 80, 90, 99)
"""Shares of the hits whose dots have a label, in per cent: others have no room on a phone."""

ROOM = 2.5
"""Factor by which the axis goes beyond the largest cache."""

TICK_STEP = 4
"""Up to this many powers of two, the axis labels all of them; with more, every second one."""


def write_map_curve(document: Document, directory: Path) -> list[Path]:
    """Writes `map-curve.html` and, if there is a curve, `map-curve.svg`; returns their paths.

    The directory must exist. Raises `OSError` when a file cannot be written.
    """
    figure = curve_figure(document)
    path = Path(directory) / "map-curve.html"
    write_whole(path, _page(document, figure).encode("utf-8"))
    return [path, *([write_figure(figure, directory, "svg")] if figure.drawings else [])]


def chart_map_curve(points: pl.DataFrame, needed: pl.DataFrame, most: float) -> Plot:
    """Returns a line: hit ratio by cache size, log 2; a sampled curve has a band.

    `points` has `bytes`, `entries`, `hit_ratio`, `low` and `high`. `needed` has `bytes`,
    `hit_ratio` and `label`. `most` is the hit ratio of a cache that holds every entry.
    """
    x = alt.X("bytes:Q", scale=_sizes(points), axis=_size_axis(points))
    axis = alt.Axis(title="Hit ratio", format=".0%", tickCount=5)
    y = alt.Y("hit_ratio:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
    base = alt.Chart(inline_data(points)).encode(x=x)
    band = base.mark_area(opacity=0.2, clip=True).encode(y=alt.Y("low:Q", axis=axis), y2="high:Q")
    limit = alt.Chart(inline_data(pl.DataFrame({"most": [most]})))
    ceiling = limit.mark_rule(strokeDash=[4, 4], style="span").encode(y="most:Q")
    line = base.mark_line(strokeWidth=2, strokeJoin="round", clip=True).encode(y=y)
    marks = alt.Chart(inline_data(needed)).encode(x=x, y=y)
    dots = marks.mark_point(filled=True, size=45)
    # Below the line and at its right: a line that rises never comes here.
    text = marks.mark_text(align="left", dx=6, dy=11, style="total", aria=False)
    tooltip = [
        ("size", "Cache", ""),
        ("entries", "Entries", ",.0f"),
        ("hit_ratio", "Hit ratio", ".2%"),
    ]
    parts = line + band + ceiling + dots + text.encode(text="label:N")
    return near(parts.properties(height=320), tooltip)


def curve_figure(document: Document) -> Figure:
    """Returns the curve with the sizes needed, or the reason why there is no curve."""
    caption = (
        "Share of the page accesses that find their map entry in an LRU cache, by the size of "
        f"the cache at {document['entry_bytes']} bytes an entry. Dots: sizes that reach a share of "
        "the hits that a cache can have. Dashed: a cache of the whole map."
    )
    if document["sample"]:
        caption += " Band: where the exact curve is, in 19 of 20 cases."
    figure = Figure("map-curve", "Hit ratio by cache size", caption)
    if not document["points"]:
        figure.reasons.append("Not drawn: the workload reads and writes nothing.")
        return figure
    points = pl.DataFrame(document["points"]).with_columns(
        low=(pl.col("hit_ratio") - pl.col("error")).clip(lower_bound=0),
        high=(pl.col("hit_ratio") + pl.col("error")).clip(upper_bound=1),
        size=pl.col("bytes").map_elements(size, pl.String),
    )
    needed = pl.DataFrame(document["needed"]).unique("bytes", keep="last", maintain_order=True)
    label = pl.when(pl.col("percent").is_in(LABELLED)).then(pl.format(f"{{}}{SPACE}%", "percent"))
    needed = needed.with_columns(label=label.otherwise(pl.lit("")))
    chart = chart_map_curve(points, needed, document["hit_ratio_max"])
    what = f"Hit ratio of the mapping cache at {points.height} sizes."
    figure.drawings.append(Drawing("", chart, what))
    figure.table = sizes_table(document)
    return figure


def _sizes(points: pl.DataFrame) -> alt.Scale:
    """Returns a log scale; its two ends must differ."""
    low, high = points["bytes"][0], points["bytes"][-1]
    # The labels of the dots are at their right.
    domain = [low if low < high else low / 2, high * ROOM]
    return alt.Scale(type="log", base=2, domain=domain, nice=False)


def _size_axis(points: pl.DataFrame) -> alt.Axis:
    low, high = points["bytes"][0], points["bytes"][-1]
    powers = range((low - 1).bit_length(), high.bit_length())
    ticks = [1 << power for power in powers if power % 2 == 0 or len(powers) <= TICK_STEP]
    names = {str(tick): size(tick) for tick in ticks}
    label = f"{names}[datum.value]" if names else ""
    return alt.Axis(title="Cache", values=ticks, labelExpr=label, labelOverlap=True)


def _answer(needed: Mapping[int, int]) -> str:
    """Returns a sentence with two of the sizes needed, by per cent; empty without hits."""
    if not needed:
        return ""
    low, high = sorted(needed)[len(needed) // 2], max(needed)
    return (
        f"A map cache of {size(needed[low])} has {low} % of the hits that a cache can have, and "
        f"one of {size(needed[high])} has {high} %."
    )


def _page(document: Document, figure: Figure) -> str:
    """Returns the page of the report, with one figure and no run."""
    needed = needed_table(document)
    by_share = {row[0].text: row[1] for row in needed.rows}
    tiles: Sequence[tuple[str, Cell]] = [
        ("Page accesses", Cell(count(document["accesses"]))),
        ("Different pages", Cell(count(document["distinct_pages"]))),
        ("Hits of a cache, at most", Cell(percent(document["hit_ratio_max"]))),
        *((f"Cache for {share} of these", cell) for share, cell in by_share.items()),
    ]
    facts = [
        ("Trace", document["name"]),
        ("Curve", source_words(document)),
        ("Page", size(document["page_bytes"])),
        ("Map entry", size(document["entry_bytes"])),
        ("Trims left out", count(document["trims_ignored"] or None)),
    ]
    names, cells = [name for name, _ in tiles], [cell for _, cell in tiles]
    return page.workload_page(
        [figure],
        name=document["name"],
        subtitle="Map memory report · Floatgate",
        notes=document["notes"],
        answer=_answer({row["percent"]: row["bytes"] for row in document["needed"]}),
        summary=Table("Curve", ["", *names], [[Cell(""), *cells]]),
        facts=facts,
        table=needed,
    )
