"""Scaled drives: smaller than the real drive, with about the same number of erase units,
but fewer pages in each unit.

Write amplification depends on the share of the flash that holds data, and on the number of units
from which a victim is chosen. It hardly depends on the pages of a unit if a unit has some hundred.
A drive without `flash.blocks` is as large as its workload. With units of 2 GiB, a workload of
1.5 GiB would therefore get a drive of two units.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from floatgate import _core
from floatgate.results.marks import ONLY, SCALED, UNITS_FEW

from . import configs
from .configs import Resolved
from .options import RunOptions

UNITS = 1024
"""Erase units of a scaled drive; data-centre drives have 900 to 2,700."""

UNITS_LEAST = 8
"""Minimum number of erase units: results with fewer units mean nothing."""

UNIT_PAGES = 256
"""Minimum number of map pages in a unit, if that leaves `UNITS_FEW` units. Under random writes at
7 % spare, write amplification is 10 % too low with 64 pages, 5 % with 128, and 3 % with 256.
"""

UNIT_PAGES_LEAST = 16
"""Minimum number of map pages in a unit on the smallest drives."""

UNIT_ROWS = 4
"""Minimum number of rows of a die in a unit of a drive without protected memory, if that leaves
`UNITS_LEAST` units. Such a drive pads a row of each stream that cleaning moves pages to. In units
of one row, padding can take more than cleaning frees.
"""

TOLERANCE = 1 / 3
"""Largest relative deviation of a unit's pages from the target. A large tolerance keeps a unit on
more dies: with units on two of 32 dies, a drive serves a third fewer random requests per second.
"""


def shorter(flash: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """Returns keys of `[flash]` for blocks of `rows` rows, each of `program_pages` pages.

    The erase time shrinks in proportion, so dies spend the same share of their time on erases.
    """
    levels = flash["program_pages"]
    erase = (_core.span_ns(flash["erase"]) or 0) * rows * levels // flash["pages_per_block"]
    return {"pages_per_block": rows * levels, "erase": f"{erase}ns"}


def fit(drive: Resolved, span_bytes: int, how: RunOptions) -> Resolved:
    """Returns the drive with erase units that suit a workload of `span_bytes`.

    Raises ConfigError if the drive would have fewer than `UNITS_LEAST` units and smaller units
    would help. If the units are small already, they are few because the workload is small, and a
    warning is enough.
    """
    config, table = drive.config, drive.config.table()
    flash = table["flash"]
    if (blocks := flash.get("blocks")) is not None:
        if how.units is not None:
            raise _core.ConfigError(
                f"units: {how.units} given, but flash.blocks = {blocks} says how many units "
                f"{drive.device} has; expected one of them"
            )
        return drive
    is_paged = table["ftl"]["scheme"] == "page"
    is_scaled = _is_scaled(drive, how, is_paged, _has_too_few(config, flash, span_bytes))
    keys = smaller(config, flash, span_bytes, how.units) if is_scaled else {}
    scaled = flash | keys
    units = math.ceil(_pages(config, span_bytes) / unit_pages(config, scaled))
    if _has_too_few(config, scaled, span_bytes):
        raise _core.ConfigError(_too_few(drive, units, how))
    least = smaller(config, scaled, span_bytes, UNITS)
    can_shrink = not drive.shaped and any(
        least.get(key, scaled[key]) != scaled[key] for key in ("superblock", "pages_per_block")
    )
    if not keys:
        return replace(drive, can_shrink=can_shrink)
    notes = tuple(_notes(config, flash, scaled, units, how.units))
    changed = _core.Config(json.dumps({**table, "flash": scaled}))
    return replace(drive, config=changed, notes=notes, can_shrink=can_shrink)


def smaller(
    config: _core.Config, flash: Mapping[str, Any], span_bytes: int, units: int | None
) -> dict[str, Any]:
    """Returns keys of `[flash]` that give a drive of `span_bytes` about `units` erase units.

    Blocks get shorter first, down to one row. Then units get fewer blocks, so that a unit stays on
    as many dies as possible. The default is 1,024 units, or fewer units of `UNIT_PAGES` pages.
    Returns no keys if the drive's units are small enough.
    """
    pages = _pages(config, span_bytes)
    least = max(
        min(UNIT_PAGES_LEAST, math.isqrt(math.ceil(pages))),
        min(_unpadded(config, flash), pages / UNITS_LEAST / (1 + TOLERANCE)),
    )
    few = pages / UNITS_FEW / (1 + TOLERANCE)
    wanted = pages / units if units else max(pages / UNITS, min(UNIT_PAGES, few))
    target = max(wanted, least)
    if unit_pages(config, flash) <= target:
        return {}
    rows = flash["pages_per_block"] // flash["program_pages"]
    for blocks in _superblocks(flash):
        row = unit_pages(config, {**flash, "superblock": blocks}) / rows
        kept = min(rows, max(1, round(target / row)))
        if abs(kept * row / target - 1) <= TOLERANCE:
            break
    return {"superblock": blocks, **shorter(flash, kept)}


def shape(drive: Resolved) -> dict[str, Any]:
    """Returns settings that give the device the units of a scaled drive;
    empty if it was not scaled.
    """
    flash = drive.config.table()["flash"]
    keys = ("superblock", "pages_per_block", "erase") if drive.notes else ()
    return {f"flash.{key}": flash[key] for key in keys}


def unit_pages(config: _core.Config, flash: Mapping[str, Any]) -> int:
    """Returns the map pages in an erase unit of a drive with this table `[flash]`,
    without pages that hold parity.
    """
    page = _core.size_bytes(flash["page"]) or 1
    pages: int = flash["superblock"] * (flash["pages_per_block"] * page // config.page_bytes)
    parity = flash.get("parity")
    return pages if parity is None else pages // parity * (parity - 1)


def few_units(config: _core.Config, span_bytes: int) -> list[str]:
    """Returns a note with settings for more units if a live drive of `span_bytes` has few erase
    units.
    """
    pages, flash = math.ceil(_pages(config, span_bytes)), config.table()["flash"]
    if pages >= UNITS_FEW * unit_pages(config, flash):
        return []
    shape = smaller(config, flash, span_bytes, None)
    keys = " ".join(f"--set flash.{key}={value}" for key, value in shape.items())
    return [
        f"fewer than {UNITS_FEW} erase units: cleaning has few victims to choose from, and write "
        "amplification is not that of a large drive; use a larger --size"
        + (f", or smaller units: {keys}" if keys else "")
    ]


def _unpadded(config: _core.Config, flash: Mapping[str, Any]) -> int:
    """Returns the minimum number of map pages in a unit that keeps the share of padding small;
    0 for a drive that pads nothing when it cleans.
    """
    if config.table()["controller"]["power_protected"]:
        return 0
    planes = flash["planes"] if flash["superblock"] % flash["planes"] == 0 else 1
    page = _core.size_bytes(flash["page"]) or 1
    return int(UNIT_ROWS * planes * flash["program_pages"] * page // config.page_bytes)


def _has_too_few(config: _core.Config, flash: Mapping[str, Any], span_bytes: int) -> bool:
    """Returns whether a drive has too few units to simulate, and smaller units would give more."""
    pages = unit_pages(config, flash)
    return math.ceil(_pages(config, span_bytes) / pages) < UNITS_LEAST and pages > UNIT_PAGES


def _is_scaled(drive: Resolved, how: RunOptions, is_paged: bool, is_refused: bool) -> bool:
    """Returns whether units are made smaller. Raises ConfigError if the call also sets their size.

    A preset without a class keeps the geometry of its source, unless the drive would be refused
    for too few units (`is_refused`).
    With block mapping, units shrink only on request, because the cost of merges depends on their
    size.
    """
    if how.units is None:
        is_asked = not (drive.shaped or how.full_size)
        suits = drive.is_class or (is_refused and configs.is_preset(drive.device))
        return is_asked and suits and is_paged
    if drive.shaped:
        raise _core.ConfigError(
            f"units: {how.units} given, and {drive.shaped}, which says how large units are; "
            "expected one of them"
        )
    return True


def _pages(config: _core.Config, span_bytes: int) -> float:
    """Returns the map pages on the flash of a drive that holds `span_bytes`."""
    return max(1, math.ceil(span_bytes / config.page_bytes)) / (1 - config.spare_factor)


def _superblocks(flash: Mapping[str, Any]) -> Iterator[int]:
    """Yields the block counts that a unit may have, in descending order.

    A unit that covers all planes of its dies keeps covering them.
    """
    most, planes, parity = flash["superblock"], flash["planes"], flash.get("parity") or 1
    step = planes * parity if most % planes == 0 else 1
    yield from (blocks for blocks in range(most, 0, -1) if most % blocks == 0 == blocks % step)


def _notes(
    config: _core.Config,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    units: int,
    asked: int | None,
) -> Iterator[str]:
    pages = f"{unit_pages(config, after):,} pages instead of {unit_pages(config, before):,}"
    yield (
        f"{SCALED}{pages} (flash.superblock = {after['superblock']}, flash.pages_per_block "
        f"= {after['pages_per_block']}) and a block is erased in {_us(after)} us instead of "
        f"{_us(before)} us; --full-size keeps the units of the device"
    )
    if asked is not None and units < asked * 2 // 3:
        yield f"{ONLY}{units:,} units of the {asked:,} requested: smaller units hold too few pages"


def _us(flash: Mapping[str, Any]) -> str:
    """Returns the microseconds of an erase, as text."""
    us = (_core.span_ns(flash["erase"]) or 0) / 1000
    return f"{us:,.0f}" if us >= 100 else f"{us:.3g}"


def _too_few(drive: Resolved, units: int, how: RunOptions) -> str:
    given = f"{units} erase unit{'s' if units > 1 else ''} for this workload"
    expected = f"expected at least {UNITS_LEAST}"
    if how.units is None and (how.full_size or drive.shaped or not drive.is_class):
        smaller = f"use smaller units (--units {UNITS}), "
    else:
        smaller = "use "
    return f"{drive.device}: {given}; {expected}: {smaller}a larger workload, or set flash.blocks"
