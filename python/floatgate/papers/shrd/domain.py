"""SHRD's experiment as data: lines, and the parameters that the slides leave open."""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.papers.kit.experiment import Axis, ByFootprint, Experiment, Level, Line, Workload

from . import workloads as w

DEVICE = "shrd17"
PAGE = 4096
TOGETHER = 8
"""Flash pages in a map page of the prototype. It reads and writes them together."""
ENTRY = 4
"""Bytes of a map entry, from the slides."""
LEAST_CACHE = 4 * TOGETHER * PAGE
"""Bytes of cache in the drive that the authors released."""

HOST = frozenset({"log", "window", "outstanding", "threshold", "remaps"})
"""Axes that affect SHRD's host only."""
SHARES = {"1/8": 1 / 8, "1/2": 1 / 2}
FEW_FIXED = frozenset({"span", "window", "threshold", "room"})
"""Axes that stay at one level in runs with few small writes, which have many requests."""
BETWEEN = HOST | {"cache", "top", "rate", "room"}
"""Axes that stay at their defaults over the middle span, to save time."""
ROOMLESS = frozenset({"log", "cache", "rate", "share", "threshold"})
"""Axes that are swept only with the prototype's spare space, to save time. The axis of spare space
comes after the axes that set the size of a drive."""


def _share(share: float) -> ByFootprint:
    return lambda pages: {
        "mapping.cache": f"{max(LEAST_CACHE, int(share * ENTRY * pages))}B",
        "queue.arrivals": "closed",
        "capacity.spare_factor": OWN,
        "flash.blocks": BLOCKS,
    }


def _window(key: str, threshold: float, size: float) -> Level:
    """Returns a level for a window of the log. It is due when the share `threshold` of the log is
    in use, and its size is the share `size` of the log."""
    return Level(key, {"shrd.remap_threshold": f"{threshold}", "shrd.remap_size": f"{size}"})


WINDOWS = (_window("1/16", 0.25, 0.0625), _window("3/4", 0.75, 0.75))


def _values(setting: str, *values: str, full: Sequence[str] = ()) -> tuple[Level, ...]:
    """Returns a level for each value of a setting; the value is also its name."""
    return Level.each(setting, {value: value.replace(" ", "") for value in values}, full)


def _over(span: str) -> dict[str, str]:
    return {name: f"{name}, {span}" for name in w.GENERATED}


def _loads(workload: str, names: Sequence[str]) -> tuple[Level, ...]:
    """Returns a level for each workload name."""
    return tuple(Level(name, workloads={workload: name}, beside=_fixed(name)) for name in names)


def _fixed(name: str) -> frozenset[str]:
    """Returns the axes without effect on a workload. A capture has one span, and other workloads
    have no share. Writes of 128 KiB are small at one threshold only."""
    if name in w.CAPTURED:
        return frozenset({"span"})
    return frozenset({"share"}) if name == w.SEQUENTIAL else w.UNSCALED


def _few(name: str, keys: Sequence[str], text: str = "{}") -> tuple[Level, ...]:
    """Returns a level for each share of small writes in the workloads of this name."""
    return tuple(
        Level(
            text.format(key), workloads={name: f"{name} {key}"}, beside=FEW_FIXED, quick=key == "1%"
        )
        for key in keys
    )


def _named(names: Sequence[str], level: str) -> Level:
    """Returns the level that adds its name to the names of these workloads."""
    return Level(level, workloads={name: f"{name} {level}" for name in names})


