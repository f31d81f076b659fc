"""Binary formats with fixed-size records: builds columns directly from the bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import polars as pl

from .model import NO_REQUESTS, NUMBER_LIMIT, Parsed


def words(data: bytes, record: int) -> pl.DataFrame:
    """Returns the little-endian UInt32 words of all whole records as columns `w0`, `w1`, ...

    A record has `record` bytes, a multiple of 4. Bytes after the last whole record are left out.
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
    """Combines two 32-bit columns into one UInt64 column."""
    return pl.col(low).cast(pl.UInt64) + pl.col(high).cast(pl.UInt64) * (1 << 32)


def tail(size: int, record: int) -> str | None:
    """Describes the incomplete last record of a file of `size` bytes; None if all are whole."""
    rest = size % record
    return f"record {size // record + 1}: {rest} of {record} bytes" if rest else None


#: Records at the start of a file by which its format is recognised.
HEAD = 256


def records(data: bytes, layout: str, count_max: int = HEAD) -> Iterator[tuple[int, ...]]:
    """Yields the first records of `data`, each unpacked by the struct `layout`."""
    shape = struct.Struct(layout)
    whole = min(len(data) // shape.size, count_max)
    return shape.iter_unpack(data[: whole * shape.size])


class Checked:
    """Counts requests from binary records; a request with an address out of range is unparsed."""

    def __init__(self) -> None:
        self._candidates = self._unparsed = 0
        self._first: str | None = None

    def take(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Returns the requests in range and counts all others as unparsed.

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
        """Returns the outcome without requests; `broken` describes an incomplete last record."""
        return Parsed(
            NO_REQUESTS,
            units,
            candidates=self._candidates + (broken is not None),
            unparsed=self._unparsed + (broken is not None),
            first_unparsed=self._first or broken,
            notes=notes,
        )
