"""Zones of a drive over NVMe/TCP in a virtual machine: nvme-cli, fio, zonefs and f2fs."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from live_files import WRITE, there, whole
from live_guest import needs_guest
from nvme_drive import NvmeDrive
from nvme_guest import NvmeGuest, nvme_system

pytestmark = [pytest.mark.long, *needs_guest("nvme", "fio")]

if sys.platform != "linux":
    pytest.skip("the NVMe target needs Linux", allow_module_level=True)

BLOCK = 4096
SMALL = ("--zns", "--size", "16MiB", "--set", "flash.pages_per_block=64", "--handles", "4")
LARGE = ("--zns", "--size", "160MiB", "--set", "flash.pages_per_block=512", "--handles", "8")
"""Zones of 2 MiB, of which f2fs makes its segments."""

EMPTY, EXPLICIT, CLOSED, FULL = "EMPTY", "EXP_OPENED", "CLOSED", "FULL"
"""States as nvme-cli prints them."""

STATES = ("empty", "implicitly_open", "explicitly_open", "closed", "full")

FUNCTIONS = """
fio_zones() {
    /tools/fio --name=job --filename=$1 --ioengine=$2 --iodepth=$3 --thread --direct=1 \\
        --zonemode=zbd --max_open_zones=2 --rw=write --bs=16k --size=1m --offset_increment=1m \\
        --numjobs=2 --verify=crc32c --verify_fatal=1 --output=/fio.txt > /dev/null
    status=$?; tail -20 /fio.txt; return $status
}
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return nvme_system(tmp_path_factory.mktemp("nvme"))


def _counts(drive: NvmeDrive) -> dict[str, int]:
    """Returns the number of zones by state, as the control socket reports them."""
    with drive.live() as live:
        zones = live.status().zones
    assert zones is not None
    return {name: getattr(zones.states, name) for name in STATES}


def _zones(guest: NvmeGuest, block: str) -> list[dict[str, Any]]:
    """Returns the zones that nvme-cli reports."""
    report = guest.ask(f"zns report-zones {block}")
    zones: list[dict[str, Any]] = report["zone_list"]
    assert report["nr_zones"] == len(zones)
    return zones


def _superblock() -> bytes:
    """Returns the first block of a zonefs without a label: magic, checksum, label of 32 bytes,
    UUID, features, user, group, and permissions of files."""
    after = struct.pack("<32s16sQIII", b"", b"u" * 16, 0, 0, 0, 0o640).ljust(BLOCK - 8, b"\0")
    magic = struct.pack("<I", 0x5A4F4653)
    checksum = zlib.crc32(magic + bytes(4) + after) ^ 0xFFFFFFFF
    return magic + struct.pack("<I", checksum) + after


def _append(guest: NvmeGuest, block: str, first: int, blocks: int) -> int:
    """Appends random blocks to a zone, and returns their first block."""
    size = blocks * BLOCK
    guest.run(f"head -c {size} /dev/urandom > /data")
    said = guest.run(f"nvme zns zone-append {block} -s {first} -z {size} -d /data")
    # The file is at the address that the drive returned.
    address = int(said.split()[-1], 16)
    guest.run(f"nvme compare {block} -s {address} -c {blocks - 1} -z {size} -d /data")
    return address


def _states(guest: NvmeGuest, block: str, count: int) -> list[tuple[str, int]]:
    """Returns states and written blocks of the first zones."""
    zones = _zones(guest, block)[:count]
    return [(zone["state"], zone["wp"] - zone["slba"]) for zone in zones]


