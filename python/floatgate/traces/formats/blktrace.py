"""Binary files of blktrace, version 7, in either byte order.

A record has 48 bytes, and data of variable length after them:

    u32 magic (0x65617400 + version), u32 sequence, u64 time in ns, u64 sector, u32 bytes,
    u32 action, u32 pid, u32 device (minor in the low 20 bits), u32 cpu, u16 error,
    u16 length of the data after the record

The low half of the action holds the event, and a bit that marks a named control group and is
ignored. The high half holds flags. The module `blkparse` describes which event is read; the flush
flag means the same as F in rwbs.
"""

from __future__ import annotations

import struct
from array import array

import polars as pl

from ..binary import Checked
from ..model import FLUSH, NO_REQUESTS, READ, TRIM, WRITE, Parsed, TraceError
from ..rwbs import left_out
from ..stages import LETTERS, Stages
from ..text import Head
from .base import Again, Format

_MAGIC, _VERSION = 0x65617400, 7
_LAYOUT = "IIQQIIIIIHH"
_COLUMNS = ("record", "time", "offset", "length", "device", "event", "flags")

_EVENT = 0xFF
#: Letters of the events, as blkparse prints them.
_LETTERS = dict(enumerate("QMFGSRDCPUTIXBA", 1))
# Flags in the high half: write, flush before the request, passed-through command, message, discard
# (which also has the write flag).
_WRITES, _FLUSHES, _PASSED, _NOTICE, _DISCARDS = (1 << bit for bit in (1, 2, 9, 10, 13))


def _order(data: bytes) -> str | None:
    """Returns the byte order that makes the first word the magic number of any version, or None."""
    for order in "<>":
        if len(data) >= 4 and struct.unpack(f"{order}I", data[:4])[0] & ~0xFF == _MAGIC:
            return order
    return None


def _claims(head: Head) -> bool:
    return _order(head.data) is not None


class _Reader:
    """Reads the events of one kind: the first of `LETTERS` that the file has shown so far."""

    def __init__(self, event: str | None = None) -> None:
        self._stages = Stages(LETTERS, "action", event)
        self._order: str | None = None
        self._checked = Checked()
        self._cpus: set[int] = set()
        #: Bytes and records read so far, and the number of passed-through commands.
        self._at = self._records = self._passed = 0
        self._broken: str | None = None

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        if self._order is None:
            if len(data) < 4 and not last:
                return NO_REQUESTS, 0
            self._order = _order(data)
        if self._order is None:
            raise TraceError("no blktrace record: expected the magic number 0x65617407 first")
        frame, used = self._records_of(data, self._order, last)
        self._at += used
        letter = pl.col("event").replace_strict(_LETTERS, default="?", return_dtype=pl.String)
        frame = frame.with_columns(letter)
        chosen = self._stages.only(frame, "event", _again)
        requests = chosen.filter(pl.col("flags") & _PASSED == 0)
        self._passed += chosen.height - requests.height
        return self._checked.take(_one_op_a_row(requests)), used

    def told(self) -> Parsed:
        notes = self._stages.notes("record") + left_out(self._passed)
        if len(self._cpus) == 1:
            notes.append(
                f"all records are of CPU {min(self._cpus)}; blktrace writes a file for each CPU, "
                "and such files may be joined end to end"
            )
        return self._checked.told(("ns", "sectors", "bytes"), self._broken, notes)

    def _records_of(self, data: bytes, order: str, last: bool) -> tuple[pl.DataFrame, int]:
        """Returns the records except messages, and the number of bytes used."""
        layout = struct.Struct(order + _LAYOUT)
        columns = [array("Q") for _ in _COLUMNS]
        at = 0
        while at < len(data):
            left, size = len(data) - at, layout.size
            if left >= size:
                magic, _, time, sector, length, action, _, device, cpu, _, more = (
                    layout.unpack_from(data, at)
                )
                _check_magic(magic, self._records + 1, self._at + at)
                size += more
            if left < size:
                if last:
                    self._broken = f"record {self._records + 1}: {left} of {size} bytes"
                break
            self._records += 1
            if not action >> 16 & _NOTICE:
                self._cpus.add(cpu)
                row = (self._records, time, sector, length, device, action & _EVENT, action >> 16)
                for column, value in zip(columns, row, strict=True):
                    column.append(value)
            at += size
        series = [pl.Series(name, c, pl.UInt64) for name, c in zip(_COLUMNS, columns, strict=True)]
        return pl.DataFrame(series), at


def _check_magic(magic: int, number: int, at: int) -> None:
    if magic != _MAGIC | _VERSION:
        raise TraceError(
            f"record {number} at byte {at} begins with {magic:#010x}; expected "
            f"{_MAGIC | _VERSION:#010x}, which is blktrace's version {_VERSION}"
        )


def _one_op_a_row(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds operations and device names; a request with a flush before it becomes two rows."""

    def has(flag: int) -> pl.Expr:
        return pl.col("flags") & flag > 0

    flush = pl.lit(FLUSH, pl.UInt8)
    verb = (pl.when(has(_DISCARDS)).then(TRIM).when(has(_WRITES)).then(WRITE).otherwise(READ)).cast(
        pl.UInt8
    )
    ops = (
        pl.when(has(_FLUSHES) & (pl.col("length") == 0))
        .then(pl.concat_list(flush))
        .when(has(_FLUSHES))
        .then(pl.concat_list(flush, verb))
        .otherwise(pl.concat_list(verb))
    )
    major, minor = pl.col("device") // (1 << 20), pl.col("device") % (1 << 20)
    moves = (pl.col("op") != FLUSH).cast(pl.UInt64)
    place = [pl.col(name) * moves for name in ("offset", "length")]
    return (
        frame.with_columns(op=ops, device=pl.concat_str(major, minor, separator=","))
        .explode("op")
        .select("record", "time", "op", "device", *place)
    )


def _again(kind: str) -> Again:
    return Again(_Reader(kind))


FORMAT = Format(
    "blktrace",
    "blktrace binary, version 7, little- or big-endian",
    "Linux, include/uapi/linux/blktrace_api.h; blktrace(8)",
    _claims,
    _Reader,
)
