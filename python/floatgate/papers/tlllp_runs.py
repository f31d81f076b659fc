"""Running TLLLP's experiment: every trace on every scheme with every cache size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floatgate import api

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.result import Result

    from .sources import Source


@dataclass(frozen=True)
class Point:
    """One run, reduced to what figures and claims are about. Shares and ratios are 0 to 1."""

    trace: str
    family: str
    """Which of the paper's traces it stands for."""
    line: str
    """Key of the scheme with its parameters, e.g. "dftl"."""
    arrivals: str
    cache_bytes: int | None
    """None where the scheme has no cache."""
    hit_ratio: float | None
    mean_us: float
    stdev_us: float
    utilization: float
    queue_share: float
    """Of the mean response time, what was waiting for room in the command queue."""
    map_reads: float
    """Translation pages read for the host, per page access."""
    map_programs: float
    prefetch_used: float | None
    """Of the entries loaded ahead, the share that was asked for."""
    map_share: float
    """Of the flash's busy time, what the map of the host took."""
    cleaning_share: float
    """The same for cleaning: moves, map updates and erases."""


Runs = Iterator[tuple[Point, "Result"]]


@dataclass(frozen=True)
class Line:
    """A line of a figure: a mapping scheme with its parameters."""

    key: str
    label: str
    scheme: str
    set: Mapping[str, str]


@dataclass(frozen=True)
class Lab:
    """What all runs of a paper have in common."""

    device: str
    entry_bytes: int
    """Of a cached entry, for the size of a whole map."""
    least_cache: int
    """Bytes: no scheme works with less."""
    most_cache: int
    every: int
    """Of the powers of two between, each so-many-th is run, from the largest down."""


def map_bytes(lab: Lab, result: Result) -> int:
    """What it takes to cache the entries of all pages that the trace touches."""
    return result.workload.footprint_pages * lab.entry_bytes


def cache_sizes(lab: Lab, whole: int) -> list[int]:
    """Powers of two from 1/64 to 1/2 of the whole map, within the lab's limits."""
    low, high = max(lab.least_cache, whole // 64), min(lab.most_cache, whole // 2)
    powers = [1 << n for n in range(64) if low <= 1 << n <= high]
    return powers[:: -lab.every][::-1] or [lab.least_cache]


def run_trace(
    lab: Lab,
    source: Source,
    spec: str,
    lines: Sequence[Line],
    arrivals: str,
    progress: Progress | None,
) -> Runs:
    """All runs of one trace: the schemes without a cache first, as they tell how large the map is.

    `lines` are those with a cache.
    """
    common: dict[str, str] = {"queue.arrivals": arrivals}
    if arrivals == "closed":
        common["queue.depth"] = "1"

    def simulate(set: Mapping[str, str], vary: Mapping[str, Sequence[object]]) -> list[Result]:
        return api.compare_results(
            [spec],
            device=lab.device,
            set={**common, **set},
            vary=vary,
            limit=source.limit,
            progress=progress,
        )

    bounds = ("none", "ideal")
    without = simulate({}, {"mapping.scheme": bounds})
    for scheme, result in zip(bounds, without, strict=True):
        yield reduce(source, scheme, None, arrivals, result), result
    sizes = cache_sizes(lab, map_bytes(lab, without[0]))
    plain = [line for line in lines if not line.set]
    schemes = [line.scheme for line in plain]
    swept = {"mapping.scheme": schemes, "mapping.cache": [f"{size}B" for size in sizes]}
    found = simulate({}, swept)
    for line in lines:
        if line.set:
            runs = simulate({"mapping.scheme": line.scheme, **line.set}, {"mapping.cache": sizes})
        else:
            first = schemes.index(line.scheme) * len(sizes)
            runs = found[first : first + len(sizes)]
        for size, result in zip(sizes, runs, strict=True):
            yield reduce(source, line.key, size, arrivals, result), result


def reduce(source: Source, line: str, cache: int | None, arrivals: str, result: Result) -> Point:
    """The numbers of a run that figures and claims are about."""
    work, mapping, latency = result.workload, result.mapping, result.latency
    accesses = max(work.read_pages + work.write_pages, 1)
    host, on_map, cleaning = _flash_time(result)
    busy = max(host + on_map + cleaning, 1e-9)
    mean = latency.all.mean_us or 0.0
    return Point(
        trace=source.name,
        family=source.family,
        line=line,
        arrivals=arrivals,
        cache_bytes=cache,
        hit_ratio=mapping.hit_ratio,
        mean_us=mean,
        stdev_us=latency.all.stdev_us or 0.0,
        utilization=result.throughput.utilization or 0.0,
        queue_share=(latency.blame_us.queue or 0.0) / mean if mean else 0.0,
        map_reads=result.flash.reads.map / accesses,
        map_programs=result.flash.programs.map / accesses,
        prefetch_used=_used(mapping.prefetched, mapping.prefetch_used),
        map_share=on_map / busy,
        cleaning_share=cleaning / busy,
    )


def _used(prefetched: int | None, used: int | None) -> float | None:
    return used / prefetched if prefetched and used is not None else None


def _flash_time(result: Result) -> tuple[float, float, float]:
    """Microseconds that the flash worked for the host's data, its map, and cleaning."""
    timing = result.config["flash"]
    read, program, erase = (_us(timing[name]) for name in ("read", "program", "erase"))
    reads, programs, erases = result.flash.reads, result.flash.programs, result.flash.erases
    host = reads.host * read + programs.host * program
    on_map = reads.map * read + programs.map * program
    moves = (reads.gc + reads.gc_map) * read + (programs.gc + programs.gc_map) * program
    return host, on_map, moves + erases.total * erase


def _us(text: str) -> float:
    """A time of the resolved config in microseconds."""
    for unit, factor in (("ns", 1e-3), ("us", 1.0), ("ms", 1e3), ("s", 1e6)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(f"{text!r} is no time")
