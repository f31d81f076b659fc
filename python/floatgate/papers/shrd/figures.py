"""SHRD's figures: the slides' figures, and figures over the parameters that the slides leave
open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from floatgate.papers.kit.exhibits import Bars, Exhibit, Lines, Row
from floatgate.results.values import size

from .domain import BURSTS, EXT4, F2FS, MIXED, OPEN, RANDOM, READS, SEQUENTIAL, STREAM
from .reduce import Point
from .tables import (
    DEFAULTS,
    PLAIN,
    SERIES,
    STATED,
    Key,
    aged,
    chosen_of,
    commands,
    contour,
    order,
    over_seeds,
    place_of,
    series,
    windows,
)


def figures(points: Sequence[Point]) -> list[Exhibit]:
    gains = _gain_pairs(points)
    by_seed = over_seeds(
        [(p, value) for p, value in gains if p.line != "ideal"], **GAIN, seed=lambda p: p.seed
    )
    found: list[Exhibit] = [
        _gains(_gain_rows(gains)),
        contour(by_seed),
        _over_cache(points, "throughput", "Requests a second by map cache", "iops", ",.0f"),
        _over_cache(
            points, "loads", "Map pages loaded per page by map cache", "settled_loads", ".3f"
        ),
        windows(points),
        order(points),
        commands(points),
        _latencies(points),
        _benchmarks(points),
        _over_log(points),
        _over_threshold(points),
        aged(points),
    ]
    return [exhibit for exhibit in found if exhibit.rows]


def times_dftl(points: Sequence[Point]) -> list[tuple[Point, float]]:
    """Returns each point with its throughput as a multiple of DFTL's at the same place and seed."""
    base = {_same(p): p.iops for p in points if p.line == "dftl"}
    return [(p, p.iops / base[_same(p)]) for p in points if p.line != "dftl" and _same(p) in base]


def _same(point: Point) -> tuple[Any, ...]:
    """Returns the properties that a line shares with the DFTL run that it is compared with."""
    cache = point.cache or DEFAULTS["cache"]
    return point.trace, point.controller, cache, point.share, point.seed


def _panel(point: Point) -> str:
    return f"{point.controller} controller, {_marked(point.span, SPAN)}"


SPAN, LOG = "32 GiB", "64 MiB"
"""The slides' point in figures over spans and logs."""


def _marked(choice: str | None, slides: str) -> str:
    return f"{choice} (the slides')" if choice == slides else str(choice)


def _span_gib(point: Point) -> float | None:
    return None if point.span is None else float(point.span.split()[0])


OPENED: dict[str, str | None] = dict.fromkeys(("controller", "span", "log", "window", "cache"))
"""The axes of the claim of 30 times, except spare space."""
GAIN: dict[str, Key] = {
    "controller": lambda p: p.controller,
    "cache": lambda p: p.cache or DEFAULTS["cache"],
    "line": lambda p: _gain_line(p),
    "span_gib": _span_gib,
}


def _gain_line(point: Point) -> str:
    if point.line == "ideal":
        return SERIES["ideal"]
    return f"{point.log}, {'bursts' if point.family == BURSTS else point.window}"


def _gain_pairs(points: Sequence[Point]) -> list[tuple[Point, float]]:
    """Returns each run of the claims of 30 times, as a multiple of DFTL."""
    runs = place_of(chosen_of(points, PLAIN, RANDOM), **OPENED)
    bursts = place_of(chosen_of(points, ("dftl", "shrd-idle"), BURSTS), **OPENED)
    base = {_same(p): p.mean_us for p in bursts if p.line == "dftl"}
    idle = [(p, base[_same(p)] / p.mean_us) for p in bursts if p.line != "dftl"]
    return [*times_dftl(runs), *idle]


def _gain_rows(pairs: Sequence[tuple[Point, float]]) -> list[Row]:
    return [
        {"trace": f"{row['controller']} controller, cache of {row['cache']}", **row}
        for row in over_seeds(pairs, **GAIN)
    ]


def _gains(rows: list[Row]) -> Lines:
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
        x_text=lambda gib: _marked(f"{gib:.0f} GiB", SPAN),
        rules=(("the slides", STATED),),
    )


