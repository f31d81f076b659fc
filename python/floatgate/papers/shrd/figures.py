"""SHRD's figures and tables: the slides' figures, and figures and tables over the parameters that
the slides leave open."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any

from floatgate.papers.kit.columns import Format, digits, numbers, texts
from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Lines, Numbers, Row
from floatgate.papers.kit.numbers import mean_row, points_at, spread
from floatgate.papers.kit.seeds import Key, grouped, mean_rows, spread_rows, values_of
from floatgate.results.values import measured, percent, size

from .domain import (
    AXES,
    BURSTS,
    EXT4,
    F2FS,
    MIXED,
    NARROW,
    OPEN,
    RANDOM,
    READS,
    SEQUENTIAL,
    SPANS,
    STREAM,
)
from .reduce import Point

DEFAULTS = {axis.key: axis.default for axis in AXES}
STATED = 30.0
"""The factor that the slides state."""
WINDOWS = [level.key for level in next(axis for axis in AXES if axis.key == "window").levels]
SERIES = {
    "dftl": "DFTL",
    **{f"shrd {window}": f"SHRD, windows of {window} of the log" for window in WINDOWS},
    "ideal": "the whole map in memory",
}
PLAIN = ("dftl", "shrd", "ideal")


def series(point: Point) -> str:
    """Returns the scheme, regardless of its cache."""
    name = point.line.split("-")[0]
    return f"{name} {point.window}" if name == "shrd" else name


def label(point: Point) -> str:
    return SERIES[series(point)]


def chosen_of(
    points: Iterable[Point], lines: Sequence[str], families: Sequence[str], *opened: str
) -> list[Point]:
    """Returns the points of these lines and families with every axis at its default, except the
    opened axes."""
    chosen = (p for p in points if p.line in lines and p.family in families)
    return points_at(chosen, DEFAULTS | dict.fromkeys(opened))


def figures(points: Sequence[Point]) -> list[Exhibit]:
    exhibits: list[Exhibit] = [
        *_gains(points),
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
    return [exhibit for exhibit in exhibits if exhibit.rows]


def times_dftl(points: Sequence[Point]) -> Callable[[Point], float | None]:
    """Returns the function that gives a point's throughput, in bursts its mean response, as a
    multiple of DFTL's at the same point and seed. DFTL itself has none."""
    by_place = {_same(p): p for p in points if p.line == "dftl"}

    def times(point: Point) -> float | None:
        dftl = by_place.get(_same(point))
        if dftl is None or point.line == "dftl":
            return None
        is_burst = point.family == BURSTS
        return dftl.mean_us / point.mean_us if is_burst else point.iops / dftl.iops

    return times


def _same(point: Point) -> tuple[Any, ...]:
    """Returns the properties that a line shares with the DFTL run that it is compared with."""
    return point.trace, point.controller, _cache(point), point.share, point.seed


def _cache(point: Point) -> str:
    return point.cache or DEFAULTS["cache"]


def _panel(point: Point) -> str:
    return f"{point.controller} controller, {_marked(point.span, SPAN)}"


SPAN, LOG = "32 GiB", "64 MiB"
"""The slides' point in figures over spans and logs."""


def _marked(level: str | None, slides: str) -> str:
    return f"{level} (the slides')" if level == slides else str(level)


def _size_of(axis: str) -> Key:
    """Returns the function that gives the number in a level such as "64 MiB", if a point has
    one."""

    def number(point: Point) -> float | None:
        level = getattr(point, axis)
        return None if level is None else float(level.split()[0])

    return number


def _gain_line(point: Point) -> str:
    if point.line == "ideal":
        return SERIES["ideal"]
    return f"{point.log}, {'bursts' if point.family == BURSTS else point.window}"


