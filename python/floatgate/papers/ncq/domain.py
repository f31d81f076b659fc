"""The NCQ-aware buffer's experiment as data: lines, workloads, and the parameters left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Line, Workload

DEVICE = "ncq13"
MIB = 1 << 20
DEPTH = 32

FIRST, SECOND = "Workload 1", "Workload 2"
RECORDS = {FIRST: MIB // 4, SECOND: MIB}
"""Bytes of a record, from the paper's Table I."""
GAPS = {FIRST: "0.83ms", SECOND: "5.02ms"}
"""Mean times between two commands, from the paper's Table I."""

SIZES = (1, 2, 4, 8, 16, 32)
"""Sizes of the buffer in MiB, as in the figures."""
CLAIMED = (1, 8, 32)
"""Sizes for which claims are tested: the paper's 1 MB, and the demand of a full queue of either
workload."""
SMALLEST = CLAIMED[0]
QUEUED = {name: DEPTH * record // MIB for name, record in RECORDS.items()}
"""Demand of a full queue, in MiB."""
REACHES = {"1 to 8 MiB": QUEUED[FIRST], "1 to 32 MiB": QUEUED[SECOND]}


QUICK = {FIRST: 3_000, SECOND: 1_000}
FULL = {FIRST: 10_000, SECOND: 3_000}
"""Commands that are played. With these numbers, a hit ratio of 3 % scatters by a fifth and a third
of a point from seed to seed."""

LRU, NCQ = "LRU", "NCQ-aware LRU"
"""Lines of the paper. A size of the buffer completes the name: "LRU, 1 MiB"."""

SCHEMES = {
    "lru": ("LRU", {"buffer.scheme": "lru"}),
    "ncq": ("NCQ-aware LRU", {"buffer.scheme": "ncq_lru", "ncq_lru.pin": "counted"}),
    "ncq-arrival": (
        "NCQ-aware, pins on arrival only",
        {"buffer.scheme": "ncq_lru", "ncq_lru.pin": "on_arrival_only"},
    ),
    "ncq-move": (
        "NCQ-aware, moves only",
        {"buffer.scheme": "ncq_lru", "ncq_lru.pin": "move_only"},
    ),
    "fab": ("FAB", {"buffer.scheme": "fab"}),
    "bplru": ("BPLRU", {"buffer.scheme": "bplru"}),
    "clc": ("CLC", {"buffer.scheme": "clc"}),
    "belady": ("Bound", {"buffer.scheme": "belady"}),
}
"""Label and settings by our key."""
READINGS = {"counted": "ncq", "on arrival": "ncq-arrival", "moves": "ncq-move"}
"""Readings of "pinned", "virtual MRU" and "no action is required": our scheme by the level's
key."""


def sized(scheme: str, mib: int) -> str:
    """Returns the name of a line, the paper's or ours, with a buffer of `mib` MiB."""
    return f"{scheme}, {mib} MiB"


def _line(key: str, mib: int) -> Line:
    label, settings = SCHEMES[key]
    return Line(sized(key, mib), label, {**settings, "buffer.capacity": f"{mib}MiB"})


LINES = tuple(_line(key, mib) for key in SCHEMES for mib in SIZES)


def as_fast_as(ways: int) -> dict[str, str]:
    """Scales all times of the flash so that the preset's 16 dies are as fast as `ways` ways."""

    def nanoseconds(preset: int) -> str:
        return f"{preset * 16 // ways}ns"

    return {
        "flash.read": nanoseconds(25_000),
        "flash.program": nanoseconds(300_000),
        "flash.erase": nanoseconds(125_000),
        "flash.command": nanoseconds(2_000),
        "flash.bus": f"{409.6 * ways / 16:g}MB/s",
    }


def ways(channels: int, dies: int) -> dict[str, str]:
    """Spreads the block of 32 pages over the dies. An erase takes its share of 2 ms."""
    in_all = channels * dies
    return {
        "flash.channels": str(channels),
        "flash.dies": str(dies),
        "flash.superblock": str(in_all),
        "flash.pages_per_block": str(32 // in_all),
        "flash.erase": f"{2_000_000 // in_all}ns",
    }


SPANS = (64, 128, 192, 256, 384, 512, 1024)
WAYS = (16, 20, 24, 28, 32)

AXES = (
    Axis(
        "span",
        "the span",
        tuple(Level(f"{mib} MiB", keys={"span": f"{mib}MiB"}) for mib in SPANS),
        "The paper does not say. From twice what a full queue of workload 2 asks for, below which "
        "most of the span would be queued, to 1 GiB, of which the smallest buffer is a thousandth; "
        "a factor of 1.5 apart or less around the preset's 256 MiB, as numbers are met within one.",
        ordered=True,
    ),
    Axis(
        "speed",
        "the drive's speed",
        tuple(
            Level(f"{ways} ways", as_fast_as(ways), quick=ways in (WAYS[0], WAYS[-1]))
            for ways in WAYS
        ),
        "The paper does not say. From the preset's, which writes half of what workload 1 offers, "
        "so that the queue is full, to twice that, which writes nearly all of it, so that there is "
        "hardly one; in even steps, by shorter times of the preset's 16 dies.",
    ),
    Axis(
        "pins",
        "the pin",
        tuple(
            Level(reading, lines={sized(NCQ, mib): sized(key, mib) for mib in SIZES})
            for reading, key in READINGS.items()
        ),
        'Section III has blocks "pinned", of those that are buffered when a command arrives, and '
        "Figure 2 a move to the front. Counted: blocks that come to be buffered while the "
        "command waits are pinned, too, as the reason given, that they will be used soon, is as "
        "true of them.",
    ),
    Axis(
        "alignment",
        "the alignment",
        (Level("records"), Level("pages", keys={"align": "4KiB"})),
        "The paper does not say. Iometer aligns to the record or to less; to pages, parts of "
        "blocks leave the buffer, which is what BAST has its merges for.",
    ),
    Axis(
        "reach",
        "the range of sizes",
        tuple(Level(key) for key in REACHES),
        'Where the axis of Figures 3 to 5 ends is lost, and "up to" and "large" depend on it: at '
        "the least, what a full queue of workload 1 asks for, or of workload 2.",
    ),
    Axis(
        "arrivals",
        "the arrival",
        (
            Level("exponential", keys={"arrivals": "exponential"}),
            Level("fixed", keys={"arrivals": "fixed"}, quick=False),
        ),
        "Table I states means of the times between commands; at random and evenly are two ends. "
        "Asked with every speed at the middle of the rest, in a table beside the verdicts.",
    ),
    Axis(
        "otherwise",
        "what else is so",
        (
            Level("as assumed"),
            Level("queue kept full", {"queue.arrivals": "closed"}, quick=False),
            Level("128 commands", {"queue.depth": "128"}, quick=False),
            Level("a third of reads", keys={"reads": "0.33"}, quick=False),
            Level("FAST", {"ftl.scheme": "fast"}, quick=False),
            Level("page-mapped", {"ftl.scheme": "page"}, quick=False),
            Level("one chip", ways(1, 1), quick=False),
        ),
        "Each is one thing that the preset or the workload assumes, taken otherwise at the middle "
        "of the rest: a table beside the verdicts, as all of them at once are too many.",
    ),
)

STANDS_FOR = {
    FIRST: FIRST,
    SECOND: SECOND,
    **{sized(LRU, mib): sized("lru", mib) for mib in SIZES},
}


def experiment_of(commands: Mapping[str, int]) -> Experiment:
    workloads = tuple(
        Workload(
            name,
            name,
            Played(
                f"iometer:size={record // 1024}KiB,requests={commands[name]},"
                f"interarrival={GAPS[name]}"
            ),
            random=True,
        )
        for name, record in RECORDS.items()
    )
    return Experiment(DEVICE, AXES, workloads, LINES, STANDS_FOR)


FINER = (21, 22)
"""Ways between 20, with which a drive writes 200 MB/s, and 24, with which it writes 238 MB/s. The
swept speeds skip the 209 MB/s that workload 2 demands."""
FINER_SPAN = "192 MiB"
"""Span for which the law has the paper's 4 points."""


def finer(experiment: Experiment) -> Experiment:
    """Returns the experiment at these speeds, on one span, with counted pins and with records."""
    one = {"span": FINER_SPAN, "pins": "counted", "alignment": "records"}
    levels = {"speed": tuple(Level(f"{ways} ways", as_fast_as(ways)) for ways in FINER)}
    levels |= {key: (experiment.axis(key).level(level),) for key, level in one.items()}
    axes = (replace(a, levels=levels.get(a.key, a.levels)) for a in experiment.axes)
    return replace(experiment, axes=tuple(axes))


def all_speeds(experiment: Experiment) -> Axis:
    levels = [Level(f"{ways} ways") for ways in sorted((*WAYS, *FINER))]
    return replace(experiment.axis("speed"), levels=tuple(levels))


ENOUGH = 1024
"""MiB of a buffer that holds every span."""
WORST_SIZE = 8
"""MiB of the buffer in the claim: the demand of a full queue of workload 1. The filter looks at the
smallest buffer, so it leaves no point of the claim out."""

WORST_CASE = Axis(
    "worst",
    "the worst case",
    (
        Level("an empty queue", {"queue.depth": "1"}),
        Level(
            "all are served from the buffer",
            lines={
                sized(key, WORST_SIZE): sized(scheme, ENOUGH)
                for key, scheme in {LRU: "lru", **{key: key for key in READINGS.values()}}.items()
            },
        ),
    ),
    "A command is served as soon as it arrives, so that there are none before it; or the buffer "
    "holds the whole span, so that nothing leaves. The scheme has nothing to choose then: it is "
    "checked that it does not.",
    paper="all are served from the buffer",
)


def worst(experiment: Experiment) -> Experiment:
    """Returns the experiment where the scheme should be no better than LRU."""
    large = (_line(key, ENOUGH) for key in ("lru", *READINGS.values()))
    return replace(
        experiment, axes=(*experiment.axes, WORST_CASE), lines=(*experiment.lines, *large)
    )
