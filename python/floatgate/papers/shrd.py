"""SHRD: sequentialize in the host, randomize in the device (Kim, Shin, Jeong and Kim, FAST 2017).

The slides' figures are lost; what is checked is their text. What we chose, and why: the preset
`shrd17`, and docs/papers/shrd.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.report.values import fixed, measured, percent, size

from . import PAPERS
from .batch import Bench, Played
from .paper import Bars, Column, Exhibit, Lines, Numbers, Outcome, rows_of
from .shrd_claims import judge
from .shrd_pattern import exhibits as pattern
from .shrd_runs import (
    DEVICE,
    DFTL,
    IDEAL,
    LINES,
    MIXED,
    RANDOM,
    SEQUENTIAL,
    SHRD,
    TRACE,
    WIDE,
    Point,
    Workload,
    simulate,
)
from .sources import Source, find_traces, missing_warning

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.jobs import Kept
    from floatgate.result import Result

CAPTURES = (
    Source("ext4, pgbench", "ext4", "capture-pgbench-ext4-656k.csv.zst"),
    Source("ext4, RocksDB", "ext4", "capture-rocksdb-ext4-905k.csv.zst"),
    Source("f2fs, postmark", "f2fs", "capture-postmark-f2fs-996k.csv.zst"),
)

ALL = 1_000_000
"""Requests of the picture of map accesses; no capture has more."""

SMALLEST = 128 << 10
"""The map cache of the authors' drive as released."""


@dataclass(frozen=True)
class Size:
    """How much is played."""

    span: str
    writes: str
    caches: Sequence[int]
    limit: int | None
    """Requests of a trace."""
    thresholds: Sequence[int]
    logs: Sequence[int]


QUICK = Size("4GiB", "100k", (SMALLEST, 1 << 20, 8 << 20), 60_000, (4, 16, 128), (16, 64, 256))
FULL = Size(
    "32GiB",
    "400k",
    (SMALLEST, 512 << 10, 2 << 20, 8 << 20, 64 << 20),
    None,
    (4, 8, 16, 32, 64, 128),
    (8, 16, 32, 64, 128, 256),
)

NOTES = """\
The prototype is a modified SATA drive; its geometry and map pages are those of its authors' \
public sources, its flash times are ours (preset shrd17).
The quick run has 4 GiB in place of 32 GiB: an eighth of the map pages, so a window has eight \
times as many pages of each. The gain of SHRD depends on that ratio more than on anything else.
Twice: SHRD with the windows of the authors' driver, 1/16 of the log, and with windows of 3/4 of it.
All runs are closed loops of 128 requests, from a drive filled in order. The captures' times are \
those of a device as fast as memory.
Every drive has 48% of spare space, as the prototype under a test of 32 GiB of its 62 GiB.
A stated number holds within a factor of 1.5, and partly with the right sign; an order holds in \
all cases, and partly in at least half of them. Steady means at least 80%. Nothing was tuned to \
match.
"""

COLUMNS = (
    Column("Workload", "trace"),
    Column("Scheme", "line"),
    Column("Map cache", "cache", size),
    Column("Log", "log", size),
    Column("Threshold", "threshold", size),
    Column("Requests/s", "iops", measured),
    Column("Read, µs", "mean_read_us", measured),
    Column("Write, µs", "mean_write_us", measured),
    Column("Commands per request", "commands", lambda value: fixed(value, 3)),
    Column("Requests per twrite", "packed", lambda value: fixed(value, 1)),
    Column("Map loads per write", "loads", lambda value: fixed(value, 4)),
    Column("Data programs per write", "data_programs", lambda value: fixed(value, 3)),
    Column("Pages per window", "window", lambda value: fixed(value, 0)),
    Column("Reads", "read_share", percent),
)


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Kept | None = None
) -> Outcome:
    """Runs the experiment; `full` over 32 GiB and with whole traces."""
    found, missing = find_traces(CAPTURES, traces)
    bench = Bench(DEVICE, progress, kept)
    how = FULL if full else QUICK
    uniform = f"uniform:span={how.span},size=4KiB"
    random = Workload("random writes", RANDOM, Played(f"{uniform},writes={how.writes}"))
    sequential = f"sequential:span={how.span},size=128KiB,writes=20k"
    small = [SMALLEST]
    sweep = simulate(bench, [random], LINES, how.caches)
    others = [
        Workload("mixed", MIXED, Played(f"{uniform},requests={how.writes},reads=0.5")),
        Workload("sequential writes", SEQUENTIAL, Played(sequential)),
    ]
    captures = [
        Workload(source.name, TRACE, Played(str(file), limit=how.limit)) for source, file in found
    ]
    rest = simulate(bench, [*others, *captures], LINES, small)
    logs = [{"host.log": f"{mib}MiB"} for mib in how.logs if mib != 64]
    log_runs = simulate(bench, [random], [SHRD, WIDE], small, logs)
    thresholds = [{"host.threshold": f"{kib}KiB"} for kib in how.thresholds if kib != 16]
    threshold_runs = simulate(bench, captures, [SHRD, WIDE], small, thresholds)
    outcome = _outcome(full, sweep, rest, log_runs, threshold_runs, missing_warning(missing))
    for work in captures[-1:]:
        outcome.exhibits += pattern(bench, work.name, work.played, how.limit or ALL)
    return outcome


Runs = list[tuple[Point, "Result"]]


