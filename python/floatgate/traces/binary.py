"""Binary formats of fixed records: columns straight from the bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import polars as pl

from .model import NUMBER_LIMIT, Parsed


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


def tail(data: bytes, record: int) -> str | None:
    """What is wrong with the end of `data`, if it ends inside a record."""
    rest = len(data) % record
    if not rest:
        return None
    return f"record {len(data) // record + 1}: {rest} of {record} bytes"


def records(data: bytes, layout: str, count_max: int = 256) -> Iterator[tuple[int, ...]]:
    """The first records of `data`, each unpacked by the struct `layout`, for recognition."""
    shape = struct.Struct(layout)
    whole = min(len(data) // shape.size, count_max)
    return shape.iter_unpack(data[: whole * shape.size])


def checked(
    frame: pl.DataFrame, units: tuple[str, str, str], broken: str | None, notes: list[str]
) -> Parsed:
    """Requests from binary records; one whose address is out of range counts as unparsed.

    `frame` has the columns of `Parsed.frame` and `record`, the number of the record from 1.
    `broken` is what is wrong with the end of the file, if anything is.
    """
    in_range = (pl.col("offset") < NUMBER_LIMIT) & (pl.col("length") < NUMBER_LIMIT)
    bad = frame.filter(~in_range)
    first = broken
    if bad.height:
        row = bad.row(0, named=True)
        place = f"offset {row['offset']}, length {row['length']}; expected 0 to 2^50 - 1"
        first = f"record {row['record']} ({place})"
    return Parsed(
        frame.filter(in_range).drop("record"),
        units,
        candidates=frame.height + (broken is not None),
        unparsed=bad.height + (broken is not None),
        first_unparsed=first,
        notes=notes,
    )
