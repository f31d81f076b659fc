"""The project's own captures: CSV with the header `timestamp_us,op,offset_bytes,size_bytes`.

op is R (read), W (write), T (trim) or F (flush); a flush has offset and size 0.
"""

from __future__ import annotations

import polars as pl

from ..model import FLUSH, READ, TRIM, WRITE
from ..text import NUMBER, RW, TIME, Head, TextReader
from .base import Format

_LINE = (
    rf"^\s*(?P<time>{TIME}),(?P<op>(?i:r|w|t|f|read|write|trim|flush)),"
    rf"(?P<offset>{NUMBER}),(?P<length>{NUMBER})\s*$"
)
_HEADER = (r"^\s*timestamp_us,op,offset_bytes,size_bytes\s*$", "the header")
_OPS = {**RW, "t": TRIM, "trim": TRIM, "f": FLUSH, "flush": FLUSH}


HEADER = b"timestamp_us,op,offset_bytes,size_bytes\n"


def lines(frame: pl.DataFrame) -> bytes:
    """The requests of a trace's frame as lines; times have three decimals, for nanoseconds."""
    at, letters = pl.col("at_ns"), {READ: "R", WRITE: "W", TRIM: "T", FLUSH: "F"}
    rest = (at % 1000).cast(pl.String).str.zfill(3)
    told = frame.select(
        pl.concat_str((at // 1000).cast(pl.String), rest, separator="."),
        pl.col("op").replace_strict(letters, return_dtype=pl.String),
        "offset",
        "length",
    )
    return told.write_csv(include_header=False).encode()


def _claims(head: Head) -> bool:
    return head.fits(_LINE, _HEADER[0])


def _reader() -> TextReader:
    return TextReader(_LINE, _OPS, ("us", "bytes", "bytes"), other=_HEADER)


FORMAT = Format(
    "floatgate-csv",
    "capture CSV: timestamp_us,op,offset_bytes,size_bytes (op R, W, T trim, F flush)",
    "this project",
    _claims,
    _reader,
)
