"""ASA-FTL's experiment as data: lines, workloads, and the parameters that the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from floatgate.papers.kit.batch import WINDOWS, Bench, Played
from floatgate.papers.kit.experiment import Axis, ByFootprint, Level, Line, Settings, Workload
from floatgate.papers.kit.trace_files import Source

DEVICE = "asa14"
PAGE = 2048
ENTRY = 8

FINANCIAL1, CAMBRIDGE, TPCC = "Financial1", "Cambridge", "TPCC"
SYNTH9, SYNTH7, SYNTH5 = "synth9/10", "synth7/10", "synth5/10"
MOVING = "synth9/10, moving"
DFTL, ASA, KNOWN = "DFTL", "ASA-FTL", "DFTL, lifetimes known"
FEW, MANY = "ASA-FTL, 100 samples", "ASA-FTL, 10,000 samples"
"""Workloads and lines of the paper, and our own: a load that moves, a bound, and sizes of the
sample."""


VOLUMES = 5
"""Number of times that a workload writes its drive. The first volume leads away from the start
state, so the start affects a fifth of the count; both starts are swept. More volumes would exceed
the time of --full."""

FINANCIAL1_10K = "Financial1, 10k requests"
FINANCIAL1_50K = "Financial1, 50k requests"
FINANCIAL1_LOOP = "Financial1, 10k requests in a loop"
CAMBRIDGE_READS = "Cambridge, 20% reads"
CAMBRIDGE_BUSY = "Cambridge, most throughput"
TPCC_7K = "TPCC, 7k requests"

_10K, _50K = "umass-financial1-10k.ascii.zst", "umass-financial1-50k-pages.trace.zst"
_READS, _BUSY = "msr-sample-rw20-80-10k.trace.zst", "msr-sample-most-thpt-10k.trace.zst"

EXCERPTS = (
    Source(FINANCIAL1_10K, FINANCIAL1, _10K),
    Source(FINANCIAL1_LOOP, FINANCIAL1, _10K, quick=False),
    Source(FINANCIAL1_50K, FINANCIAL1, _50K, quick=False),
    Source(CAMBRIDGE_READS, CAMBRIDGE, _READS),
    Source(CAMBRIDGE_BUSY, CAMBRIDGE, _BUSY, quick=False),
    # The drive of this trace is three times as large as that of an excerpt with 10,000 requests.
    Source(TPCC_7K, TPCC, "tpcc-7k.trace.zst"),
)


def workload_of(source: Source, file: Path, bench: Bench, volumes: int = VOLUMES) -> Workload:
    """Returns an excerpt, which plays until it has written its drive `volumes` times. Each round
    has its windows in another order, except in the loop."""
    once, windows = Played(str(file), dense=True), 0 if source.name == FINANCIAL1_LOOP else WINDOWS
    played = once.in_rounds(volumes * bench.span_bytes(once), bench.written_bytes(once), windows)
    return Workload(source.name, source.family, played, random=windows > 0)


SPAN = 32 << 20
"""Bytes that a synthetic load covers, as an excerpt of 10,000 requests does."""

GAP = "26ms"
"""Mean time between two requests, as in Financial1's first 10,000 requests, which take 259.6 s."""

TENTHS = {SYNTH9: (0.9, 0.1), SYNTH7: (0.7, 0.3), SYNTH5: (0.5, 0.5)}
LETTER = {SYNTH9: (0.9, 1 / 9), SYNTH7: (0.7, 3 / 7)}
"""Shares of the writes, and of the space that they cover, in the load synthX/10: (10 - X)/10 of the
space in the usual reading, and (10 - X)/X as printed. For X = 5 both readings are uniform."""


@dataclass(frozen=True)
class Spread:
    suffix: str
    skews: Mapping[str, tuple[float, float]]
    reads: float = 0.0
    """Share of reads among the requests."""
    times: int = 1
    """The span, as a multiple of `SPAN`."""
    quick: bool = True
    """Whether a quick reproduction includes it."""
    beside: frozenset[str] = frozenset()
    """Axes at their defaults with this load, to save runs."""

    def name(self, load: str) -> str:
        return load + self.suffix if load in self.skews else load


_FEW = frozenset({"sample", "moved", "start", "arrivals"})