def _over_cache(points: Sequence[Point], key: str, title: str, metric: str, style: str) -> Lines:
    lines = ("dftl", "dftl-2m", "dftl-whole", "shrd", "shrd-2m", "shrd-whole", "ideal")
    runs = place_of(
        chosen_of(points, lines, RANDOM), controller=None, span=None, window=None, cache=None
    )
    rows = over_seeds(
        [(p, getattr(p, metric)) for p in runs],
        trace=_panel,
        line=series,
        cache=lambda p: None if p.line == "ideal" else p.cache_bytes,
    )
    several = {row["trace"] for row in rows if row["cache"] not in (None, 128 << 10)}
    return Lines(
        key=key,
        title=title,
        caption=(
            "Writes of 4 KiB, each page as likely as the others; the slides' point has 32 GiB and "
            "a log of 64 MiB, as all here. Whiskers: 95% intervals."
        ),
        rows=[row for row in rows if row["trace"] in several],
        style=style,
        labels=SERIES,
        x="cache",
        x_title="Map cache",
        x_text=size,
    )


def _latencies(points: Sequence[Point]) -> Bars:
    """Draws reads and writes of a mixed workload, at equal rates of arrival."""
    runs = place_of(chosen_of(points, PLAIN, OPEN), controller=None, window=None)
    rows: list[Row] = []
    for kind in ("reads", "writes"):
        name = f"mean_{kind.removesuffix('s')}_us"
        found = over_seeds(
            [(p, getattr(p, name)) for p in runs],
            panel=lambda p: f"{p.controller} controller, {p.offered:.0f} requests a second",
            line=series,
        )
        rows += [{"trace": kind, **row} for row in found]
    return Bars(
        key="latency",
        title="Mean response of mixed random reads and writes",
        axis="µs",
        caption="At equal rates of arrival, half of 4 KiB reads, over 4 GiB. Whiskers: 95%.",
        rows=rows,
        style=",.0f",
        labels=SERIES,
        panel="panel",
        row="trace",
    )


def _benchmarks(points: Sequence[Point]) -> Bars:
    kinds = (RANDOM, READS, MIXED, SEQUENTIAL, STREAM, EXT4, F2FS)
    runs = place_of(chosen_of(points, PLAIN, *kinds), controller=None, window=None)
    rows = over_seeds(
        times_dftl(runs),
        controller=lambda p: p.controller,
        trace=lambda p: p.trace,
        line=series,
    )
    dftl = [(p, p.loads) for p in runs if (p.line, p.controller) == ("dftl", "prototype")]
    loads = over_seeds(dftl, trace=lambda p: p.trace)
    return Bars(
        key="benchmarks",
        title="Throughput on every workload",
        axis="Times DFTL",
        caption=(
            "With a cache of 128 KiB, for captures of 1/8 of their map. Whiskers: 95%. Map pages "
            "that DFTL loads for a page written, with the prototype's controller: "
            + ", ".join(f"{row['trace']} {row['value']:.4f}" for row in loads)
            + "."
        ),
        rows=rows,
        style=".2f",
        labels={key: label for key, label in SERIES.items() if key != "dftl"},
        panel="controller",
        row="trace",
        rules={p.controller: [("DFTL", 1.0)] for p in runs},
    )


def _over_log(points: Sequence[Point]) -> Lines:
    runs = place_of(
        chosen_of(points, PLAIN, RANDOM), controller=None, span=None, window=None, log=None
    )
    rows = over_seeds(
        [(p, p.iops) for p in runs],
        trace=_panel,
        line=series,
        log=lambda p: None if p.log is None else float(p.log.split()[0]),
    )
    several = {row["trace"] for row in rows if row["log"] not in (None, 64.0)}
    return Lines(
        key="log",
        title="Requests a second by size of the log",
        caption="Random writes with a cache of 128 KiB. Whiskers: 95% intervals.",
        rows=[row for row in rows if row["trace"] in several],
        style=",.0f",
        labels=SERIES,
        x="log",
        x_title="Log",
        x_text=lambda mib: _marked(f"{mib:.0f} MiB", LOG),
    )


def _over_threshold(points: Sequence[Point]) -> Lines:
    runs = place_of(chosen_of(points, PLAIN, EXT4, F2FS), window=None, threshold=None)
    rows = over_seeds(
        [(p, p.iops) for p in runs],
        trace=lambda p: p.trace,
        line=series,
        threshold=lambda p: None if p.threshold is None else float(p.threshold.split()[0]),
    )
    return Lines(
        key="threshold",
        title="Requests a second by threshold",
        caption="The captures, with a cache of 1/8 of their map and the prototype's controller.",
        rows=rows,
        style=",.0f",
        labels=SERIES,
        x="threshold",
        x_title="Threshold",
        x_text="{:.0f} KiB".format,
    )
