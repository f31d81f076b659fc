"""Running the NCQ-aware buffer's experiment: workloads, lines, setups, and what a run comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .batch import Bench, Played, Task

if TYPE_CHECKING:
    from floatgate.result import Result

DEVICE = "ncq13"
MIB = 1 << 20
DEPTH = 32

SIZES = (1, 2, 4, 8, 16, 32)
"""Of the buffer, in MiB. The paper's axis begins at 1; where it ends is not known."""


@dataclass(frozen=True)
class Workload:
    """A row of the paper's Table I."""

    name: str
    record: int
    """Bytes."""
    interarrival: str
    """The mean."""


WORKLOADS = (
    Workload("Workload 1", MIB // 4, "0.83ms"),
    Workload("Workload 2", MIB, "5.02ms"),
)
FIRST, SECOND = (work.name for work in WORKLOADS)


@dataclass(frozen=True)
class Line:
    """A buffer with its settings."""

    key: str
    label: str
    set: Mapping[str, str]


LINES = (
    Line("lru", "LRU", {"buffer.scheme": "lru"}),
    Line("ncq", "NCQ-aware LRU", {"buffer.scheme": "ncq_lru"}),
    Line("fab", "FAB", {"buffer.scheme": "fab"}),
    Line("bplru", "BPLRU", {"buffer.scheme": "bplru"}),
    Line("clc", "CLC", {"buffer.scheme": "clc"}),
    Line("belady", "Bound", {"buffer.scheme": "belady"}),
)
READINGS = (
    Line(
        "ncq-arrival",
        "NCQ-aware, pins on arrival only",
        {"buffer.scheme": "ncq_lru", "ncq_lru.pin": "on_arrival_only"},
    ),
    Line(
        "ncq-move",
        "NCQ-aware, moves only",
        {"buffer.scheme": "ncq_lru", "ncq_lru.pin": "move_only"},
    ),
)
"""The paper's text taken by the letter."""
PAIR = LINES[:2]


@dataclass(frozen=True)
class Setup:
    """What the paper leaves open, one way."""

    key: str
    label: str
    set: Mapping[str, str] = field(default_factory=dict)
    keys: str = ""
    """Further keys of the generator."""
    arrivals: str = "exponential"
    """How arrivals are spread; "": none, the queue is kept full."""
    span: int = 256 * MIB


def ways(channels: int, dies: int) -> dict[str, str]:
    """The block of 32 pages over so many dies, an erase taking its share of 2 ms."""
    dies_in_all = channels * dies
    return {
        "flash.channels": str(channels),
        "flash.dies": str(dies),
        "flash.superblock": str(dies_in_all),
        "flash.pages_per_block": str(32 // dies_in_all),
        "flash.erase": f"{2_000_000 // dies_in_all}ns",
    }


MAIN = Setup("main", "As the preset has it")
FASTER = Setup("ways-32", "32 ways", ways(8, 4))
"""Some 300 MB/s: a little less than workload 1 offers, and more than workload 2 does."""
SETUPS = (
    FASTER,
    Setup("fixed", "Arrivals at fixed times", arrivals="fixed"),
    Setup("full-queue", "Queue kept full", arrivals=""),
    Setup("depth-128", "128 commands in the queue", {"queue.depth": "128"}),
    Setup("span", "Span of 1 GiB", span=1024 * MIB),
    Setup("ways-32-fixed", "32 ways, arrivals at fixed times", ways(8, 4), arrivals="fixed"),
    Setup("ways-1", "One chip", ways(1, 1)),
    Setup("fast", "FAST", {"ftl.scheme": "fast"}),
    Setup("page", "Page-mapped", {"ftl.scheme": "page"}),
    Setup("align", "Records at any 4 KiB", keys=",align=4KiB"),
    Setup("align-fast", "Records at any 4 KiB, FAST", {"ftl.scheme": "fast"}, ",align=4KiB"),
    Setup("reads", "A third of reads", keys=",reads=0.33"),
)


@dataclass(frozen=True)
class Point:
    """One run. Gains are over LRU with the same workload, drive and size."""

    trace: str
    line: str
    setup: str
    buffer_mib: int
    hit_ratio: float
    write_mb_s: float
    iops: float
    hit_gain: float
    """A difference of hit ratios."""
    bandwidth_gain: float
    """A relative change, as that of `iops_gain`."""
    iops_gain: float
    busy: float
    """Share of the time in which the drive serves a command."""
    waiting: float
    """Commands that wait, on average, at most as many as the queue holds."""
    write_amplification: float
    switch: int
    partial: int
    full: int


def simulate(
    bench: Bench,
    commands: Mapping[str, int],
    setup: Setup,
    lines: Sequence[Line],
    sizes: Sequence[int] = SIZES,
) -> list[tuple[Point, Result]]:
    """Every line with every size on both workloads; the first line is what gains are over."""
    cases = [(work, size, line) for work in WORKLOADS for size in sizes for line in lines]
    tasks = [
        Task(
            played(work, setup, commands[work.name]),
            {**setup.set, **line.set, "buffer.capacity": f"{size}MiB"},
        )
        for work, size, line in cases
    ]
    results = bench.run(tasks)
    found = []
    for i, ((work, size, line), result) in enumerate(zip(cases, results, strict=True)):
        base = results[i - i % len(lines)]
        found.append((_reduce(work, setup, size, line, result, base), result))
    return found


def played(work: Workload, setup: Setup, commands: int) -> Played:
    """Iometer's records at random places."""
    spec = f"iometer:span={setup.span // MIB}MiB,size={work.record // 1024}KiB,requests={commands}"
    if setup.arrivals:
        spec += f",interarrival={work.interarrival},arrivals={setup.arrivals}"
    return Played(spec + setup.keys)


def _reduce(
    work: Workload, setup: Setup, size: int, line: Line, result: Result, base: Result
) -> Point:
    hits, bandwidth, iops = _rates(result)
    hits_before, bandwidth_before, iops_before = _rates(base)
    mean_us, queue_us = result.latency.all.mean_us or 0.0, result.latency.blame_us.queue or 0.0
    depth = int(result.config["queue"]["depth"])
    return Point(
        trace=work.name,
        line=line.key,
        setup=setup.key,
        buffer_mib=size,
        hit_ratio=hits,
        write_mb_s=bandwidth,
        iops=iops,
        hit_gain=hits - hits_before,
        bandwidth_gain=bandwidth / bandwidth_before - 1,
        iops_gain=iops / iops_before - 1,
        busy=iops * (mean_us - queue_us) / 1e6,
        waiting=min(depth - 1.0, iops * queue_us / 1e6),
        write_amplification=result.write_amplification or 0.0,
        switch=result.merges.switch,
        partial=result.merges.partial,
        full=result.merges.full,
    )


def _rates(result: Result) -> tuple[float, float, float]:
    """Hit ratio, MB/s and IOPS; every run writes, so there are all three."""
    hits, through = result.buffer.hit_ratio, result.throughput
    assert hits is not None and through.write_mb_s is not None and through.iops is not None
    return hits, through.write_mb_s, through.iops