def _gains(points: Sequence[Point]) -> list[Exhibit]:
    """Draws the runs of the claims of 30 times, and says where they are 30 times as fast."""
    opened = ("controller", "span", "log", "window", "cache")
    runs = chosen_of(points, PLAIN, (RANDOM,), *opened)
    runs += chosen_of(points, ("dftl", "shrd-idle"), (BURSTS,), *opened)
    times = times_dftl(runs)
    keys: dict[str, Key] = {"cache": _cache, "line": _gain_line, "span_gib": _size_of("span")}
    shrd = [p for p in runs if p.line != "ideal"]
    rows = [
        {"trace": f"{row['controller']} controller, cache of {row['cache']}", **row}
        for row in mean_rows(runs, times, "controller", **keys)
    ]
    drawn = Lines(
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
    return [drawn, contour(mean_rows(shrd, times, "controller", "seed", **keys))]


def _over_cache(points: Sequence[Point], key: str, title: str, metric: str, style: str) -> Lines:
    lines = ("dftl", "dftl-2m", "dftl-whole", "shrd", "shrd-2m", "shrd-whole", "ideal")
    rows = mean_rows(
        chosen_of(points, lines, (RANDOM,), "controller", "span", "window", "cache"),
        metric,
        trace=_panel,
        line=series,
        cache=lambda p: None if p.line == "ideal" else p.cache_bytes,
    )
    return Lines(
        key=key,
        title=title,
        caption=(
            "Writes of 4 KiB, each page as likely as the others; the slides' point has 32 GiB and "
            "a log of 64 MiB, as all here. Whiskers: 95% intervals."
        ),
        rows=_several(rows, "cache", 128 << 10),
        style=style,
        labels=SERIES,
        x="cache",
        x_title="Map cache",
        x_text=size,
    )


def _several(rows: Sequence[Row], x: str, default: float) -> list[Row]:
    """Returns the rows of plots that have another value of `x` than the default."""
    several = {row["trace"] for row in rows if row[x] not in (None, default)}
    return [row for row in rows if row["trace"] in several]


def _latencies(points: Sequence[Point]) -> Bars:
    """Draws reads and writes of a mixed workload, at equal rates of arrival."""
    runs = chosen_of(points, PLAIN, (OPEN,), "controller", "window")
    keys: dict[str, Key] = {
        "panel": lambda p: f"{p.controller} controller, {p.offered:.0f} requests a second",
        "line": series,
    }
    return Bars(
        key="latency",
        title="Mean response of mixed random reads and writes",
        axis="µs",
        caption="At equal rates of arrival, half of 4 KiB reads, over 4 GiB. Whiskers: 95%.",
        rows=[
            {"trace": kind, **row}
            for kind, metric in (("reads", "mean_read_us"), ("writes", "mean_write_us"))
            for row in mean_rows(runs, metric, **keys)
        ],
        style=",.0f",
        labels=SERIES,
        panel="panel",
        row="trace",
    )


def _benchmarks(points: Sequence[Point]) -> Bars:
    families = (RANDOM, READS, MIXED, SEQUENTIAL, STREAM, EXT4, F2FS)
    runs = chosen_of(points, PLAIN, families, "controller", "window")
    dftl = [p for p in runs if (p.line, p.controller) == ("dftl", "prototype")]
    loads = mean_rows(dftl, "loads", "trace")
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
        rows=mean_rows(runs, times_dftl(runs), "controller", "trace", line=series),
        style=".2f",
        labels={key: label for key, label in SERIES.items() if key != "dftl"},
        panel="controller",
        row="trace",
        rules={p.controller: [("DFTL", 1.0)] for p in runs},
    )


def _over_log(points: Sequence[Point]) -> Lines:
    runs = chosen_of(points, PLAIN, (RANDOM,), "controller", "span", "window", "log")
    rows = mean_rows(runs, "iops", trace=_panel, line=series, log=_size_of("log"))
    return Lines(
        key="log",
        title="Requests a second by size of the log",
        caption="Random writes with a cache of 128 KiB. Whiskers: 95% intervals.",
        rows=_several(rows, "log", 64.0),
        style=",.0f",
        labels=SERIES,
        x="log",
        x_title="Log",
        x_text=lambda mib: _marked(f"{mib:.0f} MiB", LOG),
    )


