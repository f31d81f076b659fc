"""An NVMe/TCP host for tests of `floatgate serve --nvme`.

Offsets and codes: NVM Express Base Specification 2.1, and NVM Express TCP Transport 1.0.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from live_process import Serve

ANSWERS_S = 60

ICREQ, ICRESP, CAPSULE, RESPONSE, H2C_DATA, C2H_DATA, R2T = 0, 1, 4, 5, 6, 7, 9
"""Kinds of PDUs."""

FABRICS, IDENTIFY, GET_LOG = 0x7F, 0x06, 0x02
FLUSH, WRITE, READ, DATASET_MANAGEMENT = 0x00, 0x01, 0x02, 0x09
MANAGEMENT_RECEIVE, MANAGEMENT_SEND = 0x12, 0x1D
ZONE_SEND, ZONE_RECEIVE, ZONE_APPEND = 0x79, 0x7A, 0x7D

EMPTY, CLOSED = 0x1, 0x4
"""States of zones."""

BLOCK = 4096
ENABLED = 4 << 20 | 6 << 16 | 6 << 4 | 1
"""Controller configuration with which Linux enables a controller."""

HOST_NQN = b"nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555"


class Disconnected(ConnectionError):
    """The controller has closed the connection."""


class Refused(OSError):
    """A command has failed; the number is its status type and code."""


@dataclass(frozen=True)
class Completion:
    """The answer to a command: its identifier, status type and code, result, and data."""

    command: int
    code: int
    result: int
    data: bytes


class Queue:
    """A connection with one queue of a controller: queue 0 is the admin queue."""

    def __init__(self, port: int, nqn: str, number: int = 0, controller: int = 0xFFFF) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), ANSWERS_S)
        self._id = 0
        self._under_way: dict[int, tuple[bytes, bytearray]] = {}
        """Commands by identifier: data for the controller, and data from it."""
        self._send(struct.pack("<BBBBIHBBI", ICREQ, 0, 128, 0, 128, 0, 0, 0, 0) + bytes(112))
        kind, _, _ = self._receive()
        assert kind == ICRESP
        data = bytearray(1024)
        data[:16] = bytes([7]) * 16
        struct.pack_into("<H", data, 16, controller)
        data[256 : 256 + len(nqn)] = nqn.encode()
        data[512 : 512 + len(HOST_NQN)] = HOST_NQN
        connect = bytearray(_command(FABRICS))
        connect[4] = 1
        struct.pack_into("<HH", connect, 42, number, 31 if number == 0 else 127)
        self.controller = self._run(connect, bytes(data), in_capsule=True)[0] & 0xFFFF
        if number == 0:
            enable = bytearray(_command(FABRICS))
            struct.pack_into("<II", enable, 44, 0x14, ENABLED)
            self._run(enable)

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def identify(self, cns: int, namespace: int = 0) -> bytes:
        """Returns 4 KiB about the controller (1) or about a namespace (0)."""
        return self._run(_command(IDENTIFY, namespace, dwords={10: cns}), read=4096)[1]

    def log(self, log: int, length: int = 512, group: int = 0, specific: int = 0) -> bytes:
        """Returns a log page, of an endurance group if there is one."""
        dwords = {10: log | specific << 8 | (length // 4 - 1) << 16, 11: group << 16}
        namespace = 0 if group else 0xFFFFFFFF
        return self._run(_command(GET_LOG, namespace, dwords=dwords), read=length)[1]

    def write(
        self, block: int, data: bytes, handle: int | None = None, *, fua: bool = False
    ) -> None:
        """Writes blocks, with a placement handle if there is one."""
        self._run(write_command(block, len(data) // BLOCK, handle, fua=fua), data)

    def read(self, block: int, blocks: int = 1) -> bytes:
        """Returns blocks."""
        command = _command(READ, 1, dwords={10: block, 12: blocks - 1})
        return self._run(command, read=blocks * BLOCK)[1]

    def flush(self) -> None:
        """Makes all written blocks durable."""
        self._run(FLUSH_COMMAND)

    def room(self, handles: int) -> list[int]:
        """Returns the blocks that the reclaim unit of each handle still takes."""
        length = 16 + 32 * handles
        command = _command(MANAGEMENT_RECEIVE, 1, dwords={10: 1, 11: length // 4 - 1})
        data = self._run(command, read=length)[1]
        return [struct.unpack_from("<Q", data, 24 + 32 * handle)[0] for handle in range(handles)]

    def renew(self, handle: int) -> None:
        """Gives a handle an empty reclaim unit."""
        data = struct.pack("<H", handle)
        self._run(_command(MANAGEMENT_SEND, 1, dwords={10: 1}), data)

    def append(self, zone: int, data: bytes) -> int:
        """Appends blocks to the zone that begins at a block; returns their first block."""
        command = _command(ZONE_APPEND, 1, dwords={10: zone, 12: len(data) // BLOCK - 1})
        return self._run(command, data)[0]

    def reset_zone(self, zone: int) -> None:
        """Empties the zone that begins at a block."""
        self._run(_command(ZONE_SEND, 1, dwords={10: zone, 13: 4}))

    def finish_zone(self, zone: int) -> None:
        """Makes the zone full that begins at a block."""
        self._run(_command(ZONE_SEND, 1, dwords={10: zone, 13: 2}))

    def zones(self, count: int) -> list[tuple[int, int]]:
        """Returns state and written blocks of the first zones."""
        length = 64 + 64 * count
        command = _command(ZONE_RECEIVE, 1, dwords={12: length // 4 - 1})
        data = self._run(command, read=length)[1]
        rows = [data[64 * row : 64 * row + 64] for row in range(1, count + 1)]
        return [(row[1] >> 4, number(row, 24, 8) - number(row, 16, 8)) for row in rows]

    def ask(
        self,
        command: bytes | bytearray,
        data: bytes = b"",
        *,
        read: int = 0,
        in_capsule: bool = False,
    ) -> int:
        """Sends a command that writes data, or reads a number of bytes. Returns its identifier."""
        words = bytearray(command)
        self._id = (self._id + 1) & 0xFFFF
        struct.pack_into("<H", words, 2, self._id)
        struct.pack_into("<I", words, 32, len(data) or read)
        words[39] = 0x01 if in_capsule else 0x5A
        self._under_way[self._id] = (data, bytearray())
        capsule = data if in_capsule else b""
        length, offset = 72 + len(capsule), 72 if capsule else 0
        header = struct.pack("<BBBBI", CAPSULE, 0, 72, offset, length)
        self._send(header + words + capsule)
        return self._id

    def answer(self) -> Completion:
        """Returns the next answer. Sends the data that the controller requests before it."""
        while True:
            kind, header, body = self._receive()
            if kind == R2T:
                command, tag, at, length = struct.unpack_from("<HHII", header, 8)
                part = self._under_way[command][0][at : at + length]
                head = struct.pack("<BBBBI", H2C_DATA, 4, 24, 24, 24 + len(part))
                self._send(head + struct.pack("<HHIII", command, tag, at, len(part), 0) + part)
            elif kind == C2H_DATA:
                self._under_way[number(header, 8, 2)][1].extend(body)
            else:
                assert kind == RESPONSE, kind
                result, _, _, command, status = struct.unpack_from("<QHHHH", header, 8)
                _, data = self._under_way.pop(command)
                return Completion(command, status >> 1 & 0x7FF, result, bytes(data))

    def _run(
        self,
        command: bytes | bytearray,
        data: bytes = b"",
        *,
        read: int = 0,
        in_capsule: bool = False,
    ) -> tuple[int, bytes]:
        """Runs a command; returns its result and the data that it has read."""
        self.ask(command, data, read=read, in_capsule=in_capsule)
        answer = self.answer()
        if answer.code:
            raise Refused(answer.code, f"status {answer.code:#x}")
        return answer.result, answer.data

    def _send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except (ConnectionResetError, BrokenPipeError) as error:
            raise Disconnected from error

    def _receive(self) -> tuple[int, bytes, bytes]:
        """Returns the kind of the next PDU, its header and its data."""
        start = self._bytes(8)
        kind, size, length = start[0], start[2], int.from_bytes(start[4:8], "little")
        header = start + self._bytes(size - 8)
        return kind, header, self._bytes(length - size)

    def _bytes(self, count: int) -> bytes:
        pieces = bytearray()
        while len(pieces) < count:
            try:
                piece = self._socket.recv(count - len(pieces))
            except (ConnectionResetError, BrokenPipeError) as error:
                raise Disconnected from error
            if not piece:
                raise Disconnected
            pieces += piece
        return bytes(pieces)


class Host:
    """A controller with an admin queue and one I/O queue."""

    def __init__(self, port: int, nqn: str) -> None:
        self.admin = Queue(port, nqn)
        self.io = Queue(port, nqn, 1, self.admin.controller)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.io.__exit__()
        self.admin.__exit__()


def serve_nvme(folder: Path, *words: object) -> Serve:
    """Serves a drive over NVMe/TCP at a port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return Serve(folder, "--nvme", "--port", port, *words)


