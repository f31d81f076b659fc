"""A measured drive at a smaller scale: as many erase units, each with fewer pages.

Write amplification depends on the share of the flash that holds data, on the units from which a
victim is chosen and on how zones lie in them, not on the number of pages, as long as a unit has
many. So all counts of pages are divided by the scale and units stay as many.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core, api, scaling
from .._core import ConfigError
from ..configs import page_bytes
from ..result import Result
from .measured import GIB, WaRun

UNIT_PAGES_LEAST = 32
"""With fewer pages in a unit, write amplification depends on how many there are."""
UNITS_LEAST = 32
ROWS_LEAST = 4
"""Rows of a block that a drive with a clock keeps: what is erased at once is several programs."""
ZIPF_THETA = 0.8
"""That of the load `zipf`, unless its name has another."""
SHARES_TOLERANCE = 0.005
ZONE_REQUEST = 512 << 10
"""Bytes of a write to a zone."""


@dataclass(frozen=True)
class Drive:
    """A drive at its full size, by what decides write amplification."""

    config: dict[str, Any]
    """The resolved config."""
    page: int
    """Bytes."""
    capacity_bytes: int
    """What the host can address: it stays when the spare factor changes."""
    spare: float
    unit_pages: int

    @property
    def units(self) -> int:
        """Erase units in service. They are whole, so the spare is what it is to half a unit."""
        return max(1, round(self.capacity_bytes / self.page / (1 - self.spare) / self.unit_pages))

    @property
    def flash_pages(self) -> int:
        """Pages in service, T."""
        return self.units * self.unit_pages


def capacity_of(config: dict[str, Any]) -> int:
    """Bytes that the host can address. Raises ConfigError where the config leaves it open."""
    if config["flash"].get("blocks") is None:
        raise ConfigError(
            "device: flash.blocks is not set, so the drive has no size; expected size (--size), "
            "the capacity of the drive that was measured, such as 1.92TB"
        )
    return _core.logical_bytes(json.dumps(config), 0)


def drive(config: dict[str, Any], capacity_bytes: int) -> Drive:
    """The drive of a config, with the capacity that it is to have."""
    flash, capacity = config["flash"], config["capacity"]
    over = capacity.get("over_provisioning")
    spare = over / (1 + over) if over is not None else capacity["spare_factor"]
    page = page_bytes(config)
    unit_pages = flash["pages_per_block"] * flash["superblock"] * _flash_page(config) // page
    if config["mapping"]["scheme"] != "ideal":
        scheme = config["mapping"]["scheme"]
        raise ConfigError(
            f'device: mapping.scheme is "{scheme}"; expected "ideal", as a map cache cannot be '
            "scaled with the drive"
        )
    return Drive(config, page, capacity_bytes, spare, unit_pages)


def full_size(config: dict[str, Any], capacity_bytes: int) -> dict[str, Any]:
    """The config with the blocks that give this capacity, to half a unit, at its spare factor."""
    blocks = drive(config, capacity_bytes).units * config["flash"]["superblock"]
    return {**config, "flash": {**config["flash"], "blocks": blocks}}


def smaller(config: dict[str, Any], capacity_bytes: int, scale: float) -> dict[str, Any]:
    """The config with 1/scale of the pages, and all of its dies and planes.

    Blocks get shorter, down to a few rows, and then fewer. A shorter block is erased in as much
    less time: dies erase for the same share of theirs.
    """
    flash = config["flash"]
    levels = flash["program_pages"]
    rows = flash["pages_per_block"] // levels
    row_bytes = flash["superblock"] * levels * _flash_page(config)
    least = max(ROWS_LEAST, math.ceil(UNIT_PAGES_LEAST * page_bytes(config) / row_bytes))
    kept = min(rows, max(least, round(rows / scale)))
    shorter = {**config, "flash": flash | scaling.shorter(flash, kept)}
    return full_size(shorter, round(capacity_bytes / scale))


def _flash_page(config: dict[str, Any]) -> int:
    """Bytes."""
    bytes = _core.size_bytes(config["flash"]["page"])
    assert bytes is not None, "the engine wrote this size"
    return bytes


def why_not(run: WaRun) -> str | None:
    """Why the workload of a run cannot be simulated; None if it can."""
    if run.load == "fiozipf":
        return "a trace of fio's generator that is not in the data: no Zipf law, a small set"
    try:
        _pattern(run, 1, 1)
    except ConfigError as error:
        return str(error)
    return None


def _pattern(run: WaRun, page: int, scale: float) -> tuple[str, int]:
    """The generator with its keys, and the pages of a request."""
    if run.zone_bytes is not None:
        pages = max(1, round(ZONE_REQUEST / page / scale))
        zone = max(1, round(run.zone_bytes / page / scale / pages)) * pages
        return f"zones:zone={zone * page},active={run.active_zones}", pages
    if run.load == "uniform":
        return "uniform:", 1
    if skew := re.fullmatch(r"zipf(-noshuffle)?(?: (?:theta=)?([0-9.]+))?", run.load):
        scatter = "false" if skew[1] else "true"
        return f"zipf:theta={skew[2] or ZIPF_THETA},scatter={scatter}", 1
    if run.load.startswith("two-zone"):
        return f"hotcold:{_zones(run.load)},scatter=true", 1
    raise ConfigError(f"its workload {run.load!r} is not known")


def _zones(load: str) -> str:
    """The keys of a two-zone load, `two-zone sA fB sC fD`: shares of the space and of the writes.

    SSD-iq permutes the pages, so that each zone lies all over the span.
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
    """The write amplification of a run on a drive at a scale, in the windows of the data.

    Raises ConfigError where the drive is too small for the run, or the scale too large.
    """
    _check(found, run, scale)
    unit_pages = round(found.unit_pages / scale)
    in_service = found.units * unit_pages
    # The span's share of the flash is that of the drive, to a page.
    span_pages = round(in_service * run.span_bytes / found.page / found.flash_pages)
    generator, pages = _pattern(run, found.page, found.flash_pages / in_service)
    span = span_pages * found.page
    requests = round(run.total * span_pages / pages)
    # How many pages a die programs at once, and in which order, does not decide what is copied.
    shape = {"channels": 1, "dies": 1, "planes": 1, "superblock": 1, "program_pages": 1}
    flash = found.config["flash"] | shape | {"page": f"{found.page}B", "read": "0ns"}
    flash |= {"pages_per_block": unit_pages, "blocks": found.units}
    config: Mapping[str, Any] = found.config | {
        "flash": flash,
        "mapping": found.config["mapping"] | {"unit": None},
        # Half a page, so that rounding down finds the span.
        "capacity": {"spare_factor": 1 - (span_pages + 0.5) / in_service},
        "start": {"fill": run.fill},
        "timing": "none",
        "buffer": {"scheme": "none"},
    }
    spec = f"{generator},span={span},size={pages * found.page},writes={requests}"
    result = api.run(spec.replace(":,", ":"), device=config, seed=seed, addresses="span")
    return windows(result, run)


def _check(found: Drive, run: WaRun, scale: float) -> None:
    # The capacity is what whole units leave of it.
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
    """The write amplification of a result in the windows of the data."""
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
    """The height of the line through the points at `x`, which rises."""
    from bisect import bisect_right

    i = min(max(bisect_right(xs, x), 1), len(xs) - 1)
    part = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[i - 1] + part * (ys[i] - ys[i - 1])
