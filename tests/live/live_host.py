"""A host with many requests under way, which knows what a drive may have after it has ended."""

from __future__ import annotations

import random
import struct
from typing import Any, Protocol

import nbd_client as nbd
from live_drive import MIB

SIZE = 32 * MIB
PAGE = 4096
PAGES = SIZE // PAGE
READ_PAGES = 256
FLUSH, TRIM, FUA = 0.08, 0.05, 0.05
"""Share of flushes in all requests, of trims in the others, and of FUA in the writes among
these."""
LENGTHS = (1, 1, 1, 1, 2, 3, 7, 16, 32, 64, 128)
"""Pages of a write or trim."""


def _content(version: int, page: int) -> bytes:
    """Returns a page that names its version and number. Version 0 is a page that is trimmed or was
    never written."""
    return struct.pack("<QQ", version, page) * (PAGE // 16) if version else bytes(PAGE)


class Client(Protocol):
    """A connection to a drive, with the requests of `nbd_client`."""

    def read(self, offset: int, length: int) -> bytes: ...

    def ask(
        self,
        kind: int,
        offset: int = 0,
        length: int = 0,
        data: bytes = b"",
        *,
        flags: int = 0,
        cookie: int = 0,
    ) -> None: ...

    def answer(self) -> tuple[int, int, bytes]: ...


class Host:
    """Host with many requests under way, which tracks the possible contents of each page after a
    crash."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._version = 0
        self._may = [[0] for _ in range(PAGES)]
        """Versions in the order of their requests. The first one is durable."""
        self._acknowledged = [0] * PAGES
        self._streams = [self._rng.randrange(PAGES) for _ in range(3)]
        self.flushes = 0

    def look(self, client: Client) -> None:
        """Checks that every page is intact and has one of its possible versions. That version
        becomes its only one."""
        for first in range(0, PAGES, READ_PAGES):
            data = client.read(first * PAGE, READ_PAGES * PAGE)
            for page in range(first, first + READ_PAGES):
                own = data[(page - first) * PAGE :][:PAGE]
                (version,) = struct.unpack_from("<Q", own)
                assert own == _content(version, page), page
                assert version in self._may[page], (page, version, self._may[page])
                self._may[page], self._acknowledged[page] = [version], version

    def work(self, client: Client) -> None:
        """Writes, trims and flushes until the server is gone."""
        under_way: dict[int, Any] = {}
        busy: set[int] = set()
        unflushed: set[int] = set()
        depth = self._rng.choice([4, 16, 32])
        cookie = 0
        while True:
            cookie += 1
            if self._rng.random() < FLUSH:
                # Requests acknowledged by now are durable once this flush is answered.
                under_way[cookie] = {page: self._acknowledged[page] for page in unflushed}
                client.ask(nbd.FLUSH, cookie=cookie)
            else:
                pages = self._chosen()
                if busy.isdisjoint(pages):
                    busy.update(pages)
                    under_way[cookie] = (pages, *self._write(client, pages, cookie))
            while len(under_way) >= depth:
                answered, error, _ = client.answer()
                assert error == 0, hex(error)
                match under_way.pop(answered):
                    case dict() as flushed:
                        self._flushed(flushed)
                    case (pages, version, durable):
                        busy.difference_update(pages)
                        unflushed.update(pages)
                        self._written(pages, version, durable)

    def _chosen(self) -> range:
        """Returns a random range of pages, or the next range of a sequential stream."""
        length = self._rng.choice(LENGTHS)
        if self._rng.random() < 0.4:
            first = self._rng.randrange(PAGES)
        else:
            stream = self._rng.randrange(len(self._streams))
            first = self._streams[stream]
            self._streams[stream] = (first + length) % PAGES
        return range(first, min(first + length, PAGES))

    def _write(self, client: Client, pages: range, cookie: int) -> tuple[int, bool]:
        """Sends a write or a trim. Returns its version, and whether its answer makes it durable."""
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
        """Removes older versions of the flushed pages. A page may have been written again since."""
        self.flushes += 1
        for page, version in acknowledged.items():
            may = self._may[page]
            if version in may:
                self._may[page] = may[len(may) - 1 - may[::-1].index(version) :]
