"""Figure of placement: the pages that each stream got, from the host and from cleaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import altair as alt
import polars as pl

from floatgate.results.result import Result, StreamPages
from floatgate.results.tables import Cell, Table
from floatgate.results.values import count, percent, ratio

from .charts import Plot, in_rows, share_axis, stacked
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


def placement(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    """Returns a figure with a plot for each of `ORIGINS` and each panel of runs."""
    figure = Figure(
        "placement",
        "Placement",
        "Shares of the pages by the stream that they were written to, from the coldest stream, 0, "
        "to the hottest. Pages of one stream share erase units.",
    )
    if all(len(used(run.result)) < 2 for run in drawn):
        figure.absent.append((figure.title, "no run separates pages into streams"))
        return figure
    last = max(at for run in drawn for at, _ in used(run.result))
    for title, of in ORIGINS:
        found = {panel: stream_frame(group, of) for panel, group in panels(drawn).items()}
        draw = partial(_chart, title=title, last=last)
        add_panels(figure, title, found, f"{title}, by stream", draw)
    figure.table = stream_table(runs)
    return figure


def used(result: Result) -> list[tuple[int, StreamPages]]:
    """Returns the streams that have pages, with their numbers."""
    streams = enumerate(result.placement.streams)
    return [(at, one) for at, one in streams if one.host_pages or one.gc_pages]


def stream_frame(runs: Sequence[Run], of: Callable[[StreamPages], int]) -> pl.DataFrame:
    """Returns a row for each run and stream: its number, its pages, and their share as `value`."""
    rows = []
    for run in runs:
        pages = [(at, of(one)) for at, one in used(run.result)]
        whole = sum(number for _, number in pages)
        rows += [(run.label, run.row, at, number, number / whole) for at, number in pages if number]
    schema = ROW | {"stream": pl.Int64, "pages": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def stream_table(runs: Sequence[Run]) -> Table:
    """Returns a row for each run and stream: its pages, and moves for each page of the host.

    The last column has the mean share of valid pages in a victim, over all streams of the run.
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
            valid = run.result.cleaning.victim_valid_mean
            cells += [Cell(ratio(moved), moved), Cell(percent(valid), valid)]
            rows.append(cells)
    titles = ["Run", "Stream", "Host pages", "Share", "Pages moved", "Share of moves"]
    titles += ["Moved per host page", "Victims valid, all streams"]
    return Table("Pages by stream", titles, rows)


def _chart(_: str, frame: pl.DataFrame, title: str, last: int) -> Plot:
    """Returns a bar to 100 % for each run; a shade is the number of the stream, up to `last`."""
    rows = first(frame["row"])
    ticks = list(range(0, last + 1, max(1, last // 8)))
    legend = alt.Legend(
        title="Stream", orient="top", direction="horizontal", values=ticks, gradientLength=200
    )
    shades = alt.Scale(scheme="viridis", domain=[0, last])
    tooltip = [
        alt.Tooltip("stream:Q", title="Stream", format="d"),
        alt.Tooltip("pages:Q", title=title, format=",.0f"),
        alt.Tooltip("value:Q", title="Share", format=".1%"),
    ]
    x = share_axis(f"Share of the {title[:1].lower()}{title[1:]}")
    colour = alt.Color("stream:Q", scale=shades, legend=legend)
    bars = stacked(frame, rows, x, colour, "stream", tooltip)
    return in_rows(alt.LayerChart(layer=[bars]), rows)
