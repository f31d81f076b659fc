"""SHRD's tables, and how points are chosen and summed up for tables and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from floatgate.intervals import mean_and_half_width
from floatgate.report.values import fixed, measured, percent, size

from .paper import Column, Numbers, Row
from .shrd_claims import times
from .shrd_points import Point
from .shrd_runs import AXES, BURSTS, LINES, RANDOM

LABELS = {line.key: line.label for line in LINES}
DEFAULTS = {axis.key: axis.default for axis in AXES}
STATED = 30.0
"""The factor of the slides."""
WINDOWS = [choice.key for choice in next(axis for axis in AXES if axis.key == "window").choices]
SERIES = {
    "dftl": "DFTL",
    **{f"shrd {window}": f"SHRD, windows of {window} of the log" for window in WINDOWS},
    "ideal": "the whole map in memory",
}


PLAIN = ("dftl", "shrd", "ideal")


def place_of(points: Iterable[Point], **place: str | None) -> list[Point]:
    """The points at the defaults, but for what is named, or with None left open; where it cannot
    matter, they are."""
    wanted = {"span": DEFAULTS["span"]} | DEFAULTS | place
    return [
        point
        for point in points
        if all(
            choice is None or getattr(point, axis, None) in (None, choice)
            for axis, choice in wanted.items()
        )
    ]


def series(point: Point) -> str:
    """The scheme, whatever its cache."""
    name = point.line.split("-")[0]
    return f"{name} {point.window}" if name == "shrd" else name


Pairs = Iterable[tuple[Point, float | None]]
Key = Callable[[Point], Any]


def over_seeds(pairs: Pairs, **keys: Key) -> list[Row]:
    """A row for all values of the same keys: the keys, the mean, and half its 95 % interval."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for point, value in pairs:
        if value is not None:
            groups.setdefault(tuple(key(point) for key in keys.values()), []).append(value)
    rows = []
    for group, values in groups.items():
        mean, half = mean_and_half_width(values)
        rows.append({**dict(zip(keys, group, strict=True)), "value": mean, "half": half})
    return rows


def chosen_of(points: Iterable[Point], lines: Sequence[str], *families: str) -> list[Point]:
    return [p for p in points if p.line in lines and p.family in families]


def contour(rows: Sequence[Row]) -> Numbers:
    """Where the gain is 30: the span at which the line between two measured ones crosses it."""
    lines: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["controller"], row["cache"], row["line"]), []).append(row)
    found = [
        {"controller": controller, "cache": cache, "line": line, **_crossing(each)}
        for (controller, cache, line), each in lines.items()
    ]
    return Numbers(
        key="contour",
        title="Where it is 30 times",
        caption=(
            "The span below which the gain is 30 or more, between the measured ones in proportion "
            "on logarithmic scales; and the largest gain that was measured."
        ),
        rows=found,
        columns=(
            Column("Controller", "controller"),
            Column("Cache", "cache"),
            Column("Log, window", "line"),
            Column("30x", "at"),
            Column("Most", "most", times),
        ),
    )


def _crossing(rows: Sequence[Row]) -> Row:
    known = sorted((row["span_gib"], row["value"]) for row in rows)
    most = max(gain for _, gain in known)
    for (a, high), (b, low) in pairwise(known):
        if high >= STATED > low:
            part = math.log(high / STATED) / math.log(high / low)
            return {"at": f"{a * (b / a) ** part:.1f} GiB", "most": most}
    if known[-1][1] >= STATED:
        return {"at": f"beyond {known[-1][0]:.0f} GiB", "most": most}
    return {"at": f"below {known[0][0]:.0f} GiB, if anywhere", "most": most}