def connect(server: Serve) -> Host:
    """Connects a host to a served drive."""
    return Host(server.ready["port"], server.ready["nqn"])


def number(log: bytes, at: int, length: int = 16) -> int:
    """Returns a number of a log page."""
    return int.from_bytes(log[at : at + length], "little")


def write_command(
    block: int, blocks: int, handle: int | None = None, *, fua: bool = False
) -> bytes:
    """Returns a command that writes blocks, with a placement handle if there is one."""
    directive = 0 if handle is None else 2 << 20
    dword = blocks - 1 | fua << 30 | directive
    return _command(WRITE, 1, dwords={10: block, 12: dword, 13: (handle or 0) << 16})


def deallocate_command(block: int, blocks: int) -> tuple[bytes, bytes]:
    """Returns a command that deallocates a range of blocks, and its data."""
    return _command(DATASET_MANAGEMENT, 1, dwords={11: 4}), struct.pack("<IIQ", 0, blocks, block)


def _command(opcode: int, namespace: int = 0, dwords: dict[int, int] | None = None) -> bytes:
    """Returns a command whose data pointer is empty."""
    words = bytearray(64)
    words[0], words[1] = opcode, 0x40
    struct.pack_into("<I", words, 4, namespace)
    for number, value in (dwords or {}).items():
        struct.pack_into("<I", words, 4 * number, value)
    return bytes(words)


FLUSH_COMMAND = _command(FLUSH, 1)
