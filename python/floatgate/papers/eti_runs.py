"""Running ETI's experiment: workloads and schemes, and what of a run is about write amplification.

A model at 1/k has of everything that has a size or a period 1/k: blocks, the pages of a row,
extents of ETI, bits of a filter, counters, lists, and the writes from one ageing to the next. What
is left as it is are writes, in length, and blocks, in pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING

from .batch import Bench, Played, Task

if TYPE_CHECKING:
    from floatgate.result import Result

DEVICE = "eti16"
BLOCKS = 32_768
PAGES_PER_BLOCK = 128
SPARE = 0.07
VOLUMES = 2
"""Of trace that are played, in volumes of the drive."""

STAND_IN, CAPTURED, EXCERPT, SYNTHETIC = "stand-in", "captured", "excerpt", "synthetic"

SIZES = {
    "eti.extents": 2048,
    "eti.decay_period": 4096,
    "mbf.bits": 2048,
    "mbf.clear_every": 4096,
    "mhf.counters": 2048,
    "mhf.decay_period": 4096,
    "direct.decay_period": 4096,
    "lru_lists.hot": 512,
    "lru_lists.candidates": 1024,
}
"""What a model has less of, as the paper, or the default, has it."""


@dataclass(frozen=True)
class TableRow:
    """A row of the paper's Table 1: means per GB of writes, in pages of 4 KiB."""

    name: str
    hot_pages: int
    cold_pages: int
    hot_writes: int
    cold_writes: int
    length: float


TABLE_1 = (
    TableRow("proj_0", 23_500, 39_800, 181_700, 62_100, 10.2),
    TableRow("src1_2", 21_200, 41_700, 172_900, 67_800, 8.2),
    TableRow("src2_0", 7_100, 29_300, 157_800, 55_000, 1.9),
    TableRow("usr_0", 6_100, 36_000, 163_100, 63_800, 2.6),
    TableRow("SW1", 2_100, 198_000, 9_600, 222_000, 21.6),
)
MSR = tuple(row.name for row in TABLE_1[:4])


@dataclass(frozen=True)
class Workload:
    """What is played, on a drive of how many blocks."""

    name: str
    kind: str
    played: Played
    blocks: int
    writes: int | None = None
    """Requests of a generator, which its text ends with."""


@dataclass(frozen=True)
class Scheme:
    """A way to tell hot from cold, with its parameters."""

    key: str
    label: str
    group: str
    placement: str
    set: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Point:
    """One run. Shares are 0 to 1."""

    trace: str
    kind: str
    """Stand-in, captured, excerpt or synthetic."""
    line: str
    victim: str
    write_amplification: float
    hot_share: float | None
    """Of the pages that the host wrote, those in another stream than the coldest."""
    victim_valid: float | None
    """Of the pages of a cleaned unit, those that had to be moved."""
    memory_bytes: int
    extents: int | None
    """At the end of the run."""
    length: float
    """Mean pages of a write."""
    volumes: float
    """Pages written in the measured part, in volumes of the drive."""


@dataclass(frozen=True)
class Extents:
    """Extents in use, at several moments of one workload."""

    trace: str
    kind: str
    mean: float
    most: int
    table: int
    """Extents that there can be."""


def pages_of(blocks: int) -> int:
    """Logical pages of a drive."""
    return int((1 - SPARE) * blocks * PAGES_PER_BLOCK)


def blocks_for(pages: int) -> int:
    """The smallest drive that holds so many logical pages."""
    blocks = int(pages / ((1 - SPARE) * PAGES_PER_BLOCK))
    while pages_of(blocks) < pages:
        blocks += 1
    return blocks


def generator(row: TableRow, scale: int, writes: int) -> str:
    """The text of a row's stand-in in a model at 1/scale."""
    if scale == 1:
        return f"fitted:row={row.name},writes={writes}"
    names = ("hot_pages", "cold_pages", "hot_writes", "cold_writes")
    parts = ",".join(f"{name}={getattr(row, name) // scale}" for name in names)
    return f"fitted:row={row.name},{parts},length={row.length},writes={writes}"


