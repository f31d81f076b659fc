"""HP SRT traces (hplajw, cello, snake): a text header, a form feed, big-endian int32 records.

Word 0 of a record is its length in bytes, word 1 its id (low half 1 for an I/O), words 2 and 3
the time in seconds and microseconds, word 6 the length in bytes, word 7 the 512-byte block,
bits 8 to 15 of word 8 the device, bit 0 of word 11 is 1 for a read.
"""

from __future__ import annotations

import struct
from array import array

import polars as pl

from ..model import READ, WRITE, Parsed, TraceError, plural
from ..text import Head
from .base import Format

_MAGIC = b"$$TR_IOREC"
_IO = struct.Struct(">12i")
_FIELDS = ("time", "op", "device", "offset", "length")


def _claims(head: Head) -> bool:
    return head.data.startswith(_MAGIC)


def _read(data: bytes) -> Parsed:
    feed = data.find(b"\f")
    if not data.startswith(_MAGIC) or feed < 0:
        raise TraceError("no HP SRT header: expected '$$TR_IOREC' first and a form feed at its end")
    columns, other, broken = _records(data, feed + 1)
    frame = pl.DataFrame({name: pl.Series(values) for name, values in columns.items()}).select(
        pl.col("time").cast(pl.UInt64),
        pl.col("op").cast(pl.UInt8),
        "device",
        pl.col("offset").cast(pl.UInt64, strict=False),
        pl.col("length").cast(pl.UInt64, strict=False),
    )
    whole = frame.drop_nulls()
    negative = frame.height - whole.height
    first = broken or ("a record with a negative block or length" if negative else None)
    return Parsed(
        whole,
        ("us", "sectors", "bytes"),
        candidates=frame.height + (broken is not None),
        unparsed=negative + (broken is not None),
        first_unparsed=first,
        notes=[f"{plural(other, 'record')} left out: no I/O"] if other else [],
    )


def _records(data: bytes, at: int) -> tuple[dict[str, array[int]], int, str | None]:
    """Columns of the I/O records, how many records are none, and what is wrong with the end."""
    columns = {name: array("q") for name in _FIELDS}
    time, op, device, offset, length = columns.values()
    other = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        number = len(time) + other + 1
        if size < 8 or size % 4:
            raise TraceError(
                f"record {number} at byte {at} says that it has {size} bytes; expected a multiple "
                "of 4 from 8 on"
            )
        if at + size > len(data):
            return (
                columns,
                other,
                f"record {number}: {len(data) - at} bytes left, length {size}",
            )
        if int.from_bytes(data[at + 6 : at + 8], "big") != 1 or size < _IO.size:
            other += 1
        else:
            word = _IO.unpack_from(data, at)
            time.append(word[2] * 1_000_000 + word[3])
            length.append(word[6])
            offset.append(word[7])
            device.append(word[8] >> 8 & 0xFF)
            op.append(READ if word[11] & 1 else WRITE)
        at += size
    return columns, other, None


FORMAT = Format(
    "hp-srt",
    "HP SRT binary, big-endian (DiskSim's hpl)",
    "Ruemmler and Wilkes, UNIX disk access patterns, USENIX Winter '93; DiskSim 4.0",
    _claims,
    _read,
)
