"""Kills the server under a client with many requests under way: flushed data must survive."""

from __future__ import annotations

import os
import random
import signal
from threading import Timer
from typing import Any

import pytest
from live_drive import Drives, LiveDrive
from live_host import SIZE, Host
from live_needs import needs
from nbd_client import Disconnected, NbdClient

pytestmark = needs("nbdkit")

PLAIN = {"flash.pages_per_block": 64, "mapping.scheme": "dftl", "mapping.cache": "64KiB"}
SETS: dict[str, dict[str, Any]] = {
    "plain": PLAIN,
    "shrd": {**PLAIN, "host.scheme": "shrd", "host.log": "4MiB"},
}


def _live(drive: LiveDrive, host: Host, seconds: float) -> None:
    """Checks all pages and keeps working until the server is killed after `seconds`."""
    with NbdClient(drive.socket) as client:
        host.look(client)
        end = Timer(seconds, os.kill, (drive.pid, signal.SIGKILL))
        end.start()
        with pytest.raises(Disconnected):
            host.work(client)
        end.join()


@pytest.mark.parametrize("kills", [3, pytest.param(60, marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("scheme", SETS)
def test_what_was_flushed_outlives_a_server_that_is_killed_at_work(
    serve: Drives, scheme: str, kills: int
) -> None:
    drive = serve(SIZE, device="small-nvme", set=SETS[scheme])
    host, rng = Host(kills), random.Random(kills)
    for _ in range(kills):
        _live(drive, host, 0.2 + rng.random() * 2)
        drive.killed()
        drive.start()
    with NbdClient(drive.socket) as client:
        host.look(client)
    assert host.flushes > kills
    drive.stop()
    drive.check()
