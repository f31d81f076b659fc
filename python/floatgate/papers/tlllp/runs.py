"""TLLLP's experiment as data: what is compared, on what, and what the paper leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import (
    Axis,
    ByFootprint,
    Choice,
    Experiment,
    Line,
    Run,
    Workload,
)
from floatgate.papers.kit.judging import Filter
from floatgate.papers.kit.trace_files import Source

if TYPE_CHECKING:
    from floatgate.result import Result

DEVICE = "tlllp17"
ENTRY = 8
"""Bytes of a cached entry, for the size of a whole map."""
LEAST_CACHE = 4 << 10
"""Bytes: no scheme works with less."""

FINANCIAL1, WEBSEARCH, MSR = "Financial1", "WebSearch", "MSR"
FINANCIAL2, CAPTURED = "Financial2", "not in the paper"
NO_CACHE, DFTL, TLLLP, FREE = "No Cache", "DFTL", "TLLLP", "TLLLP, nodes for nothing"
EMPTY = "TLLLP, cache empty at first"
"""Workloads and lines as the paper has them; the last two are ours, for what nodes cost, and what
they take."""

CLEANED = frozenset({"start", "spare"})
MAPPED = frozenset({"cache"})
COUNTED = frozenset({"start", "spare", "arrivals"})
"""What cannot matter to which entries a cache holds that begins empty."""


@dataclass(frozen=True)
class Excerpt:
    """A trace in the directory of traces."""

    source: Source
    ignores: frozenset[str] = frozenset()
    slow: frozenset[str] = frozenset()

    def workload(self, file: Path) -> Workload:
        source = self.source
        played = Played(str(file), source.limit)
        return Workload(source.name, source.family, played, self.ignores, self.slow)


FINANCIAL1_10K, FINANCIAL1_50K = "Financial1, 10k requests", "Financial1, 50k requests"
WEBSEARCH_25K = "WebSearch, 25k requests"
MSR_READS, MSR_BUSY = "MSR, 20% reads, 10k requests", "MSR, most throughput, 10k requests"

EXCERPTS = (
    Excerpt(Source(FINANCIAL1_10K, FINANCIAL1, "umass-financial1-10k.ascii.zst")),
    Excerpt(Source(FINANCIAL1_50K, FINANCIAL1, "umass-financial1-50k-pages.trace.zst")),
    # It writes 16 pages of 186,600: there is nothing to clean, whatever the start and the spare.
    Excerpt(Source(WEBSEARCH_25K, WEBSEARCH, "umass-websearch-25k.trace.zst"), CLEANED),
    # Spans of 0.9 GiB, to fill which takes most of the time.
    Excerpt(Source(MSR_READS, MSR, "msr-sample-rw20-80-10k.trace.zst"), slow=frozenset({"aged"})),
    Excerpt(Source(MSR_BUSY, MSR, "msr-sample-most-thpt-10k.trace.zst"), slow=frozenset({"aged"})),
)

CAPTURES = (
    Excerpt(
        Source(
            "pgbench on ext4, 100k requests", CAPTURED, "capture-pgbench-ext4-656k.csv.zst", 100_000
        )
    ),
    Excerpt(
        Source(
            "RocksDB on ext4, 20k requests", CAPTURED, "capture-rocksdb-ext4-905k.csv.zst", 20_000
        )
    ),
    Excerpt(
        Source(
            "postmark on f2fs, 100k requests",
            CAPTURED,
            "capture-postmark-f2fs-996k.csv.zst",
            100_000,
        )
    ),
)

FITTED = Workload(
    "stand-in for Financial2",
    FINANCIAL2,
    Played(
        "zipf:span=128MiB,size=2560B,aligned=false,theta=0.99,reads=0.82,requests=10k,"
        "arrivals=exponential,interarrival=11ms"
    ),
    random=True,
)
"""18 % writes of 2.4 KB are published of Financial2 (Zhou et al., EuroSys 2015); how its requests
lie is not. Skew and span are ours, so that claims are asked with it and without."""


def _cache(share: float) -> ByFootprint:
    """A share of the map of the pages that a workload touches."""
    return lambda pages: {"mapping.cache": f"{max(LEAST_CACHE, int(share * ENTRY * pages))}B"}


SPARES = {"7%": "0.07", "15%": "0.15", "25%": "0.25"}
CACHES = {"1/64": 1 / 64, "1/8": 1 / 8, "1/2": 1 / 2}

AXES = (
    Axis(
        "start",
        "the start",
        (
            Choice("fresh", {"start.fill": "sequential"}),
            Choice("aged", {"start.fill": "random"}, random=True),
        ),
        "The paper does not say. A drive is delivered filled in order at best; one in use was "
        "written over, here at random by two volumes.",
    ),
    Axis(
        "spare",
        "the spare space",
        tuple(Choice(key, {"capacity.spare_factor": share}) for key, share in SPARES.items()),
        "The paper does not say. From GB sold of GiB built to drives for servers; no cache or "
        "mapping page is part of it.",
        ordered=True,
    ),
    Axis(
        "cache",
        "the cache",
        tuple(Choice(key, _cache(share)) for key, share in CACHES.items()),
        "The paper sweeps it and prints no size. Shares of the map of the pages that an excerpt "
        "touches, as a size for a whole trace would hold all of an excerpt's map; 4 KiB at least.",
        ordered=True,
    ),
    Axis(
        "arrivals",
        "the arrival",
        (
            Choice("one at a time", {"queue.arrivals": "closed", "queue.depth": "1"}),
            Choice("own times", {"queue.arrivals": "open"}),
        ),
        "The paper's response is from a request's arrival, but how fast its drive is against its "
        "traces is not said. One at a time is the end at which no request waits for another.",
        paper="own times",
    ),
    Axis(
        "baseline",
        "the baseline",
        (
            Choice("victim alone", lines={DFTL: "dftl"}),
            Choice("batches", lines={DFTL: "dftl-batch"}),
        ),
        "What DFTL writes back with a dirty victim: public implementations do both.",
    ),
    Axis(
        "fetch",
        "the history",
        (
            Choice("run", lines={TLLLP: "tlllp"}),
            Choice("prev", lines={TLLLP: "tlllp-prev"}, quick=False),
        ),
        "Section 2.1 has the pages accessed in sequence before, Table 1 the last prefetch.",
    ),
    # Before that of Financial1, which then says which excerpt of it is meant.
    Axis(
        "financial2",
        "Financial2",
        (
            Choice("left out", workloads={FINANCIAL2: FINANCIAL1}),
            Choice("stand-in", workloads={FINANCIAL2: FITTED.name}),
        ),
        "It is the one of the paper's four that is not among the traces. Left out, claims are of "
        "three; the stand-in has its published mix and size, and a skew and a span of ours.",
    ),
    Axis(
        "financial1",
        "Financial1",
        (
            Choice("10k", workloads={FINANCIAL1: FINANCIAL1_10K}),
            Choice("50k, folded", workloads={FINANCIAL1: FINANCIAL1_50K}, quick=False),
        ),
        "Two excerpts that overlap in time; the second has all devices on top of each other. They "
        "are not independent, so they are never averaged.",
    ),
    Axis(
        "msr",
        "MSR",
        (
            Choice("20% reads", workloads={MSR: MSR_READS}),
            Choice("most throughput", workloads={MSR: MSR_BUSY}, quick=False),
        ),
        "Two windows of volumes that their source does not name, chosen by their mix and by their "
        "rate: no sample of a whole, so they are never averaged.",
    ),
)
"""Quickly, the excerpts are those that keep devices apart and do not choose the busiest second."""

LINES = (
    Line("none", "No Cache", {"mapping.scheme": "none"}, MAPPED),
    Line("dftl", "DFTL", {"mapping.scheme": "dftl", "dftl.evict_batch": "false"}),
    Line("dftl-batch", "DFTL, batches", {"mapping.scheme": "dftl", "dftl.evict_batch": "true"}),
    Line("tlllp", "TLLLP", {"mapping.scheme": "tlllp"}),
    Line(
        "tlllp-prev",
        "TLLLP, fetch_mode prev",
        {"mapping.scheme": "tlllp", "tlllp.fetch_mode": "prev"},
    ),
    Line("tlllp-free", FREE, {"mapping.scheme": "tlllp", "tlllp.bytes_per_node": "0"}),
    # Nothing is filled, so that all that the cache holds was loaded in the run, and is counted.
    Line(
        "tlllp-empty",
        EMPTY,
        {
            "mapping.scheme": "tlllp",
            "start.fill": "none",
            "timing": "none",
            "queue.arrivals": "closed",
        },
        COUNTED,
    ),
    Line("belady", "Belady, no prefetch", {"mapping.scheme": "belady"}),
    Line("ideal", "Map in memory", {"mapping.scheme": "ideal"}, MAPPED),
    Line("tpftl", "TPFTL", {"mapping.scheme": "tpftl"}),
    Line("sftl", "S-FTL", {"mapping.scheme": "sftl"}),
    Line("cdftl", "CDFTL", {"mapping.scheme": "cdftl"}),
    Line("page_cache", "LRU of pages", {"mapping.scheme": "page_cache"}),
)
STANDS_FOR = {WEBSEARCH: WEBSEARCH_25K, NO_CACHE: "none", FREE: "tlllp-free", EMPTY: "tlllp-empty"}


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    """What can be run with the traces that there are."""
    return Experiment(DEVICE, AXES, tuple(workloads), LINES, STANDS_FOR)


@dataclass(frozen=True)
class Point:
    """One run, reduced to what figures and claims are about. Shares and ratios are 0 to 1."""

    trace: str
    family: str
    """Which of the paper's traces it stands for."""
    line: str
    """Key of the scheme with its parameters, e.g. "dftl"."""
    start: str | None
    """None here and below: it cannot matter to the run."""
    spare: str | None
    cache: str | None
    """Of the map of the pages that the trace touches."""
    arrivals: str | None
    seed: int
    hit_ratio: float
    repeated: float
    """Of look-ups, those of pages that the trace looked up before: the hit ratio of a cache that
    begins empty, never evicts and loads nothing ahead."""
    mean_us: float
    stdev_us: float
    utilization: float
    queue_share: float
    """Of the mean response time, what was waiting for room in the command queue."""
    cleaning_time: float
    """Of the mean response time, what was told as cleaning."""
    data_reads: float
    """Pages of the host's data per page access; so are the following."""
    data_programs: float
    map_reads: float
    """Translation pages read for the host."""
    map_programs: float
    data_copies: float
    """Pages of data that cleaning moved."""
    map_copies: float
    """Translation pages that cleaning moved, or wrote because data had moved."""
    prefetch_used: float | None
    """Of the entries loaded ahead, the share that was asked for."""
    node_share: float | None
    """Of the bytes that the cache holds at the end, those of nodes of mapping pages; of TLLLP with
    a cache that is empty at first."""


