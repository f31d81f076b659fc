"""Binary formats of fixed records: columns straight from the bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import polars as pl


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
