"""TLLLP's runs reduced to numbers, and the filter for runs that give no information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floatgate.papers.kit.claims import Filter, is_backlogged
from floatgate.papers.kit.experiment import Experiment, Run

from .domain import EMPTY, READINGS, STANDS_FOR

if TYPE_CHECKING:
    from floatgate.results.result import Result


@dataclass(frozen=True)
class Point:
    """One run, reduced to the numbers for figures and claims. Shares and ratios are 0 to 1."""

    trace: str
    family: str
    """Trace of the paper for which `trace` stands."""
    line: str
    """Key of the scheme with its parameters, e.g. "dftl"."""
    start: str | None
    """Levels of axes, up to `seed`. None: the axis has no effect on the run."""
    spare: str | None
    cache: str | None
    """Cache size, relative to the map of the pages that the trace touches."""
    arrivals: str | None
    times: str | None
    fetch: str | None
    """Levels of the readings of TLLLP's text, up to `seed`."""
    prefetch: str | None
    victim: str | None
    evict: str | None
    seed: int
    hit_ratio: float
    repeated: float
    """Share of look-ups of pages that the trace looked up earlier. It is the hit ratio of a cache
    that begins empty, never evicts, and loads nothing ahead."""
    mean_us: float
    stdev_us: float
    utilization: float
    queue_share: float
    """Share of the mean response time spent waiting for room in the command queue."""
    cleaning_time: float
    """Share of the mean response time that is attributed to cleaning."""
    data_reads: float
    """Pages of the host's data per page access. The next fields have this unit, too."""
    data_programs: float
    map_reads: float
    """Translation pages read for the host."""
    map_programs: float
    data_copies: float
    """Pages of data that cleaning moved."""
    map_copies: float
    """Translation pages that cleaning moved, or wrote because data had moved."""
    prefetch_used: float | None
    """Share of the entries loaded ahead that a look-up has used."""
    node_share: float | None
    """Share of the cache's bytes that nodes of mapping pages take at the end of the run. Only for
    TLLLP with a cache that is empty at first."""


def reduce(experiment: Experiment, run: Run, result: Result, _: object = None) -> Point:
    work, mapping, latency = result.workload, result.mapping, result.latency
    accesses = max(work.read_pages + work.write_pages, 1)
    reads, programs = result.flash.reads, result.flash.programs
    ahead, used = mapping.prefetched, mapping.prefetch_used
    mean = latency.all.mean_us or 0.0
    return Point(
        **run.named("start", "spare", "cache", "arrivals", "times", *READINGS),
        family=experiment.workload(run.workload).family,
        hit_ratio=mapping.hit_ratio or 0.0,
        repeated=1 - work.footprint_pages / accesses,
        mean_us=mean,
        stdev_us=latency.all.stdev_us or 0.0,
        utilization=result.throughput.utilization or 0.0,
        queue_share=(latency.blame_us.queue or 0.0) / mean if mean else 0.0,
        cleaning_time=(latency.blame_us.gc or 0.0) / mean if mean else 0.0,
        data_reads=reads.host / accesses,
        data_programs=programs.host / accesses,
        map_reads=reads.map / accesses,
        map_programs=programs.map / accesses,
        data_copies=programs.gc / accesses,
        map_copies=programs.gc_map / accesses,
        prefetch_used=None if not ahead or used is None else used / ahead,
        node_share=node_share(result) if run.line == STANDS_FOR[EMPTY] else None,
    )


def node_share(result: Result) -> float:
    """Returns the share of the cache that nodes take. Each miss loads one entry in addition to the
    prefetched ones, and evictions are counted, so the difference is the number of cached entries.
    The bytes of the cache include nodes and entries."""
    mapping = result.mapping
    ahead, evicted, cache_bytes = mapping.prefetched, mapping.evictions, mapping.cache_bytes
    assert ahead is not None and evicted is not None, "policies of the engine count both"
    assert cache_bytes, "the last entry that is looked up stays"
    entry_bytes: int = result.config["tlllp"]["bytes_per_entry"]
    return 1 - entry_bytes * (mapping.misses + ahead - evicted) / cache_bytes


BACKLOG: Filter[Point] = Filter("with a backlog", is_backlogged)
