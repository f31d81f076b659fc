"""The drive that a set of parameters describes, as a config."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from .recipe import BLOCK, LARGE

ERASE_SHARE = 0.01
"""Assumed time of an erase, as a share of the time in which its block is programmed."""
ROWS_LEAST, ROWS_LEAST_UNPACED = 24, 40
"""Fewest rows of a die in an erase unit of a drive that is simulated at a smaller scale. Without
pacing writes wait for whole units, and the wait does not shrink with the unit.
"""
MODEL_SIZE = 1 << 30
"""Bytes of the smallest drive that stands for a larger one."""
ENTRY = 4
"""Assumed bytes of a map entry for 4 KiB."""


@dataclass(frozen=True)
class Parameters:
    """Parameters of a drive; times in nanoseconds, rates in bytes per second."""

    size: int
    """Bytes that the host can address."""
    spare: float
    rows: int
    """Rows of a die in an erase unit, which spans all dies."""
    dies: int
    page: int
    planes: int
    program_pages: int
    read: float
    """Time of the cells."""
    transfer: float
    """Transfer of 4 KiB over a channel."""
    channels: int
    register: bool
    """Whether the cells work during transfers."""
    program: float
    """Time of the cells."""
    way: float
    command: float
    """Time between two requests at full load, without flash."""
    link: float
    write_memory: int
    protected: bool
    yields: bool
    """Whether a program is suspended for reads."""
    paced: bool
    map_reach: int | None
    """Bytes whose map entries are cached; None for the whole map."""
    planes_first: bool = False
    """Whether consecutive pages of an erase unit go over planes before channels."""

    @property
    def row(self) -> int:
        """Bytes that a die programs at once."""
        return self.page * self.planes * self.program_pages

    @property
    def is_by_page(self) -> bool:
        """Whether a die programs pages of 4 KiB one by one."""
        return self.page == BLOCK and self.program_pages == 1

    @property
    def unit(self) -> int:
        """Bytes of an erase unit."""
        return self.row * self.rows * self.dies


def at_scale(drive: Parameters) -> tuple[Parameters, float]:
    """Returns the drive with fewer rows and bytes, and by which factor; small drives stay."""
    least = ROWS_LEAST if drive.paced else ROWS_LEAST_UNPACED
    scale = max(1.0, min(drive.size / MODEL_SIZE, drive.rows / least))
    rows = max(1, round(drive.rows / scale))
    scale = drive.rows / rows
    size = int(drive.size / scale) // LARGE * LARGE
    reach = drive.map_reach and max(BLOCK, int(drive.map_reach / scale))
    return replace(drive, rows=rows, size=size, map_reach=reach), scale


def config(drive: Parameters) -> dict[str, Any]:
    """Returns the config of a drive with these parameters."""
    units = max(2, round(drive.size / (1 - drive.spare) / drive.unit))
    in_service = units * drive.unit
    while in_service <= drive.size:
        units, in_service = units + 1, in_service + drive.unit
    planes = drive.dies * drive.planes
    block = drive.rows * drive.program
    flash = {
        "page": f"{drive.page}B",
        "program_pages": drive.program_pages,
        "pages_per_block": drive.rows * drive.program_pages,
        "channels": drive.channels,
        "dies": drive.dies // drive.channels,
        "planes": drive.planes,
        "superblock": planes,
        "stripe": "plane_channel_die" if drive.planes_first else "channel_plane_die",
        "blocks": units * planes,
        "read": f"{max(1, round(drive.read))}ns",
        "program": f"{max(1, round(drive.program))}ns",
        "erase": f"{round(ERASE_SHARE * block)}ns",
        "cache_register": drive.register,
    }
    if drive.transfer > 0:
        flash["bus"] = f"{round(BLOCK / drive.transfer * 1e9)}B/s"
    # Half a page more makes rounding down return the size.
    spare = 1 - (drive.size / BLOCK + 0.5) / (in_service / BLOCK)
    return {
        "flash": flash,
        "capacity": {"spare_factor": spare},
        "mapping": _mapping(drive),
        "controller": {
            "command": f"{round(drive.command)}ns",
            "write_memory": f"{drive.write_memory}B",
            "power_protected": drive.protected,
        },
        "link": {
            "latency": f"{max(0, round(_one_way(drive)))}ns",
            "bandwidth": f"{round(drive.link)}B/s",
        },
        "schedule": _schedule(drive),
        "cleaning": {"pacing": "proportional" if drive.paced else "none"},
        "queue": {"depth": 256},
        "start": {"fill": "none"},
    }


def _one_way(drive: Parameters) -> float:
    """Returns the time of a message over the link, in nanoseconds; a request has two."""
    return (drive.way - drive.command - BLOCK / drive.link * 1e9) / 2


def _mapping(drive: Parameters) -> dict[str, Any]:
    if drive.map_reach is None:
        return {"unit": f"{BLOCK}B"}
    cache = math.ceil(drive.map_reach / BLOCK) * ENTRY
    return {
        "unit": f"{BLOCK}B",
        "scheme": "page_cache",
        "cache": f"{cache}B",
        "entry_bytes": ENTRY,
    }


def _schedule(drive: Parameters) -> dict[str, Any]:
    if not drive.yields:
        return {"order": "fifo"}
    return {"order": "read_first", "suspend": "50us", "resume": "50us"}
