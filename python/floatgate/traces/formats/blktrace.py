"""Binary files of blktrace, version 7, in either byte order.

A record has 48 bytes: u32 magic (0x65617400 + version), u32 sequence, u64 time in ns, u64 sector,
u32 bytes, u32 action, u32 pid, u32 device (minor in the low 20 bits), u32 cpu, u16 error, u16
length of the data that follow it. The low half of the action is the event, less a bit that says
that a control group is named; the high half holds flags. Which event is read, and what a flush
flag means, is as for the text of blkparse.
"""

from __future__ import annotations

import struct
from array import array

import polars as pl

from ..binary import checked
from ..model import FLUSH, READ, TRIM, WRITE, Parsed, TraceError, plural
from ..text import Head
from .base import Format

_MAGIC, _VERSION = 0x65617400, 7
_LAYOUT = "IIQQIIIIIHH"
_COLUMNS = ("record", "time", "offset", "length", "device", "event", "flags")

_QUEUE, _ISSUE = 1, 7
_EVENT = 0xFF
# Flags of the high half: a write, a flush first, a command of the driver's own, a message, a
# discard (which counts as a write, too).
_WRITES, _FLUSHES, _PASSED, _NOTICE, _DISCARDS = (1 << bit for bit in (1, 2, 9, 10, 13))


def _order(data: bytes) -> str | None:
    """The byte order in which the first word is the magic number, whatever the version."""
    for order in "<>":
        if len(data) >= 4 and struct.unpack(f"{order}I", data[:4])[0] & ~0xFF == _MAGIC:
            return order
    return None


def _claims(head: Head) -> bool:
    return _order(head.data) is not None


def _read(data: bytes) -> Parsed:
    order = _order(data)
    if order is None:
        raise TraceError("no blktrace record: expected the magic number 0x65617407 first")
    frame, cpus, broken = _records(data, order)
    issued = bool((frame["event"] == _ISSUE).any())
    chosen = frame.filter(pl.col("event") == (_ISSUE if issued else _QUEUE))
    requests = chosen.filter(pl.col("flags") & _PASSED == 0)
    notes = []
    if other := frame.height - chosen.height:
        action = "D" if issued else "Q"
        notes.append(
            f"{plural(other, 'record')} left out: actions other than {action}, the one that is read"
        )
    if passed := chosen.height - requests.height:
        notes.append(
            f"{plural(passed, 'request')} left out: neither read, write, discard nor flush"
        )
    if len(cpus) == 1:
        notes.append(
            f"all records are of CPU {min(cpus)}; blktrace writes a file for each CPU, and such "
            "files may be joined end to end"
        )
    return checked(_one_op_a_row(requests), ("ns", "sectors", "bytes"), broken, notes)


def _records(data: bytes, order: str) -> tuple[pl.DataFrame, set[int], str | None]:
    """The records that are no messages, their CPUs, and what is wrong with the end."""
    layout = struct.Struct(order + _LAYOUT)
    columns = [array("Q") for _ in _COLUMNS]
    cpus: set[int] = set()
    at = number = 0
    broken = None
    while at < len(data) and broken is None:
        number += 1
        left, size = len(data) - at, layout.size
        if left >= size:
            magic, _, time, sector, length, action, _, device, cpu, _, more = layout.unpack_from(
                data, at
            )
            _check_magic(magic, number, at)
            size += more
        if left < size:
            broken = f"record {number}: {left} of {size} bytes"
        elif not action >> 16 & _NOTICE:
            cpus.add(cpu)
            row = (number, time, sector, length, device, action & _EVENT, action >> 16)
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        at += size
    series = [pl.Series(name, c, pl.UInt64) for name, c in zip(_COLUMNS, columns, strict=True)]
    return pl.DataFrame(series), cpus, broken


def _check_magic(magic: int, number: int, at: int) -> None:
    if magic != _MAGIC | _VERSION:
        raise TraceError(
            f"record {number} at byte {at} begins with {magic:#010x}; expected "
            f"{_MAGIC | _VERSION:#010x}, which is blktrace's version {_VERSION}"
        )


def _one_op_a_row(frame: pl.DataFrame) -> pl.DataFrame:
    """Operations and names of devices; a request that asks for a flush first becomes two rows."""

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


FORMAT = Format(
    "blktrace",
    "blktrace binary, version 7, little- or big-endian",
    "Linux, include/uapi/linux/blktrace_api.h; blktrace(8)",
    _claims,
    _read,
)
