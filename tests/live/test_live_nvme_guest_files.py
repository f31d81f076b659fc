"""File systems of a virtual machine over NVMe/TCP, and targets that end under them."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from live_drive import MIB
from live_files import CYCLE, KEPT_CYCLES, MAKE, WRITE, Sums, about, fails, looked_up, there, whole
from live_guest import needs_guest
from live_shell import UNTIL_ENTER
from nvme_drive import NvmeDrive
from nvme_guest import DISAPPEARS, NvmeGuest, nvme_system

pytestmark = [pytest.mark.long, *needs_guest("nvme", "fio")]

if sys.platform != "linux":
    pytest.skip("the NVMe target needs Linux", allow_module_level=True)

SIZE = 128 * MIB
DRIVE = ("--size", f"{SIZE}B", "--device", "small-nvme", "--set", "flash.pages_per_block=64")

ENDS = 25
"""Kills, and power cuts, for each file system."""

RECONNECTS = 50
"""Kills, and power cuts, after which the kernel reconnects by itself."""

JOBS = 4

FILL = """
fill() {
    /tools/fio --name=job --directory=/mnt --ioengine=psync --thread --rw=randwrite --size=6m \\
        --bssplit=512/20:4k/50:33k/30 --fsync=20 --numjobs=4 --verify=crc32c --verify_fatal=1 \\
        --output=/fio.txt > /dev/null
    status=$?; tail -20 /fio.txt; return $status
}
"""

TRIMS = """
trims() {
    /tools/fio --name=job --filename=$1 --ioengine=psync --thread --direct=1 --rw=randtrimwrite \\
        --bssplit=4k/50:16k/50 --size=4m --offset_increment=4m --numjobs=4 --verify=crc32c \\
        --verify_fatal=1 --output=/fio.txt > /dev/null
    status=$?; tail -20 /fio.txt; return $status
}
"""

WRITE_BLOCKS = """
# write_blocks DEVICE: writes blocks of 64 KiB that are durable when the write returns, and says so.
write_blocks() {
    number=0
    while [ ! -e /enough ]; do
        number=$((number + 1))
        head -c 65536 /dev/urandom > /block
        sum=$(md5sum < /block)
        /tools/dd if=/block of=$1 bs=64k seek=$((number % 500)) oflag=direct,dsync conv=notrunc \\
            2> /dev/null || { echo FAIL write; return; }
        echo "whole $((number % 500)) ${sum%% *}"
    done
}
# read_blocks DEVICE COUNT: prints the sums of the blocks.
read_blocks() {
    number=0
    while [ $number != $2 ]; do
        sum=$(/tools/dd if=$1 bs=64k skip=$number count=1 iflag=direct 2> /dev/null | md5sum)
        echo "${sum%% *}  $number"
        number=$((number + 1))
    done
}
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return nvme_system(tmp_path_factory.mktemp("nvme"))


@pytest.mark.parametrize("name", MAKE)
def test_a_file_system_lives_and_is_clean(
    tmp_path: Path, made: tuple[Path, Path], name: str
) -> None:
    with (
        NvmeDrive(tmp_path, *DRIVE).start() as drive,
        NvmeGuest(made, drive, WRITE + FILL + TRIMS) as guest,
    ):
        device = guest.connect()
        block = f"/dev/{device}n1"
        guest.run(f"trims {block}")
        guest.run(about(name, block, "exit 1") + "$MAKE")
        guest.run("mount -t $NAME -o discard $DEVICE /mnt")
        guest.run("fill")
        guest.start("mkdir /mnt/0; write /mnt/0 a 20 & write /mnt/0 b 20 & wait")
        status, lines = guest.end()
        assert status == 0, lines
        synced = whole(lines)
        assert len(synced) == 40, lines
        guest.run("rm /mnt/job.*; umount /mnt")
        guest.run("$CHECK > /check.txt 2>&1 || { cat /check.txt; false; }")
        # The files must come from the drive, and not from the memory of the machine.
        guest.disconnect(device)
        again = f"/dev/{guest.connect()}n1"
        guest.run(f"mount -t $NAME {again} /mnt")
        assert there(guest.run("md5sum /mnt/0/*").splitlines()) == synced
        guest.run("umount /mnt")
        with drive.live() as live:
            workload = live.status().result.workload
        assert workload.trims > 0
        drive.stop()


