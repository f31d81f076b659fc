"""The project's own captures: CSV with the header `timestamp_us,op,offset_bytes,size_bytes`.

op is R (read), W (write), T (trim) or F (flush); a flush has offset and size 0.
"""

from __future__ import annotations

from ..model import FLUSH, TRIM, Parsed
from ..text import NUMBER, RW, TIME, Head, match, parsed
from .base import Format

_LINE = (
    rf"^\s*(?P<time>{TIME}),(?P<op>(?i:r|w|t|f|read|write|trim|flush)),"
    rf"(?P<offset>{NUMBER}),(?P<length>{NUMBER})\s*$"
)
_HEADER = (r"^\s*timestamp_us,op,offset_bytes,size_bytes\s*$", "the header")
_OPS = {**RW, "t": TRIM, "trim": TRIM, "f": FLUSH, "flush": FLUSH}


def _claims(head: Head) -> bool:
    return head.fits(_LINE, _HEADER[0])


def _read(data: bytes) -> Parsed:
    return parsed(match(data, _LINE, _HEADER), _OPS, ("us", "bytes", "bytes"))


FORMAT = Format(
    "floatgate-csv",
    "capture CSV: timestamp_us,op,offset_bytes,size_bytes (op R, W, T trim, F flush)",
    "this project",
    _claims,
    _read,
)