SPREADS = {
    "writes": Spread("", TENTHS),
    "half reads": Spread(", half reads", TENTHS, reads=0.5, quick=False, beside=_FEW | {"cache"}),
    "four times the span": Spread(
        *(", four times the span", TENTHS), times=4, quick=False, beside=_FEW | {"cache"}
    ),
    "by the letter": Spread(", by the letter", LETTER, quick=False, beside=_FEW),
}


def synthetic(full: bool, least: int = SPAN, volumes: int = VOLUMES) -> Iterator[Workload]:
    for key, spread in SPREADS.items():
        span = spread.times * least
        for load, (r, f) in spread.skews.items() if full or spread.quick else ():
            writes = volumes * span // PAGE
            spec = (
                f"hotcold:span={span}B,size={PAGE}B,r={r},f={f:.6f},writes={writes},"
                f"reads={spread.reads},arrivals=exponential,interarrival={GAP}"
            )
            # The hot zone is the first pages.
            played, hot = Played(spec), {"perfect.hot_pages": str(int(f * span / PAGE + 0.5))}
            yield Workload(spread.name(load), load, played, random=True, set=hot)
            if (load, key) == (SYNTH9, "writes"):
                # Each volume has its own hot tenth, which was not hot earlier.
                moving = replace(played, moves=volumes - 1)
                yield Workload(MOVING, MOVING, moving, random=True)


_DFTL = {"mapping.scheme": "dftl", "placement.scheme": "single"}
_FREE = {"mapping.scheme": "dftl", "placement.scheme": "asa"}
_ENTRIES = {"asa.entry_bytes": str(ENTRY)}
_RANDOM = {"asa.sample_source": "random_lpn"}

EQUAL: Mapping[str, tuple[str, Settings]] = {
    "bytes": ("ASA-FTL, the same bytes", {}),
    "entries": ("ASA-FTL, as many entries", _ENTRIES),
    "free": ("ASA-FTL, DFTL's map", _FREE),
}
METHODS: Mapping[str, tuple[str, Settings]] = {
    "": ("", _RANDOM),
    "-cached": (", samples of cached pages", {"asa.sample_source": "cht"}),
    "-relabel": (", copies relabelled", _RANDOM | {"asa.relabel_on_gc": "true"}),
    "-log": (", logarithms of ages", _RANDOM | {"asa.log1p": "true"}),
}
READINGS = tuple(f"asa-{equal}" for equal in EQUAL)

LINES = (
    Line("dftl", DFTL, _DFTL),
    *(
        Line(f"asa-{equal}{method}", label + suffix, {**settings, **changed})
        for method, (suffix, changed) in METHODS.items()
        for equal, (label, settings) in EQUAL.items()
    ),
    Line(
        "oracle",
        KNOWN,
        {
            "mapping.scheme": "dftl",
            "placement.scheme": "oracle",
            "oracle.streams": "4",
            "oracle.factor": "8",
            "cleaning.low_water": "6",
        },
    ),
    Line("perfect", "DFTL, zones known", _DFTL | {"placement.scheme": "perfect"}),
    Line("asa-few", FEW, _ENTRIES | _RANDOM | {"asa.samples": "100"}),
    Line("asa-many", MANY, _ENTRIES | _RANDOM | {"asa.samples": "10000"}),
)
"""DFTL has 8 bytes a cached entry and 4 on flash, ASA-FTL 16 and 8. With an equal number of
entries, the ages come in addition to the cache and the map on flash. A sampled page that is not
cached costs a read of its translation page; samples of cached pages are free. The bound has one
more stream, and so one more unit in reserve."""

STANDS_FOR = {TPCC: TPCC_7K} | {line.label: line.key for line in LINES}


def _cache(share: float) -> ByFootprint:
    return lambda pages: {"mapping.cache": f"{max(1, int(share * pages)) * ENTRY}B"}


SPARES = {"7%": "0.07", "15%": "0.15", "25%": "0.25"}
CACHES = {"1/16": 1 / 16, "1/4": 1 / 4, "all of the map": 1.0}

ONLY = frozenset({"cache", "start", "arrivals"})
"""Axes that stay at their defaults if the method does not, to save runs."""


def _method(suffix: str) -> Mapping[str, str]:
    return {line: line + suffix for line in READINGS}


