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
OTHER, NCQ_OTHER = "another scheme", "another scheme, NCQ-aware"
"""Lines of the paper. A size of the buffer completes the name: "LRU, 1 MiB"."""

READINGS = {"on arrival": "", "moves": "-move", "counted": "-counted"}
"""Readings of "pinned", "virtual MRU" and "no action is required": the end of a line's key by the
level's key."""
PIN = {"": "on_arrival_only", "-move": "move_only", "-counted": "counted"}
PIN_LABELS = {"": "", "-move": ", moves only", "-counted": ", counted pins"}
OTHERS = {"FAB": "fab", "BPLRU": "bplru", "CLC": "clc"}


def _aware(label: str, scheme: str, key: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Returns a scheme with each reading of the pin, by our key."""
    return {
        key + end: (
            f"NCQ-aware {label}{PIN_LABELS[end]}",
            {"buffer.scheme": scheme, f"{scheme}.pin": pin},
        )
        for end, pin in PIN.items()
    }


SCHEMES = {
    "lru": ("LRU", {"buffer.scheme": "lru"}),
    **_aware("LRU", "ncq_lru", "ncq"),
    **{key: (label, {"buffer.scheme": key}) for label, key in OTHERS.items()},
    "belady": ("Bound", {"buffer.scheme": "belady"}),
}
"""Label and settings by our key: the lines of the figures."""
PINNED = {
    key: line
    for label, scheme in OTHERS.items()
    for key, line in _aware(label, scheme, f"ncq-{scheme}").items()
}


def sized(scheme: str, mib: int) -> str:
    """Returns the name of a line, the paper's or ours, with a buffer of `mib` MiB."""
    return f"{scheme}, {mib} MiB"


def _line(key: str, mib: int) -> Line:
    label, settings = (SCHEMES | PINNED)[key]
    return Line(sized(key, mib), label, {**settings, "buffer.capacity": f"{mib}MiB"})


LINES = tuple(_line(key, mib) for key in SCHEMES | PINNED for mib in SIZES)


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


SPANS = (16, 24, 32, 48, 64, 128, 192, 256, 512, 1024)
WAYS = (16, 20, 24, 32)


def _lines(paper: str, ours: str) -> dict[str, str]:
    return {sized(paper, mib): sized(ours, mib) for mib in SIZES}


AXES = (
    Axis(
        "span",
        "the span",
        tuple(Level(f"{mib} MiB", keys={"span": f"{mib}MiB"}) for mib in SPANS),
        "The paper does not say. From twice what a full queue of workload 1 asks for, below which "
        "most of the span would be queued, to 1 GiB, of which the smallest buffer is a thousandth; "
        "a factor of 2 apart or less, as a number is met over a factor of 2.25.",
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
        "hardly one, and two next to what workload 2 offers; by shorter times of the 16 dies.",
    ),
    Axis(
        "pins",
        "the pin",
        tuple(
            Level(
                reading,
                lines=_lines(NCQ, f"ncq{end}") | _lines(NCQ_OTHER, f"other{end}"),
                quick=reading != "moves",
            )
            for reading, end in READINGS.items()
        ),
        'On arrival is the letter of section III: data in the buffer are "pinned", for others "no '
        'action is required". Moves is the letter of Figure 2. Counted is an extension of ours: '
        "blocks that enter the buffer while the command waits are pinned, too, as the reason "
        "given, that they will be used soon, is as true of them.",
    ),
    Axis(
        "scheme",
        "the other scheme",
        tuple(
            Level(
                label,
                lines=_lines(OTHER, key)
                | {
                    name: ours
                    for end in PIN
                    for name, ours in _lines(f"other{end}", f"ncq-{key}{end}").items()
                },
            )
            for label, key in OTHERS.items()
        ),
        "The existing schemes that section II names.",
    ),
    Axis(
        "alignment",
        "the alignment",
        (
            Level("records"),
            Level("pages", keys={"align": "4KiB"}, quick=False, beside=frozenset({"speed"})),
        ),
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
        "With every speed at the middle of the rest, in a table next to the verdicts.",
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
        "One assumption of the preset or the workload at a time, at the middle of the rest: a "
        "table next to the verdicts, as all of them at once are too many.",
    ),
)


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
    return Experiment(AXES, workloads, LINES, _lines(LRU, "lru"))


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
                sized(line, WORST_SIZE): sized(key, ENOUGH)
                for line, key in {LRU: "lru", **{f"ncq{end}": f"ncq{end}" for end in PIN}}.items()
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
    large = (_line(key, ENOUGH) for key in ("lru", *(f"ncq{end}" for end in PIN)))
    return replace(
        experiment, axes=(*experiment.axes, WORST_CASE), lines=(*experiment.lines, *large)
    )
