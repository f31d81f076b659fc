"""ASA-FTL's runs reduced to numbers, and the filter for runs that give no information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floatgate.papers.kit.batch import OVERWRITTEN, Bench
from floatgate.papers.kit.claims import Filter, is_backlogged
from floatgate.papers.kit.experiment import Experiment, Run, Workload

if TYPE_CHECKING:
    from floatgate.result_types import StreamPages
    from floatgate.results.result import Result

LABELS = 3
"""Hot, warm and cold."""


@dataclass(frozen=True)
class Point:
    """One run, reduced to the numbers for figures and claims. Shares and ratios are 0 to 1."""

    trace: str
    family: str
    """Workload of the paper for which `trace` stands."""
    line: str
    """Key of the FTL with its parameters, e.g. "asa-bytes"."""
    spare: str | None
    """Levels of axes, up to `seed`. None: the axis has no effect on the run."""
    cache: str | None
    """Cache size, as a share of DFTL's map."""
    start: str | None
    arrivals: str | None
    seed: int
    data_copies: int
    map_copies: int
    """Translation pages that cleaning moved, or wrote because data had moved."""
    erases: int
    mean_us: float
    hit_ratio: float
    emergency: float
    """Share of cleans that bypassed CAT because too few units were free."""
    utilization: float
    queue_share: float
    """Share of the mean response time spent waiting for room in the command queue."""
    cleaning_time: float
    """Share of the mean response time that is attributed to cleaning."""
    sample_reads: float
    """Number of map reads for samples, relative to all other reads of the flash."""
    volumes: float
    """Pages written by the host, in volumes of the drive."""
    hot_as_hot: float | None
    """Share of the host's writes to the hot zone that were labelled hot. None, as in the next
    fields, without a hot zone or without three labels."""
    hot_as_warm: float | None
    cold_as_hot: float | None
    """Share of the host's writes to all other pages that were labelled hot."""
    cold_as_warm: float | None
    write_bytes: float | None
    """Mean size of a write. None for a generator."""
    gini: float | None
    """Gini coefficient of the writes of an excerpt per written page. None for a generator."""
    overwrites: float | None
    """Mean number of writes to each written page of 4 KiB in a round of an excerpt. None for a
    generator."""


@dataclass(frozen=True)
class Round:
    """Measurements of the writes in a round of an excerpt, as in `Point`."""

    write_bytes: float | None = None
    gini: float | None = None
    overwrites: float | None = None


def round_of(bench: Bench, work: Workload) -> Round:
    played = work.played
    if not played.dense:
        return Round()
    gini = bench.hotness(played.spec).skew.gini
    return Round(bench.write_bytes(played), gini, bench.overwrites(played))


def reduce(experiment: Experiment, run: Run, result: Result, in_round: Round) -> Point:
    flash, cleans, latency = result.flash, result.cleaning, result.latency
    mean = latency.all.mean_us or 0.0
    return Point(
        **run.named("spare", "cache", "start", "arrivals"),
        family=experiment.workload(run.workload).family,
        data_copies=flash.programs.gc,
        map_copies=flash.programs.gc_map,
        erases=flash.erases.total,
        mean_us=mean,
        hit_ratio=result.mapping.hit_ratio or 0.0,
        emergency=cleans.emergency / cleans.foreground if cleans.foreground else 0.0,
        utilization=result.throughput.utilization or 0.0,
        queue_share=(latency.blame_us.queue or 0.0) / mean if mean else 0.0,
        cleaning_time=(latency.blame_us.gc or 0.0) / mean if mean else 0.0,
        sample_reads=_sample_reads(result),
        volumes=result.workload.volumes_written,
        **_labels(result.placement.streams),
        **vars(in_round),
    )


def _labels(streams: Sequence[StreamPages]) -> dict[str, Any]:
    """Returns the shares of writes by zone and label. Streams are labels, from cold to hot."""
    shares: dict[str, Any] = {}
    hot = [stream.hot_pages for stream in streams]
    cold = [stream.host_pages - stream.hot_pages for stream in streams]
    for zone, pages in {"hot": hot, "cold": cold}.items():
        known = len(pages) == LABELS and sum(hot) > 0
        _, warm, hottest = [n / sum(pages) for n in pages] if known else (None, None, None)
        shares |= {f"{zone}_as_hot": hottest, f"{zone}_as_warm": warm}
    return shares


def _sample_reads(result: Result) -> float:
    """Returns `Point.sample_reads`. Without other reads it is 1 if there are samples, else 0."""
    samples = result.placement.sample_reads
    others = result.flash.reads.total - samples
    return samples / others if others else float(samples > 0)


def is_left_out(point: Point) -> bool:
    backlog = is_backlogged(point)
    once = point.overwrites is not None and point.overwrites < OVERWRITTEN
    # In a loop, whole units can become invalid before they are cleaned.
    idle = point.line == "dftl" and point.data_copies == 0
    return backlog or once or idle


LEFT_OUT = Filter("with a backlog, few overwrites, or no copies with DFTL", is_left_out)
