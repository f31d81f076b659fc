"""ETI's runs reduced to numbers, and the filter for runs that give no information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.claims import Filter
from floatgate.papers.kit.experiment import Experiment, Run, Workload

from .domain import LEAST_HOT, STAND_IN, TABLE_1
from .lines import PERIOD

if TYPE_CHECKING:
    from floatgate.analysis.hotness import Hotness
    from floatgate.results.result import Result


@dataclass(frozen=True)
class Point:
    """One run, reduced to the numbers for figures and claims. Shares are 0 to 1."""

    trace: str
    kind: str
    """Stand-in, excerpt, excerpt in a loop or captured."""
    line: str
    skew: str | None
    """Levels of axes, up to `seed`. None: the axis has no effect on the run."""
    cold: str | None
    drift: str | None
    copies: str | None
    unit: str | None
    merge: str | None
    mbf: str | None
    mhf: str | None
    seed: int
    write_amplification: float
    hot_share: float | None
    """Share of the host's page writes that go to any stream but the coldest."""
    hot_writes: float
    """Share of the trace's page writes that go to hot pages, as Table 1 defines hot."""
    ends: int | None
    """Largest number of different ends of writes in an ageing period of the trace. None for a
    generated trace."""
    victim_valid: float | None
    """Share of the pages in a victim that cleaning has to move."""
    memory_bytes: int
    extents_table: float | None
    """Mean number of extents over the write commands, as a share of the table."""
    in_last: float | None
    """Share of the write commands that begin in the extent found last. None, as in the next fields,
    if the scheme has no extents."""
    walk: float | None
    """Mean steps of a search that walks from the first extent, one extent a step."""
    walk_from_last: float | None
    halving: float | None
    """Mean steps of a binary search among all extents."""
    halving_from_last: float | None


@dataclass(frozen=True)
class Traced:
    """Measurements of a workload itself, without a drive or a scheme."""

    hot_writes: float
    ends: int | None = None


def facts_of(bench: Bench, work: Workload) -> Traced:
    """Measures a workload. A stand-in has the numbers of its row, and a real trace is measured over
    one pass."""
    if work.family == STAND_IN:
        row = next(row for row in TABLE_1 if row.name == work.name.partition(",")[0])
        return Traced(row.hot_share)
    share = hot_writes(bench.hotness(work.played.spec))
    return Traced(share, bench.write_ends(work.played, PERIOD))


def hot_writes(hotness: Hotness) -> float:
    hot, cold = hotness.means.hot_writes or 0.0, hotness.means.cold_writes or 0.0
    return hot / (hot + cold) if hot + cold else 0.0


def reduce(experiment: Experiment, run: Run, result: Result, traced: Traced) -> Point:
    placement = result.placement
    pages = [stream.host_pages for stream in placement.streams]
    mean, search = placement.extents_mean, placement.extent_search
    steps = ("walk", "walk_from_last", "halving", "halving_from_last")
    return Point(
        **run.named("skew", "cold", "drift", "copies", "unit", "merge", "mbf", "mhf"),
        kind=experiment.workload(run.workload).family,
        write_amplification=result.page_write_amplification or 1.0,
        hot_share=sum(pages[1:]) / sum(pages) if sum(pages) and len(pages) > 1 else None,
        hot_writes=traced.hot_writes,
        ends=traced.ends,
        victim_valid=result.cleaning.victim_valid_mean,
        memory_bytes=placement.memory_bytes,
        extents_table=mean / result.setting("eti.extents") if mean else None,
        in_last=(search.in_last or 0) / search.commands if search.commands else None,
        **{key: getattr(search, key) for key in steps},
    )


def lacks_hot_data(point: Point) -> bool:
    """Returns whether a smaller share of the writes goes to hot pages than on any trace of Table 1.
    The share is measured on the trace, without a drive or a scheme."""
    return point.hot_writes < LEAST_HOT


HOT_ENOUGH = Filter("with less hot data than any trace of Table 1", lacks_hot_data)
