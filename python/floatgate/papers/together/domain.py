"""All five on one aged drive, as data: the drive, the lines, the workloads, and the points.

No number here is from a paper. Each was chosen before the first run, for the reason next to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from floatgate._core import ConfigError
from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Line, Workload
from floatgate.simulation import configs

DEVICE = "tlc-enterprise"
"""The preset for a class of drives with measured write amplification (docs/measured-drives.md).
docs/drives.md compares its numbers with data sheets."""

PAGE = 4096
SPAN = 64 << 20
"""Bytes for the host. A quick run can write this span hundreds of times over. An excerpt of 10,000
requests touches half of it; the rest is cold, like most of a real drive."""
UNIT_PAGES = 96
"""Pages of an erase unit: a row of 3 x 16 KiB on 4 planes of each of 2 dies. A small drive
keeps many units (171 hold the span) with fewer pages each: docs/drives.md states why."""

CACHE = 16 << 10
"""Bytes of the map cache: an eighth of the map with DFTL's 8 bytes a page, and 4 map pages, as in
SHRD's prototype."""
BUFFER = 1 << 20
"""Bytes of the write buffer, for which the NCQ paper states its gains."""
LOG = 1 << 20
"""Bytes of SHRD's log: a tenth of the spare space of 15 %. A write to the log, like a window, has
at most a sixteenth of the log. With the driver's limit of 128 pages, half of this log, the log
would stay full."""

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
"""2 dies instead of 32. A block has 1/384 of the rows and erases as much faster. A translation
page has 512 entries, as in DFTL and TLLLP. The start is filled in order, then overwritten once at
random. NCQ has 32 commands.

Free units come on top of the spare space, 5 for one stream and 17 for the most streams here. All
lines have the largest reserve, a real share of 201 units. The preset copies 4 pages for a written
page, enough for 15 % spare space; uniform writes need 6.3 with 7 % (closed form).
"""

GAP = "400us"
"""Mean time between two requests of a synthetic load, half of them reads. Two dies have room for a
write amplification of 22. Uniform writes have 7.3 with 7 % spare space (closed form), and a map on
flash may double that."""
VOLUMES = 3
"""Volumes written during the measurement. In the first, cleaning separates the hot data."""


def blocks(spare: float, pages: int = SPAN // PAGE) -> int:
    """Returns the number of blocks, in whole units, of a drive that holds `pages` pages with this
    spare factor."""
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
        tuple(Level(key, _spare(share)) for key, share in SPARES.items()),
        "From GB sold of GiB built to drives for much writing (3 DWPD).",
        ordered=True,
    ),
    Axis(
        "arrivals",
        "the arrival",
        Level.each("queue.arrivals", {"own times": "open", "a full queue": "closed"}),
        f"Latencies are compared at equal rates: the trace's times, or {GAP} apart on average. A "
        "look into the queue needs a queue: 32 commands wait at all times.",
    ),
)

BASE, DFTL, PAGES, SERIAL, LRU = "base", "dftl", "page_cache", "serial", "lru"
TLLLP, ASA, ETI, NCQ, SHRD = "tlllp", "asa", "eti", "ncq", "shrd"
BELADY_MAP, ORACLE, BELADY_BUFFER = "belady-map", "oracle", "belady-buffer"
SHRD_CACHED, SPARE_28 = "shrd+page_cache", "spare-28"

_BUFFER = {"buffer.capacity": f"{BUFFER}B", "buffer.block_pages": "32", "queue.dispatch": "serial"}
"""Commands are served one after the other, so they wait in the drive's queue, where the NCQ-aware
buffer and its rivals see them."""

_SHRD = {
    "host.scheme": "shrd",
    "host.log": f"{LOG}B",
    "shrd.exclude_below": "0B",
    "shrd.contiguous": "16",
    "shrd.twrite_entries": "16",
    "shrd.twrite": "64KiB",
}
"""SHRD excludes the first 2 MiB for a file system. Here is none, so nothing is excluded."""

PARTS = (
    Line(DFTL, "DFTL", {"mapping.scheme": "dftl"}),
    Line(TLLLP, "TLLLP", {"mapping.scheme": "tlllp"}),
    Line(ASA, "ASA placement", {"placement.scheme": "asa"}),
    Line(ETI, "ETI placement", {"placement.scheme": "eti"}),
    Line(NCQ, "NCQ-aware buffer", {"buffer.scheme": "ncq_lru", **_BUFFER}),
    Line(SHRD, "SHRD", _SHRD),
)
"""The five mechanisms, and DFTL as the reference for the other two with a map cache."""

_BOUNDS = (
    Line(BELADY_MAP, "Belady's map cache", {"mapping.scheme": "belady"}),
    Line(
        ORACLE,
        "lifetimes known",
        {"placement.scheme": "oracle", "oracle.streams": "4", "oracle.factor": "8"},
    ),
    Line(BELADY_BUFFER, "Belady's buffer", {"buffer.scheme": "belady", **_BUFFER}),
)
"""Lifetimes have four streams, as for ASA-FTL. The baseline has the whole map in memory."""

