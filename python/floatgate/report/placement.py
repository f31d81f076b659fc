"""Figure of placement: the pages of each stream, and the share still valid in its victims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import altair as alt
import polars as pl

from floatgate.results.result import Result, StreamPages
from floatgate.results.tables import Cell, Table
from floatgate.results.values import count, percent, ratio

from .charts import BAR, BAR_BELOW, Plot, in_rows, inline_data, row_axis, share_axis, stacked
from .figure import Figure, add_panels
from .frames import ROW
from .legends import first
from .runs import Run, panels


class Origin(NamedTuple):
    """Where the pages of a stream come from."""

    title: str
    of: Callable[[StreamPages], int]


ORIGINS = (
    Origin("Pages that the host wrote", lambda stream: stream.host_pages),
    Origin("Pages that cleaning moved", lambda stream: stream.gc_pages),
)


VALID = "Valid pages of victims"


def placement(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    """Returns a figure with plots of `ORIGINS` and of victims for each panel of runs."""
    figure = Figure(
        "placement",
        "Placement",
        "Shares of the pages by the stream that they were written to, from the coldest stream, 0, "
        "to the hottest. Pages of one stream share erase units. A victim is an erase unit that "
        "cleaning empties: the fewer of its pages are valid, the fewer are moved.",
    )
    if all(len(used(run.result)) < 2 for run in drawn):
        figure.absent.append((figure.title, "no run separates pages into streams"))
        return figure
    last = max(at for run in drawn for at, _ in used(run.result))
    for title, of in ORIGINS:
        found = {panel: stream_frame(group, of) for panel, group in panels(drawn).items()}
        draw = partial(_chart, title=title, last=last)
        add_panels(figure, title, found, f"{title}, by stream", draw)
    victims = {panel: victim_frame(group) for panel, group in panels(drawn).items()}
    add_panels(figure, VALID, victims, f"{VALID}, by stream", partial(_victim_chart, last=last))
    figure.table = stream_table(runs)
    return figure


def used(result: Result) -> list[tuple[int, StreamPages]]:
    """Returns the streams with pages or victims, and their numbers."""
    streams = enumerate(result.placement.streams)
    return [(at, one) for at, one in streams if one.host_pages or one.gc_pages or one.victims]


def stream_frame(runs: Sequence[Run], of: Callable[[StreamPages], int]) -> pl.DataFrame:
    """Returns a row for each run and stream: its number, its pages, and their share as `value`."""
    rows = []
    for run in runs:
        pages = [(at, of(one)) for at, one in used(run.result)]
        whole = sum(number for _, number in pages)
        rows += [(run.label, run.row, at, number, number / whole) for at, number in pages if number]
    schema = ROW | {"stream": pl.Int64, "pages": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def victim_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """Returns a row for each run and stream with victims: the mean share valid in them, `value`."""
    rows = [
        (run.label, run.row, at, one.victims, one.victim_valid_mean)
        for run in runs
        for at, one in used(run.result)
        if one.victims
    ]
    schema = ROW | {"stream": pl.Int64, "victims": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def stream_table(runs: Sequence[Run]) -> Table:
    """Returns a row for each run and stream: its pages, moves for each page of the host, and its
    victims with the mean share of their pages that was valid.
    """
    rows = []
    for run in runs:
        wholes = [sum(of(one) for one in run.result.placement.streams) for _, of in ORIGINS]
        for at, one in used(run.result):
            cells = [Cell(run.name, run.name), Cell(str(at), at)]
            for (_, of), whole in zip(ORIGINS, wholes, strict=True):
                share = of(one) / whole if whole else None
                cells += [Cell(count(of(one)), of(one)), Cell(percent(share), share)]
            moved = one.gc_pages / one.host_pages if one.host_pages else None
            valid = one.victim_valid_mean
            cells += [Cell(ratio(moved), moved), Cell(count(one.victims), one.victims)]
            cells.append(Cell(percent(valid), valid))
            rows.append(cells)
    titles = ["Run", "Stream", "Host pages", "Share", "Pages moved", "Share of moves"]
    titles += ["Moved per host page", "Victims", "Valid in victims"]
    return Table("Pages by stream", titles, rows)


def _chart(_: str, frame: pl.DataFrame, title: str, last: int) -> Plot:
    """Returns a bar to 100 % for each run; a shade is the number of the stream, up to `last`."""
    rows = first(frame["row"])
    tooltip = [
        alt.Tooltip("stream:Q", title="Stream", format="d"),
        alt.Tooltip("pages:Q", title=title, format=",.0f"),
        alt.Tooltip("value:Q", title="Share", format=".1%"),
    ]
    x = share_axis(f"Share of the {title[:1].lower()}{title[1:]}")
    bars = stacked(frame, rows, x, _shade(last), "stream", tooltip)
    return in_rows(alt.LayerChart(layer=[bars]), rows)


def _victim_chart(_: str, frame: pl.DataFrame, last: int) -> Plot:
    """Returns a scale to 100 % for each run, with a mark for each stream at its victims' share."""
    rows = first(frame["row"])
    base = alt.Chart(inline_data(frame)).encode(y=row_axis(rows))
    span = base.mark_rule(yOffset=BAR_BELOW, y2Offset=BAR_BELOW, style="span").encode(
        x=alt.X("least:Q"), x2="most:Q"
    )
    ends = span.transform_aggregate(least="min(value)", most="max(value)", groupby=["row"])
    marks = base.mark_tick(size=BAR, thickness=5, yOffset=BAR_BELOW).encode(
        x=share_axis("Share of valid pages in a victim, mean"),
        color=_shade(last),
        tooltip=[
            alt.Tooltip("run:N", title="Run"),
            alt.Tooltip("stream:Q", title="Stream", format="d"),
            alt.Tooltip("victims:Q", title="Victims", format=",.0f"),
            alt.Tooltip("value:Q", title="Valid pages", format=".1%"),
        ],
    )
    return in_rows(ends + marks, rows)


def _shade(last: int) -> alt.Color:
    """Returns the shades of the streams from 0 to `last`, with their legend."""
    ticks = list(range(0, last + 1, max(1, last // 8)))
    legend = alt.Legend(
        title="Stream", orient="top", direction="horizontal", values=ticks, gradientLength=200
    )
    return alt.Color("stream:Q", scale=alt.Scale(scheme="viridis", domain=[0, last]), legend=legend)
