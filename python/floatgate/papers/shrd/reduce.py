"""SHRD's runs reduced to numbers, and the filter for runs that give no information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floatgate import _core
from floatgate.papers.kit.claims import Filter
from floatgate.papers.kit.experiment import Experiment, Run

from .domain import PAGE, TOGETHER
from .workloads import BURST, BURSTS, OPEN, PERIOD, RATES

if TYPE_CHECKING:
    from floatgate.results.result import Result


AXES = "controller", "log", "window", "cache", "outstanding", "share", "threshold", "remaps"


@dataclass(frozen=True)
class Point:
    """One run, reduced to the numbers for figures and claims."""

    trace: str
    family: str
    """Kind of the workload: "random writes", or a file system."""
    line: str
    controller: str | None
    """Levels of axes, up to `span`. None: the axis has no effect on the run."""
    log: str | None
    window: str | None
    """Size of the window, as a share of the log."""
    cache: str | None
    spare: str | None
    outstanding: str | None
    share: str | None
    """Cache size, relative to the map of the pages that a capture touches."""
    threshold: str | None
    remaps: str | None
    """Activity of the host during a remap."""
    seed: int
    span: str | None
    """None for a capture, whose device has a fixed size."""
    cache_bytes: int
    seconds: float
    """Time that all requests take."""
    iops: float
    mean_us: float
    mean_read_us: float | None
    mean_write_us: float | None
    offered: float | None
    """Requests that arrive in a second. None if each request waits for another."""
    commands: float
    """Commands per request."""
    loads: float
    """Map pages read for the host and for remaps, per page of 4 KiB written."""
    data_programs: float
    """Pages of data programmed per page written: all pages minus the map pages that the map's own
    cache counts. A partial last map page counts as whole, so the number is slightly too small. If
    half of the drive is spare, it is exact."""
    copies: float
    """Pages of data that cleaning programs; `data_programs` includes them."""
    window_pages: float | None
    """Pages in one remap."""
    map_pages: float
    write_bytes: float
    """Mean size of a write request."""
    in_log: float
    """Share of the written pages whose log slots were still in use at the end."""

    @property
    def bandwidth(self) -> float:
        """Returns bytes written a second, for a workload of writes."""
        return self.iops * self.write_bytes

    @property
    def settled_loads(self) -> float:
        """Returns the map pages read per page that has left the log. A page still in the log has
        caused no read for its own map entry."""
        return self.loads / (1 - self.in_log)


def reduce(experiment: Experiment, run: Run, result: Result, _: object = None) -> Point:
    work = result.workload
    reads, programs, host = result.flash.reads, result.flash.programs, result.host
    written, latency = max(work.write_pages, 1), result.latency
    map_programs = TOGETHER * (result.mapping.dirty_evictions or 0)
    iops = result.throughput.iops or 0.0
    cache_bytes = _core.size_bytes(result.config["mapping"]["cache"])
    assert cache_bytes is not None, "the engine writes sizes that it reads"
    kind, *of = run.workload.split(", ")
    return Point(
        **run.named(*AXES),
        family=experiment.workload(run.workload).family,
        spare=run.at("room") or run.at("spare"),
        span=of[-1] if of else None,
        cache_bytes=cache_bytes,
        seconds=work.requests / iops if iops else 0.0,
        iops=iops,
        mean_us=latency.all.mean_us or 0.0,
        mean_read_us=latency.read.mean_us,
        mean_write_us=latency.write.mean_us,
        offered=_offered(kind, of),
        commands=host.commands / work.requests,
        loads=(reads.map + reads.remap) / TOGETHER / written,
        data_programs=(programs.total - map_programs) / written,
        copies=programs.gc / written,
        window_pages=host.remapped_pages / host.windows if host.windows else None,
        map_pages=result.drive.translation_pages / TOGETHER,
        write_bytes=written * PAGE / max(work.writes, 1),
        in_log=host.log_pages_used / written,
    )


def _offered(kind: str, of: Sequence[str]) -> float | None:
    if kind == BURSTS:
        return BURST / PERIOD
    return float(RATES[of[0]]) if kind == OPEN else None


SERVED = 0.95
"""Smallest share of the arriving requests that a drive without a backlog serves. Random arrivals
and the end of a run leave about one in twenty over."""


def backlogged(point: Point) -> bool:
    """Returns whether requests come faster than the drive serves them. Response times then grow
    with the length of the run, and no longer depend on the scheme alone."""
    return point.offered is not None and point.iops < SERVED * point.offered


BACKLOG = Filter("with a backlog", backlogged)
