"""MSR Cambridge block traces (SNIA IOTTA).

`Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`: Windows file time in units of
100 ns, offset and size in bytes. Host and disk number together name the device.
"""

from __future__ import annotations

import polars as pl

from ..text import NUMBER, RW, Head, TextReader, Usual
from .base import Format

_LINE = (
    r"^\s*(?P<time>\d+),(?P<host>[^,]*),(?P<disk>\d+),(?P<op>[A-Za-z]+),"
    rf"(?P<offset>{NUMBER}),(?P<length>{NUMBER}),-?\d+\s*$"
)
_USUAL = Usual("whole_time host:text disk:digits op offset length integer")
_HEADER = (r"(?i)^\s*timestamp,hostname,", "the header")


def _claims(head: Head) -> bool:
    return head.fits(_LINE, _HEADER[0])


def _reader() -> TextReader:
    device = pl.concat_str("host", "disk", separator="_")
    units = ("100ns", "bytes", "bytes")
    return TextReader(_LINE, RW, units, other=_HEADER, device=device, usual=_USUAL)


FORMAT = Format(
    "msr",
    "MSR Cambridge CSV: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    "Narayanan et al., Write Off-Loading, FAST '08; SNIA IOTTA",
    _claims,
    _reader,
)
