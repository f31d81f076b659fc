"""SHRD's experiment as data: lines, workloads, and the parameters that the slides leave open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Axis, ByFootprint, Experiment, Level, Line, Workload
from floatgate.papers.kit.trace_files import Source

DEVICE = "shrd17"
PAGE = 4096
TOGETHER = 8
"""Flash pages in a map page of the prototype. It reads and writes them together."""
MAP_PAGE = TOGETHER * PAGE
ENTRY = 4
"""Bytes of a map entry, from the slides."""
LEAST_CACHE = 4 * MAP_PAGE
"""Bytes of cache in the drive that the authors released."""

RANDOM, SEQUENTIAL, READS = "random writes", "sequential writes", "mostly reads"
STREAM = "sequential writes of 4 KiB"
MIXED, OPEN, BURSTS = "mixed", "mixed at a rate", "bursts"
GENERATED = (RANDOM, SEQUENTIAL, STREAM, READS, MIXED, OPEN, BURSTS)
EXT4, F2FS = "ext4", "f2fs"
PGBENCH, ROCKSDB = "pgbench on ext4", "RocksDB on ext4"
POSTMARK = "postmark and fio with fsync on f2fs"
CAPTURED = (PGBENCH, ROCKSDB, POSTMARK)
LOADS = (RANDOM, READS, MIXED, SEQUENTIAL, STREAM, *CAPTURED)
"""Workloads of which each has a verdict."""
DFTL, SHRD, UNSORTED, WHOLE = "DFTL", "SHRD", "SHRD, unsorted", "the whole map in memory"
IDLE = "SHRD, remapped when idle"
DFTL_AGED, SHRD_AGED = "DFTL on an aged drive", "SHRD on an aged drive"
DFTL_COUNTED, SHRD_COUNTED = "DFTL, aged, without a clock", "SHRD, aged, without a clock"
LARGE_DFTL, LARGE_SHRD = "DFTL, large cache", "SHRD, large cache"
ANY, ON_EXT4 = "the workload", "the load"
"""Workloads and lines in claims. The last two names are placeholders that an axis replaces."""

SOURCES = (
    Source(PGBENCH, EXT4, "capture-pgbench-ext4-656k.csv.zst"),
    Source(ROCKSDB, EXT4, "capture-rocksdb-ext4-905k.csv.zst"),
    Source(POSTMARK, F2FS, "capture-postmark-f2fs-996k.csv.zst"),
)

LIMIT = 100_000
"""Requests of a capture. The map of their pages is larger than the smallest cache, so a cache can
hold an eighth of it or half."""
SKIPPED = {PGBENCH: 65_629, ROCKSDB: 90_481, POSTMARK: 99_587}
"""Requests of the first tenth of each capture, which are skipped. They create files and load tables
before the measured benchmark begins."""

LOG = 16_384
"""Slots of the slides' log of 64 MiB."""
WRITES = 8 * LOG
"""Requests of a closed loop. The largest log is filled four times, so the pages left in it at the
end are a sixteenth of the writes, or three with the largest window. Mixed requests write half as
much, over the log of 64 MiB. A workload of mostly reads needs twice the requests for more than one
window of any size."""

QUICK, FULL = 2, 6
"""Number of bursts."""

SPANS = ("4 GiB", "16 GiB", "32 GiB")
NARROW = ("1 GiB", "2 GiB")
"""Spans of the figure that searches for the factor of 30. A cache of 128 KiB has an eighth of the
first span's map, which is not small, so no claim is tested there."""
SHARES = {"1/8": 1 / 8, "1/2": 1 / 2}
RATES = {"165/s": 165, "330/s": 330, "660/s": 660}
"""Requests a second."""
BURST = 15 * LOG // 16
"""Writes in a burst: nearly a full log."""
PERIOD = 60.0
"""Seconds from one burst to the next."""

