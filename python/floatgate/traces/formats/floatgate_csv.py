"""The project's own captures: CSV with the header `timestamp_us,op,offset_bytes,size_bytes`.

op is R (read), W (write), T (trim) or F (flush); a flush has offset and size 0.
"""

from __future__ import annotations

import polars as pl

from ..model import FLUSH, READ, TRIM, WRITE, Parsed
from ..text import TIME, Head, match, parsed
from .base import Format

_LINE = rf"^\s*(?P<time>{TIME}),(?P<op>[RWTF]),(?P<offset>\d+),(?P<length>\d+)\s*$"
_HEADER = (r"^\s*timestamp_us,op,offset_bytes,size_bytes\s*$", "the header")
_OPS = {"R": READ, "W": WRITE, "T": TRIM, "F": FLUSH}


HEADER = b"timestamp_us,op,offset_bytes,size_bytes\n"


def lines(frame: pl.DataFrame) -> bytes:
    """The requests of a trace's frame as lines; times have three decimals, for nanoseconds."""
    at, letters = pl.col("at_ns"), {number: letter for letter, number in _OPS.items()}
    rest = (at % 1000).cast(pl.String).str.zfill(3)
    told = frame.select(
        pl.concat_str((at // 1000).cast(pl.String), rest, separator="."),
        pl.col("op").replace_strict(letters, return_dtype=pl.String),
        "offset",
        "length",
    )
    return told.write_csv(include_header=False).encode()


def _claims(head: Head) -> bool:
    return bool(head.matches(_LINE, _HEADER[0]))


def _read(data: bytes) -> Parsed:
    return parsed(match(data, _LINE, _HEADER), _OPS, ("us", "bytes", "bytes"))


FORMAT = Format(
    "floatgate-csv",
    "capture CSV: timestamp_us,op,offset_bytes,size_bytes (op R, W, T trim, F flush)",
    "this project",
    _claims,
    _read,
)
