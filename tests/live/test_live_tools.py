"""Tools of libnbd and QEMU on a live drive: images in and out, holes, and advertised features."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from live_drive import MIB, Drives
from live_needs import HANGS_S, needs, run
from paths import ROOT

from floatgate.live import Live

SIZE = 32 * MIB
PAGE = 4096
DEVICE: dict[str, Any] = {"device": "small-nvme", "set": {"flash.pages_per_block": 32}}

libnbd = needs("nbdkit", "nbdcopy", "nbdinfo", "mke2fs")
qemu = needs("nbdkit", "qemu-img")


def extents(uri: str) -> list[tuple[int, int, bool]]:
    """Returns the extents that `nbdinfo` reports: offset, bytes, and whether the extent is a
    hole."""
    runs: list[tuple[int, int, bool]] = []
    for run_ in json.loads(run("nbdinfo", "--map", "--json", uri)):
        start, length, hole = run_["offset"], run_["length"], run_["type"] == 3
        assert hole or run_["type"] == 0, run_
        if runs and runs[-1][2] == hole:
            start, length = runs[-1][0], runs[-1][1] + length
            runs.pop()
        runs.append((start, length, hole))
    return runs


@pytest.fixture
def file_system(tmp_path: Path) -> Path:
    """An ext4 image that contains this project's sources."""
    image = tmp_path / "ext4.img"
    tree = ROOT / "crates"
    run("mke2fs", "-q", "-F", "-t", "ext4", "-b", PAGE, "-d", tree, image, f"{SIZE // 1024}k")
    assert image.stat().st_size == SIZE
    return image


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@libnbd
def test_a_file_system_comes_out_as_it_went_in(
    serve: Drives, tmp_path: Path, file_system: Path
) -> None:
    drive = serve(SIZE, **DEVICE)
    run("nbdcopy", "--flush", file_system, drive.uri)
    first, second = tmp_path / "first.img", tmp_path / "second.img"
    run("nbdcopy", drive.uri, first)
    assert _digest(first) == _digest(file_system)
    drive.stop()
    drive.check()
    drive.start()
    run("nbdcopy", "--no-extents", drive.uri, second)
    assert _digest(second) == _digest(file_system)
    run("e2fsck", "-fn", second)


@libnbd
def test_nbdinfo_is_told_what_the_drive_can(serve: Drives) -> None:
    drive = serve(SIZE, **DEVICE)
    (export,) = json.loads(run("nbdinfo", "--json", drive.uri))["exports"]
    assert export["export-size"] == SIZE
    assert not export["is_read_only"]
    able = ["can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn"]
    assert [name for name in able if not export[name]] == []
    assert "base:allocation" in export["contexts"]
    assert export["block_size_minimum"] == 1
    assert export["block_size_preferred"] == PAGE
    assert export["block_size_maximum"] == 32 * MIB


@qemu
@libnbd
def test_what_is_not_written_is_a_hole(serve: Drives) -> None:
    drive = serve(SIZE, **DEVICE)
    assert extents(drive.uri) == [(0, SIZE, True)]
    run("qemu-io", "-f", "raw", "-c", "write -P 7 1M 2M", "-c", "flush", drive.uri)
    assert extents(drive.uri) == [
        (0, MIB, True),
        (MIB, 2 * MIB, False),
        (3 * MIB, SIZE - 3 * MIB, True),
    ]
    # Only whole pages can be trimmed. The partly covered pages must keep the rest of their data.
    run("qemu-io", "-f", "raw", "-c", f"discard {MIB + PAGE - 512} {PAGE + 1024}", drive.uri)
    reads = [
        f"read -P 7 {MIB} {PAGE - 512}",
        f"read -P 0 {MIB + PAGE} {PAGE}",
        f"read -P 7 {MIB + 2 * PAGE + 512} {MIB}",
    ]
    _reads(drive.uri, reads)
    assert (MIB + PAGE, PAGE, True) in extents(drive.uri)
    run("qemu-io", "-f", "raw", "-c", "write -z -u 1M 2M", drive.uri)
    _reads(drive.uri, [f"read -P 0 0 {SIZE}"])
    assert extents(drive.uri) == [(0, SIZE, True)]


def _reads(uri: str, reads: list[str]) -> None:
    """Runs reads in `qemu-io`, which exits with success even if a pattern does not match. Fails if
    its output reports a mismatch."""
    for read in reads:
        said = run("qemu-io", "-f", "raw", "-c", read, uri)
        assert "Pattern verification failed" not in said, read


@qemu
@libnbd
def test_qemu_img_copies_and_compares(serve: Drives, tmp_path: Path, file_system: Path) -> None:
    drive = serve(SIZE, **DEVICE)
    run("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", file_system, drive.uri)
    assert "identical" in run(
        "qemu-img", "compare", "-f", "raw", "-F", "raw", file_system, drive.uri
    )
    told = json.loads(run("qemu-img", "info", "--output=json", drive.uri))
    assert told["virtual-size"] == SIZE
    compact = tmp_path / "copy.qcow2"
    run("qemu-img", "convert", "-c", "-f", "raw", "-O", "qcow2", drive.uri, compact)
    same = run("qemu-img", "compare", "-f", "qcow2", "-F", "raw", compact, drive.uri)
    assert "identical" in same
    runs = json.loads(run("qemu-img", "map", "-f", "raw", "--output=json", drive.uri))
    told_by_qemu = sum(one["length"] for one in runs if one["data"])
    assert told_by_qemu == sum(length for _, length, hole in extents(drive.uri) if not hole)
    assert 0 < told_by_qemu < SIZE


@needs("nbdkit", "qemu-io")
def test_an_export_names_a_placement_handle(serve: Drives) -> None:
    host = {"placement.scheme": "host", "placement.handles": 4}
    drive = serve(SIZE, device="small-nvme", set={"flash.pages_per_block": 32, **host})
    for export, pages in [("", 3), ("handle-0", 2), ("handle-2", 5), ("handle-3", 7), ("data", 1)]:
        uri = drive.uri.replace(":///", f":///{export}", 1)
        run("qemu-io", "-f", "raw", "-c", f"write 0 {pages * PAGE}", "-c", "flush", uri)
    with Live(drive.control) as live:
        result = live.status().result
    # Stream 0 takes the pages that cleaning moves, because handles are initially isolated.
    assert [stream.host_pages for stream in result.placement.streams] == [0, 6, 0, 5, 7]
    for export in ("handle-", "handle-x", "handle--1", "handle-65536"):
        uri = drive.uri.replace(":///", f":///{export}", 1)
        command = ["qemu-io", "-f", "raw", "-c", "read 0 4k", uri]
        refused = subprocess.run(command, capture_output=True, timeout=HANGS_S)
        assert refused.returncode != 0, export
    drive.stop()
    drive.check()
