"""The NCQ-aware buffer's experiment as data: lines, workloads, and the parameters left open."""

from __future__ import annotations

from dataclasses import dataclass

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Axis, Choice, Experiment, Line, Workload

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


@dataclass(frozen=True)
class Size:
    """Number of commands that are played of each workload."""

    first: int
    second: int


QUICK = Size(3_000, 1_000)
FULL = Size(10_000, 3_000)
"""With these numbers, a hit ratio of 3 % scatters by a fifth and a third of a point from seed to
seed."""

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
"""Readings of "pinned", "virtual MRU" and "no action is required": our scheme by the choice's
key."""


def sized(scheme: str, mib: int) -> str:
    """Returns the name of a line, the paper's or ours, with a buffer of `mib` MiB."""
    return f"{scheme}, {mib} MiB"


LINES = tuple(
    Line(sized(key, mib), label, {**settings, "buffer.capacity": f"{mib}MiB"})
    for key, (label, settings) in SCHEMES.items()
    for mib in SIZES
)


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
        tuple(Choice(f"{mib} MiB", keys={"span": f"{mib}MiB"}) for mib in SPANS),
        "The paper does not say. From twice what a full queue of workload 2 asks for, below which "
        "most of the span would be queued, to 1 GiB, of which the smallest buffer is a thousandth; "
        "a factor of 1.5 apart or less around the preset's 256 MiB, as numbers are met within one.",
        ordered=True,
    ),
    Axis(
        "speed",
        "the drive's speed",
        tuple(
            Choice(f"{ways} ways", as_fast_as(ways), quick=ways in (WAYS[0], WAYS[-1]))
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
            Choice(reading, lines={sized(NCQ, mib): sized(key, mib) for mib in SIZES})
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
        (Choice("records"), Choice("pages", keys={"align": "4KiB"})),
        "The paper does not say. Iometer aligns to the record or to less; to pages, parts of "
        "blocks leave the buffer, which is what BAST has its merges for.",
    ),
    Axis(
        "reach",
        "the range of sizes",
        tuple(Choice(key) for key in REACHES),
        'Where the axis of Figures 3 to 5 ends is lost, and "up to" and "large" depend on it: at '
        "the least, what a full queue of workload 1 asks for, or of workload 2.",
    ),
    Axis(
        "arrivals",
        "the arrival",
        (
            Choice("exponential", keys={"arrivals": "exponential"}),
            Choice("fixed", keys={"arrivals": "fixed"}, quick=False),
        ),
        "Table I states means of the times between commands; at random and evenly are two ends. "
        "Asked with every speed at the middle of the rest, in a table beside the verdicts.",
    ),
    Axis(
        "otherwise",
        "what else is so",
        (
            Choice("as assumed"),
            Choice("queue kept full", {"queue.arrivals": "closed"}, quick=False),
            Choice("128 commands", {"queue.depth": "128"}, quick=False),
            Choice("a third of reads", keys={"reads": "0.33"}, quick=False),
            Choice("FAST", {"ftl.scheme": "fast"}, quick=False),
            Choice("page-mapped", {"ftl.scheme": "page"}, quick=False),
            Choice("one chip", ways(1, 1), quick=False),
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


def experiment_of(size: Size) -> Experiment:
    commands = {FIRST: size.first, SECOND: size.second}
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
