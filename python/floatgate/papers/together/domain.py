"""All five on one aged drive, as data: the drive, the lines, the workloads, and the points.

Nothing here is a paper's. Every number was chosen before the first run; its reason stands with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from floatgate._core import ConfigError
from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Axis, Choice, Experiment, Line, Workload
from floatgate.simulation import configs

DEVICE = "tlc-enterprise"
"""The preset whose class has measured write amplification in docs/trust.md, and whose numbers are
held to data sheets in docs/datasheet.md."""

PAGE = 4096
SPAN = 64 << 20
"""Bytes for the host: what a quick run can fill and write over hundreds of times. An excerpt of
10,000 requests touches half of that, and the rest of its drive is cold, as most of a drive is."""
UNIT_PAGES = 96
"""Pages of an erase unit: a row of 3 x 16 KiB on 4 planes of each of 2 dies. docs/trust.md has why
units stay many and get fewer pages: 171 hold the span. The preset has 32 dies of 384 rows."""

CACHE = 16 << 10
"""Bytes of the map cache: an eighth of DFTL's 8 bytes a page, the middle of TLLLP's axis here, and
4 map pages, as many as SHRD's prototype has."""
BUFFER = 1 << 20
"""Bytes of the write buffer: where the NCQ paper states its gains, in its blocks of 32 pages."""
LOG = 1 << 20
"""Bytes of SHRD's log: a tenth of the spare space where that is 15 %. A write to it has a sixteenth
at most, as a window has: the driver's 128 pages in a row are half of such a log, which then is full
before a window may be remapped, and stays so."""

SPARES = {"7%": 0.07, "15%": 0.15, "28%": 0.28}

DRIVE = {
    "flash.channels": "2",
    "flash.dies": "1",
    "flash.superblock": "8",
    "flash.pages_per_block": "3",
    "flash.erase": "13us",
    "controller.write_memory": "3MiB",
    "mapping.entry_bytes": "8",
    "mapping.cache": f"{CACHE}B",
    "queue.depth": "32",
    "cleaning.low_water": "9",
    "cleaning.copies_per_write": "8",
    "start.fill": "random",
    "start.overwrites": "1",
}
"""2 dies for 32, with as many rows of memory for each; erased in 1/384 of the time, as a block has
1/384 of the rows; 512 entries to a translation page, as the drives of DFTL and TLLLP have. Filled
in order, then once over at random: what a drive in use was. NCQ has 32 commands.

A drive keeps units free beside its spare space, more of them the more streams it has open: 5 by
itself with one, 17 with the most here. Of 201 units that is no trifle, as it is of 900,
so that all lines have the reserve of the largest. The preset copies 4 pages for each that is
written, enough for its 15 % spare space; uniform writes need 6.3 with 7 % (closed form). A drive
that copies fewer lives on its reserve as if it were spare space."""

GAP = "400us"
"""Between two requests of a synthetic load on average, half of them reads. Two dies program a page
in 36 us, and writes come every 800 us: room for a write amplification of 22. Uniform writes have
7.3 with 7 % spare space (closed form), and a map on flash may be as much again."""
VOLUMES = 3
"""Of the drive that are written while it is measured: one in which cleaning finds what is hot, and
two after it."""


def blocks(spare: float, pages: int = SPAN // PAGE) -> int:
    """Blocks of the drive that holds so many pages with this spare factor, in whole units."""
    units = int(pages / (1 - spare)) // UNIT_PAGES
    while int((1 - spare) * units * UNIT_PAGES) < pages:
        units += 1
    return units * int(DRIVE["flash.superblock"])


def _spare(share: float) -> dict[str, str]:
    return {"capacity.spare_factor": str(share), "flash.blocks": str(blocks(share))}


AXES = (
    Axis(
        "spare",
        "the spare space",
        tuple(Choice(key, _spare(share)) for key, share in SPARES.items()),
        "From GB sold of GiB built to drives for much writing (3 DWPD).",
        ordered=True,
    ),
    Axis(
        "arrivals",
        "the arrival",
        (
            Choice("own times", {"queue.arrivals": "open"}),
            Choice("a full queue", {"queue.arrivals": "closed"}),
        ),
        "Latencies are compared at equal rates, so requests have times of their own: those of the "
        f"trace, or {GAP} apart on average. A buffer that looks into the queue needs one: with a "
        "full queue 32 commands wait at all times.",
    ),
)

BASE, DFTL, PAGES, SERIAL, LRU = "base", "dftl", "page_cache", "serial", "lru"
TLLLP, ASA, ETI, NCQ, SHRD = "tlllp", "asa", "eti", "ncq", "shrd"
BELADY_MAP, ORACLE, BELADY_BUFFER = "belady-map", "oracle", "belady-buffer"
SHRD_CACHED, SPARE_28 = "shrd+page_cache", "spare-28"

_BUFFER = {
    "buffer.capacity": f"{BUFFER}B",
    "buffer.block_pages": "32",
    "queue.dispatch": "serial",
}
"""One command after the other: what makes commands wait in the drive's queue, where the NCQ-aware
buffer sees them. Its rivals have the same."""

PARTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    DFTL: ("DFTL", {"mapping.scheme": "dftl"}),
    TLLLP: ("TLLLP", {"mapping.scheme": "tlllp"}),
    ASA: ("ASA placement", {"placement.scheme": "asa"}),
    ETI: ("ETI placement", {"placement.scheme": "eti"}),
    NCQ: ("NCQ-aware buffer", {"buffer.scheme": "ncq_lru", **_BUFFER}),
    SHRD: (
        "SHRD",
        {
            "host.scheme": "shrd",
            "host.log": f"{LOG}B",
            "shrd.exclude_below": "0B",
            "shrd.contiguous": "16",
            "shrd.twrite_entries": "16",
            "shrd.twrite": "64KiB",
        },
    ),
}
"""The five mechanisms, and DFTL, beside which the other two that have a map cache are read. No file
system is below SHRD's first 2 MiB here, so they are no exception."""
FIVE = (TLLLP, ASA, ETI, NCQ, SHRD)