HOST = frozenset({"log", "window", "outstanding", "threshold"})
"""Axes that affect SHRD's host only."""
UNSCALED = frozenset({"share", "threshold"})
ROOMLESS = frozenset({"log", "cache", "rate", "share", "threshold"})
"""Axes that are swept only with the prototype's spare space, to save time. The axis of spare space
comes after the axes that set the size of a drive."""


def generated(bursts: int) -> list[Workload]:
    """Returns all generated workloads, over each of the spans."""
    workloads = []
    for span in (*NARROW, *SPANS):
        uniform = f"uniform:span={span.replace(' ', '')},size=4KiB"
        random = {
            RANDOM: f"{uniform},writes={WRITES}",
            READS: f"{uniform},requests={2 * WRITES},reads=0.9",
            MIXED: f"{uniform},requests={WRITES},reads=0.5",
            BURSTS: (
                f"{uniform},writes={bursts * BURST},arrivals=fixed,burst={BURST},"
                f"interarrival={round(1e9 * PERIOD / BURST)}ns"
            ),
        } | {
            f"{OPEN}, {rate}": (
                f"{uniform},requests={WRITES},reads=0.5,arrivals=exponential,"
                f"interarrival={round(1e9 / a_second)}ns"
            )
            for rate, a_second in RATES.items()
        }
        workloads += [
            Workload(f"{name}, {span}", name.split(", ")[0], Played(text), UNSCALED, random=True)
            for name, text in random.items()
        ]
        sequential = f"sequential:span={span.replace(' ', '')}"
        large = Played(f"{sequential},size=128KiB,writes={WRITES // 8}")
        small = Played(f"{sequential},size=4KiB,writes={WRITES}")
        # The large requests equal the largest threshold, which decides where they go.
        workloads += [
            Workload(f"{SEQUENTIAL}, {span}", SEQUENTIAL, large, frozenset({"share"})),
            Workload(f"{STREAM}, {span}", STREAM, small, UNSCALED),
        ]
    return workloads


def captured(source: Source, file: Path) -> Workload:
    played = Played(str(file), LIMIT, SKIPPED[source.name])
    return Workload(source.name, source.family, played, frozenset({"cache", "spare"}))


def _share(share: float) -> ByFootprint:
    return lambda pages: {
        "mapping.cache": f"{max(LEAST_CACHE, int(share * ENTRY * pages))}B",
        "queue.arrivals": "closed",
        "capacity.spare_factor": OWN,
        "flash.blocks": BLOCKS,
    }


def _window(key: str, threshold: float, size: float) -> Level:
    return Level(key, {"shrd.remap_threshold": f"{threshold}", "shrd.remap_size": f"{size}"})


def _values(setting: str, *values: str, full: Sequence[str] = ()) -> tuple[Level, ...]:
    """Returns a level for each value of a setting. Those in `full` are not quick."""
    return tuple(
        Level(value, {setting: value.replace(" ", "")}, quick=value not in full) for value in values
    )


def _over(span: str) -> dict[str, str]:
    return {name: f"{name}, {span}" for name in GENERATED}


def _loads(workload: str, names: Sequence[str]) -> tuple[Level, ...]:
    """Returns a level for each workload name. A capture has a fixed span, and other workloads
    ignore the axes of captures. Writes of 128 KiB are small at one threshold only."""
    captures, large = frozenset({"span"}), frozenset({"share"})
    return tuple(
        Level(
            name,
            workloads={workload: name},
            beside=captures if name in CAPTURED else large if name == SEQUENTIAL else UNSCALED,
        )
        for name in names
    )


def _at(rate: str) -> dict[str, str]:
    return {f"{OPEN}, {span}": f"{OPEN}, {rate}, {span}" for span in SPANS}


OWN = "0.48"
"""The prototype's spare space: the host writes 32 GiB of its 62 GiB."""
HALF = "0.5"
"""Spare space for which 4, 16 and 32 GiB, and the logs, are whole map pages."""
BLOCKS = "24576"
"""Blocks of the drive for captures, 12 GiB. Half of it is 6 GiB, the size of the largest captured
device."""
ALL = "40MiB"
"""Cache for the whole map of 32 GiB and the largest log."""

