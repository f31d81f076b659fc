"""Sample bytes of the binary trace formats, built record by record."""

from __future__ import annotations

import struct


def vscsi_record(
    version: int, command: int, length: int, block: int, time_us: int, serial: int = 1
) -> bytes:
    """Returns one CloudPhysics record. The high byte of the version word is the format version."""
    if version == 1:
        return struct.pack("<IIIHHQQ", serial, length, 1, command, 0x100, block, time_us)
    return struct.pack("<HHIIIQQQ", command, 0x200, serial, length, 1, block, time_us, 99)


def vscsi(version: int) -> bytes:
    rows = [(0x2A, 4096, 100, 50), (0x28, 512, 8, 1050), (0x1A, 36, 0, 1060)]
    return b"".join(vscsi_record(version, *row) for row in rows * 2)


def hp_record(
    kind: int, sec: int, usec: int, block: int, length: int, device: int, flags: int
) -> bytes:
    """Returns one HP SRT record of 14 words."""
    words = [0] * 14
    words[:4] = [56, 4 << 16 | kind, sec, usec]
    words[6:9] = [length, block, 0x1F000000 | device << 8]
    words[11] = flags
    return struct.pack(">14i", *words)


HP_HEADER = b"$$TR_IOREC-1.3\0\nversion = 1.3;\n\f"


def hp_srt() -> bytes:
    return (
        HP_HEADER
        + hp_record(1, 7, 44206, 1056, 8192, 1, 7)
        + hp_record(2, 7, 44300, 0, 0, 0, 0)
        + hp_record(1, 9, 50000, 8, 1024, 4, 2)
    )


def oracle_general() -> bytes:
    rows = [(5, 9 << 40, 5000, 2), (5, 12, 100, 4), (6, 9 << 40, 4000, -1), (9, 12, 8192, -1)]
    rows.append((9, 3, 4096, -1))
    return b"".join(struct.pack("<IQIq", *row) for row in rows)


# Events and flags of blktrace, as in the kernel's blktrace_api.h.
QUEUE, ISSUE, COMPLETE, OF_CGROUP = 1, 7, 8, 1 << 8
READS, WRITES, FLUSHES, PASSED, NOTICE, DISCARDS = (1 << bit for bit in (0, 1, 2, 9, 10, 13))


def blk(
    time_ns: int,
    sector: int,
    length: int,
    event: int,
    flags: int,
    *,
    device: tuple[int, int] = (8, 0),
    cpu: int = 0,
    more: bytes = b"",
    order: str = "<",
    magic: int = 0x65617407,
) -> bytes:
    """Returns one blktrace record, followed by the payload `more`."""
    head = (magic, 1, time_ns, sector, length, flags << 16 | event, 697)
    number = device[0] << 20 | device[1]
    return struct.pack(f"{order}IIQQIIIIIHH", *head, number, cpu, 0, len(more)) + more


def blktrace(order: str = "<") -> bytes:
    """Returns the requests of `queue.blkparse` and the messages around them, as blktrace bytes."""
    rows: list[tuple[int, int, int, int, int, tuple[int, int], bytes]] = [
        (0, 0, 0, 0, NOTICE, (0, 0), b"kjournald\0\0\0"),
        (0, 223490, 4096, QUEUE, WRITES, (8, 0), b""),
        (8_800, 223490, 4096, ISSUE, WRITES, (8, 0), b""),
        (100_000, 4096, 8192, ISSUE, READS, (8, 16), b"cdb"),
        (200_000, 8192, 1 << 20, ISSUE, WRITES | DISCARDS, (8, 16), b""),
        (300_000, 0, 0, ISSUE, READS | FLUSHES, (8, 0), b""),
        (400_000, 64, 4096, ISSUE | OF_CGROUP, WRITES | FLUSHES, (8, 0), b"8 bytes."),
        (500_000, 0, 36, ISSUE, READS | PASSED, (8, 0), b""),
        (1_000_000, 223490, 4096, COMPLETE, WRITES, (8, 0), b""),
    ]
    return b"".join(
        blk(*row[:5], device=row[5], more=row[6], cpu=index % 2, order=order)
        for index, row in enumerate(rows)
    )


def capture(*rows: tuple[int, int, int, int]) -> bytes:
    """Returns a live drive's capture with one row per request: time in ns, operation, offset,
    length."""
    made = rows or [(500, 1, 4096, 8192), (400, 0, 0, 512), (900, 2, 65536, 4096), (950, 3, 0, 0)]
    records = (struct.pack("<QQQII", time, at, size, op, 0) for time, op, at, size in made)
    return struct.pack("<8sII", b"FLOATREC", 1, 4096) + b"".join(records)
