"""A process that writes an image is killed at random moments: flushed data must survive."""

from __future__ import annotations

import random
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from floatgate._core import Drive
from floatgate.live import images

PAGE = 4096
PAGES = 1000

TINY = {
    "flash.page": "4KiB",
    "flash.pages_per_block": 16,
    "flash.channels": 1,
    "capacity.spare_factor": 0.15,
    "ftl.checkpoint_every": 1500,
}
ROWS = {
    "flash.page": "16KiB",
    "mapping.unit": "4KiB",
    "flash.program_pages": 4,
    "flash.planes": 2,
    "flash.superblock": 2,
}
DRIVES = {
    "dftl": {"mapping.scheme": "dftl", "mapping.cache": "4KiB"},
    "bast": {"ftl.scheme": "bast"},
    "buffer": {"buffer.scheme": "bplru", "buffer.capacity": "256KiB"},
    "rows": ROWS,
    "cache": {
        **ROWS,
        "slc.static": "256KiB",
        "slc.dynamic": "512KiB",
        "controller.power_protected": True,
    },
}

CHILD = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_image_kill import write_for_ever
write_for_ever(sys.argv[1], int(sys.argv[2]))
"""

Versions = dict[int, int]
"""Version of each page, by page number. Version 0 is zeros."""


def _page(number: int, version: int) -> bytes:
    if version == 0:
        return bytes(PAGE)
    return struct.pack("<QQ", number, version) * (PAGE // 16)


def _batches(seed: int) -> Iterator[list[tuple[int, int, int]]]:
    """Yields the writes before each flush as first page, pages and version. Version 0 trims."""
    rng = random.Random(seed)
    version = seed << 32
    while True:
        batch = []
        for _ in range(rng.randrange(1, 40)):
            version += 1
            pages = rng.choice([1, 1, 1, 2, 5, 20])
            # Half of the writes go to a tenth of the pages.
            span = rng.choice([PAGES, PAGES // 10])
            first = rng.randrange(span - pages)
            batch.append((first, pages, version if rng.random() < 0.9 else 0))
        yield batch


def write_for_ever(path: str, seed: int) -> None:
    """Body of the process that is killed. It reports its start, an open drive, and each flush."""
    import os

    os.write(1, b"b")
    drive = Drive(path)
    os.write(1, b"r")
    for batch in _batches(seed):
        for first, pages, version in batch:
            if version:
                numbers = range(first, first + pages)
                drive.write(first * PAGE, b"".join(_page(number, version) for number in numbers))
            else:
                drive.trim(first * PAGE, pages * PAGE)
        drive.flush()
        os.write(1, b"f")


def _kill_one(path: Path, seed: int, rng: random.Random) -> int:
    """Starts the writer, kills it, and returns how many flushes the writer reported."""
    command = [sys.executable, "-c", CHILD, str(path), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"b"
        if rng.random() < 0.8:
            assert process.stdout.read(1) == b"r"
            time.sleep(rng.random() * 0.3)
        else:
            # The kill comes while the drive opens the image.
            time.sleep(rng.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        said = process.stdout.read()
    assert process.returncode == -signal.SIGKILL
    return said.count(b"f")


def _allowed(known: Versions, seed: int, flushes: int) -> dict[int, set[int]]:
    """Returns the versions that each page may have after `flushes` flushes, including the batch
    that follows them."""
    allowed = {number: {version} for number, version in known.items()}
    for index, batch in enumerate(_batches(seed)):
        for first, pages, version in batch:
            for number in range(first, first + pages):
                if index < flushes:
                    allowed[number] = {version}
                else:
                    allowed[number].add(version)
        if index == flushes:
            return allowed
    raise AssertionError("it never ends")


def _read(path: Path) -> Versions:
    drive = Drive(path)
    found = {}
    for number in range(PAGES):
        page = drive.read(number * PAGE, PAGE)
        version = int.from_bytes(page[8:16], "little")
        assert page == _page(number, version), f"page {number} is not as it was written"
        found[number] = version
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL, no images")
@pytest.mark.parametrize(
    ("drive", "kills"),
    [
        ("dftl", 8),
        ("bast", 6),
        ("buffer", 6),
        ("rows", 6),
        ("cache", 6),
        *(pytest.param(name, 200, marks=pytest.mark.long, id=f"{name}-long") for name in DRIVES),
    ],
)
def test_what_was_flushed_outlives_a_kill(tmp_path: Path, drive: str, kills: int) -> None:
    path = tmp_path / "flash.img"
    images.create(path, PAGES * PAGE, set={**TINY, **DRIVES[drive]})
    rng = random.Random(kills)
    known: Versions = dict.fromkeys(range(PAGES), 0)
    flushes = 0
    for seed in range(1, kills + 1):
        flushed = _kill_one(path, seed, rng)
        flushes += flushed
        report = images.check(path)
        assert report["problem_count"] == 0, (seed, report["problems"])
        found = _read(path)
        allowed = _allowed(known, seed, flushed)
        wrong = {number for number in range(PAGES) if found[number] not in allowed[number]}
        assert not wrong, f"seed {seed}, after {flushed} flushes: {sorted(wrong)}"
        known = found
    # On a busy machine, fewer flushes fit between two kills.
    assert flushes > kills / 4
    report = images.check(path)
    assert report["problem_count"] == 0, report["problems"]
