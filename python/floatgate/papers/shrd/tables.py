"""SHRD's tables, and the functions that choose and summarise points for tables and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from floatgate.papers.kit.exhibits import Column, Numbers, Row
from floatgate.papers.kit.numbers import mean_row, points_at
from floatgate.results.intervals import mean_and_half_width
from floatgate.results.values import fixed, measured, percent, size

from .domain import AXES, BURSTS, LINES, NARROW, RANDOM, SPANS
from .reduce import Point

LABELS = {line.key: line.label for line in LINES}
DEFAULTS = {axis.key: axis.default for axis in AXES}
STATED = 30.0
"""The factor that the slides state."""
WINDOWS = [choice.key for choice in next(axis for axis in AXES if axis.key == "window").choices]
SERIES = {
    "dftl": "DFTL",
    **{f"shrd {window}": f"SHRD, windows of {window} of the log" for window in WINDOWS},
    "ideal": "the whole map in memory",
}


PLAIN = ("dftl", "shrd", "ideal")


def place_of(points: Iterable[Point], **place: str | None) -> list[Point]:
    return points_at(points, {"span": DEFAULTS["span"]} | DEFAULTS | place)


def series(point: Point) -> str:
    """Returns the scheme, regardless of its cache."""
    name = point.line.split("-")[0]
    return f"{name} {point.window}" if name == "shrd" else name


Pairs = Iterable[tuple[Point, float | None]]
Key = Callable[[Point], Any]


def over_seeds(pairs: Pairs, **keys: Key) -> list[Row]:
    """Returns a row for all values with equal keys: the keys, the mean, and half its 95 %
    interval."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for point, value in pairs:
        if value is not None:
            groups.setdefault(tuple(key(point) for key in keys.values()), []).append(value)
    return [
        dict(zip(keys, group, strict=True)) | mean_row(values) for group, values in groups.items()
    ]


def chosen_of(points: Iterable[Point], lines: Sequence[str], *families: str) -> list[Point]:
    return [p for p in points if p.line in lines and p.family in families]


def spread(mean: float | None, half: float | None, digits: int) -> str | None:
    if mean is None:
        return None
    return fixed(mean, digits) + (f" ± {fixed(half, digits)}" if half else "")


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
            Column("Controller", "controller"),
            Column("Map cache", "cache"),
            Column("Log, window", "line"),
            Column("30 times DFTL up to a span of", "at"),
            Column("Largest gain, times DFTL", "most"),
        ),
    )


def _crossing(rows: Sequence[Row]) -> Row:
    """Returns the spans between which the gain crosses 30, and the largest mean gain at any
    span."""
    by_span: dict[float, list[float]] = {}
    by_seed: dict[int, list[tuple[float, float]]] = {}
    for row in sorted(rows, key=lambda row: row["span_gib"]):
        by_span.setdefault(row["span_gib"], []).append(row["value"])
        by_seed.setdefault(row["seed"], []).append((row["span_gib"], row["value"]))
    gains = {span: mean_and_half_width(values) for span, values in by_span.items()}
    most = max(gains.values(), key=lambda gain: gain[0] or 0.0)
    crossings = [_falls_below(known) for known in by_seed.values()]
    found = [span for span in crossings if span is not None]
    mean, half = mean_and_half_width(found)
    at = f"{spread(mean, half, 1)} GiB"
    if not found:
        reached = (most[0] or 0.0) >= STATED
        at = f"{max(gains):.0f} GiB or more" if reached else f"none from {min(gains):.0f} GiB on"
    elif len(found) < len(by_seed):
        at = f"{at}, with {len(found)} of {len(by_seed)} seeds"
    return {"at": at, "most": spread(*most, 1)}


def _falls_below(known: Sequence[tuple[float, float]]) -> float | None:
    """Returns the span at which the gain falls below 30. The spans are in ascending order."""
    for (a, high), (b, low) in pairwise(known):
        if high >= STATED > low:
            return a * math.exp(math.log(b / a) * math.log(high / STATED) / math.log(high / low))
    return None


ABLATION = ("dftl", "shrd-unsorted", "shrd")
SHAPE: dict[str, Key] = {
    "span": lambda p: p.span,
    "log": lambda p: p.log,
    "window": lambda p: p.window,
}
SHAPED = (*(Column(key.capitalize(), key) for key in SHAPE),)


def _ablation(
    points: Sequence[Point], value: Callable[[Point], float], digits: int
) -> dict[tuple[Any, ...], Row]:
    """Returns a number for DFTL, and for SHRD with the order of its windows and without, by log and
    window."""
    runs = place_of(chosen_of(points, ABLATION, RANDOM), span=None, window=None, log=None)
    means = {
        line: {
            tuple(row[key] for key in SHAPE): spread(row["value"], row["half"], digits)
            for row in over_seeds([(p, value(p)) for p in runs if p.line == line], **SHAPE)
        }
        for line in ABLATION
    }
    return {
        place: {
            **dict(zip(SHAPE, place, strict=True)),
            "dftl": means["dftl"].get((place[0], None, None)),
            "unsorted": means["shrd-unsorted"].get(place),
            "sorted": said,
        }
        for place, said in means["shrd"].items()
    }


LINED = (Column("DFTL", "dftl"), Column("As written", "unsorted"), Column("Sorted", "sorted"))


