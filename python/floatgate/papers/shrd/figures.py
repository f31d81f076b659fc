"""SHRD's figures and tables: the slides' figures over the parameters that the slides leave open."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from statistics import fmean
from typing import Any

from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Lines, Numbers, Row, columns_of
from floatgate.papers.kit.numbers import digits, grouped, mean_rows, points_at, spread, values_of
from floatgate.results.values import measured, size

from . import workloads as w
from .domain import AXES
from .reduce import Point

SMALLEST = next(axis for axis in AXES if axis.key == "cache").default
STATED = 30.0
"""The factor that the slides state."""
WINDOWS = [level.key for level in next(axis for axis in AXES if axis.key == "window").levels]
SERIES = {
    "dftl": "DFTL",
    **{f"shrd {window}": f"SHRD, windows of {window} of the log" for window in WINDOWS},
    "shrd None": "SHRD, windows of 1/32 of the log",
}
PLAIN = ("dftl", "shrd")
SPAN = "32 GiB"
"""The slides' point in figures over spans."""


def series(point: Point) -> str:
    """Returns the scheme, regardless of its cache."""
    name = point.line.split("-")[0]
    return f"{name} {point.window}" if name == "shrd" else name


def chosen_of(
    points: Iterable[Point], lines: Sequence[str], families: Collection[str], *opened: str
) -> list[Point]:
    """Returns the points of these lines and families with every axis at its default, except the
    opened axes."""
    chosen = (p for p in points if p.line in lines and p.family in families)
    return points_at(chosen, AXES, **dict.fromkeys(opened))


def figures(points: Sequence[Point]) -> list[Exhibit]:
    return [gains(points), over_cache(points), windows(points), benchmarks(points)]


def times_dftl(points: Sequence[Point]) -> Callable[[Point], float | None]:
    """Returns a function for a point's throughput as a multiple of DFTL's at the same point and
    seed; for bursts, the ratio is of mean responses. The function returns None for DFTL itself."""
    by_point = {_same(p): p for p in points if p.line == "dftl"}

    def times(point: Point) -> float | None:
        dftl = by_point.get(_same(point))
        if dftl is None or point.line == "dftl":
            return None
        is_burst = point.family == w.BURSTS
        return dftl.mean_us / point.mean_us if is_burst else point.iops / dftl.iops

    return times


def _same(point: Point) -> tuple[Any, ...]:
    """Returns the properties that a line shares with the DFTL run that it is compared with."""
    return point.trace, point.controller, point.cache or SMALLEST, point.share, point.seed


def _marked(span: str | None) -> str:
    return f"{span} (the slides')" if span == SPAN else str(span)


def _span_gib(point: Point) -> float | None:
    return float(point.span.split()[0]) if point.span else None


def _gain_line(point: Point) -> str:
    return f"{point.log}, {'bursts' if point.family == w.BURSTS else point.window}"


def gains(points: Sequence[Point]) -> Lines:
    """Draws the runs of the claims of 30 times."""
    opened = ("controller", "span", "log", "window", "cache")
    runs = chosen_of(points, PLAIN, (w.RANDOM,), *opened)
    runs += chosen_of(points, ("dftl", "shrd-idle"), (w.BURSTS,), *opened)
    rows = [
        {"trace": f"{row['controller']} controller, cache of {row['cache']}", **row}
        for row in mean_rows(
            runs,
            times_dftl(runs),
            "controller",
            cache=lambda p: p.cache or SMALLEST,
            line=_gain_line,
            span_gib=_span_gib,
        )
    ]
    return Lines(
        key="gain",
        title="Random writes, times DFTL",
        caption=(
            "By the span that is written; SHRD's lines by log and window. Bursts are of less than "
            "a log, remapped when idle. Whiskers: 95% intervals."
        ),
        rows=rows,
        style=".1f",
        labels={row["line"]: row["line"] for row in rows},
        x="span_gib",
        x_title="Span",
        x_text=lambda gib: _marked(f"{gib:.0f} GiB"),
        rules=(("the slides", STATED),),
    )


