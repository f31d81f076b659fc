"""Running SHRD's experiment: workloads, lines, and what a run is reduced to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from floatgate import _core

from .batch import Bench, Played, Task

if TYPE_CHECKING:
    from floatgate.result import Result

DEVICE = "shrd17"
PAGE = 4096
MAP_PAGE = 8 * PAGE
"""Of the prototype: 8,192 entries of 4 bytes."""

RANDOM, MIXED, SEQUENTIAL, TRACE = "random writes", "mixed", "sequential", "trace"


@dataclass(frozen=True)
class Workload:
    """What is played: its name in the figures, of what kind it is, and how."""

    name: str
    family: str
    played: Played


@dataclass(frozen=True)
class Line:
    """A host layer and a mapping."""

    key: str
    label: str
    set: Mapping[str, str] = field(default_factory=dict)


PLAIN = {"host.scheme": "plain"}

DFTL = Line("dftl", "DFTL, whole map pages", PLAIN)
IDEAL = Line("ideal", "the whole map in memory", PLAIN | {"mapping.scheme": "ideal"})
SHRD = Line("shrd", "SHRD, the driver's windows")
WIDE = Line(
    "shrd-wide",
    "SHRD, windows of 3/4 of the log",
    {"shrd.remap_threshold": "0.75", "shrd.remap_size": "0.75"},
)
LINES = (DFTL, SHRD, WIDE, IDEAL)

CLOSED = {"queue.arrivals": "closed"}
"""As many requests as the queue has places for: the captures' times are those of a device as fast
as memory, and fio had none."""


@dataclass(frozen=True)
class Point:
    """The numbers of a run that figures and claims are about."""

    trace: str
    family: str
    line: str
    cache: int
    """Bytes of the map cache."""
    log: int
    threshold: int
    iops: float
    mean_read_us: float | None
    mean_write_us: float | None
    commands: float
    """Per request."""
    packed: float | None
    """Requests of a write to the log."""
    loads: float
    """Map pages read for the host and for remaps, per page written."""
    write_backs: float
    data_programs: float
    """Per page written, cleaning included."""
    copies: float
    """Of these, cleaning's."""
    window: float | None
    """Pages remapped at once."""
    map_pages: float
    mapped_bytes: int
    """What the map has entries for: all that the host addresses, and its log."""
    host_memory: int
    read_share: float
    """Pages read, of all."""


def simulate(
    bench: Bench,
    works: Sequence[Workload],
    lines: Sequence[Line],
    caches: Sequence[int],
    others: Sequence[Mapping[str, str]] = ({},),
) -> list[tuple[Point, Result]]:
    """Every line on every workload with every cache and every other setting."""
    cases = [
        (work, line, {"mapping.cache": f"{cache}B", **other})
        for work in works
        for line in lines
        for cache in (caches if line is not IDEAL else caches[:1])
        for other in others
    ]
    tasks = [Task(work.played, {**CLOSED, **line.set, **other}) for work, line, other in cases]
    results = bench.run(tasks)
    return [
        (reduce(work, line, result), result)
        for (work, line, _), result in zip(cases, results, strict=True)
    ]


def reduce(work: Workload, line: Line, result: Result) -> Point:
    """The numbers of a run that figures and claims are about."""
    config = result.config
    reads, programs, host = result.flash.reads, result.flash.programs, result.host
    written = max(result.workload.write_pages, 1)
    pages_read = result.workload.read_pages
    together = MAP_PAGE // PAGE
    return Point(
        trace=work.name,
        family=work.family,
        line=line.key,
        cache=_bytes(config["mapping"]["cache"]),
        log=_bytes(config["host"]["log"]),
        threshold=_bytes(config["host"]["threshold"]),
        iops=result.throughput.iops or 0.0,
        mean_read_us=result.latency.read.mean_us,
        mean_write_us=result.latency.write.mean_us,
        commands=host.commands / result.workload.requests,
        packed=host.packed_requests / host.twrites if host.twrites else None,
        loads=(reads.map + reads.remap) / together / written,
        write_backs=(programs.map + programs.remap) / together / written,
        data_programs=(programs.host + programs.gc) / written,
        copies=programs.gc / written,
        window=host.remapped_pages / host.windows if host.windows else None,
        map_pages=result.drive.translation_pages / together,
        mapped_bytes=result.drive.logical_bytes + result.drive.log_pages * result.drive.page_bytes,
        host_memory=host.memory_bytes,
        read_share=pages_read / (pages_read + written),
    )


def _bytes(size: str) -> int:
    found = _core.size_bytes(size)
    assert found is not None, f"the engine writes {size!r} as a size"
    return found