def test_nvme_cli_manages_zones(tmp_path: Path, made: tuple[Path, Path]) -> None:
    with NvmeDrive(tmp_path, *SMALL).start() as drive, NvmeGuest(made, drive) as guest:
        device = guest.connect()
        block = f"/dev/{device}n1"
        shown = guest.ask(f"zns id-ns {block}")
        # Reads may cross zones; four zones may be active and open, 0-based.
        assert (shown["ozcs"], shown["mar"], shown["mor"]) == (1, 3, 3)
        size = shown["lbafe"][1]["zsze"]
        assert size == 64
        zones = _zones(guest, block)
        assert [(zone["slba"], zone["cap"], zone["type"]) for zone in zones] == [
            (size * number, size, "SEQWRITE_REQ") for number in range(len(zones))
        ]
        assert _counts(drive) == {**dict.fromkeys(STATES, 0), "empty": len(zones)}
        assert [_append(guest, block, size, 3) for _ in range(2)] == [size, size + 3]
        guest.run(f"nvme zns open-zone {block} -s 0; nvme zns finish-zone {block} -s {2 * size}")
        guest.run(f"nvme zns close-zone {block} -s {size}")
        assert _states(guest, block, 4) == [(EXPLICIT, 0), (CLOSED, 6), (FULL, size), (EMPTY, 0)]
        counts = _counts(drive)
        assert [counts[name] for name in ("explicitly_open", "closed", "full")] == [1, 1, 1]
        within = guest.run(f"nvme zns finish-zone {block} -s {size + 1}", fails=True)
        assert "INVALID FIELD" in within.upper()
        full = guest.run(f"nvme zns open-zone {block} -s {2 * size}", fails=True)
        assert "INVAL" in full.upper()
        _check_smart(guest, drive, device)
        # An orderly shutdown ends open zones.
        guest.disconnect(device)
        block = f"/dev/{guest.connect()}n1"
        assert _states(guest, block, 3) == [(EMPTY, 0), (CLOSED, 6), (FULL, size)]
        # A power cut changes no zone whose data is on flash.
        guest.run(f"nvme flush {block} -n 1")
        drive.plug()
        # Reads wait until the kernel has connected again; commands of nvme-cli would fail.
        guest.run(f"dd if={block} of=/dev/null bs=4k count=1 iflag=direct")
        assert _states(guest, block, 3) == [(EMPTY, 0), (CLOSED, 6), (FULL, size)]
        guest.run(f"nvme zns reset-zone {block} -a")
        assert _counts(drive)["empty"] == len(zones)
        drive.stop()


def _check_smart(guest: NvmeGuest, drive: NvmeDrive, device: str) -> None:
    with drive.live() as live:
        smart = live.smart()
    shown = guest.ask(f"smart-log /dev/{device}")
    assert int(shown["host_write_commands"]) == smart.host_writes
    shown = guest.ask(f"ocp smart-add-log /dev/{device}")["Physical media units written"]
    assert shown["hi"] << 64 | shown["lo"] == smart.media_bytes_written
    # Zones take the place of handles.
    guest.run(f"nvme fdp stats /dev/{device} -e 1", fails=True)


@pytest.mark.parametrize(("engine", "depth"), [("psync", 1), ("libaio", 1)])
def test_fio_writes_and_verifies_zones(
    tmp_path: Path, made: tuple[Path, Path], engine: str, depth: int
) -> None:
    with NvmeDrive(tmp_path, *SMALL).start() as drive, NvmeGuest(made, drive, FUNCTIONS) as guest:
        device = guest.connect()
        guest.run(f"fio_zones /dev/{device}n1 {engine} {depth}")
        guest.run(f"nvme flush /dev/{device}n1 -n 1; fio_zones /dev/{device}n1 {engine} {depth}")
        with drive.live() as live:
            result = live.status().result
        # A reset leaves no valid page, so cleaning copies none.
        assert result.flash.programs.gc == 0 < result.flash.programs.host
        drive.stop()


ZONEFS = """
# fill DEVICE NUMBER BLOCKS: writes the zone of a file of zonefs, and says the sum of the file.
fill() {
    head -c $(($3 * 4096)) /dev/urandom > /data
    nvme zns zone-append $1 -s $((($2 + 1) * 64)) -z $(($3 * 4096)) -d /data > /said || cat /said
    sum=$(md5sum < /data)
    echo "whole /mnt/seq/$2 ${sum%% *}"
}
"""


