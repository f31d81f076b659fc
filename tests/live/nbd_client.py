"""An NBD client that sends any request, including those that the protocol forbids.

The protocol: github.com/NetworkBlockDevice/nbd, doc/proto.md. The client negotiates simple replies
only.
"""

from __future__ import annotations

import errno
import socket
import struct
from pathlib import Path

READ, WRITE, DISCONNECT, FLUSH, TRIM, _CACHE, WRITE_ZEROES = range(7)
FUA = 1

REQUEST_MAGIC = 0x25609513
REPLY_MAGIC = 0x67446698
OPTION_MAGIC = 0x49484156454F5054
OPTION_REPLY_MAGIC = 0x0003E889045565A9
OPT_GO = 7
REP_ACK = 1
INFO_BLOCK_SIZE = 3
FIXED_NEWSTYLE_NO_ZEROES = 3

ERRORS = {1: errno.EPERM, 5: errno.EIO, 12: errno.ENOMEM, 22: errno.EINVAL, 28: errno.ENOSPC}
ERRORS |= {75: errno.EOVERFLOW, 95: errno.ENOTSUP, 108: errno.ESHUTDOWN}
"""Error numbers of the protocol, and their errno values."""

ANSWERS_S = 60


class Disconnected(ConnectionError):
    """The server has closed the connection."""


class Refused(OSError):
    """An error reply of the server, with its error number."""


class NbdClient:
    """A connection to the export without a name. `bytes` is the size of the export."""

    def __init__(self, path: str | Path, *, negotiate: bool = True) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ANSWERS_S)
        self.socket.connect(str(path))
        self.bytes = 0
        if negotiate:
            self.greet()
            self.choose_export()

    def __enter__(self) -> NbdClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def receive(self, count: int) -> bytes:
        """Receives exactly `count` bytes. Raises Disconnected if the server sends fewer."""
        pieces = []
        while count:
            try:
                piece = self.socket.recv(count)
            except (ConnectionResetError, BrokenPipeError) as error:
                raise Disconnected from error
            if not piece:
                raise Disconnected
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def send(self, data: bytes) -> None:
        """Sends bytes unchanged. Raises Disconnected if the server accepts no more."""
        try:
            self.socket.sendall(data)
        except (ConnectionResetError, BrokenPipeError) as error:
            raise Disconnected from error

    def greet(self) -> None:
        """Reads the server's greeting, and sends the client's flags."""
        assert self.receive(16) == b"NBDMAGIC" + struct.pack(">Q", OPTION_MAGIC)
        self.receive(2)
        self.send(struct.pack(">I", FIXED_NEWSTYLE_NO_ZEROES))

    def option(self, number: int, data: bytes, magic: int = OPTION_MAGIC) -> None:
        """Sends an option of the handshake."""
        self.send(struct.pack(">QII", magic, number, len(data)) + data)

    def option_reply(self) -> tuple[int, bytes]:
        """Returns the kind of a reply to an option, and its data."""
        magic, _, kind, length = struct.unpack(">QIII", self.receive(20))
        assert magic == OPTION_REPLY_MAGIC
        return kind, self.receive(length)

    def choose_export(self) -> None:
        """Ends the handshake: from here on, the server accepts requests."""
        self.option(OPT_GO, struct.pack(">IHH", 0, 1, INFO_BLOCK_SIZE))
        while True:
            kind, data = self.option_reply()
            if kind == REP_ACK:
                return
            assert kind < 1 << 31, f"the server refuses: {kind:#x} {data!r}"
            (what,) = struct.unpack_from(">H", data)
            if what == 0:
                (self.bytes,) = struct.unpack_from(">Q", data, 2)

    def ask(
        self,
        kind: int,
        offset: int = 0,
        length: int = 0,
        data: bytes = b"",
        *,
        flags: int = 0,
        cookie: int = 1,
        magic: int = REQUEST_MAGIC,
    ) -> None:
        """Sends a request without waiting for a reply."""
        self.send(struct.pack(">IHHQQI", magic, flags, kind, cookie, offset, length) + data)

    def answer(self, read: int = 0) -> tuple[int, int, bytes]:
        """Returns the cookie and error of the next reply, and the data if it answers a read of
        `read` bytes."""
        magic, error, cookie = struct.unpack(">IIQ", self.receive(16))
        assert magic == REPLY_MAGIC
        return cookie, ERRORS[error] if error else 0, b"" if error else self.receive(read)

    def call(
        self, kind: int, offset: int = 0, length: int = 0, data: bytes = b"", *, flags: int = 0
    ) -> int:
        """Sends a request and returns its error, or 0."""
        self.ask(kind, offset, length, data, flags=flags)
        return self.answer(length if kind == READ else 0)[1]

    def read(self, offset: int, length: int) -> bytes:
        """Reads. Raises Refused for an error."""
        self.ask(READ, offset, length)
        cookie, error, data = self.answer(length)
        assert cookie == 1
        _raise(error)
        return data

    def write(self, offset: int, data: bytes) -> None:
        """Writes. Raises Refused for an error, as `trim` and `flush` do."""
        _raise(self.call(WRITE, offset, len(data), data))

    def trim(self, offset: int, length: int) -> None:
        """Trims."""
        _raise(self.call(TRIM, offset, length))

    def flush(self) -> None:
        """Flushes."""
        _raise(self.call(FLUSH))


def _raise(error: int) -> None:
    if error:
        raise Refused(error, "refused by the server")
