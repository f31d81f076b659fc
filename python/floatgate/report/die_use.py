"""Figure of how each die and each channel spent the time of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import altair as alt
import polars as pl

from floatgate.results.result import ChannelsResult, DiesResult, Result
from floatgate.results.tables import Table, beside, written
from floatgate.results.values import count, percent

from .charts import Plot, inline_data
from .figure import Drawing, Figure, join_title, sentence
from .frames import ROW
from .legends import first, part_legend, say_missing
from .runs import Run, panels

LANES = 64
"""Maximum number of lanes that a plot shows one by one.

With more lanes, the plot shows the mean lane and the busiest lane of each run.
"""

LANE_HEIGHT = 18
LANE_BAR = 12


class Lane(NamedTuple):
    """Kind of lane in the figure: dies or channels."""

    noun: str
    uses: dict[str, str]
    """Names of the lane's activities, in the order of the palette."""
    shares: Callable[[Result], DiesResult | ChannelsResult]
    """Returns the section of a result with the share of the time for each use and lane."""


DIES = Lane(
    "die",
    {
        "read": "reads",
        "program": "programs",
        "erase": "erases",
        "transfer": "transfers",
        "wait": "waits for the channel",
        "idle": "idle",
    },
    lambda result: result.dies,
)
CHANNELS = Lane(
    "channel",
    {
        "host": "host",
        "gc": "cleaning",
        "map": "map",
        "merge": "merges",
        "remap": "remapping",
        "idle": "idle",
    },
    lambda result: result.channels,
)


def die_use(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    """Returns a figure with a plot of the dies and a plot of the channels for each panel."""
    figure = Figure(
        "die-use",
        "What dies and channels did",
        "Shares of the time of the run. A die is held while it reads, programs or erases, and "
        "while its pages are transferred or wait for the channel; a channel is busy while it "
        "transfers a page, by what the page was for.",
    )
    for kind in (DIES, CHANNELS):
        found = {panel: lanes(group, kind) for panel, group in panels(drawn).items()}
        title = f"{kind.noun.capitalize()}s"
        for panel, frame in found.items():
            if not frame.is_empty():
                what = sentence(f"Shares of the time of each {kind.noun}, by use", panel, frame)
                chart = _chart_lanes(frame, kind)
                legend = part_legend([frame], list(kind.uses.values()))
                figure.drawings.append(Drawing(join_title(title, panel), chart, what, legend))
        say_missing(figure, found.values(), drawn, "time was not simulated", title)
    table = use_table([run for run in runs if run.result.dies.idle])
    figure.table = table if table.rows else None
    return figure


def lanes(runs: Sequence[Run], kind: Lane) -> pl.DataFrame:
    """Returns a row for each lane and each of its uses, with the share of the time as `value`."""
    busy = [_busy(run, kind) for run in runs]
    every = sum(map(len, busy)) <= LANES
    rows = []
    for run, own in zip(runs, busy, strict=True):
        shares = {use: getattr(kind.shares(run.result), use) for use in kind.uses}
        for name, lane in _shown(kind.noun, own, every):
            row = ", ".join(part for part in (run.row if len(runs) > 1 else "", name) if part)
            rows += [
                (run.label, row, text, i, _mean([shares[use][at] for at in lane]))
                for i, (use, text) in enumerate(kind.uses.items())
            ]
    schema = ROW | {"part": pl.String, "order": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").filter(pl.col("value") > 0)


def use_table(runs: Sequence[Run]) -> Table:
    """Returns each run's busiest die with its busy share, and the mean busy shares."""
    dies, channels = ([_busy(run, kind) for run in runs] for kind in (DIES, CHANNELS))
    columns = [
        written(count)("Busiest die", [shares.index(max(shares)) for shares in dies]),
        written(percent)("Busy", [max(shares) for shares in dies]),
        written(percent)("Mean die busy", [_mean(shares) for shares in dies]),
        written(percent)("Mean channel busy", [_mean(shares) for shares in channels]),
    ]
    title = "Shares of the time in which dies and channels were busy"
    return beside(title, {"Run": [run.name for run in runs]}, columns)


def _shown(noun: str, busy: Sequence[float], every: bool) -> Iterable[tuple[str, Sequence[int]]]:
    """Returns the name of each shown lane, and the lanes that it averages."""
    if every or len(busy) < 2:
        return ((f"{noun} {at}", [at]) for at in range(len(busy)))
    busiest = busy.index(max(busy))
    return (f"mean {noun}", range(len(busy))), (f"busiest: {noun} {busiest}", [busiest])


def _busy(run: Run, kind: Lane) -> list[float]:
    """Returns the share of the time in which each lane was busy; empty for a run without time."""
    shares = kind.shares(run.result)
    uses = [getattr(shares, use) for use in kind.uses if use != "idle"]
    return [sum(lane) for lane in zip(*uses, strict=True)]


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares)


def _chart_lanes(frame: pl.DataFrame, kind: Lane) -> Plot:
    """Returns stacked bars to 100 %, with lane names to the left, because there are many lanes."""
    rows = first(frame["row"])
    uses = list(kind.uses.values())
    shown = alt.Legend(values=[use for use in uses if use in set(frame["part"])])
    axis = alt.Axis(format=".0%", title="Share of the time", tickCount=5)
    lane = alt.Axis(title=None, domain=False, ticks=False, grid=False, labelLimit=240)
    plot: Plot = (
        alt.Chart(inline_data(frame))
        .mark_bar(size=LANE_BAR, style="segment")
        .encode(
            x=alt.X("value:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis),
            y=alt.Y("row:N", sort=rows, scale=alt.Scale(domain=rows), axis=lane),
            color=alt.Color("part:N", scale=alt.Scale(domain=uses), legend=shown),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("run:N", title="Run"),
                alt.Tooltip("row:N", title=kind.noun.capitalize()),
                alt.Tooltip("part:N", title="Use"),
                alt.Tooltip("value:Q", title="Share of the time", format=".1%"),
            ],
        )
        .properties(height=LANE_HEIGHT * len(rows))
    )
    return plot
