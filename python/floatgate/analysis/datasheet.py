"""Data sheet of a drive, measured on the model: the numbers that a vendor prints,
with conditions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from floatgate import _core
from floatgate.result_types import SpaceResult
from floatgate.results.drawn import Shown
from floatgate.results.result import Result
from floatgate.simulation import configs, runner, scaling
from floatgate.simulation.configs import Device, Resolved
from floatgate.simulation.options import RunOptions
from floatgate.simulation.watching import Progress

from .recipes import FILL

UNITS = 256
UNITS_QUICK = 128
"""Erase units of the measured drive.

With fewer than 128, cleaning has few victims to choose from.
"""

BLOCKS_A_PLANE = 8
"""Minimum number of blocks on each plane, if an erase unit does not cover all planes."""

UNIT_PAGES = 1 << 15
"""Maximum number of map pages in an erase unit. Larger blocks are measured with fewer flash pages,
and their erase time shrinks in proportion.
"""

IO = 4096
"""Bytes of a random request. The class may state another size for writes (`random_write_size`)."""

DEPTH_SEQUENTIAL = 32
DEPTH_RANDOM = 256
DEPTH_LATENCY = 32
"""Commands outstanding. A device with a shorter queue uses its own depth."""

READ_SHARE = 0.7
"""Share of reads in the mixed workload."""

REQUESTS = 100_000
REQUESTS_QUICK = 20_000
"""Requests of a latency run. The 99.9th percentile then rests on the slowest 0.1 % of them: 100, or
20 in a quick run.
"""

OVERWRITES = 2
"""Number of times that random writes overwrite the drive until they are steady: docs/drives.md."""

RANGES = (
    *("sequential_read_mb_s", "sequential_write_mb_s"),
    *("random_read_iops", "random_write_iops", "mixed_iops"),
    *("read_latency_us", "write_latency_us"),
)
"""Keys of `[class]` in a device's TOML. Each has the smallest and the largest number on data sheets
of the class. The latencies are medians at depth 1.
"""

CLASS = ("source", "state", "random_write_size", *RANGES)
"""All keys of `[class]`."""

STATES = ("steady", "fresh")
"""States of a drive that a data sheet can describe; the first is the default."""


@dataclass(frozen=True)
class Published:
    """Contents of the table `[class]`."""

    source: str | None
    state: str
    """Whether the sheets describe fresh or steady drives. Latencies are always steady."""
    write_size: int
    """Bytes of the random writes on the sheets."""
    ranges: Mapping[str, tuple[float, float]]

    def is_outside(self, key: str, value: float | None) -> bool:
        """Returns whether a value, rounded to three digits, lies outside the published range."""
        low, high = self.ranges.get(key, (0.0, math.inf))
        return value is not None and not low <= float(f"{value:.3g}") <= high


@dataclass(frozen=True)
class Line:
    """Number of the sheet, fresh and steady; None if not measured."""

    name: str
    unit: str
    conditions: str
    fresh: float | None
    steady: float | None
    published: tuple[float, float] | None
    """Smallest and largest number on data sheets of the class."""
    outside: bool
    """Whether the number, in the state of the class, lies outside the published range."""


@dataclass(frozen=True)
class LatencyLine:
    """Response times in microseconds, in the steady state."""

    name: str
    conditions: str
    mean_us: float
    p50_us: float
    p99_us: float
    p999_us: float
    published: tuple[float, float] | None
    """Smallest and largest median on data sheets of the class."""
    outside: bool


@dataclass(frozen=True, repr=False)
class DataSheet(Shown):
    """Data sheet that `measure_device` returns."""

    device: str
    raw_bytes: int
    """All flash, including the units that cleaning reserves."""
    user_bytes: int
    """Bytes that the host can address."""
    space: SpaceResult
    """Division of all flash of the device; for a device without a size,
    of the flash of the measured drive.
    """
    spare_factor: float
    """Share of the pages in service beyond the pages that the host can address."""
    blocks: int
    """Blocks of the measured drive, without the reserve of cleaning."""
    blocks_full: int | None
    """Blocks in the device's config; None if it states none."""
    write_amplification: float
    """Write amplification of random writes in the steady state."""
    lines: tuple[Line, ...]
    latencies: tuple[LatencyLine, ...]
    states: dict[str, str]
    """Descriptions of "fresh" and "steady"."""
    source: str | None
    """Source of the published ranges."""
    class_state: str
    """State that the published ranges describe: "fresh" or "steady"."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def _headline(self) -> str:
        return f"of {self.device}: write amplification {self.write_amplification:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `--json` prints."""
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """Drive to measure, its states and its workloads."""

    device: Device | None
    scale: Mapping[str, Any]
    """Settings that make the drive smaller."""
    capacity: int
    """Bytes that the host can address, in whole fill requests."""
    depth: int
    """Queue depth of random requests."""
    published: Published
    quick: bool

    @property
    def starts(self) -> dict[str, dict[str, Any]]:
        """Settings that prepare the drive before a run, by the name of the state."""
        fill = f"sequential:span={self.capacity},size={FILL},writes={self.capacity // FILL}"
        return {
            "erased": {"start.fill": "none"},
            "filled": {"start.fill": "sequential"},
            "sequential": {"start.fill": "none", "start.play": f"{fill}; {fill}"},
            "random": {"start.fill": "random", "start.overwrites": OVERWRITES},
        }

    def pair(self, start: str, workload: str, requests: int, depth: int) -> tuple[str, Resolved]:
        """Returns a workload (given without span and length) and the drive in a state."""
        queue = {"queue.depth": depth, "queue.queues": 1}
        sets = {**self.scale, **queue, **self.starts[start]}
        text = f"{workload},span={self.capacity},requests={requests}"
        return text, configs.resolve_all(self.device, sets, {})[0]


