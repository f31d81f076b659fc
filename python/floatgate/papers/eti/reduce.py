"""ETI's runs reduced to numbers, and which runs say nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.claims import Filter
from floatgate.papers.kit.experiment import Experiment, Run, Workload

from .domain import LEAST_HOT, STAND_IN, SYNTHETIC, TABLE_1
from .lines import PERIOD

if TYPE_CHECKING:
    from floatgate.analysis.hotness import Hotness
    from floatgate.results.result import Result


@dataclass(frozen=True)
class Point:
    """One run, reduced to what figures and claims are about. Shares are 0 to 1."""

    trace: str
    kind: str
    """Stand-in, excerpt, excerpt in a loop, captured or synthetic."""
    line: str
    skew: str | None
    """None here and below: it cannot matter to the run."""
    cold: str | None
    drift: str | None
    copies: str | None
    unit: str | None
    mbf: str | None
    mhf: str | None
    seed: int
    write_amplification: float
    hot_share: float | None
    """Of the pages that the host wrote, those in another stream than the coldest."""
    hot_writes: float
    """Of the trace's page writes, those to pages that are hot as Table 1 has it."""
    ends: int | None
    """The most different ends of the trace's writes in an ageing period; None if generated."""
    victim_valid: float | None
    """Of the pages of a cleaned unit, those that had to be moved."""
    memory_bytes: int
    extents_mean: float | None
    """Over the write commands."""
    extents_most: int | None
    extents_table: float | None
    """The mean as a share of those that there can be."""
    length: float
    """Mean pages of a write."""
    volumes: float
    """Pages written in the measured part, in volumes of the drive."""


@dataclass(frozen=True)
class Traced:
    """What is measured on a workload itself, with no drive and no scheme."""

    hot_writes: float
    ends: int | None = None
    """As in a point."""


def facts_of(bench: Bench, work: Workload) -> Traced:
    """Of a stand-in as its row has it, of a real trace as it is in one pass; synthetic loads are no
    traces."""
    if work.family == STAND_IN:
        row = next(row for row in TABLE_1 if row.name == work.name.partition(",")[0])
        return Traced(row.hot_writes / (row.hot_writes + row.cold_writes))
    if work.family == SYNTHETIC:
        return Traced(1.0)
    share = hot_writes(bench.hotness(work.played.spec))
    return Traced(share, bench.write_ends(work.played, PERIOD))


def hot_writes(hotness: Hotness) -> float:
    """The share of the page writes that goes to hot pages."""
    hot, cold = hotness.means.hot_writes or 0.0, hotness.means.cold_writes or 0.0
    return hot / (hot + cold) if hot + cold else 0.0


def reduce(experiment: Experiment, run: Run, result: Result, traced: Traced) -> Point:
    placement, work = result.placement, result.workload
    pages = [stream.host_pages for stream in placement.streams]
    mean = placement.extents_mean
    return Point(
        **run.named("skew", "cold", "drift", "copies", "unit", "mbf", "mhf"),
        kind=experiment.workload(run.workload).family,
        write_amplification=result.page_write_amplification or 1.0,
        hot_share=sum(pages[1:]) / sum(pages) if sum(pages) and len(pages) > 1 else None,
        hot_writes=traced.hot_writes,
        ends=traced.ends,
        victim_valid=result.cleaning.victim_valid_mean,
        memory_bytes=placement.memory_bytes,
        extents_mean=mean,
        extents_most=placement.extents_most,
        extents_table=mean / result.setting("eti.extents") if mean else None,
        length=work.write_pages / max(work.writes, 1),
        volumes=work.write_pages / result.drive.logical_pages,
    )


def lacks_hot_data(point: Point) -> bool:
    """Whether a smaller share of the writes goes to hot pages than in any trace of Table 1. It is
    measured on the trace, with no drive and no scheme."""
    return point.hot_writes < LEAST_HOT


HOT_ENOUGH = Filter("with less hot data than any trace of Table 1", lacks_hot_data)
