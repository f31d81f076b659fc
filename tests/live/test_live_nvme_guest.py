"""nvme-cli in a virtual machine, with the kernel's NVMe/TCP host, on a drive with placement
handles."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from live_drive import MIB
from live_guest import HOST, needs_guest
from live_process import replay_of_the_docs
from nvme_drive import NvmeDrive
from nvme_guest import NvmeGuest, nvme_system
from nvme_host import number

import floatgate as fg

pytestmark = [pytest.mark.long, *needs_guest("nvme", "fio")]

if sys.platform != "linux":
    pytest.skip("the NVMe target needs Linux", allow_module_level=True)

BLOCK = 4096
SIZE = 16 * MIB
HANDLES = 4
DRIVE = ("--size", f"{SIZE}B", "--set", "flash.pages_per_block=16", "--handles", f"{HANDLES}")

ROUNDS = 30

UNIT_BYTES = 512_000
"""Bytes of a data unit of the SMART log."""

FUNCTIONS = """
# put DEVICE BLOCK BLOCKS HANDLE: writes random blocks with a placement handle.
put() {
    bytes=$(($3 * 4096))
    head -c $bytes /dev/urandom > /data
    nvme write $1 -s $2 -c $(($3 - 1)) -z $bytes -d /data -T 2 -S $4 > /said || cat /said
}
# cache DEVICE ROUNDS: writes a log with handle 0, and objects at random with handle 1.
cache() {
    round=0
    while [ $round != $2 ]; do
        put $1 $((round % 12 * 64)) 64 0
        for object in 1 2 3; do put $1 $((768 + RANDOM % 253)) 4 1; done
        round=$((round + 1))
    done
}
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return nvme_system(tmp_path_factory.mktemp("nvme"))


def _check_discovery(guest: NvmeGuest, drive: NvmeDrive) -> None:
    [record] = guest.ask(f"discover -t tcp -a {HOST} -s {drive.port}")["records"]
    assert record["subnqn"] == drive.nqn
    assert (record["trtype"], record["adrfam"], record["subtype"]) == (
        "tcp",
        "ipv4",
        "nvme subsystem",
    )
    # The address that the target sees behind the network of the virtual machine.
    assert (record["traddr"], record["trsvcid"]) == ("127.0.0.1", str(drive.port))


def _check_identify(guest: NvmeGuest, drive: NvmeDrive, device: str) -> None:
    with drive.host() as host:
        controller, namespace = host.admin.identify(1), host.admin.identify(0, 1)
    shown = guest.ask(f"id-ctrl /dev/{device}")
    texts = {"sn": (4, 20), "mn": (24, 40), "fr": (64, 8)}
    for name, (at, length) in texts.items():
        assert shown[name].strip() == controller[at : at + length].decode().strip(), name
    assert shown["mn"].startswith("Floatgate")
    # MDTS of 1 MiB, a namespace, a write cache that all flushes empty, and optional commands:
    # compare, deallocate, write zeroes, features by kind, timestamp, verify.
    expected = {"mdts": 8, "nn": 1, "vwc": 7, "oncs": 0b1101_1101, "sqes": 0x66, "cqes": 0x44}
    assert {name: shown[name] for name in expected} == expected
    assert shown["subnqn"] == drive.nqn
    # Endurance groups and FDP.
    assert shown["ctratt"] == number(controller, 96, 4)
    assert shown["ctratt"] >> 19 & 1 == shown["ctratt"] >> 4 & 1 == 1
    shown = guest.ask(f"id-ns /dev/{device}n1")
    blocks = SIZE // BLOCK
    assert [shown["nsze"], shown["ncap"], shown["nuse"]] == [
        blocks,
        blocks,
        number(namespace, 16, 8),
    ]
    assert (shown["flbas"], [one["ds"] for one in shown["lbafs"]]) == (1, [9, 12])
    assert shown["endgid"] == 1


def _whole(parts: dict[str, int]) -> int:
    """Returns the number in two halves of 64 bits."""
    return parts["hi"] << 64 | parts["lo"]


