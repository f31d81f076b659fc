"""Running ASA-FTL's experiment: workloads, lines, and what a run is reduced to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .batch import Bench, Played, Task

if TYPE_CHECKING:
    from floatgate.result import Result

DEVICE = "asa14"
PAGE = 2048

FINANCIAL1, CAMBRIDGE, TPCC, SYNTH = "Financial1", "Cambridge", "TPCC", "synth"


@dataclass(frozen=True)
class Workload:
    """What is played: its name in the figures, which of the paper's it stands for, and how."""

    name: str
    family: str
    played: Played
    pages: int
    """Of the drive, for the size of a cache."""
    set: Mapping[str, str]
    """What holds for all its runs."""


@dataclass(frozen=True)
class Line:
    """An FTL with its settings."""

    key: str
    label: str
    set: Mapping[str, str] = field(default_factory=dict)
    bytes_per_entry: int = 8
    """Of cache, for each entry of the share of the map that is cached."""


CLOSED = {"queue.arrivals": "closed", "queue.depth": "1"}
"""One request at a time, the next when it is done."""

DFTL = {"mapping.scheme": "dftl", "placement.scheme": "single"}

LINES = (
    Line("dftl", "DFTL", DFTL),
    Line("asa-bytes", "ASA-FTL, the same bytes"),
    Line("asa-entries", "ASA-FTL, as many entries", bytes_per_entry=16),
    Line("asa-free", "ASA-FTL, DFTL's map", DFTL | {"placement.scheme": "asa"}),
    Line(
        "oracle",
        "DFTL, lifetimes known",
        {
            "mapping.scheme": "dftl",
            "placement.scheme": "oracle",
            "oracle.streams": "4",
            "oracle.factor": "8",
            "cleaning.low_water": "6",
        },
    ),
)
"""DFTL has 8 bytes a cached entry and 4 on flash, ASA-FTL 16 and 8. With DFTL's map, the ages cost
nothing: what the partitions do by themselves."""

VARIANTS = (
    Line("asa-log", "ASA-FTL, logarithms of ages", {"asa.log1p": "true"}, 16),
    Line("asa-lpn", "ASA-FTL, samples of all pages", {"asa.sample_source": "random_lpn"}, 16),
    Line("asa-relabel", "ASA-FTL, copies relabelled", {"asa.relabel_on_gc": "true"}, 16),
)
"""Other readings, all with as many entries as DFTL."""

CACHED = 0.25
"""Of DFTL's map, what is cached: a drive may so be small or large."""
OTHER_CACHES = (1 / 16, 1 / 8, 1 / 2, 1.0)

SPARE = "0.07"
"""As in the other papers' experiments here. With the preset's 3%, a drive of an excerpt's size has
no more spare blocks than partitions and the map keep open."""
OTHER_SPARES = ("0.03", "0.15")


@dataclass(frozen=True)
class Point:
    """One run. Ratios are to DFTL on the same workload and drive: 1 is as much."""

    trace: str
    family: str
    line: str
    spare: float
    cached: float
    """The entries of DFTL's cache, as a share of its map."""
    arrivals: str
    write_amplification: float
    gc_reads: int
    """Pages read by cleaning, those of the map included."""
    gc_writes: int
    erases: int
    mean_us: float
    gc_reads_ratio: float | None
    gc_writes_ratio: float | None
    erases_ratio: float | None
    mean_ratio: float | None
    volumes: float
    """Pages written by the host, in volumes of the drive."""
    hit_ratio: float | None


RATIOS = {
    "gc_reads_ratio": "GC page reads",
    "gc_writes_ratio": "GC page writes",
    "erases_ratio": "block erasures",
    "mean_ratio": "mean response time",
}


def simulate(
    bench: Bench,
    works: Sequence[Workload],
    lines: Sequence[Line],
    spare: str = SPARE,
    cached: float = CACHED,
) -> list[tuple[Point, Result]]:
    """Every line on every workload; the first line is what ratios are to."""
    cases = [(work, line) for work in works for line in lines]
    tasks = [
        Task(
            work.played,
            {
                "capacity.spare_factor": spare,
                "mapping.cache": f"{int(work.pages * cached) * line.bytes_per_entry}B",
                **work.set,
                **line.set,
            },
        )
        for work, line in cases
    ]
    results = bench.run(tasks)
    found = []
    for (work, line), result in zip(cases, results, strict=True):
        base = results[works.index(work) * len(lines)]
        found.append((reduce(work, line, cached, result, base), result))
    return found


def reduce(work: Workload, line: Line, cached: float, result: Result, base: Result) -> Point:
    """The numbers of a run that figures and claims are about."""
    ours, theirs = _counts(result), _counts(base)
    ratios = [a / b if b else None for a, b in zip(ours, theirs, strict=True)]
    return Point(
        trace=work.name,
        family=work.family,
        line=line.key,
        spare=result.config["capacity"]["spare_factor"],
        cached=cached,
        arrivals=result.config["queue"]["arrivals"],
        write_amplification=result.data_write_amplification or 1.0,
        gc_reads=int(ours[0]),
        gc_writes=int(ours[1]),
        erases=int(ours[2]),
        mean_us=ours[3],
        gc_reads_ratio=ratios[0],
        gc_writes_ratio=ratios[1],
        erases_ratio=ratios[2],
        mean_ratio=ratios[3],
        volumes=result.workload.write_pages / result.drive.logical_pages,
        hit_ratio=result.mapping.hit_ratio,
    )


def _counts(result: Result) -> tuple[float, float, float, float]:
    flash = result.flash
    return (
        flash.reads.gc + flash.reads.gc_map,
        flash.programs.gc + flash.programs.gc_map,
        flash.erases.total,
        result.latency.all.mean_us or 0.0,
    )
