"""Figure of a window of the run around one request, with a lane for each die and channel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import altair as alt
import polars as pl

from floatgate.results.lanes import request_words, time_words
from floatgate.results.result import Result
from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT, TIMES, percent, unit_of

from .charts import Plot, inline_data
from .figure import Drawing, Figure
from .legends import part_legend, say_missing
from .palette import domain
from .runs import Run

CAUSES = {"host": "host", "gc": "cleaning", "map": "map", "merge": "merges", "remap": "remapping"}
"""Purposes of a flash operation."""

HEIGHTS = {"erase": 1.0, "program": 0.74, "read": 0.48, "transfer": 0.24, "wait": 0.1}
"""Height of the bar for each use of a die, as a share of the lane."""

USE = "datum.lane[0] === 'c' ? 'program' : datum.doing"
"""Expression for the key in `HEIGHTS`: channels only transfer, and get the height of a program."""

KEY = (
    "Height of a bar: erase (highest), program, read,",
    "transfer of a page or command, wait for the channel",
)

JOINED = "spans too short to be seen are drawn together; they are told apart by zooming in."

LANES = 96
"""Maximum number of lanes drawn: the request's lanes first, then the others in their order."""

LANE = (15, 30)
"""Minimum and maximum pixels from lane to lane; half of the distance separates channels."""

HEIGHT = 240
"""Pixels of the plot, if lanes then keep within the limits of `LANE`."""

ARRIVES, DONE = 45, 90
"""Widths in pixels of the names at the request's ends."""

TOP = -1.3
"""Top of the plot above the first lane, in lanes; names of the request's ends are there."""

DIGITS = 12
"""Digits of a time: the reader may zoom into microseconds of a second."""

FULL = 0.84
"""Share of a lane's pixels that the highest bar takes."""

BARS = 20_000
"""Maximum number of spans drawn one by one; with more, spans too short to see are joined."""

SPAN = ("place", "lane", "doing", "cause", "start", "end")


def lane_view(drawn: Sequence[Run]) -> list[Figure]:
    """Returns a figure with a plot for each run that has a window, if any run was to record one."""
    if not any(run.result.setting("lanes.window") for run in drawn):
        return []
    figure = Figure(
        "lanes",
        "What dies and channels did around a request",
        "A lane for each channel and for each of its dies; colour is the cause, height the kind "
        "of operation. The band is the time from the request's arrival to its completion, "
        "darker in the lanes of the dies that worked for it.",
        wide=True,
    )
    found = []
    for run in drawn:
        frame = window_spans(run.result).with_columns(run=pl.lit(run.label))
        if frame.is_empty():
            continue
        found.append(frame)
        shown, hidden = _lanes(run.result)
        if hidden:
            figure.reasons.append(f"{run.name}: {hidden} lanes are not drawn.")
        if frame.height > BARS:
            figure.reasons.append(f"{run.name}: {JOINED}")
        legend = part_legend([frame.rename({"cause": "part"})], CAUSES)
        heading = run.name if len(drawn) > 1 else ""
        words = request_words(run.result)
        chart = _chart(run.result, frame, shown)
        what = f"Lanes of dies and channels in a window of the run. {words}"
        figure.drawings.append(Drawing(heading, chart, what, legend, words))
    say_missing(figure, found, drawn, "nothing was recorded in such a window")
    table = shares_table([run for run in drawn if run.result.lanes.spans.lane])
    figure.table = table if table.rows else None
    return [figure]


def window_spans(result: Result) -> pl.DataFrame:
    """Returns a row for each span: its lane, operation, cause, start and end.

    Times are in the unit of `time_axis`; `place` is the position of the lane, counted from the top.
    """
    spans, places = result.lanes.spans, dict(_lanes(result)[0])
    unit, zero = time_axis(result)[1:]
    frame = pl.DataFrame(
        {
            "number": pl.Series(spans.lane, dtype=pl.Int64),
            "doing": pl.Series(spans.doing, dtype=pl.String),
            "cause": pl.Series([CAUSES[cause] for cause in spans.cause], dtype=pl.String),
            "start": (pl.Series(spans.from_ns, dtype=pl.Int64) - zero) / unit,
            "end": (pl.Series(spans.to_ns, dtype=pl.Int64) - zero) / unit,
        }
    )
    lanes = pl.DataFrame(
        [(number, place, lane_name(result, number)) for number, place in places.items()],
        schema={"number": pl.Int64, "place": pl.Float64, "lane": pl.String},
        orient="row",
    )
    return frame.join(lanes, on="number", maintain_order="left").select(SPAN)


def time_axis(result: Result) -> tuple[str, float, int]:
    """Returns the axis title, the nanoseconds of its unit, and its zero: the request's arrival."""
    lanes = result.lanes
    begin, end = lanes.from_ns or 0, lanes.to_ns or 0
    name, us = unit_of([(end - begin) / 1000], TIMES)
    zero, what = begin, f"from {time_words(begin / 1000)} of the run on"
    if lanes.request.arrival_ns is not None:
        zero, what = lanes.request.arrival_ns, "since the request arrived"
    return f"Time {what}, {name}", us * 1000, zero