def windows(points: Sequence[Point]) -> Numbers:
    """Returns the ablation: the map pages that a window needs, with its order and without."""
    runs = place_of(chosen_of(points, ("shrd",), RANDOM), span=None, window=None, log=None)
    shape = {tuple(key(p) for key in SHAPE.values()): p for p in runs}
    pages = over_seeds([(p, p.window_pages) for p in runs], **SHAPE)
    in_it = {tuple(row[key] for key in SHAPE): row for row in pages}
    rows = [
        row
        | {
            "pages": spread(in_it[place]["value"], in_it[place]["half"], 0),
            "map_pages": shape[place].map_pages,
            "form": expected_loads(in_it[place]["value"], shape[place].map_pages),
        }
        for place, row in _ablation(points, lambda p: p.settled_loads, 4).items()
    ]
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
            *SHAPED,
            Column("Pages in it", "pages"),
            Column("Map pages", "map_pages", lambda value: fixed(value, 0)),
            *LINED,
            Column("Closed form", "form", lambda value: fixed(value, 4)),
        ),
    )


def order(points: Sequence[Point]) -> Numbers:
    rows = [row for row in _ablation(points, lambda p: p.iops, 0).values() if row["unsorted"]]
    return Numbers(
        key="order",
        title="Requests a second, by the order of windows",
        caption="Random writes, a cache of 128 KiB, the prototype's controller; 95% intervals.",
        rows=rows,
        columns=(*SHAPED, *LINED),
    )


def expected_loads(window: float, pages: float) -> float:
    """Returns the map pages that a window of `window` pages needs out of `pages` map pages, per
    page in the window, under uniform writes (algorithms, 9.9)."""
    return pages * (1 - math.pow(1 - 1 / pages, window)) / window


COUNTED = {"commands": 3, "packed": 1, "loads": 4, "write_backs": 4, "copies": 3}
"""Units of commands and map traffic, with their number of digits."""


def commands(points: Sequence[Point]) -> Numbers:
    lines = {"dftl", "shrd", "ideal"}
    chosen = place_of(points, controller=None, window=None)
    runs = [p for p in chosen if p.line in lines and p.family != BURSTS]
    keys: dict[str, Key] = {
        "trace": lambda p: p.trace,
        "controller": lambda p: p.controller,
        "line": lambda p: SERIES[series(p)],
        "write_bytes": lambda p: p.write_bytes,
    }
    found: dict[tuple[Any, ...], Row] = {}
    for name, digits in COUNTED.items():
        for row in over_seeds([(p, getattr(p, name)) for p in runs], **keys):
            place = tuple(row[key] for key in keys)
            known = found.setdefault(place, dict(zip(keys, place, strict=True)))
            known[name] = spread(row["value"], row["half"], digits)
    return Numbers(
        key="commands",
        title="Commands and map traffic",
        caption="Loads are of map pages of 32 KiB, per page of 4 KiB written. 95% intervals.",
        rows=list(found.values()),
        columns=(
            Column("Workload", "trace"),
            Column("Controller", "controller"),
            Column("Scheme", "line"),
            Column("Bytes per write", "write_bytes", size),
            Column("Commands per request", "commands"),
            Column("Requests per twrite", "packed"),
            Column("Map loads per page", "loads"),
            Column("Map write-backs per page", "write_backs"),
            Column("Copies per page", "copies"),
        ),
    )


def aged(points: Sequence[Point]) -> Numbers:
    lines = ("dftl-counted", "shrd-counted")
    runs = place_of(chosen_of(points, lines, RANDOM), window=None, spare=None)
    found = over_seeds(
        [(p, 1 + p.copies) for p in runs],
        spare=lambda p: p.spare,
        line=lambda p: SERIES[series(p)],
    )
    return Numbers(
        key="aged",
        title="Cleaning on an aged drive",
        caption="Pages of data programmed per page written at random, cleaning's included.",
        rows=found,
        columns=(
            Column("Spare", "spare"),
            Column("Scheme", "line"),
            Column("Programs per write", "value", lambda value: fixed(value, 3)),
            Column("±", "half", lambda value: fixed(value, 3)),
        ),
    )


COLUMNS = (
    Column("Workload", "trace"),
    Column("Scheme", "line"),
    Column("Controller", "controller"),
    Column("Log", "log"),
    Column("Window", "window"),
    Column("Map cache", "cache_bytes", size),
    Column("Threshold", "threshold"),
    Column("Spare", "spare"),
    Column("Outstanding", "outstanding"),
    Column("Seed", "seed", str),
    Column("Requests/s", "iops", measured),
    Column("Read, µs", "mean_read_us", measured),
    Column("Write, µs", "mean_write_us", measured),
    Column("Commands per request", "commands", lambda value: fixed(value, 3)),
    Column("Requests per twrite", "packed", lambda value: fixed(value, 1)),
    Column("Bytes per write", "write_bytes", size),
    Column("Map loads per page", "loads", lambda value: fixed(value, 4)),
    Column("Copies per page", "copies", lambda value: fixed(value, 3)),
    Column("Pages per window", "window_pages", lambda value: fixed(value, 0)),
    Column("Reads", "read_share", percent),
    Column("Utilization", "utilization", percent),
)
