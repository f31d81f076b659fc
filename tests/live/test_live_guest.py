"""Kills the server under a virtual machine that has its file systems on a live drive."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest
from live_drive import MIB, Drives, LiveDrive
from live_files import CYCLE, KEPT_CYCLES, MAKE, WRITE, Sums, about, fails, looked_up, there, whole
from live_guest import AWAIT_DISK, TOOLS, Guest, disk, needs_guest, system
from live_needs import needs

from floatgate.live import Live

pytestmark = needs_guest("nbdkit")

SIZE = 128 * MIB
DEVICE: dict[str, Any] = {
    "device": "small-nvme",
    "set": {"flash.pages_per_block": 64, "mapping.scheme": "dftl", "mapping.cache": "64KiB"},
}

SHRD: dict[str, Any] = {
    "device": "small-nvme",
    "set": {**DEVICE["set"], "host.scheme": "shrd", "host.log": "4MiB"},
}

SCHEMES = {"plain": DEVICE, "shrd": SHRD}
"""Drives without and with SHRD in front of them."""

LIFE = """
$MAKE || echo FAIL make
mount -t $NAME -o discard $DEVICE /mnt || echo FAIL mount
/tools/fio --name=guest --directory=/mnt --ioengine=psync --thread --rw=randwrite --size=4m \\
    --bssplit=512/20:4k/50:33k/30 --fsync=20 --numjobs=2 --verify=crc32c --verify_fatal=1 \\
    --output=/fio.txt >/dev/null
status=$?; cat /fio.txt | tail -20; echo fio $status
mkdir /mnt/0
write /mnt/0 a 20 & write /mnt/0 b 20 & wait
rm /mnt/guest.*
umount /mnt || echo FAIL umount
$CHECK > /check.txt 2>&1; echo checked $?
mount -t $NAME $DEVICE /mnt || echo FAIL mount again
md5sum /mnt/0/*
umount /mnt || echo FAIL umount again
poweroff -f
"""


def _job(script: str, name: str, cycle: int = 1) -> str:
    variables = about(name, "/dev/vda", "poweroff -f")
    return AWAIT_DISK + variables + f"CYCLE={cycle}\n" + WRITE + script


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return system(tmp_path_factory.mktemp("system"), TOOLS)


def _has_packed(drive: LiveDrive) -> None:
    """Checks that SHRD was in use: small writes went to its log."""
    with Live(drive.control) as live:
        host = live.status().result.host
    assert host.packed_pages > 0


@needs("fio")
@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_file_system_lives_and_is_clean(
    serve: Drives, tmp_path: Path, name: str, scheme: str
) -> None:
    drive = serve(SIZE, **SCHEMES[scheme])
    job = _job(LIFE, name)
    with Guest(system(tmp_path, [*TOOLS, "fio"]), tmp_path, disk(drive.uri), job) as guest:
        lines = guest.finish()
    if scheme == "shrd":
        _has_packed(drive)
    assert fails(lines) == []
    assert "fio 0" in lines, lines
    assert "checked 0" in lines, lines
    synced = whole(lines)
    assert len(synced) == 40, lines
    assert there(lines) == synced
    drive.stop()
    drive.check()


def _end(drive: LiveDrive, guest: Guest, plug: bool) -> None:
    """Kills the server, or cuts the power. The virtual machine is frozen first: after the drive is
    gone, it may report files that never reached the drive."""
    guest.freeze()
    if plug:
        drive.plug()
    else:
        drive.kill()


def _lives(drive: LiveDrive, made: tuple[Path, Path], name: str, ends: int, plug: bool) -> Sums:
    """Runs virtual machines, ends each at a random moment, and returns the files that survived an
    end."""
    rng = random.Random(ends)
    told: list[Sums] = []
    seen: Sums = {}
    for cycle in range(1, ends + 2):
        job = _job(CYCLE, name, cycle)
        # The virtual machine has removed older files.
        expected = {file: md5 for sums in told[-KEPT_CYCLES:] for file, md5 in sums.items()}
        with Guest(made, drive.directory, disk(drive.uri), job) as guest:
            # One end in ten comes while the virtual machine boots, replays its journal and checks.
            if 1 < cycle <= ends and rng.random() < 0.1:
                time.sleep(rng.random() * 8)
            else:
                guest.wait(1, "writing")
                guest.wait(rng.randrange(20), "whole")
                time.sleep(rng.random() * 0.2)
            before = guest.lines()
            _end(drive, guest, plug)
            after = guest.lines()
        if not plug:
            drive.start()
        # Reports of files that were synced just before the end may arrive late.
        told.append(whole(after))
        if looked_up(before, expected):
            seen |= expected
    assert expected.keys() <= seen.keys(), "the last guest has looked at the last files"
    return seen


@pytest.mark.parametrize(
    ("name", "end", "ends", "scheme"),
    [
        ("ext4", "kill", 1, "plain"),
        pytest.param("ext4", "kill", 100, "plain", marks=pytest.mark.long),
        pytest.param("f2fs", "kill", 100, "plain", marks=pytest.mark.long),
        pytest.param("ext4", "plug", 25, "plain", marks=pytest.mark.long),
        pytest.param("f2fs", "plug", 25, "plain", marks=pytest.mark.long),
        pytest.param("ext4", "kill", 25, "shrd", marks=pytest.mark.long),
        pytest.param("f2fs", "kill", 25, "shrd", marks=pytest.mark.long),
        pytest.param("ext4", "plug", 10, "shrd", marks=pytest.mark.long),
        pytest.param("f2fs", "plug", 10, "shrd", marks=pytest.mark.long),
    ],
)
def test_what_was_synced_outlives_the_server(
    serve: Drives, made: tuple[Path, Path], name: str, end: str, ends: int, scheme: str
) -> None:
    drive = serve(SIZE, **SCHEMES[scheme])
    seen = _lives(drive, made, name, ends, plug=end == "plug")
    assert seen
    print(f"{ends} ends, {len(seen)} files")
    drive.stop()
    drive.check()
