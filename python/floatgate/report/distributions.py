"""Figures of latencies at full resolution, by kind of request and by cause.

Only runs with `latency.distribution = "full"` have these latencies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import polars as pl

from floatgate.results.causes import blame_names
from floatgate.results.result import Distribution
from floatgate.results.tables import Unit

from .figure import Drawing, Figure, join_title, sentence
from .frames import CURVE_STEP, LINE, kept
from .latency_chart import chart_distribution
from .legends import line_legend, own_legend, part_legend, say_missing, series, span
from .palette import domain
from .runs import Run, panels
from .tables import cause_table

SHARE_STEP = 0.004
"""Largest difference in share between two points of a line that are one point on screen.

The points must also be within `CURVE_STEP` in time and tail.
"""

ABSENT = "the run kept a summary of its latencies, or there are none"

Lines = dict[tuple[str, str], pl.DataFrame]
"""Lines of each plot, by the plot's title and panel."""


def distributions(drawn: Sequence[Run], runs: Sequence[Run], time: Unit) -> list[Figure]:
    """Returns the figures; none if no run kept the whole distribution."""
    if not any(run.result.distributions for run in drawn):
        return []
    return [_by_operation(drawn, time), _by_cause(drawn, runs, time)]


def lines(found: Iterable[tuple[Run, str, Distribution | None]]) -> pl.DataFrame:
    """Returns the points of a line for each distribution, with the text that selects its colour.

    `share` of the requests (0 to 1) took `us` microseconds or less. `nines` is -log10(1 - share);
    the longest time has log10 of the number of requests. A line begins at the shortest time above
    zero, with the share of requests that took no time.
    """
    rows = [
        (run.label, colour, run.dash, *point)
        for run, colour, one in found
        if one is not None
        for point in _points(one)
    ]
    schema = LINE | {"us": pl.Float64, "share": pl.Float64, "nines": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _points(one: Distribution) -> list[tuple[float, float, float]]:
    """Returns time, share and nines of the points visible on screen, up to the longest time."""
    (_, none), *rest = one.cdf
    points: list[tuple[float, float, float]] = []
    for us, share in ((rest[0][0], none), *rest):
        nines = -math.log10(1 - share) if share < 1 else math.log10(one.requests)
        point = (us, share, nines)
        if len(points) < 2 or share == 1 or not _close(points[-1], point):
            points.append(point)
    return points


def _close(a: tuple[float, float, float], b: tuple[float, float, float]) -> bool:
    """Returns whether two points are nearly in the same position on both share scales."""
    near = math.log10(b[0] / a[0]) < CURVE_STEP and b[2] - a[2] < CURVE_STEP
    return near and b[1] - a[1] < SHARE_STEP


def _by_operation(drawn: Sequence[Run], time: Unit) -> Figure:
    figure = Figure(
        "latency-cdf",
        "Response time, cumulative",
        "Share of requests answered within a time, at full resolution.",
        lines=True,
    )
    found: Lines = {}
    for kind in ("read", "write"):
        title = f"{kind.capitalize()}s"
        own = {
            (title, name): lines((run, run.colour, kept(run, kind)) for run in group)
            for name, group in panels(drawn).items()
        }
        say_missing(figure, own.values(), drawn, ABSENT, title)
        found |= own
    _draw(figure, drawn, found, ("share",), time)
    figure.legend = line_legend(drawn)
    return figure


def _by_cause(drawn: Sequence[Run], runs: Sequence[Run], time: Unit) -> Figure:
    figure = Figure(
        "latency-causes",
        "Time by cause",
        "Share of the requests to which a cause added no more than a time, at full resolution: all "
        "requests, and the tail. A line begins at the share of the requests to which its cause "
        "added nothing.",
        lines=True,
    )
    if len(drawn) == 1:
        _causes_of(figure, drawn[0], time)
    else:
        found = {
            (text.capitalize(), name): lines(
                (run, run.colour, kept(run, "all", cause)) for run in group
            )
            for cause, text in blame_names(run.result for run in drawn).items()
            for name, group in panels(drawn).items()
        }
        _draw(figure, drawn, found, ("share", "nines"), time)
        say_missing(figure, found.values(), drawn, ABSENT)
        figure.legend = line_legend(drawn)
    figure.table = cause_table(runs, (time,))
    return figure


def _causes_of(figure: Figure, run: Run, time: Unit) -> None:
    """Draws the plots of one run, with a line for each cause."""
    names = blame_names([run.result])
    found = {
        (f"{kind.capitalize()}s", ""): lines(
            (run, text, kept(run, kind, cause)) for cause, text in names.items()
        )
        for kind in ("read", "write")
    }
    _draw(figure, [run], found, ("share", "nines"), time, domain(names))
    parts = (frame.rename({"colour": "part"}) for frame in found.values())
    figure.legend = part_legend(parts, names)


def _draw(
    figure: Figure,
    drawn: Sequence[Run],
    found: Lines,
    scales: Sequence[str],
    time: Unit,
    causes: Sequence[str] = (),
) -> None:
    """Draws a plot for each share scale, all over the same range of times.

    Where `causes` is given, it names the colours of the lines.
    """
    ends, nines = span(found.values(), "us"), span(found.values(), "nines")
    if ends is None or nines is None:
        return
    unit, base = time
    domain = (ends[0] / base * 0.9, ends[1] / base * 1.1)
    tops = {"share": None, "nines": max(nines[1], 1.0)}
    for (title, name), frame in found.items():
        if frame.is_empty():
            continue
        group = panels(drawn)[name]
        colours, dashes = (causes, [""]) if causes else series(drawn, group)
        for scale in scales:
            chart = chart_distribution(
                _from_edge(frame.with_columns(time=pl.col("us") / base).drop("us"), domain[0]),
                colours,
                dashes,
                domain,
                f"Time, {unit}",
                tops[scale],
                causes=bool(causes),
                steps=True,
            )
            heading = join_title(title if scale == "share" else f"{title}, tail", name)
            what = sentence(f"Distribution of times, {heading}", "", frame)
            own = [] if causes else own_legend(drawn, group)
            figure.drawings.append(Drawing(heading, chart, what, own))


def _from_edge(frame: pl.DataFrame, edge: float) -> pl.DataFrame:
    """Extends each line to the left edge of the plot.

    The share at the edge is the share at the line's first point: the requests that took no time.
    """
    begin = frame.group_by(*LINE, maintain_order=True).first().with_columns(time=pl.lit(edge))
    return pl.concat([begin.select(frame.columns), frame])