def _over_threshold(points: Sequence[Point]) -> Lines:
    runs = chosen_of(points, PLAIN, (EXT4, F2FS), "window", "threshold")
    return Lines(
        key="threshold",
        title="Requests a second by threshold",
        caption="The captures, with a cache of 1/8 of their map and the prototype's controller.",
        rows=mean_rows(runs, "iops", "trace", line=series, threshold=_size_of("threshold")),
        style=",.0f",
        labels=SERIES,
        x="threshold",
        x_title="Threshold",
        x_text="{:.0f} KiB".format,
    )


def contour(rows: Sequence[Row]) -> Numbers:
    """Shows where the gain is 30, from a row for each seed."""
    lines: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["controller"], row["cache"], row["line"]), []).append(row)
    return Numbers(
        key="contour",
        title="Where it is 30 times",
        caption=(
            "The span up to which the gain is 30 or more: for each seed between two measured ones, "
            "in proportion on logarithmic scales, with its 95% interval over the seeds. Of "
            f"{', '.join(NARROW)} and {', '.join(SPANS)} those that were run."
        ),
        rows=[
            {"controller": controller, "cache": cache, "line": line, **_crossing(each)}
            for (controller, cache, line), each in lines.items()
        ],
        columns=(
            *texts(controller="Controller", cache="Map cache", line="Log, window"),
            *texts(at="30 times DFTL up to a span of", most="Largest gain, times DFTL"),
        ),
    )


def _crossing(rows: Sequence[Row]) -> Row:
    """Returns the span at which the gain falls below 30, and the largest mean gain at any span."""
    by_span: dict[float, list[float]] = {}
    by_seed: dict[int, list[tuple[float, float]]] = {}
    for row in sorted(rows, key=lambda row: row["span_gib"]):
        by_span.setdefault(row["span_gib"], []).append(row["value"])
        by_seed.setdefault(row["seed"], []).append((row["span_gib"], row["value"]))
    most = max(by_span.values(), key=lambda gains: mean_row(gains)["value"])
    crossings = [span for gains in by_seed.values() if (span := _falls_below(gains)) is not None]
    if crossings:
        at = f"{spread(crossings, digits(1))} GiB"
        if len(crossings) < len(by_seed):
            at += f", with {len(crossings)} of {len(by_seed)} seeds"
    elif mean_row(most)["value"] >= STATED:
        at = f"{max(by_span):.0f} GiB or more"
    else:
        at = f"none from {min(by_span):.0f} GiB on"
    return {"at": at, "most": spread(most, digits(1))}


def _falls_below(gains: Sequence[tuple[float, float]]) -> float | None:
    """Returns the span at which the gain falls below 30. The spans are in ascending order."""
    for (a, high), (b, low) in pairwise(gains):
        if high >= STATED > low:
            return a * math.exp(math.log(b / a) * math.log(high / STATED) / math.log(high / low))
    return None


SHAPE = ("span", "log", "window")
ORDERS = {"dftl": "DFTL", "unsorted": "As written", "sorted": "Sorted"}


def _by_order(
    points: Sequence[Point], number: str, form: Format
) -> Iterator[tuple[Row, list[Point]]]:
    """Yields a number of DFTL, and of SHRD with its windows as written and sorted, by span, log
    and window. Behind each row are SHRD's runs."""
    lines = ("dftl", "shrd-unsorted", "shrd")
    runs = {
        tuple(row.values()): alike
        for row, alike in grouped(chosen_of(points, lines, (RANDOM,), *SHAPE), "line", *SHAPE)
    }
    cells = {key: spread(values_of(alike, number), form) for key, alike in runs.items()}
    for key, alike in runs.items():
        line, *shape = key
        if line == "shrd":
            dftl, unsorted = ("dftl", shape[0], None, None), ("shrd-unsorted", *shape)
            texts = (cells.get(dftl), cells.get(unsorted), cells[key])
            yield dict(zip((*SHAPE, *ORDERS), (*shape, *texts), strict=True)), alike