BOUND_SETS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    BELADY_MAP: ("Belady's map cache", {"mapping.scheme": "belady"}),
    ORACLE: (
        "lifetimes known",
        {"placement.scheme": "oracle", "oracle.streams": "4", "oracle.factor": "8"},
    ),
    BELADY_BUFFER: ("Belady's buffer", {"buffer.scheme": "belady", **_BUFFER}),
}
"""As for ASA-FTL, lifetimes in four streams. The whole map in memory is the baseline's."""

REFERENCES = (
    Line(BASE, "baseline", {}),
    Line(SPARE_28, "baseline, 28% spare space", _spare(SPARES["28%"]), frozenset({"spare"})),
    Line(PAGES, "LRU of map pages", {"mapping.scheme": "page_cache"}),
    Line(SERIAL, "one command at a time", {"queue.dispatch": "serial"}),
    Line(LRU, "LRU buffer", {"buffer.scheme": "lru", **_BUFFER}),
    Line(
        SHRD_CACHED, "SHRD + LRU of map pages", {**PARTS[SHRD][1], "mapping.scheme": "page_cache"}
    ),
)


@dataclass(frozen=True)
class Refused:
    """Two schemes that cannot be on one drive, and why not."""

    first: str
    second: str
    reason: str


def _pairs() -> tuple[list[Line], list[Refused]]:
    """Every two of the mechanisms and bounds: those that the engine takes, and those refused."""
    lines, refused = [], []
    for (one, (name, a)), (two, (other, b)) in combinations({**PARTS, **BOUND_SETS}.items(), 2):
        if reason := why_refused(a, b):
            refused.append(Refused(name, other, reason))
        elif one in PARTS and two in PARTS:
            lines.append(Line(f"{one}+{two}", f"{name} + {other}", {**a, **b}))
    return lines, refused


def why_refused(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Why the engine takes no drive with both; nothing if it does."""
    for key in one.keys() & other.keys():
        if one[key] != other[key]:
            return f"both are a {key}: {one[key]} and {other[key]}"
    try:
        configs.resolve(DEVICE, {**DRIVE, **_spare(SPARES["15%"]), **one, **other})
    except ConfigError as error:
        return str(error)
    return ""


PAIRS, REFUSED = _pairs()
LINES = (
    *REFERENCES,
    *(Line(key, label, set) for key, (label, set) in {**PARTS, **BOUND_SETS}.items()),
    *PAIRS,
)
LABELS = {line.key: line.label for line in LINES}
BOUNDS = tuple(BOUND_SETS)
"""What knows the future, which no drive does."""


@dataclass(frozen=True)
class Synthetic:
    """A generator over the whole drive, half of its requests reads."""

    name: str
    text: str

    @property
    def workload(self) -> Workload:
        pages = SPAN // PAGE
        spec = (
            f"{self.text},span={SPAN}B,size={PAGE}B,requests={2 * VOLUMES * pages},reads=0.5,"
            f"arrivals=exponential,interarrival={GAP}"
        )
        return Workload(self.name, SYNTHETIC, Played(spec.replace(":,", ":")), random=True)


SYNTHETIC, RECORDED = "synthetic", "recorded"
UNIFORM, HOT_COLD, ZIPF = "uniform", "hot/cold 90/10", "Zipf 0.99"
SYNTHETICS = (
    Synthetic(UNIFORM, "uniform:"),
    Synthetic(HOT_COLD, "hotcold:r=0.9,f=0.1"),
    Synthetic(ZIPF, "zipf:theta=0.99"),
)
"""No skew, the usual hot and cold, and the usual skew of key-value benchmarks (YCSB's)."""

ANY = {SYNTHETIC: "a synthetic load", RECORDED: "a trace"}
"""What a question calls the workload that the axis of its family says."""
BY_WORKLOAD = {SYNTHETIC: "load", RECORDED: "trace"}
"""The axis of each family: that of the workloads that there are."""
WHY_THESE = {
    SYNTHETIC: "No skew, the usual hot and cold, and the usual skew of key-value benchmarks.",
    RECORDED: "All that are here and write a page twice on average, in their first 10,000 requests "
    "or as a whole.",
}


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    names = [line.key for line in LINES] + [work.name for work in workloads]
    drive = Axis("drive", "the drive", (Choice("aged", DRIVE, random=True),), "the same for all")
    families = dict.fromkeys(work.family for work in workloads)
    played = [_played(family, workloads) for family in families]
    return Experiment(
        DEVICE, (drive, *played, *AXES), tuple(workloads), LINES, {name: name for name in names}
    )


def _played(family: str, workloads: Sequence[Workload]) -> Axis:
    axis, known = BY_WORKLOAD[family], [work for work in workloads if work.family == family]
    choices = tuple(Choice(work.name, workloads={ANY[family]: work.name}) for work in known)
    return Axis(axis, f"the {axis}", choices, WHY_THESE[family])