def _check_logs(guest: NvmeGuest, drive: NvmeDrive, device: str) -> None:
    """Compares all logs with `floatgate ctl smart`."""
    with drive.live() as live:
        smart = live.smart()
    assert smart.host_bytes_written > 0 and smart.host_bytes_read > 0
    shown = guest.ask(f"smart-log /dev/{device}")
    counts = {
        "data_units_written": -(-smart.host_bytes_written // UNIT_BYTES),
        "data_units_read": -(-smart.host_bytes_read // UNIT_BYTES),
        "host_write_commands": smart.host_writes,
        "host_read_commands": smart.host_reads,
        "power_cycles": smart.power_cycles,
        "unsafe_shutdowns": smart.unsafe_shutdowns,
        "media_errors": smart.media_errors,
        "avail_spare": 100,
        "spare_thresh": 10,
        "critical_warning": 0,
    }
    assert {name: int(shown[name]) for name in counts} == counts
    shown = guest.ask(f"ocp smart-add-log /dev/{device}")
    assert _whole(shown["Physical media units written"]) == smart.media_bytes_written
    assert _whole(shown["Physical media units read"]) == smart.media_bytes_read
    shown = guest.ask(f"fdp stats /dev/{device} -e 1")
    assert [int(shown[name]) for name in ("hbmw", "mbmw", "mbe")] == [
        smart.host_bytes_written,
        smart.media_bytes_written,
        smart.media_bytes_erased,
    ]
    # The log of Floatgate has no command in nvme-cli.
    traffic = bytes.fromhex(
        guest.run(f"nvme get-log /dev/{device} -i 0xf0 -l 2048 -b | hexdump -v -e '/1 \"%02x\"'")
    )
    causes = number(traffic, 0, 8)
    assert sum(number(traffic, 16 + 40 * at + 24, 8) for at in range(causes)) == (
        smart.media_bytes_written
    )


def _check_placement(guest: NvmeGuest, drive: NvmeDrive, device: str) -> None:
    unit = 16 * BLOCK
    [configuration] = guest.ask(f"fdp configs /dev/{device} -e 1")["configs"]
    expected = {"nrg": 1, "nruh": HANDLES, "nnss": 1, "runs": unit}
    assert {name: configuration[name] for name in expected} == expected
    # The host chooses all handles.
    usage = guest.ask(f"fdp usage /dev/{device} -e 1")
    assert [one["ruha"] for one in usage["ruhus"]] == [1] * HANDLES
    with drive.host() as host:
        room = host.io.room(HANDLES)
    status = guest.ask(f"fdp status /dev/{device}n1")["ruhss"]
    assert [one["pid"] for one in status] == [one["ruhid"] for one in status] == [*range(HANDLES)]
    assert [one["ruamw"] for one in status] == room
    # An update of a handle that has room is an event of type 00h.
    guest.run(f"put /dev/{device}n1 0 1 2; nvme fdp set-events /dev/{device}n1 -p 2 -e -t 0")
    guest.run(f"nvme fdp update /dev/{device}n1 -p 2")
    [event] = guest.ask(f"fdp events /dev/{device} -e 1 -E")["events"]
    assert (event["type"], event["pid"], event["nsid"]) == (0, 2, 1)
    assert guest.ask(f"fdp status /dev/{device}n1")["ruhss"][2]["ruamw"] == unit // BLOCK


def test_it_shows_what_the_drive_reports(tmp_path: Path, made: tuple[Path, Path]) -> None:
    with NvmeDrive(tmp_path, *DRIVE).start() as drive, NvmeGuest(made, drive, FUNCTIONS) as guest:
        _check_discovery(guest, drive)
        device = guest.connect()
        guest.run(f"cache /dev/{device}n1 2")
        guest.run(f"nvme read /dev/{device}n1 -s 0 -c 3 -z 16384 -d /read")
        _check_identify(guest, drive, device)
        _check_logs(guest, drive, device)
        _check_placement(guest, drive, device)
        guest.disconnect(device)
        drive.stop()


def test_it_changes_and_compares_blocks(tmp_path: Path, made: tuple[Path, Path]) -> None:
    with NvmeDrive(tmp_path, *DRIVE).start() as drive, NvmeGuest(made, drive, FUNCTIONS) as guest:
        device = guest.connect("--hdr-digest", "--data-digest")
        block = f"/dev/{device}n1"
        guest.run("head -c 16384 /dev/urandom > /data; head -c 16384 /dev/zero > /zeros")
        where = f"{block} -s 8 -c 3 -z 16384"
        guest.run(f"nvme write {where} -d /data")
        guest.run(f"nvme compare {where} -d /data")
        assert "COMPARE FAILURE" in guest.run(f"nvme compare {where} -d /zeros", fails=True).upper()
        guest.run(f"nvme verify {block} -s 8 -c 3; nvme flush {block} -n 1")
        guest.run(f"nvme write-zeroes {block} -s 8 -c 0")
        guest.run(f"nvme dsm {block} -d -s 11 -b 1")
        guest.run(
            "cp /data /holes; for at in 0 3; do"
            " /tools/dd if=/dev/zero of=/holes bs=4k seek=$at count=1 conv=notrunc; done"
        )
        guest.run(f"nvme compare {where} -d /holes")
        with drive.live() as live:
            assert live.status().result.workload.trims == 1
        beyond = guest.run(
            f"nvme write {block} -s {SIZE // BLOCK} -c 0 -z 4096 -d /data", fails=True
        )
        assert "LBA OUT OF RANGE" in beyond.upper()
        _check_passthru(guest, device)
        _check_format(guest, device)
        drive.stop()


def _check_passthru(guest: NvmeGuest, device: str) -> None:
    """Sends commands as their dwords."""
    said = guest.run(
        f"nvme admin-passthru /dev/{device} --opcode=6 --cdw10=1 --data-len=4096 -r -b "
        "| head -c 64 | hexdump -v -e '/1 \"%02x\"'"
    )
    assert bytes.fromhex(said)[24:40].startswith(b"Floatgate")
    handle = 3
    guest.run(
        f"nvme io-passthru /dev/{device}n1 --opcode=1 --namespace-id=1 --cdw10=20 "
        f"--cdw12={2 << 20} --cdw13={handle << 16} --data-len=4096 -w -i /data"
    )
    guest.run(f"nvme compare /dev/{device}n1 -s 20 -c 0 -z 4096 -d /data")


def _check_format(guest: NvmeGuest, device: str) -> None:
    block = f"/dev/{device}n1"
    for index, size in ((0, 512), (1, BLOCK)):
        guest.run(f"nvme write-zeroes {block} -s 0 -c 0; put {block} 4 1 0")
        guest.run(f"nvme format {block} -l {index} -f")
        shown = guest.ask(f"id-ns {block}")
        assert (shown["flbas"], shown["nsze"], shown["nuse"]) == (index, SIZE // size, 0)
        assert guest.run(f"cat /sys/block/{device}n1/queue/logical_block_size") == str(size)
        guest.run(f"nvme compare {block} -s 4 -c 0 -z {size} -d /zeros")


def test_a_recording_of_its_writes_has_the_write_amplification_of_each_handle(
    tmp_path: Path, made: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """fio 3.33 has no placement handles; nvme-cli sends the writes."""
    size = ("--size", "4MiB", "--set", "flash.pages_per_block=16", "--handles", "2")
    words = ("--record", "X.parquet", "--out", "kept")
    with (
        NvmeDrive(tmp_path, *size, *words).start() as drive,
        NvmeGuest(made, drive, FUNCTIONS) as guest,
    ):
        device = guest.connect()
        guest.start(f"cache /dev/{device}n1 {ROUNDS}")
        status, lines = guest.end()
        assert (status, lines) == (0, [])
        guest.disconnect(device)
        drive.stop()
    names = replay_of_the_docs(tmp_path, monkeypatch)
    live: fg.Result = names["live"]
    log, objects = live.placement.owners
    assert (log.host_pages, objects.host_pages) == (ROUNDS * 64, ROUNDS * 12)
    assert live.flash.erases.gc > 0
    assert names["again"].placement == live.placement