def measure_device(
    device: Device | None = None,
    *,
    quick: bool = False,
    seed: int = 1,
    progress: Progress | None = None,
) -> DataSheet:
    """Measures a drive as data sheets do: bandwidth, random requests, latencies.

    `device` is as for `run`. The drive is scaled to 256 erase units (with `quick` 128); spare, dies
    and buses keep their values. The table `[class]` in the device's TOML holds published ranges,
    and the sheet compares its numbers with them. Raises ConfigError for a drive whose time is not
    simulated.
    """
    said = json.loads(_core.said(*configs.source(device)))
    published = _published(said.get("class", {}))
    whole = configs.resolve(device, {})
    table = whole.table()
    if table["timing"] == "none":
        raise _core.ConfigError(
            f"{configs.name(device)}: its time is not simulated (timing = none); a data sheet has "
            "bandwidths and latencies"
        )
    scale = _scale(table["flash"], whole.page_bytes, UNITS_QUICK if quick else UNITS)
    capacity = configs.resolve(device, scale).logical_bytes(0) // FILL * FILL
    queue = said.get("queue", {})
    depth = min(DEPTH_RANDOM, queue.get("depth", DEPTH_RANDOM) * queue.get("queues", 1))
    plan = Plan(device, scale, capacity, depth, published, quick)
    pairs = _pairs(plan)
    results = runner.simulate_pairs([*pairs.values()], RunOptions(seed=seed), progress=progress)
    found = dict(zip(pairs, results, strict=True))
    return _sheet(plan, found, table["flash"])


Pairs = dict[tuple[str, str], tuple[str, Resolved]]
"""Runs, by the measured quantity and the state of the drive."""


