"""The WARP paper's experiment as data: drives, jobs, lines, and the parameters left open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Line, Settings, Workload

from .streams import Job, Jobs, Pick, uniform, zipf, zoned

DEVICE = "classic"
PAGES = 57_344
"""Pages of the small namespace: 448 reclaim units of 128 pages."""
LARGE = 4 * PAGES
"""Pages of the namespace of one stream. Its saw-tooth needs 512 pages in a reclaim unit: with
fewer, chance lets the drive find units with fewer valid pages."""

EMULATED_PAGES = 448 * 2**30 / 4096
REAL_PAGES = 7_681_501_126_656 / 4096
"""Pages of the namespaces of WARP_A2 and SSD_A."""
EMULATED_VOLUMES, REAL_VOLUMES = 4.0, 4.397
"""Volumes after which the paper reads the cumulative write amplification, fill included: four times
448 GiB, and four times 7.68 TiB on a drive of 7.68 TB."""
SPARE_A, SPARE_B = 0.158, 0.0835
"""Spare factors of SSD_A and SSD_B, fitted to one stream (docs/measured-fdp.md)."""

FDP, MIXED, NO_FDP = "FDP", "mixed", "no FDP"
INITIALLY, PERSISTENTLY = FDP, "persistently isolated"
"""Lines of the paper."""

ZIPF_22, ZIPF_12, ZONED, UNIFORM = "zipf 2.2", "zipf 1.2", "80-20", "uniform"
LAWS: dict[str, Pick] = {
    ZIPF_22: zipf(2.2),
    ZIPF_12: zipf(1.2),
    ZONED: zoned,
    UNIFORM: uniform,
}
"""Three streams, by the law of the jumper."""
ON_SSD_A = {law: f"{law} on SSD_A" for law in (ZIPF_22, ZONED)}
RANDOM_SHARES = (10, 50, 90)
TWO = {share: f"{share} % at random" for share in RANDOM_SHARES}
TWO_IN_ORDER = "two in order"
CACHE, NEIGHBOUR = "cache alone", "cache and neighbour"
ONE_A, ONE_B = "one stream on SSD_A", "one stream on SSD_B"

SHARES = {
    "60 : 20 : 20": (60.0, 20.0, 20.0),
    "45 : 27.5 : 27.5": (45.0, 27.5, 27.5),
    "80 : 10 : 10": (80.0, 10.0, 10.0),
    "60 : 1 : 39": (60.0, 1.0, 39.0),
}
"""Shares of the stream in order, the jumper and the random stream."""
PAIRS = {"1 : 1": (1.0, 1.0), "1 : 4": (1.0, 4.0), "4 : 1": (4.0, 1.0)}
"""Shares of two streams."""
SPARE = {f"{over} %": over for over in (7, 10, 14, 20, 28)}
"""Over-provisioning in percent."""
UNITS = (1792, 896, 448, 224, 112)
"""Reclaim units of the namespace."""


def _lines() -> tuple[Line, ...]:
    """Returns the lines. The drive treats a handle that it does not have as handle 0, so a jumper
    without a handle of its own shares the handle of the stream in order."""
    initial = {
        "fdp": ("A handle each", 3),
        "mixed": ("The jumper in the first handle", 2),
        "nofdp": ("No handles", 1),
    }
    persistent = {
        "persistent-apart": ("A handle each, persistently isolated", "apart"),
        "persistent-with": ("The same, moved pages with writes", "with_writes"),
    }
    common = {
        "mapping.scheme": "ideal",
        "timing": "none",
        "queue.arrivals": "closed",
        "start.fill": "none",
        "placement.scheme": "host",
    }
    lines = [
        Line(key, label, {**common, "placement.handles": str(handles)})
        for key, (label, handles) in initial.items()
    ]
    for key, (label, moved) in persistent.items():
        isolated = {"placement.isolation": "persistently", "placement.moved_pages": moved}
        lines.append(Line(key, label, {**common, "placement.handles": "3", **isolated}))
    return tuple(lines)


LINES = _lines()

FOREGROUND = {"cleaning.foreground_below": "0.01"}
AHEAD = {**FOREGROUND, "cleaning.background_below": "0.1", "cleaning.copies_per_write": "4"}
BLOCKS = 8
"""Erase units of a reclaim unit with relabelling."""


def _given(levels: Iterable[str], names: Sequence[str]) -> tuple[Level, ...]:
    """Returns a level for each share. It stands for the workloads with that share."""
    return tuple(Level(key, workloads={name: f"{name}, {key}" for name in names}) for key in levels)


AXES = (
    Axis(
        "share",
        "the share of the three streams",
        _given(SHARES, [*LAWS, *ON_SSD_A.values()]),
        "Closed loops: the share follows from the speed of the drive. Measured on WARP_A2: 60 : 20 "
        ": 20, on slower emulators 80 : 10 : 10. Not known of SSD_A, where the streams may be "
        "nearer to each other. The last level is a jumper that waits for its own few blocks.",
    ),
    Axis(
        "pair",
        "the share of two streams",
        _given(PAIRS, [*TWO.values(), TWO_IN_ORDER]),
        "Not logged. Both have the same depth, so they may be as fast, or one of them four times.",
    ),
    Axis(
        "spare",
        "the spare space",
        tuple(
            Level(key, {"capacity.spare_factor": f"{over / (100 + over):.6f}"})
            for key, over in SPARE.items()
        ),
        "Over-provisioning. From the least that drives are sold with to that of write-intensive "
        "ones; WARP_A2 has 14 %, in the middle.",
        ordered=True,
        paper="14 %",
    ),
    Axis(
        "unit",
        "the reclaim unit",
        tuple(
            Level(f"1/{units}", {"flash.pages_per_block": str(PAGES // units)}) for units in UNITS
        ),
        "As a share of the namespace. SSD_A has some 1/430, the emulators 1/900 to 1/3600; twice "
        "and four times as large on the other side.",
        ordered=True,
    ),
    Axis(
        "victim",
        "the victim",
        Level.each("cleaning.victim", {"greedy": "greedy", "cost-benefit": "cost_benefit"}),
        "The emulator has both; real drives do not say.",
    ),
    Axis(
        "ahead",
        "the start of cleaning",
        (
            Level("99 % full", FOREGROUND),
            Level("90 % full", AHEAD),
            Level("90 % full, lazy 0.4", {**AHEAD, "cleaning.lazy": "0.4"}),
            Level("90 % full, lazy 0.05", {**AHEAD, "cleaning.lazy": "0.05"}),
        ),
        "The emulator cleans in the background from 90 % and in the foreground from 99 %, and its "
        "labels name lazy thresholds from 0.05 to 0.6. Which one WARP_A2 had is not stated.",
    ),
    Axis(
        "relabel",
        "whole blocks",
        (
            Level("copied"),
            Level(
                "relabelled",
                {
                    "flash.pages_per_block": str(PAGES // 448 // BLOCKS),
                    "placement.reclaim_unit": f"{4 * PAGES // 448}KiB",
                    "cleaning.relabel": "true",
                },
                beside=frozenset({"unit", "ahead"}),
            ),
        ),
        "The emulator relabels wholly valid blocks of a victim by default. How its pages lie in "
        "blocks decides how many there are; here a reclaim unit has 8 blocks, one after the other.",
    ),
    Axis(
        "moved",
        "the unit of moved pages",
        (
            Level("apart", lines={PERSISTENTLY: "persistent-apart"}),
            Level("with writes", lines={PERSISTENTLY: "persistent-with"}),
        ),
        "Persistently isolated handles keep moved pages separate by handle: in a unit of their "
        "own, as in the emulator, or in the unit that new writes of the handle fill.",
    ),
)


class Room(NamedTuple):
    """Erase units of a drive."""

    total: int
    """Units that the spare space asks for."""
    reserve: int
    """Units that stay free for cleaning, a part of the spare space."""
    least: int
    """Units in service with which the drive can clean."""

    @property
    def in_service(self) -> int:
        return max(self.total - self.reserve, self.least)


def _room(pages: int, settings: Settings) -> Room:
    per_unit = int(settings["flash.pages_per_block"])
    of_unit = int(settings.get("placement.reclaim_unit", "0KiB")[:-3]) // 4 // per_unit or 1
    handles = int(settings["placement.handles"])
    streams = {"apart": 2 * handles, "with_writes": handles}.get(
        settings.get("placement.moved_pages", ""), handles + 1
    )
    ahead = "cleaning.copies_per_write" in settings
    return Room(
        round(pages / (1 - float(settings["capacity.spare_factor"])) / per_unit),
        max(streams * (2 if ahead else 1), 2),
        -(-pages // per_unit) + (streams + 2) * of_unit,
    )


def added_units(pages: int, settings: Settings) -> int:
    """Returns the units that a drive gets in addition to its spare space."""
    room = _room(pages, settings)
    return room.in_service + room.reserve - room.total


def sized(pages: int, settings: Settings) -> Settings:
    """Returns settings for a drive on which the namespace has `pages` pages. A drive with less
    spare space than its open units need gets more."""
    units = _room(pages, settings).in_service
    spare = 1 - (pages + 0.5) / (units * int(settings["flash.pages_per_block"]))
    return {**settings, "flash.blocks": str(units), "capacity.spare_factor": f"{spare:.9f}"}


def _three(name: str, law: Pick, shares: tuple[float, ...], real: bool) -> Workload:
    order, jumper, at_random = shares
    jobs = (
        Job(0.0, 0.9, order),
        Job(0.9, 1.0, at_random, uniform),
        Job(0.0, 0.9, jumper, law, fills=False),
    )
    drive, volumes = (REAL_PAGES, REAL_VOLUMES) if real else (EMULATED_PAGES, EMULATED_VOLUMES)
    work = _made(name, Jobs(PAGES, drive, volumes, jobs, fill=True))
    if not real:
        return work
    on_a = {"capacity.spare_factor": str(SPARE_A)}
    return replace(work, ignores=work.ignores | {"spare"}, set=on_a)


def _made(name: str, jobs: Jobs) -> Workload:
    family = name.split(",")[0]
    return Workload(name, family, Played(name, made=jobs), random=True, fit=partial(sized, PAGES))


def _one(name: str, spare: float) -> Workload:
    """Returns passes in which each page is written once, in another random order each."""
    played = Played(f"shuffled:span={4 * LARGE}KiB,writes={3 * LARGE}")
    drive = {
        "capacity.spare_factor": str(spare),
        "flash.pages_per_block": str(LARGE // 448),
        "start.fill": "shuffled",
    }
    fit = partial(sized, LARGE)
    return Workload(
        name, name, played, frozenset({"spare", "unit"}), random=True, set=drive, fit=fit
    )


def _two(name: str, pair: tuple[float, ...], random_share: int) -> Workload:
    edge = 1 - random_share / 100
    jobs = (Job(0.0, edge, pair[0]), Job(edge, 1.0, pair[1], uniform))
    return _made(name, Jobs(PAGES, REAL_PAGES, 4.0, jobs))


def _in_order(name: str, pair: tuple[float, ...]) -> Workload:
    jobs = (Job(0.0, 0.5, pair[0]), Job(0.5, 1.0, pair[1]))
    return _made(name, Jobs(PAGES, REAL_PAGES, 4.0, jobs))


def _cache(name: str, neighbour: float) -> Workload:
    """Returns a flash cache on 60 % of the namespace, with a neighbour on the rest.

    40 % of the cache are small objects at random, as in the paper's largest cache of them.
    """
    jobs = (
        Job(0.0, 0.36, 3.0),
        Job(0.36, 0.6, 1.0, uniform),
        Job(0.6, 1.0, neighbour, uniform),
    )
    volumes = 1 + 4.0 * (4.0 + neighbour) / 4.0
    return _made(name, Jobs(PAGES, REAL_PAGES, volumes, jobs, fill=True))


def _workloads() -> tuple[Workload, ...]:
    three = [
        _three(f"{name}, {key}", LAWS[law], shares, real)
        for key, shares in SHARES.items()
        for law, name, real in (
            *((law, law, False) for law in LAWS),
            *((law, name, True) for law, name in ON_SSD_A.items()),
        )
    ]
    two = [
        _two(f"{TWO[share]}, {key}", pair, share)
        for (key, pair), share in product(PAIRS.items(), RANDOM_SHARES)
    ]
    ordered = [_in_order(f"{TWO_IN_ORDER}, {key}", pair) for key, pair in PAIRS.items()]
    caches = [_cache(CACHE, 0.0), _cache(NEIGHBOUR, 4.0)]
    return (*three, *two, *ordered, *caches, _one(ONE_A, SPARE_A), _one(ONE_B, SPARE_B))


EXPERIMENT = Experiment(AXES, _workloads(), LINES, {FDP: "fdp", MIXED: "mixed", NO_FDP: "nofdp"})
