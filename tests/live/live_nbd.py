"""An NBD client (newstyle, simple replies) that reads, writes, trims and flushes."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

READ, WRITE, DISCONNECT, FLUSH, TRIM = 0, 1, 2, 3, 4
GO, ACKNOWLEDGED, EXPORT = 7, 1, 0


class Refused(OSError):
    """An error reply of the server, with its number."""


class Nbd:
    """A connection to the server at a Unix socket."""

    def __init__(self, path: str | Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(60)
        self._socket.connect(str(path))
        assert self._take(16) == b"NBDMAGICIHAVEOPT"
        self._take(2)
        self._socket.sendall(struct.pack(">I", 3))
        self._socket.sendall(b"IHAVEOPT" + struct.pack(">IIIH", GO, 6, 0, 0))
        self.size = 0
        kind = EXPORT
        while kind != ACKNOWLEDGED:
            _, _, kind, length = struct.unpack(">QIII", self._take(20))
            body = self._take(length)
            assert kind < 1 << 31, body
            if kind != ACKNOWLEDGED and struct.unpack(">H", body[:2])[0] == EXPORT:
                self.size = struct.unpack(">Q", body[2:10])[0]

    def read(self, offset: int, length: int) -> bytes:
        self._ask(READ, offset, length)
        return self._take(length)

    def write(self, offset: int, data: bytes) -> None:
        self._ask(WRITE, offset, len(data), data)

    def trim(self, offset: int, length: int) -> None:
        self._ask(TRIM, offset, length)

    def flush(self) -> None:
        self._ask(FLUSH, 0, 0)

    def _ask(self, kind: int, offset: int, length: int, data: bytes = b"") -> None:
        self._socket.sendall(struct.pack(">IHHQQI", 0x25609513, 0, kind, 1, offset, length) + data)
        magic, error, _ = struct.unpack(">IIQ", self._take(16))
        assert magic == 0x67446698
        if error:
            raise Refused(error, "refused by the server")

    def _take(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            piece = self._socket.recv(count - len(found))
            if not piece:
                raise ConnectionResetError("the server has gone")
            found += piece
        return found

    def __enter__(self) -> Nbd:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