def over_cache(points: Sequence[Point]) -> Lines:
    """Draws throughput over the map cache, at the spans that have several caches."""
    lines = ("dftl", "dftl-2m", "dftl-whole", "shrd", "shrd-2m", "shrd-whole")
    rows = mean_rows(
        chosen_of(points, lines, (w.RANDOM,), "controller", "span", "window", "cache"),
        "iops",
        trace=lambda p: f"{p.controller} controller, {_marked(p.span)}",
        line=series,
        cache=lambda p: p.cache_bytes,
    )
    several = {row["trace"] for row in rows if row["cache"] != 128 << 10}
    return Lines(
        key="throughput",
        title="Requests a second by map cache",
        caption="Random writes of 4 KiB with a log of 64 MiB. Whiskers: 95% intervals.",
        rows=[row for row in rows if row["trace"] in several],
        style=",.0f",
        labels=SERIES,
        x="cache",
        x_title="Map cache",
        x_text=size,
    )


def benchmarks(points: Sequence[Point]) -> Bars:
    families = {*w.GENERATED, w.SPARSE, w.READS_OFTEN, w.EXT4, w.F2FS} - {w.OPEN, w.BURSTS}
    runs = chosen_of(points, PLAIN, families, "controller", "window")
    return Bars(
        key="benchmarks",
        title="Throughput on every workload",
        axis="Times DFTL",
        caption=(
            "With a cache of 128 KiB, for captures of 1/8 of their map. The share behind a "
            "workload's name is that of small random writes. Whiskers: 95%."
        ),
        rows=mean_rows(runs, times_dftl(runs), "controller", "trace", line=series),
        style=".2f",
        labels={key: label for key, label in SERIES.items() if key != "dftl"},
        panel="controller",
        row="trace",
        rules={p.controller: [("DFTL", 1.0)] for p in runs},
    )


SHAPE = ("span", "log", "window")
ORDERS = {"dftl": "DFTL", "shrd-unsorted": "As written", "shrd": "Sorted"}


def windows(points: Sequence[Point]) -> Numbers:
    """Returns the ablation: the map pages that a window needs, sorted and unsorted."""
    runs = {
        tuple(row.values()): alike
        for row, alike in grouped(chosen_of(points, [*ORDERS], (w.RANDOM,), *SHAPE), "line", *SHAPE)
    }
    rows: list[Row] = []
    for (line, *shape), alike in runs.items():
        if line == "shrd":
            others = {
                "dftl": runs.get(("dftl", shape[0], None, None), ()),
                "shrd-unsorted": runs.get(("shrd-unsorted", *shape), ()),
                "shrd": alike,
            }
            pages, map_pages = values_of(alike, "window_pages"), alike[-1].map_pages
            rows.append(
                dict(zip(SHAPE, shape, strict=True))
                | {key: _loads(one) for key, one in others.items()}
                | {"pages": spread(pages, digits(0)), "map_pages": map_pages}
                | {"form": expected_loads(fmean(pages), map_pages)}
            )
    return Numbers(
        key="windows",
        title="Map pages loaded per page written, by window and order",
        caption=(
            "Random writes, a cache of 128 KiB; per page that has left the log, with 95% "
            "intervals. Closed form: L (1 - (1 - 1/L)^w) / w for a window of w pages over L map "
            "pages, each needed once."
        ),
        rows=rows,
        columns=(
            *(Column(key.capitalize(), key) for key in SHAPE),
            Column("Pages in it", "pages"),
            Column("Map pages", "map_pages", digits(0)),
            *(Column(title, key) for key, title in ORDERS.items()),
            Column("Closed form", "form", digits(4)),
        ),
    )


def _loads(points: Sequence[Point]) -> str | None:
    return spread(values_of(points, "settled_loads"), digits(4)) if points else None


def expected_loads(window: float, pages: float) -> float:
    """Returns the map pages that a window of `window` pages needs out of `pages` map pages, per
    page in the window, under uniform writes (algorithms, 9.9)."""
    return pages * (1 - math.pow(1 - 1 / pages, window)) / window


COLUMNS = (
    *columns_of(
        trace="Workload", line="Scheme", controller="Controller", log="Log", window="Window"
    ),
    Column("Map cache", "cache_bytes", size),
    *columns_of(
        threshold="Threshold", spare="Spare", outstanding="Outstanding", remaps="During remaps"
    ),
    Column("Seed", "seed", str),
    *columns_of(measured, iops="Requests/s", mean_read_us="Read, µs", mean_write_us="Write, µs"),
    Column("Commands per request", "commands", digits(3)),
    Column("Bytes per write", "write_bytes", size),
    Column("Map loads per page", "loads", digits(4)),
    Column("Copies per page", "copies", digits(3)),
    Column("Pages per window", "window_pages", digits(0)),
)
