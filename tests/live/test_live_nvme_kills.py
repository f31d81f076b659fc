"""Kills the NVMe target, or cuts its power, under a host with many commands under way: flushed data
must survive."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import nbd_client as nbd
import pytest
from live_host import SIZE, Host
from nvme_drive import NvmeDrive
from nvme_host import (
    BLOCK,
    FLUSH_COMMAND,
    Disconnected,
    Queue,
    deallocate_command,
    write_command,
)

pytestmark = pytest.mark.long

if sys.platform != "linux":
    pytest.skip("the NVMe target needs Linux", allow_module_level=True)

ENDS = 50
DRIVE = ("--size", f"{SIZE}B", "--device", "small-nvme", "--set", "flash.pages_per_block=64")
SETS = {"plain": (), "dftl": ("--set=mapping.scheme=dftl", "--set=mapping.cache=64KiB")}


class NvmeClient:
    """A controller with an I/O queue, which takes the requests of NBD."""

    def __init__(self, drive: NvmeDrive) -> None:
        self._host = drive.host()
        self._queue: Queue = self._host.io
        self._cookies: dict[int, int] = {}

    def __enter__(self) -> NvmeClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._host.__exit__()

    def read(self, offset: int, length: int) -> bytes:
        """Reads bytes, while no request is under way."""
        return self._queue.read(offset // BLOCK, length // BLOCK)

    def ask(
        self,
        kind: int,
        offset: int = 0,
        length: int = 0,
        data: bytes = b"",
        *,
        flags: int = 0,
        cookie: int = 0,
    ) -> None:
        """Sends a flush, a write or a trim."""
        block, blocks = offset // BLOCK, length // BLOCK
        if kind == nbd.FLUSH:
            number = self._queue.ask(FLUSH_COMMAND)
        elif kind == nbd.WRITE:
            number = self._queue.ask(write_command(block, blocks, fua=flags == nbd.FUA), data)
        else:
            assert kind == nbd.TRIM
            number = self._queue.ask(*deallocate_command(block, blocks))
        self._cookies[number] = cookie

    def answer(self) -> tuple[int, int, bytes]:
        """Returns the cookie of the next answer, its status, and its data."""
        answer = self._queue.answer()
        return self._cookies.pop(answer.command), answer.code, answer.data


def _live(drive: NvmeDrive, host: Host, end: Callable[[], None], seconds: float) -> None:
    """Checks all pages and keeps working until `end` ends the controller after `seconds`."""
    with NvmeClient(drive) as client:
        host.look(client)
        timer = Timer(seconds, end)
        timer.start()
        with pytest.raises(Disconnected):
            host.work(client)
        timer.join()


@pytest.mark.parametrize("end", ["kill", "plug"])
@pytest.mark.parametrize("name", SETS)
def test_what_was_flushed_outlives_a_target_that_ends_at_work(
    tmp_path: Path, name: str, end: str
) -> None:
    host, rng = Host(ENDS), random.Random(ENDS)
    with NvmeDrive(tmp_path, *DRIVE, *SETS[name]).start() as drive:
        for _ in range(ENDS):
            if end == "kill":
                _live(drive, host, drive.send_sigkill, rng.random() * 2)
                drive.restart_killed()
            else:
                _live(drive, host, drive.plug, rng.random() * 2)
        with NvmeClient(drive) as client:
            host.look(client)
        assert host.flushes > ENDS
        drive.stop()
