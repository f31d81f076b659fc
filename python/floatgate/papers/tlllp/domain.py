"""TLLLP's experiment as data: lines, workloads, and the parameters that the paper leaves open."""

from __future__ import annotations

from pathlib import Path

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Axis, ByFootprint, Level, Line, Workload
from floatgate.papers.kit.trace_files import Source

DEVICE = "tlllp17"
ENTRY = 8
"""Bytes of a cached entry, for the size of a whole map."""
LEAST_CACHE = 4 << 10
"""Smallest cache in bytes. No scheme works with less."""

FINANCIAL1, WEBSEARCH, MSR = "Financial1", "WebSearch", "MSR"
FINANCIAL2 = "Financial2"
NO_CACHE, DFTL, TLLLP, FREE = "No Cache", "DFTL", "TLLLP", "TLLLP, nodes for nothing"
EMPTY = "TLLLP, cache empty at first"
"""Workloads and lines of the paper. The last two lines are ours, for the cost of nodes and for the
room that they take."""

FINANCIAL1_10K, FINANCIAL1_50K = "Financial1, 10k requests", "Financial1, 50k requests"
WEBSEARCH_25K = "WebSearch, 25k requests"
MSR_READS, MSR_BUSY = "MSR, 20% reads, 10k requests", "MSR, most throughput, 10k requests"

EXCERPTS = (
    Source(FINANCIAL1_10K, FINANCIAL1, "umass-financial1-10k.ascii.zst"),
    Source(FINANCIAL1_50K, FINANCIAL1, "umass-financial1-50k-pages.trace.zst"),
    Source(WEBSEARCH_25K, WEBSEARCH, "umass-websearch-25k.trace.zst"),
    Source(MSR_READS, MSR, "msr-sample-rw20-80-10k.trace.zst"),
    Source(MSR_BUSY, MSR, "msr-sample-most-thpt-10k.trace.zst"),
)


def workload_of(source: Source, file: Path) -> Workload:
    # WebSearch writes 16 pages of 186,600. There is nothing to clean, regardless of start and spare
    # space. MSR has spans of 0.9 GiB, which take most of the time to fill.
    return Workload(
        source.name,
        source.family,
        Played(str(file), source.limit),
        ignores=frozenset({"start", "spare"} if source.family == WEBSEARCH else ()),
        few_seeds=source.family == MSR,
    )


PUBLISHED = (
    "zipf:span=128MiB,size=2560B,aligned=false,theta=0.99,reads=0.82,requests=10k,"
    "arrivals=exponential,interarrival=11ms"
)
FITTED = Workload("stand-in for Financial2", FINANCIAL2, Played(PUBLISHED), random=True)
CLUSTERED = Workload(
    "stand-in for Financial2, hot pages together",
    FINANCIAL2,
    Played(f"{PUBLISHED},scatter=false"),
    random=True,
)
"""For Financial2, 18 % writes of 2.4 KB are published (Zhou et al., EuroSys 2015), but not the
positions of its requests. Skew, span and the position of hot pages are ours: hot pages are
scattered over all mapping pages, or lie in few of them."""


def _cache(share: float) -> ByFootprint:
    return lambda pages: {"mapping.cache": f"{max(LEAST_CACHE, int(share * ENTRY * pages))}B"}


AXIS_OF = {FINANCIAL2: "financial2", FINANCIAL1: "financial1", MSR: "msr"}
"""The axis that chooses the excerpt or the stand-in for a workload."""
TRACE_AXES = tuple(AXIS_OF.values())
READINGS = ("fetch", "prefetch", "victim", "evict")
"""Axes for readings of the text. They have no effect without TLLLP."""
EXCERPT = frozenset({"spare", "fetch", "financial1", "msr"})
ALONE = EXCERPT | {"arrivals", "prefetch"}
"""Axes that stay at their defaults with another reading than the default, to bound the runs."""

SPARES = {"7%": "0.07", "15%": "0.15", "25%": "0.25"}
CACHES = {"1/64": 1 / 64, "1/8": 1 / 8, "1/2": 1 / 2}