def _disappear(guest: NvmeGuest, device: str) -> None:
    """Waits until the file system and the device are gone, after the drive has ended."""
    guest.run("while grep -q ' /mnt ' /proc/mounts; do umount /mnt || sleep 0.2; done")
    guest.run(DISAPPEARS.format(device))


def _lives(guest: NvmeGuest, name: str, end: Callable[[], None], ends: int) -> Sums:
    """Ends the drive at random moments, and returns the files that survived an end."""
    rng = random.Random(ends)
    reported: list[Sums] = []
    seen: Sums = {}
    for cycle in range(1, ends + 2):
        # The kernel gives the device up as soon as the drive ends: it has no time to reconnect.
        device = guest.connect("--ctrl-loss-tmo=0", "--reconnect-delay=1")
        variables = about(name, f"/dev/{device}n1", "exit 1") + f"CYCLE={cycle}\n"
        expected = {file: md5 for sums in reported[-KEPT_CYCLES:] for file, md5 in sums.items()}
        guest.run(variables)
        guest.start("( . /cycle )")
        if 1 < cycle <= ends and rng.random() < 0.1:
            time.sleep(rng.random() * 3)
        else:
            guest.wait(1, "writing")
            guest.wait(rng.randrange(20), "whole")
            time.sleep(rng.random() * 0.2)
        guest.freeze()
        end()
        lines = guest.lines()
        guest.thaw()
        guest.end()
        _disappear(guest, device)
        reported.append(whole(lines))
        if looked_up(lines, expected):
            seen |= expected
    assert expected.keys() <= seen.keys(), "the last cycle has looked at the last files"
    return seen


@pytest.mark.parametrize("end", ["kill", "plug"])
@pytest.mark.parametrize("name", MAKE)
def test_what_was_synced_outlives_the_target(
    tmp_path: Path, made: tuple[Path, Path], name: str, end: str
) -> None:
    cycle = f"cat > /cycle <<'CYCLE'\n{CYCLE}\nCYCLE\n"
    with (
        NvmeDrive(tmp_path, *DRIVE).start() as drive,
        NvmeGuest(made, drive, WRITE + cycle) as guest,
    ):
        seen = _lives(guest, name, drive.kill if end == "kill" else drive.plug, ENDS)
        assert seen
        print(f"{ENDS} ends, {len(seen)} files")
        drive.stop()


def _writes(lines: list[str]) -> int:
    """Returns how many writes have been reported."""
    return sum(line.startswith("whole ") for line in lines)


def test_the_kernel_reconnects_and_loses_no_durable_block(
    tmp_path: Path, made: tuple[Path, Path]
) -> None:
    rng = random.Random(RECONNECTS)
    with (
        NvmeDrive(tmp_path, *DRIVE).start() as drive,
        NvmeGuest(made, drive, WRITE_BLOCKS) as guest,
    ):
        device = guest.connect("--ctrl-loss-tmo=600", "--reconnect-delay=1")
        guest.start(f"write_blocks /dev/{device}n1 & {UNTIL_ENTER}; touch /enough; wait")
        for number in range(2 * RECONNECTS):
            guest.wait(_writes(guest.lines()) + rng.randrange(1, 20), "whole")
            time.sleep(rng.random() * 0.2)
            (drive.kill if number % 2 else drive.plug)()
        guest.wait(_writes(guest.lines()) + 20, "whole")
        guest.press_enter()
        status, lines = guest.end()
        assert (status, fails(lines)) == (0, [])
        expected = whole(lines)
        assert _writes(lines) > 20 * RECONNECTS
        found = guest.run(f"read_blocks /dev/{device}n1 {max(map(int, expected)) + 1}")
        present = there(found.splitlines())
        assert {block: present.get(block) for block in expected} == expected
        # The kernel has kept its controller.
        assert guest.run(f"cat /sys/class/nvme/{device}/state") == "live"
        print(f"{2 * RECONNECTS} ends, {_writes(lines)} blocks")
        drive.stop()
