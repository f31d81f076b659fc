"""Figure of how the dies and the channels spent the time of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import altair as alt
import polars as pl

from floatgate.results.result import ChannelsResult, DiesResult, Result
from floatgate.results.tables import Table, beside, written
from floatgate.results.values import count, percent

from .charts import (
    BAR_BELOW,
    Plot,
    in_rows,
    inline_data,
    part_colour,
    row_axis,
    share_axis,
    stacked,
)
from .figure import Drawing, Figure, join_title, sentence
from .frames import ROW
from .legends import first, part_legend, say_missing
from .runs import Run, panels


class Lane(NamedTuple):
    """Kind of lane in the figure: dies or channels."""

    noun: str
    uses: dict[str, str]
    """Names of the lane's activities, in the order of a bar."""
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
        "Shares of the time of the run, as means over the dies, and over the channels. Rule: from "
        "the least busy to the busiest one. A die is busy while it reads, programs or erases, and "
        "while its pages are transferred or wait for the channel.",
    )
    for kind in (DIES, CHANNELS):
        title = f"{kind.noun.capitalize()}s"
        if _are_idle(drawn, kind):
            figure.absent.append((title, "idle all the time"))
            continue
        found = {panel: shares_frame(group, kind) for panel, group in panels(drawn).items()}
        for panel, frame in found.items():
            if not frame.is_empty():
                what = sentence(f"Mean shares of the time of a {kind.noun}, by use", panel, frame)
                chart = _chart(frame, busy_frame(panels(drawn)[panel], kind), kind)
                legend = part_legend([frame], kind.uses)
                figure.drawings.append(Drawing(join_title(title, panel), chart, what, legend))
        say_missing(figure, found.values(), drawn, "time was not simulated", title)
    table = use_table([run for run in runs if run.result.dies.idle])
    figure.table = table if table.rows else None
    return figure


def shares_frame(runs: Sequence[Run], kind: Lane) -> pl.DataFrame:
    """Returns a row for each run and use: `value` is the mean share of the time over the lanes."""
    rows = []
    for run in runs:
        for i, (use, text) in enumerate(kind.uses.items()):
            if lanes := getattr(kind.shares(run.result), use):
                rows.append((run.label, run.row, text, i, _mean(lanes)))
    schema = ROW | {"part": pl.String, "order": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").filter(pl.col("value") > 0)


def busy_frame(runs: Sequence[Run], kind: Lane) -> pl.DataFrame:
    """Returns the busy shares of each run's lanes: `low`, `mean` and `high`."""
    found = [(run, busy) for run in runs if (busy := _busy(run, kind))]
    rows = [(run.label, run.row, min(busy), _mean(busy), max(busy)) for run, busy in found]
    schema = ROW | dict.fromkeys(("low", "mean", "high"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


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


def _are_idle(runs: Sequence[Run], kind: Lane) -> bool:
    """Returns whether there are lanes, and none of them did anything."""
    busy = [share for run in runs for share in _busy(run, kind)]
    return bool(busy) and not any(busy)


def _busy(run: Run, kind: Lane) -> list[float]:
    """Returns the share of the time in which each lane was busy; empty for a run without time."""
    shares = kind.shares(run.result)
    uses = [getattr(shares, use) for use in kind.uses if use != "idle"]
    return [sum(lane) for lane in zip(*uses, strict=True)]


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares)


def _chart(frame: pl.DataFrame, busy: pl.DataFrame, kind: Lane) -> Plot:
    """Returns a bar to 100 % for each run, with a rule over the busy shares of its lanes."""
    rows = first(frame["row"])
    run = alt.Tooltip("run:N", title="Run")
    tooltip = [
        alt.Tooltip("part:N", title="Use"),
        alt.Tooltip("value:Q", title="Share of the time, mean", format=".1%"),
    ]
    x, colour = share_axis("Share of the time"), part_colour(kind.uses, frame)
    bars = stacked(frame, rows, x, colour, "order", tooltip)
    ends = [
        alt.Tooltip(f"{field}:Q", title=f"Busy, {title}", format=".1%")
        for field, title in (("low", "least"), ("mean", "mean"), ("high", "most"))
    ]
    spread = alt.Chart(inline_data(busy.filter(pl.col("high") > pl.col("low"))))
    rule = spread.mark_rule(yOffset=BAR_BELOW, y2Offset=BAR_BELOW, style="mean").encode(
        x=alt.X("low:Q"), x2="high:Q", y=row_axis(rows), tooltip=[run, *ends]
    )
    return in_rows(bars + rule, rows)
