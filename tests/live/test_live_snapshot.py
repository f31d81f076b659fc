"""Snapshots on file systems that share data between files: made at once, independent afterwards."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_needs import needs, needs_loop_mounts, run
from live_process import Serve
from nbd_client import NbdClient

from floatgate.live import Live, images

MAKERS = {
    # Without the first option, btrfs needs at least 109 MiB.
    "btrfs": (("mkfs.btrfs", "--mixed", "-q"), 128 << 20),
    "xfs": (("mkfs.xfs", "-q", "-m", "reflink=1"), 512 << 20),
}
"""Commands that make a file system that shares data between files, and its size in bytes."""

PAGE = 4096
PAGES = 1024
SIZE = ("--size", "8MiB", "--set", "flash.pages_per_block=32")


@pytest.fixture(
    params=[pytest.param(kind, marks=needs(maker[0])) for kind, (maker, _) in MAKERS.items()]
)
def sharing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A directory on such a file system."""
    needs_loop_mounts()
    if request.param not in Path("/proc/filesystems").read_text("utf-8").split():
        pytest.skip(f"this kernel has no {request.param}")
    make, size = MAKERS[request.param]
    image, mounted = tmp_path / "file-system", tmp_path / "mounted"
    mounted.mkdir()
    with image.open("wb") as file:
        file.truncate(size)
    run(*make, image)
    run("mount", "-o", "loop", image, mounted)
    try:
        yield mounted
    finally:
        run("umount", mounted)


def _shared_bytes(path: Path) -> int:
    """Returns how many bytes of a file are shared with another file."""
    lines = run("filefrag", "-s", "-v", "-b1", path).splitlines()
    extents = [line.split(":") for line in lines if "shared" in line.rpartition(":")[2]]
    return sum(int(extent[3]) for extent in extents)


@needs("nbdkit", "filefrag")
def test_a_snapshot_shares_data_and_keeps_what_was_there(sharing: Path) -> None:
    chosen = random.Random(1)
    before, after = (chosen.randbytes(PAGES * PAGE) for _ in range(2))
    with Serve(sharing, "--image", "a.img", *SIZE) as server:
        with NbdClient(server.ready["socket"]) as client, Live(server.ready["control"]) as live:
            client.write(0, before)
            client.flush()
            made = live.snapshot(sharing / "copy.img").bytes
            assert made == (sharing / "a.img").stat().st_size
            # Only shared extents prove that the image was not copied.
            assert _shared_bytes(sharing / "copy.img") >= PAGES * PAGE
            client.write(0, after)
            client.flush()
        assert server.stop() == 0, server.said
    for name, data in {"copy.img": before, "a.img": after}.items():
        assert images.check(sharing / name)["problem_count"] == 0
        with Serve(sharing, "--image", name) as server, NbdClient(server.ready["socket"]) as client:
            assert client.read(0, PAGES * PAGE) == data, name
            assert server.stop() == 0, server.said
