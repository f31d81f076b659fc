"""HP SRT traces (hplajw, cello, snake): a text header, a form feed, big-endian int32 records.

The words of a record are:

    word 0         length of the record in bytes
    word 1         id; its low half is 1 for an I/O
    words 2 and 3  time in seconds and microseconds
    word 6         length of the request in bytes
    word 7         512-byte block
    word 8         bits 8 to 15: device
    word 11        bit 0: 1 for a read
"""

from __future__ import annotations

import struct
from array import array

import polars as pl

from ..model import NO_REQUESTS, READ, WRITE, Parsed, TraceError, plural
from ..text import Head
from .base import Format

_MAGIC = b"$$TR_IOREC"
_IO = struct.Struct(">12i")
_FIELDS = ("time", "op", "device", "offset", "length")


def _claims(head: Head) -> bool:
    return head.data.startswith(_MAGIC)


class _Reader:
    def __init__(self) -> None:
        #: Bytes and records read so far; records without I/O, and records with negative numbers.
        self._at = self._records = self._other = self._negative = 0
        self._broken: str | None = None

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        at = 0
        if not self._at:
            at = data.find(b"\f") + 1
            if not at and not last and data.startswith(_MAGIC[: len(data)]):
                return NO_REQUESTS, 0
            if not at or not data.startswith(_MAGIC):
                raise TraceError(
                    "no HP SRT header: expected '$$TR_IOREC' first and a form feed at its end"
                )
        columns, at = self._records_from(data, at, last)
        self._at += at
        return self._checked(columns), at

    def told(self) -> Parsed:
        first = self._broken or (
            "a record with a negative time, block or length" if self._negative else None
        )
        other = plural(self._other, "record")
        has_tail = self._broken is not None
        return Parsed(
            NO_REQUESTS,
            ("us", "sectors", "bytes"),
            candidates=self._records - self._other + has_tail,
            unparsed=self._negative + has_tail,
            first_unparsed=first,
            notes=[f"{other} left out: no I/O"] if self._other else [],
        )

    def _checked(self, columns: dict[str, array[int]]) -> pl.DataFrame:
        frame = pl.DataFrame({name: pl.Series(values) for name, values in columns.items()}).select(
            pl.col("time").cast(pl.UInt64, strict=False),
            pl.col("op").cast(pl.UInt8),
            "device",
            pl.col("offset").cast(pl.UInt64, strict=False),
            pl.col("length").cast(pl.UInt64, strict=False),
        )
        whole = frame.drop_nulls()
        self._negative += frame.height - whole.height
        return whole

    def _records_from(self, data: bytes, at: int, last: bool) -> tuple[dict[str, array[int]], int]:
        """Returns columns of the I/O records from the byte `at` on, and the end of the records."""
        columns = {name: array("q") for name in _FIELDS}
        time, op, device, offset, length = columns.values()
        while at < len(data):
            size = int.from_bytes(data[at : at + 4], "big", signed=True)
            number = self._records + 1
            if len(data) - at < 4 and not last:
                break
            if size < 8 or size % 4:
                raise TraceError(
                    f"record {number} at byte {self._at + at} says that it has {size} bytes; "
                    "expected a multiple of 4, at least 8"
                )
            if at + size > len(data):
                if last:
                    self._broken = f"record {number}: {len(data) - at} bytes left, length {size}"
                break
            self._records += 1
            if int.from_bytes(data[at + 6 : at + 8], "big") != 1 or size < _IO.size:
                self._other += 1
            else:
                word = _IO.unpack_from(data, at)
                time.append(word[2] * 1_000_000 + word[3])
                length.append(word[6])
                offset.append(word[7])
                device.append(word[8] >> 8 & 0xFF)
                op.append(READ if word[11] & 1 else WRITE)
            at += size
        return columns, at


FORMAT = Format(
    "hp-srt",
    "HP SRT binary, big-endian (DiskSim's hpl)",
    "Ruemmler and Wilkes, UNIX disk access patterns, USENIX Winter '93; DiskSim 4.0",
    _claims,
    _Reader,
)