def reduce(experiment: Experiment, run: Run, result: Result) -> Point:
    """The numbers of a run that figures and claims are about."""
    work, mapping, latency = result.workload, result.mapping, result.latency
    accesses = max(work.read_pages + work.write_pages, 1)
    reads, programs = result.flash.reads, result.flash.programs
    mean = latency.all.mean_us or 0.0
    return Point(
        trace=run.workload,
        family=experiment.workload(run.workload).family,
        line=run.line,
        start=run.at("start"),
        spare=run.at("spare"),
        cache=run.at("cache"),
        arrivals=run.at("arrivals"),
        seed=run.seed,
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
        prefetch_used=_used(mapping.prefetched, mapping.prefetch_used),
        node_share=_node_share(result) if run.line == STANDS_FOR[EMPTY] else None,
    )


def _used(prefetched: int | None, used: int | None) -> float | None:
    return used / prefetched if prefetched and used is not None else None


def _node_share(result: Result) -> float:
    """Each miss loads an entry beside those ahead, and what has left is counted: the rest is in
    the cache, of which the bytes are known, nodes and entries together."""
    mapping = result.mapping
    assert mapping.prefetched is not None, "the engine's own policies tell all that they count"
    assert mapping.evictions is not None, "as above"
    assert mapping.cache_bytes, "as above, and the last entry that is looked up stays"
    entries = mapping.misses + mapping.prefetched - mapping.evictions
    held: int = result.config["tlllp"]["bytes_per_entry"] * entries
    return 1 - held / mapping.cache_bytes


BUSY = 0.95
"""A utilization from which response times are those of a backlog, if requests wait."""
WAITING = 0.01
"""Of the mean response time, the least wait that is one."""


def backlogged(point: Point) -> bool:
    """Whether requests come faster than the drive serves them: their response times then grow with
    the length of the trace, and are of no scheme."""
    return point.utilization >= BUSY and point.queue_share >= WAITING


BACKLOG = Filter("with a backlog", backlogged)