AXES = (
    Axis(
        "spare",
        "the spare space",
        Level.each("capacity.spare_factor", SPARES),
        "The paper does not say. From GB sold of GiB built to drives for servers.",
        ordered=True,
    ),
    Axis(
        "equal",
        "the equal cache",
        tuple(Level(equal, lines={ASA: f"asa-{equal}"}) for equal in EQUAL),
        "The paper says neither how large an entry is nor what both have alike. Bytes: 16 an entry "
        "with its age, 8 without, in the same memory. Entries: as many of both. Free: DFTL's map, "
        "and ages that take no room at all.",
    ),
    Axis(
        "sample",
        "the sample",
        (
            Level("random pages"),
            Level("cached pages", lines=_method("-cached"), beside=ONLY | {"moved"}),
        ),
        "The paper samples random pages, and does not say whether a page that is not cached is "
        "read for it. Of the whole drive, at such a read each, or of the cache, for free.",
    ),
    Axis(
        "moved",
        "a moved page",
        (
            Level("stays"),
            Level("by its age", lines=_method("-relabel"), beside=ONLY | {"sample"}),
        ),
        "The paper does not say to which partition cleaning moves a page. It stays in its own, or "
        "goes to that of its age, if that is colder.",
    ),
    Axis(
        "cache",
        "the cache",
        tuple(Level(key, _cache(share)) for key, share in CACHES.items()),
        "The paper does not say. Of DFTL's map, in steps of four: with all of it DFTL is a page "
        "map, at which selective caching ends.",
        ordered=True,
    ),
    Axis(
        "start",
        "the start",
        (
            Level("aged", {"start.fill": "random", "start.overwrites": "1"}, random=True),
            Level("fresh", {"start.fill": "sequential"}, quick=False),
        ),
        "The paper does not say. A drive in use was written over, here once at random; one is "
        "delivered filled in order at best.",
    ),
    Axis(
        "arrivals",
        "the arrival",
        (
            Level("one at a time", {"queue.arrivals": "closed", "queue.depth": "1"}),
            Level("own times", {"queue.arrivals": "open"}),
        ),
        "How fast the paper's drive is against its traces is not said. One at a time is the end at "
        "which no request waits for another. Both FTLs get the same requests at the same times; "
        "synthetic loads have the mean gap of Financial1's first 10,000 requests, 26 ms.",
    ),
    Axis(
        "copies",
        "what cleaning copies",
        (Level("data and map"), Level("data alone")),
        "The paper counts pages read and written by cleaning, and does not say whether translation "
        "pages are among them.",
    ),
    Axis(
        "financial1",
        "Financial1",
        (
            Level("10k", workloads={FINANCIAL1: FINANCIAL1_10K}),
            Level("10k in a loop", workloads={FINANCIAL1: FINANCIAL1_LOOP}, quick=False),
            Level(
                "50k, folded",
                workloads={FINANCIAL1: FINANCIAL1_50K},
                quick=False,
                beside=ONLY | {"sample", "moved"},
            ),
        ),
        "Two excerpts that overlap in time; the second has all devices on top of each other. They "
        "are not independent, so they are never averaged. Played once they leave nothing to clean; "
        "in a loop every page comes back at the same distance, which is a gift to a scheme that "
        "looks at the last one, so that windows are in another order each time.",
    ),
    Axis(
        "cambridge",
        "Cambridge",
        (
            Level("20% reads", workloads={CAMBRIDGE: CAMBRIDGE_READS}),
            Level("most throughput", workloads={CAMBRIDGE: CAMBRIDGE_BUSY}, quick=False),
        ),
        "Two windows of volumes that their source does not name, chosen by their mix and by their "
        "rate: no sample of a whole, so they are never averaged.",
    ),
    Axis(
        "synth",
        "a synthetic load",
        tuple(
            Level(
                key,
                workloads={load: spread.name(load) for load in TENTHS},
                quick=spread.quick,
                beside=spread.beside,
            )
            for key, spread in SPREADS.items()
        ),
        "The paper speaks of write traffic and says of no reads; half reads are the even mix. It "
        "says of no span either: on a drive of 32 MiB the units that three partitions keep open "
        "are a part of the spare space. By the letter the space is (10\N{MINUS SIGN}x)/x, which "
        "is 11 and 43% where one says 10 and 30.",
    ),
)
