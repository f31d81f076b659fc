"""Tables and figures of the five on one drive: the costs and gains of each line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Column, Dots, Exhibit, Numbers, Row, columns_of
from floatgate.papers.kit.numbers import by_line, digits, grouped, plus_minus, points_at, spread
from floatgate.papers.kit.verdicts import (
    AS_CLAIMED,
    LESS,
    RANK,
    STRADDLES,
    Estimate,
    Region,
    farthest,
)
from floatgate.results.intervals import mean_and_half_width
from floatgate.results.values import count, measured, percent, size

from .claims import interaction
from .domain import AXES, BASE, BOUNDS, LABELS, PAIRS, SPARE_28
from .reduce import Point
from .traces import Excerpt

METRICS: Mapping[str, Callable[[float], str]] = {
    "write_amplification": digits(3),
    **dict.fromkeys(("read_mean_us", "read_p99_us", "write_mean_us", "write_p99_us"), measured),
}
MEMORIES = ("map_bytes", "placement_bytes", "buffer_bytes", "host_bytes", "memory_bytes")
WEIGHED = ("memory_bytes", "write_amplification", "read_p99_us")
"""Numbers that count in the comparison; less is better. Writes are acknowledged from protected
memory, so the tail of reads is compared."""
FRONT, BEATEN, UNCLEAR = "front", "beaten", "not told apart"
"""Standing of a line among lines that can be built with an equal amount of flash."""


def figures(points: Sequence[Point], excerpts: Sequence[Excerpt]) -> list[Exhibit]:
    middle = points_at(points, AXES)
    rows = weigh(summary(middle), middle)
    return [
        _everything(rows),
        _front(rows),
        _scatter(rows),
        _interactions(middle),
        _excerpts(excerpts),
    ]


def summary(points: Iterable[Point]) -> list[Row]:
    """Returns means over seeds by workload and line, each with half its interval as `NAME_half`."""
    return [row | _means(alike) for row, alike in grouped(points, "trace", "line")]


def _means(runs: Sequence[Point]) -> Row:
    means: Row = {}
    for name in (*METRICS, *MEMORIES, "utilization"):
        values = [getattr(point, name) for point in runs]
        if None not in values:
            mean, half = mean_and_half_width(values)
            means |= {name: mean, f"{name}_half": half}
    return means


def weigh(rows: Sequence[Row], points: Iterable[Point]) -> list[Row]:
    """Returns the rows with their standing among drives that can be built with equal flash, and in
    `by` the lines that beat it or may beat it. Lines that cannot be built have no standing."""
    drives = by_line(filter(can_be_built, points))
    return [row | _standing(row["trace"], row["line"], drives) for row in rows]


def _standing(trace: str, line: str, drives: Mapping[tuple[str, str], Mapping[int, Point]]) -> Row:
    if (trace, line) not in drives:
        return {FRONT: None, "by": ""}
    cases = {
        rival: beats(runs, drives[trace, line])
        for (played, rival), runs in drives.items()
        if played == trace and rival != line
    }
    worst = max(cases.values(), key=RANK.__getitem__, default=LESS)
    by = [LABELS[rival] for rival, case in cases.items() if case == worst != LESS]
    return {FRONT: STANDING[worst], "by": ", ".join(by)}


STANDING = {AS_CLAIMED: BEATEN, STRADDLES: UNCLEAR, LESS: FRONT}
"""Standing of a line, by the case of the rival that comes nearest to beating it."""


def can_be_built(point: Point) -> bool:
    """Returns whether the line can be built with an equal amount of flash: it needs no knowledge of
    the future, and has all three numbers."""
    complete = all(getattr(point, name) is not None for name in WEIGHED)
    return complete and point.line not in (*BOUNDS, SPARE_28)


def beats(one: Mapping[int, Point], other: Mapping[int, Point]) -> str:
    """Returns whether a line has no more than another of every weighed number, and less of one:
    surely (by all 95 % intervals of the differences by seed), surely not (by one), or open."""
    seeds = one.keys() & other.keys()
    differences = [
        Estimate.of([getattr(one[seed], name) - getattr(other[seed], name) for seed in seeds], True)
        for name in WEIGHED
    ]
    if all(off.low == off.high == 0 for off in differences):
        return LESS
    worst = farthest(map(Region(high=0.0).case, differences))
    less = any(off.high < 0 for off in differences)
    return STRADDLES if worst == AS_CLAIMED and not less else worst


def _everything(rows: Sequence[Row]) -> Numbers:
    table = [row | {"line": LABELS[row["line"]]} for row in rows]
    for row in table:
        for name, text in METRICS.items():
            mean, half = row.get(name), row.get(f"{name}_half")
            row[f"{name}_text"] = None if mean is None else plus_minus(mean, half, text)
    return Numbers(
        key="lines",
        title="What each line costs and gives",
        caption=(
            "15% spare space, requests at their own times; means over seeds with 95% intervals. "
            "Write amplification has the map in it. Memory is of the drive and of the host, "
            "without the 3 MiB for rows that every line has."
        ),
        rows=table,
        columns=[
            Column("Workload", "trace"),
            Column("Line", "line"),
            Column("Write amplification", "write_amplification_text"),
            *columns_of(read_mean_us_text="Read mean, µs", read_p99_us_text="Read p99, µs"),
            *columns_of(write_mean_us_text="Write mean, µs", write_p99_us_text="Write p99, µs"),
            *columns_of(size, map_bytes="Map", placement_bytes="Placement", buffer_bytes="Buffer"),
            *columns_of(size, host_bytes="Host", memory_bytes="Memory"),
            Column("Utilization", "utilization", percent),
            Column("Among drives", FRONT),
        ],
        brief=False,
    )


def _front(rows: Sequence[Row]) -> Numbers:
    traces = list(dict.fromkeys(row["trace"] for row in rows))
    standings = {(row["trace"], row["line"]): row[FRONT] for row in rows if row[FRONT]}
    table = []
    for line in dict.fromkeys(line for _, line in standings):
        marks = {trace: standings.get((trace, line)) for trace in traces}
        on = sum(mark == FRONT for mark in marks.values())
        table.append({"line": LABELS[line], "on": on, **marks})
    return Numbers(
        key="front",
        title="Lines on the front of memory, write amplification and p99 of reads",
        caption=(
            "Front: no other line has no more of all three and less of one. Beaten: one surely "
            "has, by the 95% intervals of its differences with the same seeds. Not told apart: one "
            "may have. Bounds and the drive of more flash are no rivals, and not listed."
        ),
        rows=table,
        columns=[
            Column("Line", "line"),
            *(Column(trace, trace) for trace in traces),
            Column("Fronts", "on", count),
        ],
    )


KINDS = {
    FRONT: "on the front",
    UNCLEAR: "not told apart from one that beats it",
    BEATEN: "beaten in all three",
    None: "cannot be built so",
}


def _scatter(rows: Sequence[Row]) -> Dots:
    return Dots(
        key="memory-write-amplification",
        title="Write amplification",
        caption=(
            "Means over seeds with 95% intervals; 15% spare space, requests at their own times."
        ),
        rows=[
            {
                "trace": row["trace"],
                "line": KINDS[row[FRONT]],
                "scheme": row["line"],
                "memory": row["memory_bytes"] / 1024,
                "value": row["write_amplification"],
                "half": row["write_amplification_half"],
            }
            for row in rows
        ],
        style=".2f",
        labels={text: text for text in KINDS.values()},
        x="memory",
        x_title="Memory, KiB",
        size=40,
    )


def _interactions(points: Sequence[Point]) -> Numbers:
    lines = by_line(points)
    traces = dict.fromkeys(trace for trace, _ in lines)
    rows: list[Row] = []
    for pair in PAIRS:
        row = {"pair": pair.label}
        for trace in traces:
            four = [lines.get((trace, key), {}) for key in (BASE, *pair.key.split("+"), pair.key)]
            if values := [
                interaction(*(runs[seed].write_amplification for runs in four))
                for seed in four[0]
                if all(seed in runs for runs in four)
            ]:
                row[trace] = spread(values, change)
        rows += [row] if len(row) > 1 else []
    return Numbers(
        key="interactions",
        title="What a pair has beyond its parts",
        caption=(
            "Write amplification over the product of what each does to the baseline alone: 0 where "
            "they do not meet, below it where they help each other. Paired by seed; 95% intervals."
        ),
        rows=rows,
        columns=[Column("Pair", "pair"), *(Column(trace, trace) for trace in traces)],
    )


def _excerpts(excerpts: Sequence[Excerpt]) -> Numbers:
    return Numbers(
        key="traces",
        title="Traces: the unfiltered list",
        caption=(
            "The first 10,000 requests of each, and the whole of two on drives of their size. Left "
            "out is what writes a page less than twice on average, and what does not fit."
        ),
        rows=[
            {
                "trace": one.source.name,
                "file": one.source.spec,
                "pages": one.pages,
                "overwrites": one.overwrites,
                "why": one.why_not or ("played" if one.is_played(False) else "played with --full"),
            }
            for one in excerpts
        ],
        columns=[
            *columns_of(trace="Trace", file="File"),
            Column("Pages touched", "pages", count),
            Column("Writes of a page", "overwrites", digits(2)),
            Column("", "why"),
        ],
    )


COLUMNS: Sequence[Column] = (
    *columns_of(trace="Workload", line="Line", spare="Spare", arrivals="Arrivals"),
    Column("Seed", "seed", str),
    Column("Write amplification", "write_amplification", digits(3)),
    *(Column(f"{kind} mean, µs", f"{kind}_mean_us", measured) for kind in ("read", "write")),
    *(Column(f"{kind} p99, µs", f"{kind}_p99_us", measured) for kind in ("read", "write")),
    *columns_of(percent, map_hits="Map hits", buffer_hits="Buffer hits", utilization="Utilization"),
)
