"""Disk events of Windows as xperf prints them: SNIA's Microsoft enterprise and production traces.

A header between `BeginHeader` and `EndHeader` lists the columns of every event. The reader takes
`DiskRead, time, process, thread, irp, offset, size, elapsed, disk, ...`, `DiskWrite` with the same
columns, and `DiskFlush`, which has no offset and no size. Times are completion times in
microseconds; offsets and sizes are bytes in hexadecimal.
"""

from __future__ import annotations

import polars as pl

from ..model import FLUSH, READ, WRITE, plural
from ..text import Head, TextReader, Usual, unhex
from .base import Format

_HEX = r"0x[0-9A-Fa-f]+"
_LINE = (
    r"^\s*(?P<op>(?i:Disk(?:Read|Write|Flush))),\s*(?P<time>\d+),.*?,\s*-?\d+,\s*"
    rf"{_HEX},(?:\s*(?P<offset>{_HEX}),\s*(?P<length>{_HEX}),)?\s*-?\d+,"
    r"\s*(?P<device>\d+)(?:,.*)?\s*$"
)
_USUAL = Usual(
    "op whole_time any integer hex_number hex_offset hex_length integer device:digits",
    gap=", ",
    has_rest=True,
)
_EVENT = r"^\s*(?i:Disk(?:Read|Write|Flush)),"
_COLUMNS = r"^\s*[\w/ -]+,\s*TimeStamp,"
_OPS = {"diskread": READ, "diskwrite": WRITE, "diskflush": FLUSH}


def _claims(head: Head) -> bool:
    titles = any(head.some(r"^\s*Disk(?:Read|Write),\s*TimeStamp,"))
    return titles or any(head.some(_LINE))


class _Reader(TextReader):
    def __init__(self) -> None:
        super().__init__(_LINE, _OPS, ("us", "bytes", "bytes"), usual=_USUAL)
        self._other = 0

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        line = pl.col("line")
        requests = frame.filter(line.str.contains(_EVENT) & ~line.str.contains(_COLUMNS))
        self._other += frame.height - requests.height
        return requests.with_columns(unhex("offset"), unhex("length"))

    def notes(self) -> list[str]:
        notes = ["completions read, with the times of completion"] if self._candidates else []
        if self._other:
            notes.append(f"{plural(self._other, 'line')} left out: no disk request")
        return notes


FORMAT = Format(
    "etw",
    "disk events of Windows: DiskRead, DiskWrite and DiskFlush as xperf prints them",
    "Windows Performance Toolkit; SNIA IOTTA, Microsoft Enterprise and Production Server traces",
    _claims,
    _Reader,
)
