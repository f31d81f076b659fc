"""A measured drive at a smaller scale: the same number of erase units, with fewer pages each.

Write amplification depends on three properties: the share of the flash that holds data, the units
from which a victim is chosen, and the position of zones in these units. The number of pages does
not matter if a unit has many. So the scale divides all counts of pages, and the number of units
stays.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floatgate import _core, api
from floatgate.results.result import Result
from floatgate.simulation import scaling

from .._core import ConfigError
from .measured import GIB, WaRun

UNIT_PAGES_LEAST = 32
"""Minimum pages of a scaled unit; with fewer, write amplification depends on their number."""
UNITS_LEAST = 32
ROWS_LEAST = 4
"""Minimum rows of a block on a drive with a clock, so that an erase covers several programs."""
ZIPF_THETA = 0.8
"""Skew of the load `zipf`, unless its name has another."""
SHARES_TOLERANCE = 0.005
ZONE_REQUEST = 512 << 10
"""Bytes of a write to a zone."""


@dataclass(frozen=True)
class Drive:
    """A drive at its full size, with the values that determine write amplification."""

    config: dict[str, Any]
    """The resolved config."""
    page: int
    """Bytes of a page."""
    capacity_bytes: int
    """Capacity that the host can address; a change of the spare factor does not change it."""
    spare: float
    unit_pages: int

    @property
    def units(self) -> int:
        """Erase units in service: a whole number, so the spare is exact to half a unit."""
        return max(1, round(self.capacity_bytes / self.page / (1 - self.spare) / self.unit_pages))

    @property
    def flash_pages(self) -> int:
        """Pages in service, T."""
        return self.units * self.unit_pages


def capacity_of(config: dict[str, Any]) -> int:
    """Returns the bytes that the host can address.

    Raises `ConfigError` if the config does not set the drive's size.
    """
    if config["flash"].get("blocks") is None:
        raise ConfigError(
            "device: flash.blocks is not set, so the drive has no size; expected size (--size), "
            "the capacity of the drive that was measured, such as 1.92TB"
        )
    return resolved(config).logical_bytes(0)


def resolved(config: Mapping[str, Any]) -> _core.Config:
    """Returns a config that was changed as nested dicts."""
    return _core.Config(json.dumps(config))


def drive(config: dict[str, Any], capacity_bytes: int) -> Drive:
    flash, found = config["flash"], resolved(config)
    page = found.page_bytes
    unit_pages = flash["pages_per_block"] * flash["superblock"] * _flash_page(config) // page
    if config["mapping"]["scheme"] != "ideal":
        scheme = config["mapping"]["scheme"]
        raise ConfigError(
            f'device: mapping.scheme is "{scheme}"; expected "ideal", as a map cache cannot be '
            "scaled with the drive"
        )
    return Drive(config, page, capacity_bytes, found.spare_factor, unit_pages)


def full_size(config: dict[str, Any], capacity_bytes: int) -> dict[str, Any]:
    """Returns the config with the blocks for this capacity, to half a unit, at its spare factor."""
    blocks = drive(config, capacity_bytes).units * config["flash"]["superblock"]
    return {**config, "flash": {**config["flash"], "blocks": blocks}}


def smaller(config: dict[str, Any], capacity_bytes: int, scale: float) -> dict[str, Any]:
    """Returns the config with 1/scale of the pages, and all of its dies and planes.

    Blocks become shorter, down to a few rows; after that, the number of blocks falls. The erase
    time shrinks with the block, so that dies spend the same share of their time on erases.
    """
    flash = config["flash"]
    levels = flash["program_pages"]
    rows = flash["pages_per_block"] // levels
    row_bytes = flash["superblock"] * levels * _flash_page(config)
    least = max(ROWS_LEAST, math.ceil(UNIT_PAGES_LEAST * resolved(config).page_bytes / row_bytes))
    kept = min(rows, max(least, round(rows / scale)))
    shorter = {**config, "flash": flash | scaling.shorter(flash, kept)}
    return full_size(shorter, round(capacity_bytes / scale))


def _flash_page(config: dict[str, Any]) -> int:
    bytes = _core.size_bytes(config["flash"]["page"])
    assert bytes is not None, "the engine wrote this size"
    return bytes


def why_not(run: WaRun) -> str | None:
    """Returns why the workload of a run cannot be simulated; None if it can."""
    if run.load == "fiozipf":
        return "a trace of fio's generator that is not in the data: no Zipf law, a small set"
    try:
        _pattern(run, 1, 1)
    except ConfigError as error:
        return str(error)
    return None


def _pattern(run: WaRun, page: int, scale: float) -> tuple[str, int]:
    """Returns the generator with its keys, and the pages of a request."""
    if run.zone_bytes is not None:
        pages = max(1, round(ZONE_REQUEST / page / scale))
        zone = max(1, round(run.zone_bytes / page / scale / pages)) * pages
        discard = ",discard=true" if run.discards else ""
        return f"zones:zone={zone * page},active={run.active_zones}{discard}", pages
    if run.load == "uniform":
        return "uniform:", 1
    if skew := re.fullmatch(r"zipf(-noshuffle)?(?: (?:theta=)?([0-9.]+))?", run.load):
        scatter = "false" if skew[1] else "true"
        return f"zipf:theta={skew[2] or ZIPF_THETA},scatter={scatter}", 1
    if run.load.startswith("two-zone"):
        return f"hotcold:{_zones(run.load)},scatter=true", 1
    raise ConfigError(f"its workload {run.load!r} is not known")


def _zones(load: str) -> str:
    """Returns the keys of a two-zone load, `two-zone sA fB sC fD`: shares of space and of writes.

    SSD-iq permutes the pages, so that each zone is scattered over the span.
    """
    pairs = re.findall(r"s([0-9.]+) f([0-9.]+)", load)
    if len(pairs) == 2 and all(abs(_sum(pairs, at) - 1) <= SHARES_TOLERANCE for at in (0, 1)):
        space, writes = pairs[0]
        return f"f={space},r={writes}"
    raise ConfigError(
        f"its workload {load!r} is not known; expected two zones, sA fB sC fD, with shares of the "
        "space and of the writes that add up to 1"
    )


def _sum(pairs: list[tuple[str, str]], at: int) -> float:
    return sum(float(pair[at]) for pair in pairs)


def simulate(found: Drive, run: WaRun, scale: float, seed: int) -> list[float]:
    """Returns the write amplification of a run on a scaled drive, in the windows of the data.

    Raises `ConfigError` if the drive is too small for the run, or the scale too large.
    """
    _check(found, run, scale)
    unit_pages = round(found.unit_pages / scale)
    in_service = found.units * unit_pages
    # The span has the same share of the flash as on the full drive, to a page.
    span_pages = round(in_service * run.span_bytes / found.page / found.flash_pages)
    generator, pages = _pattern(run, found.page, found.flash_pages / in_service)
    span = span_pages * found.page
    requests = round(run.total * span_pages / pages)
    # The pages that cleaning copies depend neither on how many pages a die programs at once nor on
    # their order.
    shape = {"channels": 1, "dies": 1, "planes": 1, "superblock": 1, "program_pages": 1}
    flash = found.config["flash"] | shape | {"page": f"{found.page}B", "read": "0ns"}
    flash |= {"pages_per_block": unit_pages, "blocks": found.units}
    config: Mapping[str, Any] = found.config | {
        "flash": flash,
        "mapping": found.config["mapping"] | {"unit": None},
        # The extra half page makes rounding down return the span.
        "capacity": {"spare_factor": 1 - (span_pages + 0.5) / in_service},
        "start": {"fill": run.fill},
        "timing": "none",
        "buffer": {"scheme": "none"},
    }
    spec = f"{generator},span={span},size={pages * found.page},writes={requests}"
    result = api.run(spec.replace(":,", ":"), device=config, seed=seed, addresses="span")
    return windows(result, run)


def _check(found: Drive, run: WaRun, scale: float) -> None:
    # The capacity is a whole number of units, so it may fall short by up to one unit.
    if run.span_bytes > found.capacity_bytes + found.unit_pages * found.page:
        raise ConfigError(
            f"run {run.name} writes {run.span_bytes / GIB:.1f} GiB; the device has "
            f"{found.capacity_bytes / GIB:.1f}"
        )
    if found.unit_pages / scale < UNIT_PAGES_LEAST:
        raise ConfigError(
            f"scale: 1/{scale:g} leaves {found.unit_pages / scale:.0f} pages in an erase unit; "
            f"expected at least {UNIT_PAGES_LEAST}"
        )
    if found.units < UNITS_LEAST:
        raise ConfigError(
            f"device: has {found.units} erase units; expected at least {UNITS_LEAST}, smaller ones"
        )


def windows(result: Result, run: WaRun) -> list[float]:
    """Returns the write amplification of a result in the windows of the data."""
    timeline = result.timeline
    pages = [0.0, *map(float, timeline["host_pages"])]
    programs = [0.0]
    for i, wa in enumerate(timeline["write_amplification"]):
        programs.append(programs[-1] + (wa or 0.0) * (pages[i + 1] - pages[i]))
    per_volume = pages[-1] / run.total
    half = run.window / 2
    edges = [(at - half) * per_volume for at in run.volumes] + [pages[-1]]
    at_edges = [_between(pages, programs, edge) for edge in edges]
    return [
        (at_edges[i + 1] - at_edges[i]) / (edges[i + 1] - edges[i]) for i in range(len(edges) - 1)
    ]


def _between(xs: list[float], ys: list[float], x: float) -> float:
    """Interpolates between the points at `x`; `xs` rises."""
    from bisect import bisect_right

    i = min(max(bisect_right(xs, x), 1), len(xs) - 1)
    part = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[i - 1] + part * (ys[i] - ys[i - 1])