def _at(rate: str) -> dict[str, str]:
    return {f"{w.OPEN}, {span}": f"{w.OPEN}, {rate}, {span}" for span in w.SPANS}


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
            Level(
                "work-conserving",
                {"controller.cores": "1", "controller.blocking": "false"},
                quick=False,
            ),
        ),
        "The authors' firmware has two cores, each of which waits for its map page. The other end "
        "is a drive in which only the dies are waited for; the slides claim nothing about cores.",
        paper="prototype",
    ),
    Axis(
        "load",
        "the workload",
        _loads(w.ANY, w.LOADS),
        "The slides' benchmarks are a figure without text. These are fio's kinds, nine reads of "
        "ten for a load of mostly reads, and all captures. Sequential writes of 128 KiB are above "
        "the driver's threshold and pass SHRD by: there it is DFTL by construction. Those of 4 "
        "KiB, the size that fio has unless told, come one by one, as no queue merges them.",
    ),
    Axis(
        "stream",
        "the sequential writes",
        (
            *_few(w.SPARSE, [*w.SMALL], "128 KiB, {} small"),
            Level("128 KiB alone", workloads={w.SPARSE: w.SEQUENTIAL}),
            Level("4 KiB alone", workloads={w.SPARSE: w.STREAM}, beside=frozenset({"threshold"})),
        ),
        "Large writes are above the driver's threshold, and SHRD does nothing to them, but an "
        "application also writes metadata: one request in 200 to one in ten is small and random. "
        "4 KiB is fio's size by default, and no queue merges them here.",
    ),
    Axis(
        "written",
        "the share of writes",
        (
            Level("10%", workloads={w.READS_OFTEN: w.READS}),
            *_few(w.READS_OFTEN, ("1%", "0.5%", "3%")),
        ),
        "Of 4 KiB at random, among reads: the same shares as among sequential writes.",
    ),
    Axis(
        "ext4",
        "the load",
        _loads(w.ON_EXT4, (w.PGBENCH, w.ROCKSDB)),
        "The captures of ext4. Writes of RocksDB have 125 KiB: nearly all are above the driver's "
        "threshold.",
    ),
    Axis(
        "span",
        "the span",
        tuple(
            Level(
                span,
                workloads=_over(span),
                quick=span in w.SPANS[::2],
                beside=BETWEEN if span == w.SPANS[1] else frozenset(),
            )
            for span in w.SPANS
        ),
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
        WINDOWS,
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
            Level("the whole map", lines={w.LARGE_DFTL: "dftl-whole", w.LARGE_SHRD: "shrd-whole"}),
            Level("2 MiB", lines={w.LARGE_DFTL: "dftl-2m", w.LARGE_SHRD: "shrd-2m"}),
        ),
        '"Regardless of cache size" is about the sizes of a figure that is lost: they may or may '
        "not have gone to the whole map.",
    ),
    Axis(
        "rate",
        "the rate",
        tuple(Level(rate, workloads=_at(rate), quick=rate == "330/s") for rate in w.RATES),
        "The slides do not say how many requests were made. An eighth, a quarter and a half of the "
        "1,316 a second that two cores can do which wait for a map page to be read and another "
        "to be written (142 + 1,378 us) with each request.",
        ordered=True,
    ),
    Axis(
        "spare",
        "the spare space of an aged drive",
        Level.each(
            "capacity.spare_factor", {"48%": OWN, "25%": "0.25", "15%": "0.15"}, full=["25%"]
        ),
        "What 32 GiB of the prototype's 62 leave; less is what drives are sold with.",
        paper="48%",
    ),
    Axis(
        "outstanding",
        "the requests outstanding",
        _values("queue.depth", "128", "32", full=("32",)),
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
        "utilized",
        "the utilization",
        tuple(_named(w.ON_SYSTEMS, key) for key in w.UTILIZED),
        "Of the file system, by one file, whose pages fio writes at random. The slides have a high "
        "utilization without its number: nine tenths, and half to compare it with.",
    ),
    Axis(
        "age",
        "the file system's age",
        tuple(
            _named([f"{name} {full}" for name in w.ON_SYSTEMS for full in w.UTILIZED], key)
            for key in w.AGES
        ),
        "The slides have aged file systems without a recipe. Aged: 256 MiB of random writes to "
        "the file before, as much as a half-full file system of 512 MiB has free.",
    ),
    Axis(
        "scheme",
        "the scheme",
        (
            Level("DFTL", lines={w.RIVAL: "dftl", w.SCHEME: "dftl"}),
            Level("SHRD", lines={w.RIVAL: "shrd", w.SCHEME: "shrd"}),
        ),
        "Below f2fs where it is compared with ext4 on SHRD, or below both file systems. The slides "
        "do not say which.",
    ),
    Axis(
        "remaps",
        "the host during a remap",
        (
            Level("waits"),
            Level("sends on", {"shrd.block_during_remap": "false"}, beside=ROOMLESS | {"room"}),
        ),
        "The authors' driver sends nothing while the drive remaps. The slides do not say so, and "
        "the drive can serve other requests.",
    ),
    Axis(
        "room",
        "the spare space",
        (
            Level("48%"),
            Level("50%", {"capacity.spare_factor": HALF}, beside=ROOMLESS, quick=False),
        ),
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
    Line("dftl-aged", w.DFTL_AGED, _PLAIN | _AGED, HOST),
    Line("dftl-counted", w.DFTL_COUNTED, _PLAIN | _COUNTED, HOST | {"controller"}),
    Line("shrd", "SHRD", {}),
    Line("shrd-2m", "SHRD, 2 MiB", {"mapping.cache": "2MiB"}, SIZED),
    Line("shrd-whole", "SHRD, cache for all", {"mapping.cache": ALL}, SIZED),
    Line("shrd-unsorted", "SHRD, windows as written", {"shrd.sort_remaps": "false"}),
    Line("shrd-idle", w.IDLE, _IDLE, frozenset({"window"})),
    Line("shrd-aged", w.SHRD_AGED, _AGED),
    Line("shrd-counted", w.SHRD_COUNTED, _COUNTED, frozenset({"controller"})),
)
STANDS_FOR = {
    **{line.label: line.key for line in LINES},
    w.DFTL: "dftl",
    w.UNSORTED: "shrd-unsorted",
}


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    return Experiment(AXES, tuple(workloads), LINES, STANDS_FOR)