def _pairs(plan: Plan) -> Pairs:
    part = 4 if plan.quick else 1
    write = plan.published.write_size
    fills, volume = plan.capacity // FILL // part, plan.capacity // write // part
    some = REQUESTS_QUICK if plan.quick else REQUESTS
    in_order = f"sequential:size={FILL}"
    reads, writes = f"uniform:size={IO},reads=1", f"uniform:size={write}"
    mixed = f"{writes},reads={READ_SHARE}"
    deep, sequential = plan.depth, min(DEPTH_SEQUENTIAL, plan.depth)
    pairs = {
        ("sequential read", "fresh"): ("filled", f"{in_order},reads=1", fills, sequential),
        ("sequential read", "steady"): ("sequential", f"{in_order},reads=1", fills, sequential),
        ("sequential write", "fresh"): ("erased", in_order, fills, sequential),
        ("sequential write", "steady"): ("sequential", in_order, fills, sequential),
        ("random read", "fresh"): ("filled", reads, some, deep),
        ("random read", "steady"): ("random", reads, some, deep),
        # A quarter of the drive: cleaning begins only when the drive is full.
        ("random write", "fresh"): ("erased", writes, plan.capacity // write // 4, deep),
        ("random write", "steady"): ("random", writes, volume, deep),
        ("random mixed", "steady"): ("random", mixed, some, deep),
    }
    for depth in _latency_depths(plan):
        pairs["read latency", str(depth)] = ("random", reads, some, depth)
        pairs["write latency", str(depth)] = ("random", writes, some, depth)
    return {key: plan.pair(*asked) for key, asked in pairs.items()}


def _latency_depths(plan: Plan) -> list[int]:
    return sorted({1, min(DEPTH_LATENCY, plan.depth)})


def _sheet(
    plan: Plan, found: Mapping[tuple[str, str], Result], flash: Mapping[str, Any]
) -> DataSheet:
    published = plan.published
    worn = found["random write", "steady"]
    drive = worn.drive
    sequential = f"{FILL >> 10} KiB, QD{min(DEPTH_SEQUENTIAL, plan.depth)}"
    read, write = IO >> 10, published.write_size >> 10

    def line(name: str, unit: str, key: str, conditions: str, of: Rate) -> Line:
        steady = of(found[name, "steady"])
        fresh = of(found[name, "fresh"]) if (name, "fresh") in found else None
        outside = published.is_outside(key, fresh if published.state == "fresh" else steady)
        return Line(name, unit, conditions, fresh, steady, published.ranges.get(key), outside)

    def latency(operation: str, depth: int) -> LatencyLine:
        result = found[f"{operation} latency", str(depth)]
        is_read = operation == "read"
        times = result.latency.read if is_read else result.latency.write
        key = f"{operation}_latency_us" if depth == 1 else ""
        told = (times.mean_us, times.p50_us, times.p99_us, times.p999_us)
        mean, median, high, highest = (time or 0.0 for time in told)
        shown = (f"{operation} latency", f"{read if is_read else write} KiB, QD{depth}")
        limits, outside = published.ranges.get(key), published.is_outside(key, median)
        return LatencyLine(*shown, mean, median, high, highest, limits, outside)

    random = f"{write} KiB, QD{plan.depth}"
    mixed = f"{random}, {READ_SHARE:.0%} reads"
    lines = (
        line("sequential read", "MB/s", "sequential_read_mb_s", sequential, _read_rate),
        line("sequential write", "MB/s", "sequential_write_mb_s", sequential, _write_rate),
        line("random read", "IOPS", "random_read_iops", f"{read} KiB, QD{plan.depth}", _iops),
        line("random write", "IOPS", "random_write_iops", random, _iops),
        line("random mixed", "IOPS", "mixed_iops", mixed, _iops),
    )
    latencies = [
        latency(operation, depth)
        for depth in _latency_depths(plan)
        for operation in ("read", "write")
    ]
    assert worn.write_amplification is not None
    return DataSheet(
        configs.name(plan.device),
        drive.physical_bytes,
        drive.logical_bytes,
        configs.space(plan.device, {} if flash.get("blocks") else plan.scale),
        drive.spare_factor,
        plan.scale["flash.blocks"],
        flash.get("blocks"),
        worn.write_amplification,
        lines,
        tuple(latencies),
        _states(),
        published.source,
        published.state,
        worn.warnings,
        tuple(_notes(plan.scale, flash, worn)),
    )


Rate = Callable[[Result], float | None]


def _read_rate(result: Result) -> float | None:
    return result.throughput.read_mb_s


def _write_rate(result: Result) -> float | None:
    return result.throughput.write_mb_s


def _iops(result: Result) -> float | None:
    return result.throughput.iops


def _states() -> dict[str, str]:
    return {
        "fresh": "erased; before reads filled once in order",
        "steady, sequential": f"two capacities in order, {FILL >> 10} KiB",
        "steady, random": f"filled in order, then {OVERWRITES}x the capacity in random pages",
    }


def _scale(flash: Mapping[str, Any], page_bytes: int, units: int) -> dict[str, Any]:
    """Returns settings of the scaled drive: about `units` erase units, blocks on every plane, and
    few pages per unit.
    """
    planes = flash["channels"] * flash["dies"] * flash["planes"]
    blocks = max(units * flash["superblock"], BLOCKS_A_PLANE * planes)
    scale = {"flash.blocks": min(blocks, flash.get("blocks") or blocks)}
    if scale["flash.blocks"] == flash.get("blocks"):
        return scale
    row = _core.parse_size("flash.page", flash["page"]) * flash["superblock"]
    levels, pages = flash["program_pages"], flash["pages_per_block"]
    most = UNIT_PAGES * page_bytes // row // levels * levels
    if 0 < most < pages:
        shorter = scaling.shorter(flash, most // levels)
        scale |= {f"flash.{key}": value for key, value in shorter.items()}
    return scale


def _notes(scale: Mapping[str, Any], flash: Mapping[str, Any], worn: Result) -> list[str]:
    """Returns notes on how the measured drive differs from the whole drive."""
    full, blocks = flash.get("blocks"), scale["flash.blocks"]
    if full == blocks:
        return [f"measured on the whole drive, {full:,} blocks"]
    whole = "it names no size" if full is None else f"of {full:,}"
    notes = [
        f"scaled: measured with {blocks:,} blocks ({whole}); spare, dies and buses as they are"
    ]
    if pages := scale.get("flash.pages_per_block"):
        less = f"{pages:,} pages instead of {flash['pages_per_block']:,}"
        notes.append(f"scaled: its blocks have {less}, erased in as much less time")
    if worn.drive.translation_pages or worn.buffer.hit_ratio is not None:
        notes.append("the map cache and the write buffer are not scaled: they hold a larger share")
    return notes


def _published(said: Any) -> Published:
    """Reads and checks the table `[class]`."""
    if not isinstance(said, Mapping):
        raise _core.ConfigError(f"class = {said!r}: expected a table")
    for key, value in said.items():
        if key not in CLASS:
            raise _core.ConfigError(
                f"class.{key}: is not known; expected one of {', '.join(CLASS)}"
            )
        if key in RANGES and not _is_range(value):
            raise _core.ConfigError(f"class.{key} = {value}: expected [least, most]")
    ranges = {key: (float(said[key][0]), float(said[key][1])) for key in RANGES if key in said}
    source, state = said.get("source"), said.get("state", STATES[0])
    if ranges and not isinstance(source, str):
        raise _core.ConfigError("class.source: is missing; expected where the ranges are from")
    if state not in STATES:
        raise _core.ConfigError(f"class.state = {state!r}: expected one of {', '.join(STATES)}")
    return Published(source, state, _write_size(said.get("random_write_size", f"{IO}B")), ranges)


def _write_size(said: Any) -> int:
    size = _core.parse_size("class.random_write_size", str(said))
    if size < IO or FILL % size:
        raise _core.ConfigError(
            f'class.random_write_size = "{said}": expected 4KiB or more, a part of {FILL >> 10}KiB'
        )
    return size


def _is_range(value: Any) -> bool:
    if not (isinstance(value, list) and len(value) == 2):
        return False
    numbers = all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in value)
    return numbers and 0 <= value[0] <= value[1]