def windows(points: Sequence[Point]) -> Numbers:
    """Returns the ablation: the map pages that a window needs, with its order and without."""
    rows: list[Row] = []
    for row, alike in _by_order(points, "settled_loads", digits(4)):
        pages, map_pages = values_of(alike, "window_pages"), alike[-1].map_pages
        form = expected_loads(mean_row(pages)["value"], map_pages)
        rows.append(row | {"pages": spread(pages, digits(0)), "map_pages": map_pages, "form": form})
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


def order(points: Sequence[Point]) -> Numbers:
    return Numbers(
        key="order",
        title="Requests a second, by the order of windows",
        caption="Random writes, a cache of 128 KiB, the prototype's controller; 95% intervals.",
        rows=[row for row, _ in _by_order(points, "iops", digits(0)) if row["unsorted"]],
        columns=(
            *(Column(key.capitalize(), key) for key in SHAPE),
            *(Column(title, key) for key, title in ORDERS.items()),
        ),
    )


def expected_loads(window: float, pages: float) -> float:
    """Returns the map pages that a window of `window` pages needs out of `pages` map pages, per
    page in the window, under uniform writes (algorithms, 9.9)."""
    return pages * (1 - math.pow(1 - 1 / pages, window)) / window


def commands(points: Sequence[Point]) -> Numbers:
    families = {point.family for point in points} - {BURSTS}
    numbers = {"commands": 3, "packed": 1, "loads": 4, "write_backs": 4, "copies": 3}
    keys: dict[str, Key] = {"line": label, "write_bytes": attrgetter("write_bytes")}
    return Numbers(
        key="commands",
        title="Commands and map traffic",
        caption="Loads are of map pages of 32 KiB, per page of 4 KiB written. 95% intervals.",
        rows=spread_rows(
            chosen_of(points, PLAIN, [*families], "controller", "window"),
            {name: digits(number) for name, number in numbers.items()},
            *("trace", "controller"),
            **keys,
        ),
        columns=(
            *texts(trace="Workload", controller="Controller", line="Scheme"),
            Column("Bytes per write", "write_bytes", size),
            *texts(commands="Commands per request", packed="Requests per twrite"),
            *texts(loads="Map loads per page", write_backs="Map write-backs per page"),
            Column("Copies per page", "copies"),
        ),
    )


def aged(points: Sequence[Point]) -> Numbers:
    runs = chosen_of(points, ("dftl-counted", "shrd-counted"), (RANDOM,), "window", "spare")
    return Numbers(
        key="aged",
        title="Cleaning on an aged drive",
        caption="Pages of data programmed per page written at random, cleaning's included.",
        rows=mean_rows(runs, lambda p: 1 + p.copies, "spare", line=label),
        columns=(
            *texts(spare="Spare", line="Scheme"),
            *numbers(digits(3), value="Programs per write", half="±"),
        ),
    )


COLUMNS = (
    *texts(trace="Workload", line="Scheme", controller="Controller", log="Log", window="Window"),
    Column("Map cache", "cache_bytes", size),
    *texts(threshold="Threshold", spare="Spare", outstanding="Outstanding"),
    Column("Seed", "seed", str),
    *numbers(measured, iops="Requests/s", mean_read_us="Read, µs", mean_write_us="Write, µs"),
    Column("Commands per request", "commands", digits(3)),
    Column("Requests per twrite", "packed", digits(1)),
    Column("Bytes per write", "write_bytes", size),
    Column("Map loads per page", "loads", digits(4)),
    Column("Copies per page", "copies", digits(3)),
    Column("Pages per window", "window_pages", digits(0)),
    *numbers(percent, read_share="Reads", utilization="Utilization"),
)