AXES = (
    Axis(
        "start",
        "the start",
        (
            Level("fresh", {"start.fill": "sequential"}),
            Level("aged", {"start.fill": "random"}, random=True),
        ),
        "The paper does not say. A drive is delivered filled in order at best; one in use was "
        "written over, here at random by two volumes.",
    ),
    Axis(
        "spare",
        "the spare space",
        Level.each("capacity.spare_factor", SPARES),
        "The paper does not say. From GB sold of GiB built to drives for servers; no cache or "
        "mapping page is part of it.",
        ordered=True,
    ),
    Axis(
        "cache",
        "the cache",
        tuple(Level(key, _cache(share)) for key, share in CACHES.items()),
        "The paper sweeps it and prints no size. Shares of the map of the pages that an excerpt "
        "touches, as a size for a whole trace would hold all of an excerpt's map; 4 KiB at least.",
        ordered=True,
    ),
    Axis(
        "arrivals",
        "the arrival",
        (
            Level("one at a time", {"queue.arrivals": "closed", "queue.depth": "1"}),
            Level("own times", {"queue.arrivals": "open"}),
        ),
        "The paper's response is from a request's arrival, but how fast its drive is against its "
        "traces is not said. One at a time is the end at which no request waits for another.",
        paper="own times",
    ),
    Axis(
        "times",
        "the flash times",
        (
            Level("25, 200 µs"),
            Level(
                "130.9, 405.9 µs",
                {"flash.read": "130.9us", "flash.program": "405.9us"},
                beside=ALONE | {"cache", "victim", "evict"},
            ),
        ),
        "The paper states none. To read and to program a page: single-level cells of its time "
        "(Agrawal et al., 2008), and the times in DFTL's paper, which include transfers.",
    ),
    Axis(
        "baseline",
        "the baseline",
        (
            Level("victim alone", lines={DFTL: "dftl"}),
            Level("batches", lines={DFTL: "dftl-batch"}),
        ),
        "What DFTL writes back with a dirty victim: public implementations do both.",
    ),
    Axis(
        "fetch",
        "the history",
        (
            Level("run", {"tlllp.fetch_mode": "run"}),
            Level("prev", {"tlllp.fetch_mode": "prev"}, quick=False, beside=frozenset({"spare"})),
        ),
        "Section 2.1 has the pages accessed in sequence before, Table 1 the last prefetch.",
    ),
    Axis(
        "prefetch",
        "the prefetch",
        (
            Level("with the missed", {"tlllp.prefetch": "with"}),
            Level("beside the missed", {"tlllp.prefetch": "beside"}, beside=EXCERPT),
        ),
        "Whether prefetch_num counts the missed entry. If it does, a miss without a sequence "
        'prefetches nothing; section 2.1 has "not found in the cache, it is necessary to do '
        'prefetch operation".',
    ),
    Axis(
        "victim",
        "the victim",
        (
            Level("least visited", {"tlllp.victim": "min"}),
            Level("least recent", {"tlllp.victim": "least_recent"}, beside=EXCERPT),
            Level("most visited", {"tlllp.victim": "max"}, beside=ALONE),
        ),
        'Section 2.2 averages visits, which never age; twice it has "recently". Its last sentence '
        "on it, taken literally, evicts the most visited page.",
    ),
    Axis(
        "evict",
        "what leaves",
        (
            Level("the page", {"tlllp.evict": "page"}),
            Level(
                "entries",
                {"tlllp.evict": "entry", "tlllp.evict_until_fit": "true"},
                beside=ALONE | {"victim"},
            ),
        ),
        'Section 2.2 has "all the mapping entries" of the page, and also "the mapping entry with '
        'smallest value": one after the other, until the prefetch has its room.',
    ),
    # This axis comes before Financial1's axis, which then chooses the excerpt.
    Axis(
        "financial2",
        "Financial2",
        (
            Level("left out", workloads={FINANCIAL2: FINANCIAL1}),
            Level("scattered", workloads={FINANCIAL2: FITTED.name}),
            Level(
                "hot together",
                workloads={FINANCIAL2: CLUSTERED.name},
                beside=frozenset({"spare", "arrivals", "fetch", "times"}),
            ),
        ),
        "It is the one of the paper's four that is not among the traces. Left out, claims are of "
        "three. The stand-ins have its published mix and size, and a skew and a span of ours; "
        "their hot pages lie in all mapping pages, or in few.",
    ),
    Axis(
        "financial1",
        "Financial1",
        (
            Level("10k", workloads={FINANCIAL1: FINANCIAL1_10K}),
            Level("50k, folded", workloads={FINANCIAL1: FINANCIAL1_50K}, quick=False),
        ),
        "Two excerpts that overlap in time; the second has all devices on top of each other. They "
        "are not independent, so they are never averaged.",
    ),
    Axis(
        "msr",
        "MSR",
        (
            Level("20% reads", workloads={MSR: MSR_READS}),
            Level(
                "most throughput",
                workloads={MSR: MSR_BUSY},
                quick=False,
                beside=frozenset({"spare", "fetch"}),
            ),
        ),
        "Two windows of volumes that their source does not name, chosen by their mix and by their "
        "rate: no sample of a whole, so they are never averaged.",
    ),
)
"""A quick reproduction has the excerpts that keep devices separate and do not choose the busiest
second."""


OTHER = frozenset(READINGS)
LINES = (
    Line("none", NO_CACHE, {"mapping.scheme": "none"}, OTHER | {"cache"}),
    Line("dftl", "DFTL", {"mapping.scheme": "dftl", "dftl.evict_batch": "false"}, OTHER),
    Line(
        "dftl-batch", "DFTL, batches", {"mapping.scheme": "dftl", "dftl.evict_batch": "true"}, OTHER
    ),
    Line("tlllp", TLLLP, {"mapping.scheme": "tlllp"}),
    Line("tlllp-free", FREE, {"mapping.scheme": "tlllp", "tlllp.bytes_per_node": "0"}),
    # Nothing is filled, so every entry in the cache was loaded and counted in the run.
    Line(
        "tlllp-empty",
        EMPTY,
        {
            "mapping.scheme": "tlllp",
            "start.fill": "none",
            "timing": "none",
            "queue.arrivals": "closed",
        },
        frozenset({"start", "spare", "arrivals", "times"}),
    ),
    Line("belady", "Belady, no prefetch", {"mapping.scheme": "belady"}, OTHER),
    Line("ideal", "Map in memory", {"mapping.scheme": "ideal"}, OTHER | {"cache"}),
)
STANDS_FOR = {WEBSEARCH: WEBSEARCH_25K} | {line.label: line.key for line in LINES}