def stand_in(row: TableRow, scale: int) -> Workload:
    """The paper's protocol: two volumes of the trace on its drive, or a model of both."""
    return two_volumes(row, scale, BLOCKS // scale)


def two_volumes(row: TableRow, scale: int, blocks: int) -> Workload:
    """A row's stand-in on a drive of so many blocks."""
    writes = round(VOLUMES * pages_of(blocks) / row.length)
    return Workload(row.name, STAND_IN, Played(generator(row, scale, writes)), blocks, writes)


def simulate(
    bench: Bench,
    cases: Sequence[tuple[Workload, Scheme]],
    scale: int = 1,
    victim: str = "greedy",
) -> list[tuple[Point, Result]]:
    """Runs every case."""
    tasks = [
        Task(
            work.played,
            settings(work, scale)
            | {"cleaning.victim": victim, "placement.scheme": scheme.placement}
            | shrunk(scheme.set, scale if work.kind == STAND_IN else 1),
        )
        for work, scheme in cases
    ]
    return [
        (reduce(work, scheme, victim, result), result)
        for (work, scheme), result in zip(cases, bench.run(tasks), strict=True)
    ]


def settings(work: Workload, scale: int) -> dict[str, str]:
    """What all runs of a workload have in common."""
    sizes = {key: str(size) for key, size in SIZES.items()}
    model = shrunk(sizes, scale) if work.kind == STAND_IN and scale > 1 else {}
    return {"flash.blocks": str(work.blocks), **model}


def shrunk(set: Mapping[str, str], scale: int) -> dict[str, str]:
    """The settings in a model at 1/scale."""
    return {key: str(int(value) // scale) if key in SIZES else value for key, value in set.items()}


def reduce(work: Workload, scheme: Scheme, victim: str, result: Result) -> Point:
    """The numbers of a run that figures and claims are about."""
    streams = result.placement.streams
    written = sum(stream.host_pages for stream in streams)
    hot = sum(stream.host_pages for stream in streams[1:])
    return Point(
        trace=work.name,
        kind=work.kind,
        line=scheme.key,
        victim=victim,
        write_amplification=result.write_amplification or 1.0,
        hot_share=hot / written if written and len(streams) > 1 else None,
        victim_valid=result.cleaning.victim_valid_mean,
        memory_bytes=result.placement.memory_bytes,
        extents=result.placement.extents,
        length=result.workload.write_pages / max(result.workload.writes, 1),
        volumes=result.workload.write_pages / result.drive.logical_pages,
    )


def sample_extents(
    bench: Bench, works: Iterable[Workload], scale: int, moments: int
) -> list[Extents]:
    """How many extents ETI has at several moments of each workload, evenly from its middle on.

    Extents depend on nothing but the commands, so the drive is not filled before. Each moment is a
    run that ends there.
    """
    found = []
    for work in works:
        ends = [(moments + n + 0.5) / (2 * moments) for n in range(moments)]
        results = bench.run([_until(work, scale, share) for share in ends])
        counts = [result.placement.extents or 0 for result in results]
        table = SIZES["eti.extents"] // (scale if work.kind == STAND_IN else 1)
        found.append(Extents(work.name, work.kind, fmean(counts), max(counts), table))
    return found


def _until(work: Workload, scale: int, share: float) -> Task:
    """ETI on the first part of a workload, and nothing before."""
    chosen = settings(work, scale) | {"placement.scheme": "eti", "start.fill": "none"}
    played = work.played
    if played.repeat > 1:
        return Task(replace(played, repeat=max(1, round(share * played.repeat))), chosen)
    spec, limit = played.spec, played.limit
    if limit is not None:
        return Task(replace(played, limit=max(1, round(share * limit))), chosen)
    assert work.writes is not None, "a trace has a limit, a generator has writes"
    part = round(share * work.writes)
    return Task(Played(f"{spec.removesuffix(str(work.writes))}{part}"), chosen)
