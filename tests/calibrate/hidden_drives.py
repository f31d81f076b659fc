"""Random drives whose parameters a test knows and the calibration does not."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import floatgate as fg
from floatgate.calibrate.jobs.recipe import recipe_text
from floatgate.simulation.fio_output import fio_document

SIZE = 1 << 30
BLOCK = 4096
ROWS_LEAST = 6
ROW_LEAST = 32 << 10
ROW_LEAST_SMALL = 8 << 10
"""Least row of a drive with pages of 4 KiB."""
US = 1000
MAP_PAGE_REACH = 1024 * BLOCK
"""Bytes whose map entries of 4 bytes fill a map page."""


@dataclass(frozen=True)
class Hidden:
    """A drive, and the values of its parameters in the units of the estimates."""

    config: dict[str, Any]
    truth: dict[str, float]


def draw(seed: int, pages: Sequence[int] = (8, 16)) -> Hidden:
    """Returns the random drive of a seed, whose flash page is one of `pages` in KiB."""
    rng = random.Random(seed)
    while True:
        drive = _draw(rng, pages)
        if drive is not None:
            return drive


def _draw(rng: random.Random, pages: Sequence[int]) -> Hidden | None:
    """Returns a random drive, or None for parameters that no flash has together."""
    page = rng.choice(pages) << 10
    planes, program_pages = rng.choice((1, 2, 4)), rng.choice((1, 3))
    channels, per_channel = rng.choice((2, 4, 8)), rng.choice((1, 2, 4))
    dies, row = channels * per_channel, page * planes * program_pages
    spare, units = rng.uniform(0.05, 0.3), _log_uniform(rng, 50, 150)
    speed, read = _log_uniform(rng, 250e6, 1500e6), rng.uniform(35, 90) * US
    program = row * dies / speed * 1e9
    bus = rng.choice((400, 800, 1200, 1600, 2400)) * 1e6
    rows = round(SIZE / (1 - spare) / units / (dies * row))
    if rows < ROWS_LEAST or not 200 * US < program < 4000 * US or bus * channels < 1.3 * speed:
        return None
    if dies < 4 or row < (ROW_LEAST_SMALL if page == BLOCK else ROW_LEAST):
        return None
    unit = rows * dies * row
    units = math.ceil(SIZE / (1 - spare) / unit)
    spare = 1 - SIZE / (units * unit)
    reach = SIZE * _log_uniform(rng, 1 / 14, 1 / 2) if rng.random() < 0.2 else None
    memory = rng.randint(4, 8) * row * dies
    config = {
        "flash": {
            "page": f"{page}B",
            "program_pages": program_pages,
            "pages_per_block": rows * program_pages,
            "channels": channels,
            "dies": per_channel,
            "planes": planes,
            "superblock": dies * planes,
            "stripe": rng.choice(("channel_plane_die", "plane_channel_die")),
            "blocks": units * dies * planes,
            "read": f"{read:.0f}ns",
            "program": f"{program:.0f}ns",
            "erase": f"{program * rows * rng.uniform(0.003, 0.02):.0f}ns",
            "bus": f"{bus:.0f}B/s",
            "cache_register": rng.random() < 0.7,
        },
        "capacity": {"spare_factor": 1 - (SIZE / BLOCK + 0.5) / (units * unit / BLOCK)},
        "controller": {
            "cores": rng.choice((1, 2, 4)),
            "command": f"{rng.uniform(0.4, 2.0) * US:.0f}ns",
            "write_memory": f"{memory}B",
            "power_protected": rng.random() < 0.5,
        },
        "link": {
            "latency": f"{rng.uniform(2, 8) * US:.0f}ns",
            "bandwidth": f"{rng.uniform(3.2, 7):.2f}GB/s",
        },
        "schedule": rng.choice(
            (
                {"order": "fifo"},
                {"order": "read_first"},
                {"order": "read_first", "suspend": "40us", "resume": "20us"},
            )
        ),
        "cleaning": {"pacing": rng.choice(("proportional",) * 9 + ("none",))},
        "mapping": _mapping(reach),
        "queue": {"depth": rng.choice((128, 256))},
        "start": {"fill": "none"},
    }
    # A flush programs a row, or one page of a drive that programs page by page.
    is_by_page = page == BLOCK and program_pages == 1
    flushed = page if is_by_page else row
    truth = {
        "spare factor": spare,
        "cleaning unit": float(unit),
        "read": read + BLOCK / bus * 1e9,
        "program": program + flushed / bus * 1e9,
        "dies": float(dies),
        "flash page": float(page),
        "write buffer": float(memory),
        # The cache holds whole map pages.
        "map cache reach": reach // MAP_PAGE_REACH * MAP_PAGE_REACH if reach else math.inf,
        "channels": float(channels),
        "transfer": BLOCK / bus * 1e9,
    }
    return Hidden(config, truth)


def _log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _mapping(reach: float | None) -> dict[str, Any]:
    if reach is None:
        return {"unit": "4KiB"}
    return {"unit": "4KiB", "scheme": "page_cache", "cache": f"{round(reach / 1024)}B"}


def measure(drive: Hidden, folder: Path, seed: int) -> None:
    """Runs the recipe on a drive, and writes fio's results into a folder."""
    job_file = folder / "recipe.fio"
    job_file.write_text(recipe_text(SIZE), "utf-8")
    result = fg.run(job_file, device=drive.config, set={"latency.distribution": "full"}, seed=seed)
    document = fio_document(result, job_file)
    (folder / "fio.json").write_text(json.dumps(document), "utf-8")
