"""The project's own captures: CSV with the header `timestamp_us,op,offset_bytes,size_bytes`.

op is R (read), W (write), T (trim) or F (flush); a flush has offset and size 0.
"""

from __future__ import annotations

from ..model import FLUSH, READ, TRIM, WRITE, Parsed
from ..text import TIME, Head, match, parsed
from .base import Format

_LINE = rf"^\s*(?P<time>{TIME}),(?P<op>[RWTF]),(?P<offset>\d+),(?P<length>\d+)\s*$"
_HEADER = (r"^\s*timestamp_us,op,offset_bytes,size_bytes\s*$", "the header")
_OPS = {"R": READ, "W": WRITE, "T": TRIM, "F": FLUSH}


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
