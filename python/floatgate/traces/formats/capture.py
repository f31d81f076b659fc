"""Recording of a live drive (docs/live.md): records of 32 bytes after a header of 16 bytes.

Numbers are little-endian. Header: `FLOATREC`, u32 version 1, u32 bytes of a page. Record: u64
nanoseconds, u64 offset, u64 length, u32 operation (0 read, 1 write, 2 trim, 3 flush), u32 stream.
The order of the records is the order in which the drive accepted the requests.
"""

from __future__ import annotations

import struct

import polars as pl

from ..binary import Checked, wide, words
from ..model import FLUSH, NO_REQUESTS, Parsed, TraceError
from ..text import Head
from .base import Format

MAGIC = b"FLOATREC"
HEADER_BYTES = 16
RECORD_BYTES = 32

_VERSION = 1
_STREAM_MAX = (1 << 16) - 1


def _claims(head: Head) -> bool:
    return head.data.startswith(MAGIC)


class _Reader:
    """Reads records. An incomplete last record is no error: the server was killed."""

    def __init__(self) -> None:
        self._checked = Checked()
        self._begun = False
        self._records = 0
        self._latest = 0
        self._notes: list[str] = []

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        at = 0
        if not self._begun:
            if len(data) < HEADER_BYTES and not last:
                return NO_REQUESTS, 0
            _check_header(data)
            self._begun, at = True, HEADER_BYTES
        rest = (len(data) - at) % RECORD_BYTES
        frame = self._requests(data[at : len(data) - rest])
        if last and rest:
            self._notes = [f"the last record was cut short after {rest} of {RECORD_BYTES} bytes"]
        return self._checked.take(frame), len(data) - rest

    def told(self) -> Parsed:
        return self._checked.told(("ns", "bytes", "bytes"), None, self._notes)

    def _requests(self, data: bytes) -> pl.DataFrame:
        raw = words(data, RECORD_BYTES)
        first = self._records + 1
        self._records += raw.height
        _check_numbers(raw, first)
        # The drive may serve two threads in reverse order of arrival; its own order counts.
        time = pl.max_horizontal(wide("w0", "w1").cum_max(), pl.lit(self._latest, pl.UInt64))
        frame = raw.select(
            pl.int_range(first, first + pl.len(), dtype=pl.UInt64).alias("record"),
            time.alias("time"),
            pl.col("w6").cast(pl.UInt8).alias("op"),
            pl.lit(0, pl.UInt32).alias("device"),
            wide("w2", "w3").alias("offset"),
            wide("w4", "w5").alias("length"),
            pl.col("w7").cast(pl.UInt16).alias("stream"),
        )
        if frame.height:
            self._latest = frame["time"][-1]
        return frame


def _check_numbers(raw: pl.DataFrame, first: int) -> None:
    """Raises `TraceError` for the first record with an invalid operation or stream."""
    wrong = (raw["w6"] > FLUSH) | (raw["w7"] > _STREAM_MAX)
    if wrong.any():
        index = int(wrong.arg_max() or 0)
        op, stream = raw["w6"][index], raw["w7"][index]
        what = f"operation {op}; expected 0 to {FLUSH}"
        if op <= FLUSH:
            what = f"stream {stream}; expected 0 to {_STREAM_MAX}"
        raise TraceError(f"record {first + index}: {what}")


def _check_header(data: bytes) -> None:
    if len(data) < HEADER_BYTES or not data.startswith(MAGIC):
        raise TraceError(f"no capture: expected {MAGIC.decode()} and {HEADER_BYTES} bytes or more")
    _, version, _ = struct.unpack(f"<{len(MAGIC)}sII", data[:HEADER_BYTES])
    if version != _VERSION:
        raise TraceError(f"capture of version {version}; expected {_VERSION}")


FORMAT = Format(
    "capture",
    "recording that floatgate serve --record writes",
    "this project, docs/live.md",
    _claims,
    _Reader,
)