def test_zonefs_shows_zones_as_files(tmp_path: Path, made: tuple[Path, Path]) -> None:
    """The files are read, truncated and extended. zonefs of Debian's Linux 6.1.192 refuses its own
    synchronous writes: it misses the address of the append, which a trace of the kernel shows."""
    with NvmeDrive(tmp_path, *SMALL).start() as drive, NvmeGuest(made, drive, ZONEFS) as guest:
        block = f"/dev/{guest.connect()}n1"
        with drive.host() as host:
            host.io.append(0, _superblock())
            host.io.finish_zone(0)
        fills = "; ".join(
            f"fill {block} {file} {blocks}" for file, blocks in [(0, 64), (1, 10), (3, 1)]
        )
        synced = whole(guest.run(fills).splitlines())
        guest.run(f"mount -t zonefs {block} /mnt")
        zones = len(_zones(guest, block))
        assert guest.run("ls /mnt/seq | wc -l").strip() == str(zones - 1)
        sizes = guest.run("for file in 0 1 2 3; do stat -c %s /mnt/seq/$file; done")
        assert sizes.split() == [str(blocks * BLOCK) for blocks in (64, 10, 0, 1)]
        assert there(guest.run("md5sum /mnt/seq/0 /mnt/seq/1 /mnt/seq/3").splitlines()) == synced
        # An empty file is a zone that was reset, and a file of full size a full zone.
        guest.run(f"truncate -s 0 /mnt/seq/3; truncate -s {64 * BLOCK} /mnt/seq/2; umount /mnt")
        states = _states(guest, block, 5)
        assert [states[file + 1] for file in (0, 2, 3)] == [(FULL, 64), (FULL, 64), (EMPTY, 0)]
        drive.stop()


def test_f2fs_lives_in_zones(tmp_path: Path, made: tuple[Path, Path]) -> None:
    """Its metadata are on a conventional drive, as f2fs demands."""
    other = tmp_path / "conventional"
    other.mkdir()
    with (
        NvmeDrive(tmp_path, *LARGE).start() as drive,
        NvmeDrive(other, "--size", "64MiB").start() as conventional,
        NvmeGuest(made, drive, WRITE) as guest,
    ):
        device, meta = guest.connect(), guest.connect(drive=conventional)
        guest.run(f"/tools/mkfs.f2fs -f -m -c /dev/{device}n1 /dev/{meta}n1")
        guest.run(f"mount -t f2fs /dev/{meta}n1 /mnt")
        guest.start("for turn in 1 2 3; do mkdir /mnt/$turn; write /mnt/$turn a 40; done")
        status, lines = guest.end()
        assert status == 0, lines
        synced = whole(lines)
        assert len(synced) == 120
        # More than the conventional drive can hold.
        guest.run("head -c 64000000 /dev/urandom > /mnt/3/large; sync")
        synced |= there(guest.run("md5sum /mnt/3/large").splitlines())
        check = f"/tools/fsck.f2fs --dry-run -f /dev/{meta}n1"
        guest.run(f"rm -r /mnt/1; umount /mnt; {check} > /check || {{ cat /check; false; }}")
        guest.disconnect(device)
        guest.disconnect(meta)
        assert guest.connect() == device, "f2fs finds its device by name"
        assert guest.connect(drive=conventional) == meta
        guest.run(f"mount -t f2fs /dev/{meta}n1 /mnt")
        expected = {file: sum for file, sum in synced.items() if not file.startswith("/mnt/1/")}
        assert there(guest.run("md5sum /mnt/[23]/*").splitlines()) == expected
        guest.run("umount /mnt")
        assert _counts(drive)["empty"] < len(_zones(guest, f"/dev/{device}n1"))
        drive.stop()
        conventional.stop()