REFERENCES = (
    Line(BASE, "baseline", {}),
    Line(SPARE_28, "baseline, 28% spare space", _spare(SPARES["28%"]), frozenset({"spare"})),
    Line(PAGES, "LRU of map pages", {"mapping.scheme": "page_cache"}),
    Line(SERIAL, "one command at a time", {"queue.dispatch": "serial"}),
    Line(LRU, "LRU buffer", {"buffer.scheme": "lru", **_BUFFER}),
    Line(SHRD_CACHED, "SHRD + LRU of map pages", {**_SHRD, "mapping.scheme": "page_cache"}),
)


def why_refused(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Returns why the engine refuses a drive with both schemes. Empty if it takes them."""
    for key in one.keys() & other.keys():
        if one[key] != other[key]:
            return f"both are a {key}: {one[key]} and {other[key]}"
    try:
        configs.resolve(DEVICE, {**DRIVE, **_spare(SPARES["15%"]), **one, **other})
    except ConfigError as error:
        return str(error)
    return ""


PAIRS = tuple(
    Line(f"{one.key}+{two.key}", f"{one.label} + {two.label}", {**one.set, **two.set})
    for one, two in combinations(PARTS, 2)
    if not why_refused(one.set, two.set)
)
"""Every pair of mechanisms that the engine takes."""
_AS_ON_PAGES = (*REFERENCES, *PARTS, *_BOUNDS, *PAIRS)


@dataclass(frozen=True)
class Reading:
    """Another reading of a paper: a line of its own, and a level of the axis of the line `of`."""

    of: str
    name: str
    set: Mapping[str, str]
    quick: bool = True
    """Whether a quick reproduction includes it."""

    @property
    def line(self) -> Line:
        [line] = [line for line in _AS_ON_PAGES if line.key == self.of]
        key, label = f"{self.of}, {self.name}", f"{line.label}, {self.name}"
        return Line(key, label, {**line.set, **self.set})


READINGS = (
    Reading(ETI, "highest counter of merged extents", {"eti.merge_value": "max"}),
    Reading(ETI, "alpha of the write", {"eti.alpha_of": "write"}, quick=False),
    Reading(TLLLP, "prefetch next to the missed entry", {"tlllp.prefetch": "beside"}),
    Reading(TLLLP, "least recent victim", {"tlllp.victim": "least_recent"}, quick=False),
    Reading(TLLLP, "entries leave one by one", {"tlllp.evict": "entry"}, quick=False),
    Reading(
        SHRD_CACHED, "dispatch during remaps", {"shrd.block_during_remap": "false"}, quick=False
    ),
)
"""A question about a line has a point for each of its readings, unless it is about pairs."""
READ = tuple(dict.fromkeys(reading.of for reading in READINGS))
LINES = (*_AS_ON_PAGES, *(reading.line for reading in READINGS))
LABELS = {line.key: line.label for line in LINES}
BOUNDS = tuple(line.key for line in _BOUNDS)


SYNTHETIC, RECORDED = "synthetic", "recorded"
UNIFORM, HOT_COLD, ZIPF = "uniform", "hot/cold 90/10", "Zipf 0.99"
GENERATORS = {UNIFORM: "uniform:", HOT_COLD: "hotcold:r=0.9,f=0.1,", ZIPF: "zipf:theta=0.99,"}
"""The generator and its skew, in front of the other keys, by the name of the workload."""


def synthetic(name: str) -> Workload:
    """Returns a generator over the whole drive. Half of its requests are reads."""
    spec = (
        f"{GENERATORS[name]}span={SPAN}B,size={PAGE}B,requests={2 * VOLUMES * SPAN // PAGE},"
        f"reads=0.5,arrivals=exponential,interarrival={GAP}"
    )
    return Workload(name, SYNTHETIC, Played(spec), random=True)


ANY = {SYNTHETIC: "a synthetic load", RECORDED: "a trace"}
"""Name in a question for the workload that the family's axis chooses."""
BY_WORKLOAD = {SYNTHETIC: "load", RECORDED: "trace"}
"""The axis of each family, with the available workloads as levels."""
WHY_THESE = {
    SYNTHETIC: "No skew, the usual hot and cold, and the usual skew of key-value benchmarks.",
    RECORDED: "All that are here and write a page twice on average, in their first 10,000 requests "
    "or as a whole.",
}


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    drive = Axis("drive", "the drive", (Level("aged", DRIVE, random=True),), "the same for all")
    families = dict.fromkeys(work.family for work in workloads)
    played = [_played(family, workloads) for family in families]
    axes = (drive, *played, *AXES, *map(_read, READ))
    return Experiment(axes, tuple(workloads), LINES)


def _read(of: str) -> Axis:
    others = [reading for reading in READINGS if reading.of == of]
    read = (Level(o.name, lines={of: o.line.key}, quick=o.quick) for o in others)
    levels = (Level("default"), *read)
    why = "The paper leaves it open, and the result of its page depends on it."
    return Axis(of, f"the reading of {LABELS[of]}", levels, why)


def _played(family: str, workloads: Sequence[Workload]) -> Axis:
    axis, played = BY_WORKLOAD[family], [work for work in workloads if work.family == family]
    levels = tuple(Level(work.name, workloads={ANY[family]: work.name}) for work in played)
    return Axis(axis, f"the {axis}", levels, WHY_THESE[family])