def windows(points: Sequence[Point]) -> Numbers:
    """The ablation: how many map pages a window needs, with its order and without."""
    runs = place_of(
        chosen_of(points, ("dftl", "shrd", "shrd-unsorted"), RANDOM),
        span=None,
        window=None,
        log=None,
    )
    by_line: dict[str, dict[tuple[Any, ...], Row]] = {}
    keys: dict[str, Key] = {
        "span": lambda p: p.span,
        "log": lambda p: p.log,
        "window": lambda p: p.window,
    }
    for line in ("dftl", "shrd", "shrd-unsorted"):
        chosen = [(p, p.settled_loads) for p in runs if p.line == line]
        found = over_seeds(chosen, **keys)
        by_line[line] = {tuple(row[key] for key in keys): row for row in found}
    shape = {(p.span, p.log, p.window): p for p in runs if p.line == "shrd"}
    rows = [
        {
            **dict(zip(keys, place, strict=True)),
            "pages": shape[place].window_pages,
            "map_pages": shape[place].map_pages,
            "dftl": by_line["dftl"].get((place[0], None, None), {}).get("value"),
            "unsorted": by_line["shrd-unsorted"].get(place, {}).get("value"),
            "sorted": row["value"],
            "half": row["half"],
            "form": expected_loads(shape[place]),
        }
        for place, row in by_line["shrd"].items()
    ]
    return Numbers(
        key="windows",
        title="Map pages loaded per write, by window and order",
        caption=(
            "Random writes, a cache of 128 KiB; per page that has left the log. Closed form: "
            "L (1 - (1 - 1/L)^w) / w for a window of w pages over L map pages, each needed once."
        ),
        rows=rows,
        columns=(
            *(
                Column(title, key)
                for title, key in zip(("Span", "Log", "Window"), keys, strict=True)
            ),
            Column("Pages in it", "pages", lambda value: fixed(value, 0)),
            Column("Map pages", "map_pages", lambda value: fixed(value, 0)),
            *(
                Column(title, key, lambda value: fixed(value, 4))
                for title, key in (
                    ("DFTL", "dftl"),
                    ("As written", "unsorted"),
                    ("Sorted", "sorted"),
                    ("± of sorted", "half"),
                    ("Closed form", "form"),
                )
            ),
        ),
    )


def expected_loads(point: Point) -> float | None:
    """Map pages that a window needs, per page in it, under uniform writes (algorithms, 9.9)."""
    window, pages = point.window_pages, point.map_pages
    return pages * (1 - (1 - 1 / pages) ** window) / window if window else None


def commands(points: Sequence[Point]) -> Numbers:
    chosen = place_of(points, window=None, share="1/8")
    rows = [
        {"trace": p.trace, "line": SERIES[series(p)]}
        | {
            name: getattr(p, name)
            for name in ("commands", "packed", "loads", "write_backs", "copies")
        }
        for p in chosen
        if p.line in PLAIN and p.family != BURSTS and p.seed == 1
    ]
    return Numbers(
        key="commands",
        title="Commands and map traffic",
        caption="One run each, with the prototype's controller. Loads are of map pages of 32 KiB.",
        rows=rows,
        columns=(
            Column("Workload", "trace"),
            Column("Scheme", "line"),
            Column("Commands per request", "commands", lambda value: fixed(value, 3)),
            Column("Requests per twrite", "packed", lambda value: fixed(value, 1)),
            Column("Map loads per write", "loads", lambda value: fixed(value, 4)),
            Column("Map write-backs per write", "write_backs", lambda value: fixed(value, 4)),
            Column("Copies per write", "copies", lambda value: fixed(value, 3)),
        ),
    )


def aged(points: Sequence[Point]) -> Numbers:
    """What cleaning costs on a drive that was written over."""
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
    Column("Map loads per write", "loads", lambda value: fixed(value, 4)),
    Column("Copies per write", "copies", lambda value: fixed(value, 3)),
    Column("Pages per window", "window_pages", lambda value: fixed(value, 0)),
    Column("Reads", "read_share", percent),
    Column("Utilization", "utilization", percent),
)