def _outcome(
    full: bool, sweep: Runs, rest: Runs, logs: Runs, thresholds: Runs, warnings: list[str]
) -> Outcome:
    everything = sweep + rest + logs + thresholds
    labels = {line.key: line.label for line in (DFTL, SHRD, WIDE, IDEAL)}
    listed = next(paper for paper in PAPERS if paper.name == "shrd")
    base = [point for point, _ in sweep + rest]
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=labels,
        exhibits=_exhibits(
            [point for point, _ in sweep],
            [point for point, _ in rest],
            [point for point, _ in logs],
            [point for point, _ in thresholds],
            labels,
        ),
        claims=judge(base),
        points=[point for point, _ in everything],
        results=[result for _, result in everything],
        columns=COLUMNS,
        shown="shrd",
        warnings=warnings,
        notes=NOTES.splitlines(),
    )


def _exhibits(
    sweep: Sequence[Point],
    rest: Sequence[Point],
    logs: Sequence[Point],
    thresholds: Sequence[Point],
    labels: dict[str, str],
) -> list[Exhibit]:
    small = min((point.cache for point in sweep), default=0)
    start = [point for point in sweep if point.cache == small]
    shrd = {key: labels[key] for key in ("shrd", "shrd-wide")}
    sizes = [*[point for point in start if point.line in shrd], *logs]
    found: list[Exhibit] = [
        _over_cache("throughput", "Random writes by map cache", sweep, "iops", labels, ",.0f"),
        _over_cache("loads", "Map loads per write by map cache", sweep, "loads", labels, ".3f"),
        _commands([*start, *rest], labels),
        _latencies(rest, labels),
        _benchmarks([*start, *rest], labels),
        _over("log", "Random writes by size of the log", sizes, "log", "iops", shrd),
    ]
    traces = [*[point for point in rest if point.family == TRACE], *thresholds]
    some = [point for point in traces if point.line in shrd]
    title = "The captured traces by threshold"
    found.append(_over("threshold", title, some, "threshold", "iops", shrd))
    return [exhibit for exhibit in found if exhibit.rows]


def _over_cache(
    key: str, title: str, points: Sequence[Point], metric: str, labels: dict[str, str], style: str
) -> Lines:
    rows = rows_of(points, labels, metric, "cache")
    for row in rows:
        if row["line"] == "ideal":
            row["cache"] = None
    return Lines(
        key=key,
        title=title,
        caption="Writes of 4 KiB, each page as likely as the others.",
        rows=rows,
        metric=metric,
        style=style,
        labels=labels,
        panel=None,
        x="cache",
        x_title="Map cache",
        x_text=size,
    )


def _over(
    key: str, title: str, points: Sequence[Point], x: str, metric: str, labels: dict[str, str]
) -> Lines:
    return Lines(
        key=key,
        title=title,
        caption="Requests per second, with the smallest map cache.",
        rows=rows_of(points, labels, metric, x),
        metric=metric,
        style=",.0f",
        labels=labels,
        x=x,
        x_title=title.rsplit(" by ", 1)[1].capitalize(),
        x_text=size,
    )


def _commands(points: Sequence[Point], labels: dict[str, str]) -> Numbers:
    rows = [
        {
            "trace": point.trace,
            "line": labels[point.line],
            "commands": point.commands,
            "packed": point.packed,
            "loads": point.loads,
            "write_backs": point.write_backs,
            "data_programs": point.data_programs,
        }
        for point in points
    ]
    columns = (
        *(column for column in COLUMNS if column.field in ("trace", "line", "commands", "packed")),
        Column("Map loads per write", "loads", lambda value: fixed(value, 4)),
        Column("Map write-backs per write", "write_backs", lambda value: fixed(value, 4)),
        Column("Data programs per write", "data_programs", lambda value: fixed(value, 3)),
    )
    return Numbers(
        key="commands",
        title="Commands and map traffic",
        caption="With the smallest map cache. Loads are of map pages of 32 KiB.",
        rows=rows,
        columns=columns,
    )


def _latencies(points: Sequence[Point], labels: dict[str, str]) -> Bars:
    mixed = [point for point in points if point.family == MIXED]
    rows: list[dict[str, Any]] = [
        {"trace": kind, "line": point.line, "mean_us": value}
        for kind in ("reads", "writes")
        for point in mixed
        if (value := point.mean_read_us if kind == "reads" else point.mean_write_us) is not None
    ]
    return Bars(
        key="latency",
        title="Mean response of mixed random reads and writes",
        axis="µs",
        caption="Half of the requests of 4 KiB are reads; the smallest map cache.",
        rows=rows,
        metric="mean_us",
        style=",.0f",
        labels=labels,
        panel=None,
        row="trace",
    )


def _benchmarks(points: Sequence[Point], labels: dict[str, str]) -> Bars:
    base = {point.trace: point.iops for point in points if point.line == "dftl"}
    rows: list[dict[str, Any]] = [
        {"trace": point.trace, "line": point.line, "gain": point.iops / base[point.trace]}
        for point in points
        if point.line != "dftl" and base.get(point.trace)
    ]
    return Bars(
        key="benchmarks",
        title="Throughput on every workload",
        axis="Against DFTL",
        caption="Against DFTL with the same map cache, the smallest, which is 1.",
        rows=rows,
        metric="gain",
        style=".2f",
        labels={key: label for key, label in labels.items() if key != "dftl"},
        panel=None,
        row="trace",
        rules={None: [("DFTL", 1.0)]},
    )
