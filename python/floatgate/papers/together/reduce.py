"""Runs of all five reduced to numbers, and the filter for runs that give no information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floatgate.papers.kit.claims import Filter, is_backlogged
from floatgate.papers.kit.experiment import Experiment, Run, Settings

if TYPE_CHECKING:
    import polars as pl

    from floatgate.results.result import Result


@dataclass(frozen=True)
class Point:
    """One run. Times are microseconds, memories bytes, shares 0 to 1."""

    trace: str
    family: str
    line: str
    spare: str | None
    arrivals: str | None
    seed: int
    write_amplification: float
    """All programs of the host, of cleaning and of the map, per page that the host writes."""
    later_write_amplification: float
    """Write amplification without the first volume, in which cleaning separates the hot data."""
    read_mean_us: float | None
    read_p99_us: float | None
    write_mean_us: float | None
    write_p99_us: float | None
    map_bytes: int
    placement_bytes: int
    buffer_bytes: int
    """Bytes of the buffer: pages and bookkeeping."""
    host_bytes: int
    map_hits: float
    buffer_hits: float | None
    map_traffic: float
    """Translation pages read and programmed for the host and for remaps, per page that the host
    accesses."""
    utilization: float
    queue_share: float
    """Share of the mean response time spent waiting for room in the command queue."""

    @property
    def memory_bytes(self) -> int:
        return self.map_bytes + self.placement_bytes + self.buffer_bytes + self.host_bytes


def size_of(settings: Settings, key: str) -> int:
    """Parses a size in bytes in the form of the settings here: "1024B"."""
    return int(settings[key].removesuffix("B"))


def amplified(timeline: pl.DataFrame, begin: float) -> float:
    """Returns the write amplification from the host page `begin` on. A window that contains `begin`
    counts in part. A run with fewer pages counts as a whole."""
    pages = [0.0, *map(float, timeline["host_pages"])]
    begin = begin if begin < pages[-1] else 0.0
    written = programs = 0.0
    for i, wa in enumerate(timeline["page_write_amplification"]):
        part = max(0.0, pages[i + 1] - max(pages[i], begin))
        written, programs = written + part, programs + part * (wa or 0.0)
    return programs / written


def reduce(experiment: Experiment, run: Run, result: Result, _: object = None) -> Point:
    latency, reads, programs = result.latency, result.flash.reads, result.flash.programs
    accesses = max(result.workload.read_pages + result.workload.write_pages, 1)
    mean = latency.all.mean_us or 0.0
    buffered = "buffer.scheme" in experiment.line(run.line).set
    held = size_of(experiment.settings(run, 0), "buffer.capacity") if buffered else 0
    return Point(
        **run.named("spare", "arrivals"),
        family=experiment.workload(run.workload).family,
        write_amplification=result.page_write_amplification or 1.0,
        later_write_amplification=amplified(result.timeline, result.drive.logical_pages),
        read_mean_us=latency.read.mean_us,
        read_p99_us=latency.read.p99_us,
        write_mean_us=latency.write.mean_us,
        write_p99_us=latency.write.p99_us,
        map_bytes=result.mapping.cache_bytes or 0,
        placement_bytes=result.placement.memory_bytes,
        buffer_bytes=held + result.buffer.memory_bytes,
        host_bytes=result.host.memory_bytes,
        map_hits=result.mapping.hit_ratio or 0.0,
        buffer_hits=result.buffer.hit_ratio if buffered else None,
        map_traffic=(reads.map + reads.remap + programs.map + programs.remap) / accesses,
        utilization=result.throughput.utilization or 0.0,
        queue_share=(latency.blame_us.queue or 0.0) / mean if mean else 0.0,
    )


def backlogged(point: Point) -> bool:
    """Returns whether requests come faster than the drive serves them. A full queue keeps a drive
    busy by design, so such a run has no backlog."""
    offered = point.arrivals == "own times"
    return offered and is_backlogged(point)


BACKLOG = Filter("with a backlog", backlogged)