AXES = (
    Axis(
        "controller",
        "the controller",
        (
            Level("prototype", {"controller.cores": "2", "controller.blocking": "true"}),
            Level("work-conserving", {"controller.cores": "1", "controller.blocking": "false"}),
        ),
        "The authors' firmware has two cores, each of which waits for its map page. The other end "
        "is a drive in which only the dies are waited for; the slides claim nothing about cores.",
        paper="prototype",
    ),
    Axis(
        "load",
        "the workload",
        _loads(ANY, LOADS),
        "The slides' benchmarks are a figure without text. These are fio's kinds, nine reads of "
        "ten for a load of mostly reads, and all captures. Sequential writes of 128 KiB are above "
        "the driver's threshold and pass SHRD by: there it is DFTL by construction. Those of 4 "
        "KiB, the size that fio has unless told, come one by one, as no queue merges them.",
    ),
    Axis(
        "request",
        "a sequential write",
        (
            Level("128 KiB"),
            Level("4 KiB", workloads={SEQUENTIAL: STREAM}, beside=frozenset({"threshold"})),
        ),
        "Large writes of an application are above the driver's threshold, and SHRD does nothing "
        "to them; 4 KiB is the size that fio has unless told, and no queue merges them here.",
    ),
    Axis(
        "ext4",
        "the load",
        _loads(ON_EXT4, (PGBENCH, ROCKSDB)),
        "The captures of ext4. Writes of RocksDB have 125 KiB: nearly all are above the driver's "
        "threshold.",
    ),
    Axis(
        "span",
        "the span",
        tuple(Level(span, workloads=_over(span), quick=span in SPANS[::2]) for span in SPANS),
        "The slides have 32 GiB. A window over a smaller span has more pages of each map page, as "
        "one over 32 GiB has with larger map pages.",
        paper="32 GiB",
    ),
    Axis(
        "log",
        "the log",
        _values("host.log", "64 MiB", "32 MiB", "128 MiB", full=("32 MiB", "128 MiB")),
        "The slides give 64 MiB for the size of the table, and sweep it without numbers; the "
        "authors' driver was built with 32 MiB, then with 128.",
        paper="64 MiB",
    ),
    Axis(
        "window",
        "the window",
        (_window("1/16", 0.25, 0.0625), _window("3/4", 0.75, 0.75)),
        "Of the log. The slides do not say. A sixteenth is the authors' driver's; "
        "three quarters leave a log just room for what arrives.",
    ),
    Axis(
        "cache",
        "the cache",
        _values("mapping.cache", "128 KiB", "2 MiB", full=("2 MiB",)),
        "The slides sweep it and call it small. From what the authors' drive has as released to a "
        "sixteenth of the map of 32 GiB.",
    ),
    Axis(
        "top",
        "the largest cache",
        (
            Level("the whole map", lines={LARGE_DFTL: "dftl-whole", LARGE_SHRD: "shrd-whole"}),
            Level("2 MiB", lines={LARGE_DFTL: "dftl-2m", LARGE_SHRD: "shrd-2m"}),
        ),
        '"Regardless of cache size" is about the sizes of a figure that is lost: they may or may '
        "not have gone to the whole map.",
    ),
    Axis(
        "rate",
        "the rate",
        tuple(Level(rate, workloads=_at(rate), quick=rate == "330/s") for rate in RATES),
        "The slides do not say how many requests were made. An eighth, a quarter and a half of the "
        "1,316 a second that two cores can do which wait for a map page to be read and another "
        "to be written (142 + 1,378 us) with each request.",
        ordered=True,
    ),
    Axis(
        "spare",
        "the spare space of an aged drive",
        tuple(
            Level(key, {"capacity.spare_factor": share}, quick=key != "25%")
            for key, share in (("48%", OWN), ("25%", "0.25"), ("15%", "0.15"))
        ),
        "What 32 GiB of the prototype's 62 leave; less is what drives are sold with.",
        paper="48%",
    ),
    Axis(
        "outstanding",
        "the requests outstanding",
        _values("queue.depth", "128", "32"),
        "What a block layer of Linux 3.17 holds, and what a SATA drive takes. Either host has 32 "
        "commands in the drive.",
    ),
    Axis(
        "share",
        "the cache's share",
        tuple(Level(key, _share(share), quick=key == "1/8") for key, share in SHARES.items()),
        "Of the map of the pages that a capture touches, as its device has 2 to 6 GiB; at least "
        "the map pages of the authors' drive as released, which an eighth of pgbench's is less "
        "than. A smaller share would be that cache again.",
    ),
    Axis(
        "room",
        "the spare space",
        (Level("48%"), Level("50%", {"capacity.spare_factor": HALF}, beside=ROOMLESS)),
        "32 GiB of the prototype's 62 leave 48%. Here the last map page is then a part of one, and "
        "the map pages after it lie over two dies; whether the prototype pads it is not known. "
        "With a half all map pages are whole.",
        paper="48%",
    ),
    Axis(
        "threshold",
        "the threshold",
        _values("host.threshold", "16 KiB", "4 KiB", "128 KiB", full=("4 KiB",)),
        "Up to which a write is random: swept in the slides, without numbers. 16 KiB is the "
        "authors' driver's; the others are a page and four times a large write of an application.",
    ),
)