def join_short(frame: pl.DataFrame, most: int) -> pl.DataFrame:
    """Reduces the frame to about `most` spans.

    Replaces neighbours too short to see by one span as long as all of them together. This span has
    the operation and the cause that took most of that time.
    """
    if frame.height <= most:
        return frame
    begin, end = frame["start"].to_numpy().min(), frame["end"].to_numpy().max()
    shortest = (end - begin) * frame["place"].n_unique() / most
    rows = []
    for _, lane in groupby(frame.iter_rows(named=True), key=lambda row: row["place"]):
        for _, near in groupby(lane, key=lambda row: (row["start"] - begin) // shortest):
            spans = list(near)
            took: dict[tuple[str, str], float] = {}
            for span in spans:
                what = (span["doing"], span["cause"])
                took[what] = took.get(what, 0.0) + span["end"] - span["start"]
            doing, cause = max(took, key=lambda what: took[what])
            end = spans[0]["start"] + sum(took.values())
            rows.append(spans[0] | {"doing": doing, "cause": cause, "end": end})
    return pl.DataFrame(rows, schema=frame.schema)


def shares_table(runs: Sequence[Run]) -> Table:
    """Returns shares of the window's time by use and cause, means over dies and over channels."""
    columns = ["Of what", *(name.capitalize() for name in CAUSES.values()), "Sum"]
    rows = []
    for run in runs:
        lanes, dies = run.result.lanes, len(run.result.dies.idle)
        channels = len(run.result.channels.idle)
        window = (lanes.to_ns or 0) - (lanes.from_ns or 0)
        sums: dict[tuple[str, str, str], float] = {}
        for number, doing, cause, begin, end in zip(*vars(lanes.spans).values(), strict=True):
            kind, of = ("Dies", dies) if number < dies else ("Channels", channels)
            key = (kind, doing, cause)
            sums[key] = sums.get(key, 0.0) + (end - begin) / window / of
        for kind, doing in [*(("Dies", use) for use in HEIGHTS), ("Channels", "transfer")]:
            shares = [sums.get((kind, doing, cause), 0.0) for cause in CAUSES]
            if any(shares):
                name = f"{kind}: {doing}"
                first = Cell(name, name) if len(runs) == 1 else Cell(f"{run.name}, {name}")
                cells = [Cell(percent(share) if share else ABSENT, share) for share in shares]
                rows.append([first, *cells, Cell(percent(sum(shares)), sum(shares))])
    return Table("Shares of the window's time, means over dies and channels", columns, rows)


def lane_name(result: Result, number: int) -> str:
    dies = len(result.dies.idle)
    return f"die {number}" if number < dies else f"channel {number - dies}"


def _lanes(result: Result) -> tuple[list[tuple[int, float]], int]:
    """Returns the drawn lanes with their positions from the top, and the number of other lanes."""
    dies, channels = len(result.dies.idle), len(result.channels.idle)
    own = result.lanes.request.dies
    each = max(dies // max(channels, 1), 1)
    wanted = [*own, *(dies + die // each for die in own), *range(dies + channels)]
    kept = set(list(dict.fromkeys(wanted))[:LANES])
    shown: list[tuple[int, float]] = []
    place = 0.0
    for channel in range(channels):
        lanes = [dies + channel, *range(channel * each, (channel + 1) * each)]
        for lane in (lane for lane in lanes if lane in kept):
            shown.append((lane, place))
            place += 1
        place += 0.5
    return shown, dies + channels - len(kept)


def _chart(result: Result, frame: pl.DataFrame, shown: Sequence[tuple[int, float]]) -> Plot:
    title, _, _ = time_axis(result)
    begin, end = _window(result)
    bottom = shown[-1][1] + 1
    x = alt.X(
        "start:Q",
        scale=alt.Scale(domain=[begin, end], nice=False, zero=False),
        axis=alt.Axis(title=[title, *KEY], grid=False, tickCount=8),
    )
    y = alt.Y(
        "low:Q",
        scale=alt.Scale(domain=[bottom, TOP], nice=False, zero=False),
        axis=_lane_axis(result, shown),
    )
    present = [name for name in CAUSES.values() if name in set(frame["cause"])]
    colour = alt.Color(
        "cause:N", scale=alt.Scale(domain=domain(CAUSES)), legend=alt.Legend(values=present)
    )
    frame = frame.select(SPAN)
    joined = join_short(frame, BARS)
    bars = (
        alt.Chart(inline_data(joined, DIGITS))
        .transform_calculate(
            low=f"datum.place + {(1 + FULL) / 2}",
            high=f"datum.low - {FULL} * {json.dumps(HEIGHTS)}[{USE}]",
            took="datum.end - datum.start",
        )
        .mark_rect(clip=True, strokeWidth=0)
        .encode(x=x, x2="end:Q", y=y, y2="high:Q", color=colour, tooltip=_tooltip(title))
    )
    plot = alt.layer(*_bands(result, shown, x, y), bars, *_ends(result, x, y))
    zoom: dict[str, Any] = {"domain": [begin, end], "most": BARS}
    if joined.height < frame.height:
        zoom["whole"] = inline_data(frame, DIGITS).values
    pixels = min(max(HEIGHT / (bottom - TOP), LANE[0]), LANE[1])
    drawn: Plot = plot.properties(height=pixels * (bottom - TOP), usermeta={"zoom": zoom})
    return drawn


def _lane_axis(result: Result, shown: Sequence[tuple[int, float]]) -> alt.Axis:
    """Returns the axis with each lane's name at its middle; the request's dies are bold."""
    own = [place + 0.5 for lane, place in shown if lane in result.lanes.request.dies]
    names = [lane_name(result, lane) for lane, _ in shown]
    index = " + ".join(["0", *(f"(datum.value > {place})" for _, place in shown[1:])])
    return alt.Axis(
        title=None,
        values=[place + 0.5 for _, place in shown],
        labelExpr=f"{json.dumps(names)}[{index}]",
        labelFontWeight=alt.condition(
            f"indexof({own}, datum.value) >= 0", alt.value("bold"), alt.value("normal")
        ),
        labelLimit=120,
        labelOverlap=False,
        domain=False,
        grid=False,
        ticks=False,
    )


def _tooltip(title: str) -> list[alt.Tooltip]:
    unit = title.rpartition(", ")[2]
    return [
        alt.Tooltip("lane:N", title="Lane"),
        alt.Tooltip("doing:N", title="Does"),
        alt.Tooltip("cause:N", title="For"),
        alt.Tooltip("start:Q", title=f"From, {unit}", format=",.4~f"),
        alt.Tooltip("end:Q", title=f"Until, {unit}", format=",.4~f"),
        alt.Tooltip("took:Q", title=f"Takes, {unit}", format=",.4~f"),
    ]


def _bands(
    result: Result, shown: Sequence[tuple[int, float]], x: alt.X, y: alt.Y
) -> list[alt.Chart]:
    """Shades the time of the request over all lanes, and darker over the lanes of its dies."""
    request = _request_times(result)
    if request is None:
        return []
    own = [(at, at + 1.0, 0.14) for lane, at in shown if lane in result.lanes.request.dies]
    return [
        alt.Chart(_times(request, low, high))
        .mark_rect(clip=True, opacity=shade, style="mean", aria=False)
        .encode(x=x, x2="end:Q", y=y, y2="high:Q")
        for high, low, shade in [(0.0, shown[-1][1] + 1, 0.06), *own]
    ]


def _ends(result: Result, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draws rules at the request's arrival and completion, each named on its outer side."""
    request, latency = _request_times(result), result.lanes.request.latency_us
    if request is None or latency is None:
        return []
    bottom = _lanes(result)[0][-1][1] + 1
    begin, end = _window(result)
    # The names are inside where the outer side has no room.
    before, behind = (request[0] - begin) / (end - begin), (end - request[1]) / (end - begin)
    sides = [("arrives", before, ARRIVES), (f"done, {time_words(latency)}", behind, DONE)]
    marks = []
    for (text, room, width), time, outer in zip(sides, request, (-1, 1), strict=True):
        fits = f"{room} * width >= {width}" if room >= 0 else "true"
        side = f"({fits} ? {outer} : {-outer})"
        align, dx = alt.ExprRef(f"{side} > 0 ? 'left' : 'right'"), alt.ExprRef(f"5 * {side}")
        rule = alt.Chart(_times((time, time), bottom, TOP)).mark_rule(clip=True, style="mean")
        name = alt.Chart(_times((time, time), TOP / 2, TOP))
        marks += [
            rule.encode(x=x, y=y, y2="high:Q"),
            name.mark_text(clip=True, align=align, dx=dx, style="total").encode(
                x=x, y=y, text=alt.value(text)
            ),
        ]
    return marks


def _times(times: tuple[float, float], low: float, high: float) -> alt.InlineData:
    row = {"start": times[0], "end": times[1], "low": low, "high": high}
    return inline_data(pl.DataFrame([row]), DIGITS)


def _window(result: Result) -> tuple[float, float]:
    """Returns start and end of the window, on the axis."""
    _, unit, zero = time_axis(result)
    begin, end = result.lanes.from_ns or 0, result.lanes.to_ns or 0
    return (begin - zero) / unit, (end - zero) / unit


def _request_times(result: Result) -> tuple[float, float] | None:
    """Returns arrival and completion of the request, on the axis."""
    request, (_, unit, zero) = result.lanes.request, time_axis(result)
    if request.arrival_ns is None or request.done_ns is None:
        return None
    return (request.arrival_ns - zero) / unit, (request.done_ns - zero) / unit
