"""Runs fio on a live drive: every translation layer must return the data that fio wrote."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest
from live_drive import MIB, Drives, LiveDrive
from live_needs import needs

pytestmark = needs("nbdkit", "fio")

JOBS = 4
HANGS_S = 3600
SIZES = "512/20:2k/10:4k/30:12k/10:33k/10:64k/10:128k/10"
"""Percent of the requests by size in bytes: parts of pages, whole pages, and both."""

CLASSIC = {"flash.pages_per_block": 32}
"""The erase units are so small that a drive of a few MiB has many, and cleans."""

SMALL_TLC = {
    "flash.channels": 2,
    "flash.dies": 1,
    "flash.superblock": 4,
    "flash.pages_per_block": 24,
    "slc.dynamic": "4MiB",
}

DRIVES: dict[str, tuple[str, dict[str, Any]]] = {
    "ideal": ("classic", CLASSIC),
    "dftl": ("classic", {**CLASSIC, "mapping.scheme": "dftl", "mapping.cache": "16KiB"}),
    # A live drive needs a unit for its journal, which the papers' drives do not have.
    "tlllp": ("tlllp17", {"mapping.scheme": "tlllp", "cleaning.low_water": 4}),
    "asa": ("asa14", {"cleaning.low_water": 6}),
    "bast": ("classic", {**CLASSIC, "ftl.scheme": "bast"}),
    "ncq": ("ncq13", {}),
    "shrd": ("shrd17", {"flash.pages_per_block": 8}),
    "tlc": ("tlc-client", SMALL_TLC),
    "tlc-enterprise": ("tlc-enterprise", {}),
}


@dataclass(frozen=True)
class Did:
    """Requests that fio completed, by kind."""

    reads: int
    writes: int
    trims: int
    syncs: int


def fio(drive: LiveDrive, *arguments: str, seed: int) -> Did:
    """Runs fio's jobs, each on its own part of the drive. Fails if fio reports an error."""
    share = drive.size // JOBS
    command = ["fio", "--name=job", "--ioengine=nbd", f"--uri={drive.uri}"]
    command += [f"--size={share}", f"--offset_increment={share}", f"--numjobs={JOBS}"]
    command += ["--group_reporting", "--output-format=json", f"--randseed={seed}", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=HANGS_S, cwd=drive.directory
    )
    assert done.returncode == 0, f"{command}\n{done.stderr[-3000:]}\n{drive.said()[-3000:]}"
    # The ioengine prints some lines before the document.
    (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    counts = [job[kind]["total_ios"] for kind in ("read", "write", "trim", "sync")]
    return Did(*counts)


def _written_is_read(drive: LiveDrive, passes: int) -> None:
    """Writes and verifies data of all sizes and offsets. Each pass writes every byte once and reads
    it back."""
    verify = ["--verify=crc32c", "--verify_fatal=1", "--rw=randwrite", f"--bssplit={SIZES}"]
    for seed in range(1, passes + 1):
        did = fio(drive, *verify, "--iodepth=8", "--fsync=50", seed=seed)
        assert did.reads == did.writes > 0
        assert did.syncs > 0


def _trimmed_is_zero(drive: LiveDrive) -> None:
    """Trims and writes blocks, then trims blocks and reads zeros."""
    # With more than one request under way, fio may send the write before the trim is answered.
    verify = ["--verify=crc32c", "--verify_fatal=1", "--iodepth=1"]
    did = fio(drive, *verify, "--rw=randtrimwrite", "--bssplit=4k/50:16k/50", seed=1)
    assert did.trims > 0
    assert did.reads == did.writes > 0
    did = fio(drive, "--rw=randtrim", "--bs=8k", "--iodepth=8", seed=2)
    assert did.trims * 8192 == drive.size
    zeros = ["--verify=pattern", "--verify_pattern=0x00", "--verify_fatal=1"]
    did = fio(drive, *zeros, "--rw=read", "--bs=64k", "--iodepth=8", seed=3)
    assert did.reads * 65536 == drive.size


@pytest.mark.parametrize(
    ("mib", "passes"), [(8, 1), pytest.param(24, 2, marks=pytest.mark.long)], ids=("8", "24")
)
@pytest.mark.parametrize("name", DRIVES)
def test_fio_finds_what_it_wrote(serve: Drives, name: str, mib: int, passes: int) -> None:
    device, changes = DRIVES[name]
    drive = serve(mib * MIB, device=device, set=changes)
    _written_is_read(drive, passes)
    _trimmed_is_zero(drive)
    _written_is_read(drive, passes)
    drive.stop()
    drive.check()
