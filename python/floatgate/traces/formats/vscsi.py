"""CloudPhysics traces of virtual disks: little-endian records, versions 1 and 2.

Version 1 (32 bytes): u32 serial, u32 length in bytes, u32 scatter-gather count, u16 SCSI command,
u16 version, u64 block, u64 time in microseconds. Version 2 (40 bytes) starts with command and
version and ends with a u64 response time. The high byte of the version word holds the version.
"""

from __future__ import annotations

import polars as pl

from ..binary import HEAD, Checked, records, tail, wide, words
from ..model import FLUSH, NO_REQUESTS, READ, WRITE, Parsed, TraceError, plural
from ..text import Head
from .base import Format

_LAYOUTS = {1: "<IIIHHQQ", 2: "<HHIIIQQQ"}
_SIZES = {1: 32, 2: 40}
# READ and WRITE of 6, 10, 12 and 16 bytes; SYNCHRONIZE CACHE of 10 and 16 bytes.
_OPS = {code: READ for code in (0x08, 0x28, 0xA8, 0x88)}
_OPS.update({code: WRITE for code in (0x0A, 0x2A, 0xAA, 0x8A)})
_OPS.update({code: FLUSH for code in (0x35, 0x91)})


def _version(data: bytes) -> int | None:
    # Every record has this version in its high byte, and at least half of the commands are known.
    for version, layout in _LAYOUTS.items():
        found = list(records(data, layout))
        command, word = (3, 4) if version == 1 else (0, 1)
        known = sum(r[command] in _OPS for r in found)
        if found and 2 * known >= len(found) and all(r[word] >> 8 == version for r in found):
            return version
    return None


def _claims(head: Head) -> bool:
    return _version(head.data) is not None


class _Reader:
    def __init__(self) -> None:
        self._version: int | None = None
        self._checked = Checked()
        self._bytes = self._other = 0

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        if self._version is None:
            if len(data) < HEAD * max(_SIZES.values()) and not last:
                return NO_REQUESTS, 0
            self._version = _version(data)
        if self._version is None:
            raise TraceError(
                "no vscsi records: expected version 1 or 2 in each record's version word"
            )
        size = _SIZES[self._version]
        used = len(data) // size * size
        found = _requests(data[:used], self._version, self._bytes // size)
        known = found.drop_nulls("op")
        self._other += found.height - known.height
        self._bytes += len(data) if last else used
        return self._checked.take(known), used

    def told(self) -> Parsed:
        notes = []
        if self._other:
            other = plural(self._other, "record")
            notes.append(f"{other} left out: SCSI commands that neither read, write nor flush")
        broken = tail(self._bytes, _SIZES[self._version or 1])
        return self._checked.told(("us", "sectors", "bytes"), broken, notes)


def _requests(data: bytes, version: int, before: int) -> pl.DataFrame:
    """Returns the records, numbered from `before` + 1; `op` is null for other commands."""
    raw = words(data, _SIZES[version])
    command, length = ("w3", "w1") if version == 1 else ("w0", "w2")
    code = pl.col(command) % (1 << 16)
    op = code.replace_strict(_OPS, default=None, return_dtype=pl.UInt8)
    flush = op == FLUSH
    zero = pl.lit(0, pl.UInt64)
    return raw.select(
        (pl.int_range(1, pl.len() + 1) + before).alias("record"),
        wide("w6", "w7").alias("time"),
        op.alias("op"),
        pl.lit(0, pl.UInt32).alias("device"),
        pl.when(flush).then(zero).otherwise(wide("w4", "w5")).alias("offset"),
        pl.when(flush).then(zero).otherwise(pl.col(length).cast(pl.UInt64)).alias("length"),
    )


FORMAT = Format(
    "vscsi",
    "CloudPhysics vscsi binary, versions 1 and 2",
    "Waldspurger et al., SHARDS, FAST '15; record layout as in libCacheSim",
    _claims,
    _Reader,
)
