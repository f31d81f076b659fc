"""The NCQ-aware write buffer: blocks that queued commands will use stay (Kim and Kim, 2013).

The paper's Figures 3 to 5 are lost, and it states no geometry, timing, span or capacity; what is
checked is what its text says. What we chose, and why: the preset `ncq13`, and docs/papers/ncq.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.report.values import count, fixed, measured, percent, ratio

from . import PAPERS
from .batch import Bench
from .ncq_claims import NCQ, judge
from .ncq_runs import (
    DEVICE,
    FASTER,
    FIRST,
    LINES,
    MAIN,
    PAIR,
    READINGS,
    SECOND,
    SETUPS,
    SIZES,
    Point,
    simulate,
)
from .paper import Column, Exhibit, Lines, Numbers, Outcome, Row, rows_of
from .sources import find_traces

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.jobs import Kept
    from floatgate.result import Result


@dataclass(frozen=True)
class Size:
    """Commands that are played of each workload."""

    first: int
    second: int


QUICK = Size(20_000, 6_000)
FULL = Size(100_000, 30_000)

FIGURES = {
    "figure-3": ("hit_ratio", "Hit ratio", ".2%"),
    "figure-4": ("write_mb_s", "Write bandwidth, MB/s", ".1f"),
    "figure-5": ("iops", "IOPS", ".1f"),
}

NOTES = """\
Iometer's records are made anew: all writes, at random places that are multiples of the record, \
over 256 MiB. The paper states none of this. It states means of arrivals; they are exponential.
The paper states no drive. Preset ncq13 says where each number is from: BAST on blocks of 128 KiB, \
which are the buffer's blocks too, interleaved over 16 dies with the times of the C++ FlashSim. It \
writes 162 MB/s, while the workloads offer 316 and 209 MB/s: the queue is full, and commands wait \
outside of it. So times are those of a backlog, and only rates are shown.
One command is served at a time. Those behind it in the queue are known, what waits outside is \
not. A block is pinned while a queued command will use it, whether it is in the buffer yet or not; \
the other readings of the paper's text are shown beside it.
All records are of one size, so that bandwidth and IOPS change alike. The paper's gains do not.
FAB, BPLRU and CLC look at how much of a block is buffered. Here it is always all of it, and all \
places are equally likely: whichever blocks they keep, they find buffer / span, as LRU does.
The bound is Belady's on blocks. It is a bound where all parts of commands are whole blocks and \
nothing is read or trimmed, as in the figures; elsewhere it is not run.
A stated percentage holds within a factor of 1.5, and partly with the right sign; an order holds \
in all cases, and partly in at least half of them. Nothing was tuned to match.
"""


def _one(value: Any) -> str:
    return fixed(value, 1)


def _hundredths(gain: Any) -> str:
    """A difference of hit ratios in points: hundredths, and no percentage of anything."""
    return fixed(gain * 100, 2)


COLUMNS = (
    Column("Workload", "trace"),
    Column("Setup", "setup"),
    Column("Buffer", "line"),
    Column("MiB", "buffer_mib", count),
    Column("Hit ratio", "hit_ratio", percent),
    Column("MB/s", "write_mb_s", measured),
    Column("IOPS", "iops", measured),
    Column("Hits over LRU, points", "hit_gain", _hundredths),
    Column("Bandwidth over LRU", "bandwidth_gain", percent),
    Column("Busy", "busy", percent),
    Column("Waiting", "waiting", _one),
    Column("Programs per page written", "write_amplification", ratio),
    Column("Switch merges", "switch", count),
    Column("Partial", "partial", count),
    Column("Full", "full", count),
)


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Kept | None = None
) -> Outcome:
    """Runs the experiment; `full` for longer, with what the paper leaves open taken otherwise.

    It is played from a generator: what is in the directory of traces makes no difference.
    """
    find_traces((), traces)
    size = FULL if full else QUICK
    commands = {FIRST: size.first, SECOND: size.second}
    bench = Bench(DEVICE, progress, kept)
    runs = simulate(bench, commands, MAIN, LINES + READINGS)
    for setup in SETUPS if full else (FASTER,):
        runs += simulate(bench, commands, setup, PAIR)
    return _outcome(full, runs)


def _outcome(full: bool, runs: Sequence[tuple[Point, Result]]) -> Outcome:
    points = [point for point, _ in runs]
    listed = next(paper for paper in PAPERS if paper.name == "ncq")
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels={line.key: line.label for line in LINES + READINGS},
        exhibits=_exhibits(points),
        claims=judge(points),
        points=points,
        results=[result for _, result in runs],
        columns=COLUMNS,
        shown=NCQ,
        notes=NOTES.splitlines(),
    )


def _exhibits(points: Sequence[Point]) -> list[Exhibit]:
    main = [point for point in points if point.setup == MAIN.key]
    found: list[Exhibit] = [_figure(key, *figure, points=main) for key, figure in FIGURES.items()]
    over = "Over LRU with the same drive, workload and size."
    title = "Hit ratio over LRU, in points"
    found.append(_table("hits", title, "hit_gain", _hundredths, over, points))
    found.append(_table("bandwidth", "Bandwidth over LRU", "bandwidth_gain", percent, over, points))
    queue = "On average; the queue holds one more, which is served. What waits outside is left out."
    found.append(_table("waiting", "Commands that wait", "waiting", _one, queue, points))
    return found


def _figure(key: str, metric: str, title: str, style: str, *, points: Sequence[Point]) -> Lines:
    labels = {line.key: line.label for line in LINES}
    return Lines(
        key=key,
        title=f"Figure {key[-1]}: {title.lower() if metric != 'iops' else title}",
        caption="The bound is Belady's on blocks, which here are always whole.",
        rows=rows_of(points, labels, metric, "buffer_mib"),
        metric=metric,
        style=style,
        labels=labels,
        x="buffer_mib",
        x_title="Buffer, MiB",
        x_text=lambda mib: f"{mib:.0f}",
    )


def _table(
    key: str, title: str, metric: str, text: Any, caption: str, points: Sequence[Point]
) -> Numbers:
    """A row per workload and setup, or reading of the scheme; a column per size of the buffer."""
    readings = {line.key: line.label for line in READINGS}
    setups = {setup.key: setup.label for setup in (MAIN, *SETUPS)}
    rows: dict[tuple[str, str, str], Row] = {}
    for point in points:
        if point.line == NCQ or point.line in readings:
            label = readings.get(point.line, setups[point.setup])
            place = (point.trace, point.setup, point.line)
            row = rows.setdefault(place, {"trace": point.trace, "setup": label})
            row[str(point.buffer_mib)] = getattr(point, metric)
    sizes = [Column(f"{size} MiB", str(size), text) for size in SIZES]
    return Numbers(
        key=key,
        title=title,
        caption=caption,
        rows=[rows[place] for place in sorted(rows, key=lambda place: place[0])],
        columns=[Column("Workload", "trace"), Column("Setup", "setup"), *sizes],
    )
