"""The server is killed under a client with many requests under way: what was flushed is there."""

from __future__ import annotations

import os
import random
import signal
import struct
from threading import Timer
from typing import Any

import nbd_client as nbd
import pytest
from live_drive import MIB, Drives, LiveDrive
from live_needs import needs
from nbd_client import Disconnected, NbdClient

pytestmark = needs("nbdkit")

SIZE = 32 * MIB
PAGE = 4096
PAGES = SIZE // PAGE
READ_PAGES = 256
PLAIN = {"flash.pages_per_block": 64, "mapping.scheme": "dftl", "mapping.cache": "64KiB"}
SETS: dict[str, dict[str, Any]] = {
    "plain": PLAIN,
    "shrd": {**PLAIN, "host.scheme": "shrd", "host.log": "4MiB"},
}

FLUSH, TRIM, FUA = 0.08, 0.05, 0.05
"""Shares: of all requests, of the others, and of the writes among these."""
LENGTHS = (1, 1, 1, 1, 2, 3, 7, 16, 32, 64, 128)
"""Pages of a write or trim."""


def _content(version: int, page: int) -> bytes:
    """A page that says which it is; version 0 is that of a page trimmed or never written."""
    return struct.pack("<QQ", version, page) * (PAGE // 16) if version else bytes(PAGE)


class Host:
    """Asks for much at a time, and knows what each page may be when the server is gone."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._version = 0
        self._may = [[0] for _ in range(PAGES)]
        """Versions, in the order in which they were asked for; the first is durable."""
        self._acknowledged = [0] * PAGES
        self._streams = [self._rng.randrange(PAGES) for _ in range(3)]
        self.flushes = 0

    def look(self, client: NbdClient) -> None:
        """Every page is whole, and one of those that it may be: from then on it is that one."""
        for first in range(0, PAGES, READ_PAGES):
            data = client.read(first * PAGE, READ_PAGES * PAGE)
            for page in range(first, first + READ_PAGES):
                own = data[(page - first) * PAGE :][:PAGE]
                (version,) = struct.unpack_from("<Q", own)
                assert own == _content(version, page), page
                assert version in self._may[page], (page, version, self._may[page])
                self._may[page], self._acknowledged[page] = [version], version

    def work(self, client: NbdClient) -> None:
        """Writes, trims and flushes until the server is gone."""
        under_way: dict[int, Any] = {}
        busy: set[int] = set()
        unflushed: set[int] = set()
        depth = self._rng.choice([4, 16, 32])
        cookie = 0
        while True:
            cookie += 1
            if self._rng.random() < FLUSH:
                # What is acknowledged by now is durable once it is answered.
                under_way[cookie] = {page: self._acknowledged[page] for page in unflushed}
                client.ask(nbd.FLUSH, cookie=cookie)
            else:
                pages = self._chosen()
                if busy.isdisjoint(pages):
                    busy.update(pages)
                    under_way[cookie] = (pages, *self._write(client, pages, cookie))
            while len(under_way) >= depth:
                answered, error, _ = client.answer()
                assert error == 0
                match under_way.pop(answered):
                    case dict() as flushed:
                        self._flushed(flushed)
                    case (pages, version, durable):
                        busy.difference_update(pages)
                        unflushed.update(pages)
                        self._written(pages, version, durable)

    def _chosen(self) -> range:
        """Anywhere, or where one of the streams is."""
        length = self._rng.choice(LENGTHS)
        if self._rng.random() < 0.4:
            first = self._rng.randrange(PAGES)
        else:
            stream = self._rng.randrange(len(self._streams))
            first = self._streams[stream]
            self._streams[stream] = (first + length) % PAGES
        return range(first, min(first + length, PAGES))

    def _write(self, client: NbdClient, pages: range, cookie: int) -> tuple[int, bool]:
        """Asks for a write or a trim: its version, and whether it is durable once answered."""
        offset, length = pages.start * PAGE, len(pages) * PAGE
        version, durable = 0, False
        if self._rng.random() >= TRIM:
            self._version += 1
            version, durable = self._version, self._rng.random() < FUA
        for page in pages:
            self._may[page].append(version)
        if version:
            data = b"".join(_content(version, page) for page in pages)
            flags = nbd.FUA if durable else 0
            client.ask(nbd.WRITE, offset, length, data, flags=flags, cookie=cookie)
        else:
            client.ask(nbd.TRIM, offset, length, cookie=cookie)
        return version, durable

    def _written(self, pages: range, version: int, durable: bool) -> None:
        for page in pages:
            self._acknowledged[page] = version
            if durable:
                self._may[page] = [version]

    def _flushed(self, acknowledged: dict[int, int]) -> None:
        """Nothing older is left of a page; it may have been written again since."""
        self.flushes += 1
        for page, version in acknowledged.items():
            may = self._may[page]
            if version in may:
                self._may[page] = may[len(may) - 1 - may[::-1].index(version) :]


def _live(drive: LiveDrive, host: Host, seconds: float) -> None:
    """Looks at all pages and works on until the server is killed, in so many seconds."""
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
