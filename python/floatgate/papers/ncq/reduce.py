"""The NCQ-aware buffer's runs reduced to numbers, and the filter for idle drives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floatgate.papers.kit.claims import Filter
from floatgate.papers.kit.experiment import Experiment, Run

from .domain import SMALLEST

if TYPE_CHECKING:
    from floatgate.results.result import Result


@dataclass(frozen=True)
class Point:
    """One run, reduced to the numbers for figures and claims. Shares and ratios are 0 to 1."""

    trace: str
    line: str
    """Key of the scheme, e.g. "ncq". The reading of the paper is part of it."""
    buffer_mib: int
    span: str
    speed: str
    alignment: str
    arrivals: str
    otherwise: str
    seed: int
    hit_ratio: float
    """Share of the commands' pages that are found in the buffer."""
    write_mb_s: float
    iops: float
    busy: float
    """Share of the time in which the drive serves a command."""
    waiting: float
    """Mean number of waiting commands, at most the queue's depth."""
    write_amplification: float
    switch: float
    """Merges per command. The next fields have this unit, too."""
    partial: float
    full: float


def reduce(experiment: Experiment, run: Run, result: Result, _: object = None) -> Point:
    hits, through = result.buffer.hit_ratio, result.throughput
    assert hits is not None and through.write_mb_s is not None and through.iops is not None
    mean_us, queue_us = result.latency.all.mean_us or 0.0, result.latency.blame_us.queue or 0.0
    depth = int(result.config["queue"]["depth"])
    scheme, _, size = run.line.partition(", ")
    commands = result.workload.requests
    # A default that changes nothing is no level of the run.
    axes = ("span", "speed", "alignment", "arrivals", "otherwise")
    levels = {axis: run.at(axis) or experiment.axis(axis).default for axis in axes}
    levels["otherwise"] = run.at("worst") or levels["otherwise"]
    return Point(
        trace=run.workload,
        line=scheme,
        buffer_mib=int(size.split()[0]),
        **levels,
        seed=run.seed,
        hit_ratio=hits,
        write_mb_s=through.write_mb_s,
        iops=through.iops,
        busy=through.iops * (mean_us - queue_us) / 1e6,
        waiting=min(depth - 1.0, through.iops * queue_us / 1e6),
        write_amplification=result.page_write_amplification or 0.0,
        switch=result.merges.switch / commands,
        partial=result.merges.partial / commands,
        full=result.merges.full / commands,
    )


BUSY = 0.95
"""Minimum share of busy time of a drive that counts as always busy."""


def keeps_up(point: Point) -> bool:
    """Returns whether the drive keeps up with all requests with LRU and the smallest buffer. Then
    no buffer can change its bandwidth, and the queue is nearly empty."""
    return point.line == "lru" and point.buffer_mib == SMALLEST and point.busy < BUSY


IDLE = Filter("where the drive keeps up with LRU and 1 MiB", keeps_up)
