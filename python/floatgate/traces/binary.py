"""Binary formats of fixed records: columns straight from the bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import polars as pl

from .model import NO_REQUESTS, NUMBER_LIMIT, Parsed


def words(data: bytes, record: int) -> pl.DataFrame:
    """Little-endian UInt32 words of all whole records of `record` bytes, as `w0`, `w1`, ...

    `record` is a multiple of 4; bytes after the last whole record are left out.
    """
    width = record // 4
    count = len(data) // record
    flat = (
        pl.Series([data[: count * record]])
        .bin.reinterpret(dtype=pl.Array(pl.UInt32, count * width), endianness="little")
        .explode(empty_as_null=False)
    )
    return pl.DataFrame({f"w{i}": flat.gather_every(width, i) for i in range(width)})


def wide(low: str, high: str) -> pl.Expr:
    """Two 32-bit columns as one UInt64."""
    return pl.col(low).cast(pl.UInt64) + pl.col(high).cast(pl.UInt64) * (1 << 32)


def tail(size: int, record: int) -> str | None:
    """What is wrong with the end of a file of `size` bytes, if it ends inside a record."""
    rest = size % record
    return f"record {size // record + 1}: {rest} of {record} bytes" if rest else None


#: Records that a format is recognised by.
HEAD = 256


def records(data: bytes, layout: str, count_max: int = HEAD) -> Iterator[tuple[int, ...]]:
    """The first records of `data`, each unpacked by the struct `layout`, for recognition."""
    shape = struct.Struct(layout)
    whole = min(len(data) // shape.size, count_max)
    return shape.iter_unpack(data[: whole * shape.size])


class Checked:
    """Counts requests from binary records; one whose address is out of range is unparsed."""

    def __init__(self) -> None:
        self._candidates = self._unparsed = 0
        self._first: str | None = None

    def take(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The requests that are none of these.

        `frame` has the columns of `Parsed.frame` and `record`, the number of the record from 1.
        """
        in_range = (pl.col("offset") < NUMBER_LIMIT) & (pl.col("length") < NUMBER_LIMIT)
        bad = frame.filter(~in_range)
        if bad.height and self._first is None:
            row = bad.row(0, named=True)
            place = f"offset {row['offset']}, length {row['length']}; expected 0 to 2^50 - 1"
            self._first = f"record {row['record']} ({place})"
        self._candidates += frame.height
        self._unparsed += bad.height
        return frame.filter(in_range).drop("record")

    def told(self, units: tuple[str, str, str], broken: str | None, notes: list[str]) -> Parsed:
        """What is known of all; `broken` is what is wrong with the end of the file, if anything."""
        return Parsed(
            NO_REQUESTS,
            units,
            candidates=self._candidates + (broken is not None),
            unparsed=self._unparsed + (broken is not None),
            first_unparsed=self._first or broken,
            notes=notes,
        )
