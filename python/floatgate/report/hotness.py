"""Hot and cold data (`floatgate.analysis.hotness.Hotness`) as a page and pictures."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl

from floatgate.analysis import hot_tables
from floatgate.analysis.hotness import Hotness, gigabytes
from floatgate.files.writing import write_whole
from floatgate.results.tables import Cell, Table
from floatgate.results.values import SPACE, count, percent, size

from . import page
from .charts import SHORT, Plot, chart_shares, inline_data
from .figure import Drawing, Figure
from .pictures import write_figure

LABELLED = (0.01, 0.05, 0.1, 0.2)
"""Shares of the pages that have a label in the plot of the skew."""

PAPER = "Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016"


def write_hotness(found: Hotness, directory: Path) -> list[Path]:
    """Writes `hotness.html` and an SVG for each figure that has a plot; returns their paths.

    The directory must exist. Raises `OSError` when a file cannot be written.
    """
    figures = hotness_figures(found)
    path = Path(directory) / "hotness.html"
    write_whole(path, _page(found, figures).encode("utf-8"))
    return [path, *(write_figure(one, directory, "svg") for one in figures if one.drawings)]


def hotness_figures(found: Hotness) -> list[Figure]:
    figures = [_extents(found), _skew(found), _distances(found), _sequential(found)]
    for figure in figures:
        if not figure.drawings and not figure.reasons:
            what = "reads or writes" if figure.key == "sequential" else "writes"
            figure.reasons.append(f"Not drawn: the workload has no {what} to show.")
    return figures


def chart_by_gap(points: pl.DataFrame, field: str, title: str, style: str) -> Plot:
    """Returns a line: a mean over the sequences against k, log 2.

    `points` has the columns `gap_pages` and `field`.
    """
    ticks = points["gap_pages"].to_list()
    x = alt.X(
        "gap_pages:Q",
        scale=alt.Scale(type="log", base=2, domain=[ticks[0], ticks[-1]], nice=False),
        axis=alt.Axis(title="k, cold pages", values=ticks, format="d", labelOverlap=True),
    )
    y = alt.Y(
        f"{field}:Q",
        scale=alt.Scale(zero=True, nice=True),
        axis=(
            alt.Axis(title=title, format=".0%", tickCount=5)
            if style.endswith("%")
            else alt.Axis(title=title, labelExpr=SHORT, tickCount=5)
        ),
    )
    tooltip = [
        alt.Tooltip("gap_pages:Q", title="Merged over fewer cold pages than", format="d"),
        alt.Tooltip(f"{field}:Q", title=title, format=style),
    ]
    base = alt.Chart(inline_data(points)).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2, strokeJoin="round")
    dots = base.mark_point(filled=True, size=45).encode(tooltip=tooltip)
    plot: Plot = (line + dots).properties(height=240)
    return plot


def chart_skew(points: pl.DataFrame, labels: pl.DataFrame) -> Plot:
    """Returns a line: the share of the writes that the most written pages receive.

    Both frames have the columns of `TopShare`; `labels` also has a `label`.
    """
    shares = points["pages_share"]
    x = alt.X(
        "pages_share:Q",
        scale=alt.Scale(type="log", domain=[shares[0], shares[-1]], nice=False),
        axis=alt.Axis(
            title="Most written pages",
            values=[0.001, 0.01, 0.1, 1],
            labelExpr=f"format(datum.value * 100, '~r') + '{SPACE}%'",
        ),
    )
    y = alt.Y(
        "writes_share:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(title="Share of the page writes", format=".0%", tickCount=5),
    )
    tooltip = [
        alt.Tooltip("pages_share:Q", title="Most written pages", format=".1%"),
        alt.Tooltip("writes_share:Q", title="Share of the page writes", format=".2%"),
    ]
    base = alt.Chart(inline_data(points)).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2, strokeJoin="round")
    marks = alt.Chart(inline_data(labels)).encode(x=x, y=y)
    dots = marks.mark_point(filled=True, size=55).encode(tooltip=tooltip)
    text = marks.mark_text(align="right", dx=-7, dy=-8, style="total", aria=False)
    plot: Plot = (line + dots + text.encode(text="label:N")).properties(height=280)
    return plot


def chart_distances(bars: pl.DataFrame) -> Plot:
    """Returns bars of overwrites by distance.

    `bars` has the columns `power`, `share`, `words` and `overwrites`.
    """
    ends = bars.with_columns(end=pl.col("power") + 1)
    unit = "['', 'Ki', 'Mi', 'Gi', 'Ti'][floor(datum.value / 10)]"
    label = f"pow(2, datum.value % 10) + {unit}"
    axis = alt.Axis(title="Page writes until the overwrite", labelExpr=label, grid=False)
    plot: Plot = (
        alt.Chart(inline_data(ends))
        .mark_bar(style="segment")
        .encode(
            x=alt.X("power:Q", bin="binned", scale=alt.Scale(nice=False), axis=axis),
            x2="end:Q",
            y=alt.Y(
                "share:Q", axis=alt.Axis(title="Share of the overwrites", format=".0%", tickCount=5)
            ),
            tooltip=[
                alt.Tooltip("words:N", title="Page writes"),
                alt.Tooltip("share:Q", title="Share of the overwrites", format=".2%"),
                alt.Tooltip("overwrites:Q", title="Overwrites", format=",.0f"),
            ],
        )
        .properties(height=240)
    )
    return plot


def chart_sequential(bars: pl.DataFrame) -> Plot:
    """Returns bars of the sequential share. `bars` has the columns `row` and `value`."""
    title = "Sequential share"
    tooltip = [
        alt.Tooltip("row:N", title="Of"),
        alt.Tooltip("value:Q", title=title, format=".2%"),
    ]
    return chart_shares(bars, bars["row"].to_list(), title, tooltip)


def _extents(found: Hotness) -> Figure:
    figure = Figure(
        "hot-extents",
        "Extents of hot pages",
        "Hot pages lie in extents. Extents with fewer than k cold pages between them are merged; "
        "k = 1 merges none. The cold pages in between then pass for hot ones. Means over the "
        f"sequences; Figures 1 and 2 of {PAPER}.",
    )
    points = pl.DataFrame(found.extents)
    if not found.sequences:
        return figure
    for field, title, heading, style in (
        ("extents", "Hot extents", "Number", ",.1f"),
        ("cold_writes_share", "Cold writes that pass for hot", "Misclassified", ".2%"),
    ):
        drawn = points.drop_nulls(field)
        if not drawn.is_empty():
            what = f"{title} against k, {drawn.height} points."
            figure.drawings.append(Drawing(heading, chart_by_gap(drawn, field, title, style), what))
    figure.table = hot_tables.extents_table(found)
    return figure


def _skew(found: Hotness) -> Figure:
    figure = Figure(
        "skew",
        "Skew",
        "Share of the page writes that the most written pages get, over the whole workload. "
        f"Gini coefficient of the writes per page: {found.skew.gini or 0:.3f}.",
    )
    points = pl.DataFrame(found.skew.top).drop_nulls()
    if points.is_empty():
        return figure
    labels = points.filter(pl.col("pages_share").is_in(LABELLED)).with_columns(
        label=pl.col("writes_share").map_elements(
            lambda share: f"{100 * share:.1f}{SPACE}%", pl.String
        )
    )
    what = "Share of the page writes by share of the pages, the most written first."
    figure.drawings.append(Drawing("", chart_skew(points, labels), what))
    figure.table = hot_tables.top_table(found)
    return figure


def _distances(found: Hotness) -> Figure:
    again = found.overwrites
    figure = Figure(
        "overwrite-distance",
        "Distance of overwrites",
        "Page writes from one write of a page to its next, over the whole workload: 1 if it is the "
        f"very next. {percent(again.overwrites_share)} of the page writes are overwrites.",
    )
    if not again.overwrites:
        return figure
    rows = [
        {
            "power": bar.from_pages.bit_length() - 1,
            "share": bar.overwrites / again.overwrites,
            "words": f"{count(bar.from_pages)} to {count(bar.below_pages - 1)}",
            "overwrites": bar.overwrites,
        }
        for bar in again.histogram
    ]
    what = f"Overwrites by distance, {len(rows)} bars."
    figure.drawings.append(Drawing("", chart_distances(pl.DataFrame(rows)), what))
    figure.table = hot_tables.distances_table(found)
    return figure


def _sequential(found: Hotness) -> Figure:
    figure = Figure(
        "sequential",
        "Sequentiality",
        "A request is sequential if it begins where the previous request of its kind ended.",
    )
    every = found.sequentiality
    # If all requests are of one kind, a row for this kind would repeat the row "all".
    kinds = (
        ("all", "reads", "writes") if every.reads.requests and every.writes.requests else ("all",)
    )
    bars = [
        {"row": f"{kind}, by {unit}", "value": share}
        for kind in kinds
        for unit in ("requests", "bytes")
        if (share := getattr(getattr(every, kind), f"continuing_{unit}_share")) is not None
    ]
    if bars and not any(bar["value"] for bar in bars):
        figure.reasons.append("No request is sequential.")
    elif bars:
        what = f"Sequential share, {len(bars)} bars."
        figure.drawings.append(Drawing("", chart_sequential(pl.DataFrame(bars)), what))
        figure.table = hot_tables.runs_table(found)
    return figure


def _answer(found: Hotness) -> str:
    """Returns a sentence on the skew and the overwrites; empty without writes."""
    tenth = next((top.writes_share for top in found.skew.top if top.pages_share == 0.1), None)
    if tenth is None:
        return ""
    again = found.overwrites.overwrites_share
    text = f"The most written 10 % of the pages get {_whole(tenth)} of the page writes"
    return f"{text}." if again is None else f"{text}. {_whole(again)} of all page writes overwrite."


def _whole(share: float) -> str:
    return f"{count(100 * share)} %"


def _page(found: Hotness, figures: list[Figure]) -> str:
    """Returns the page of the report, with these figures and no runs."""
    *names, length = hot_tables.COLUMNS.values()
    names += [f"{length}, pages", "Gini coefficient"]
    gini = "–" if found.skew.gini is None else f"{found.skew.gini:.3f}"
    tiles = [Cell(""), *hot_tables.means_cells(found), Cell(gini)]
    facts = [
        ("Trace", found.name),
        ("Sequences", f"{count(found.sequences)} of {gigabytes(found.gb_bytes)} of writes"),
        ("Left over", size(found.partial_bytes) if found.partial_bytes else "nothing"),
        ("Hot", f"{found.hot_from} writes in a sequence or more"),
        ("Pages of", size(found.page_bytes)),
        ("A write counts", "every page it touches" if found.rounding == "cover" else "whole pages"),
        ("Page writes", count(found.page_writes)),
        ("Pages written", count(found.written_pages)),
    ]
    return page.workload_page(
        figures,
        name=found.name,
        subtitle="Hot and cold data · Floatgate",
        notes=found.notes,
        answer=_answer(found),
        summary=Table("Mean of a sequence", ["", *names], [tiles]),
        facts=facts,
        table=hot_tables.sequences_table(found),
    )