_PLAIN = {"host.scheme": "plain", "queue.depth": "32"}
"""A SATA drive takes 32 commands. With 128 outstanding requests, the rest waits in the host."""
_IDLE = {"shrd.remap_threshold": "0.99", "shrd.remap_size": "1", "shrd.idle_after": "10ms"}
"""Remaps the whole log at once, when the host has been idle for a while or the log is nearly
full."""
_COUNTED = {"start.fill": "random", "timing": "none"}
"""Starts from a drive that two volumes of random writes have overwritten, like a drive in use."""
_AGED = {"start.fill": "random", "start.overwrites": "1"}
"""Starts after one volume of random writes. With SHRD the drive is filled with the clock on, which
takes most of the time."""
SIZED = frozenset({"cache"})

LINES = (
    Line("dftl", "DFTL, whole map pages", _PLAIN, HOST),
    Line("dftl-2m", "DFTL, 2 MiB", _PLAIN | {"mapping.cache": "2MiB"}, HOST | SIZED),
    Line("dftl-whole", "DFTL, cache for all", _PLAIN | {"mapping.cache": ALL}, HOST | SIZED),
    Line("dftl-aged", DFTL_AGED, _PLAIN | _AGED, HOST),
    Line("dftl-counted", DFTL_COUNTED, _PLAIN | _COUNTED, HOST | {"controller"}),
    Line("shrd", "SHRD", {}),
    Line("shrd-2m", "SHRD, 2 MiB", {"mapping.cache": "2MiB"}, SIZED),
    Line("shrd-whole", "SHRD, cache for all", {"mapping.cache": ALL}, SIZED),
    Line("shrd-unsorted", "SHRD, windows as written", {"shrd.sort_remaps": "false"}),
    Line("shrd-idle", IDLE, _IDLE, frozenset({"window"})),
    Line("shrd-aged", SHRD_AGED, _AGED),
    Line("shrd-counted", SHRD_COUNTED, _COUNTED, frozenset({"controller"})),
    Line("ideal", WHOLE, _PLAIN | {"mapping.scheme": "ideal"}, HOST | SIZED),
)
STANDS_FOR = {
    **{name: name for name in CAPTURED},
    DFTL: "dftl",
    SHRD: "shrd",
    UNSORTED: "shrd-unsorted",
    IDLE: "shrd-idle",
    DFTL_AGED: "dftl-aged",
    SHRD_AGED: "shrd-aged",
    DFTL_COUNTED: "dftl-counted",
    SHRD_COUNTED: "shrd-counted",
    WHOLE: "ideal",
}


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    return Experiment(DEVICE, AXES, tuple(workloads), LINES, STANDS_FOR)
