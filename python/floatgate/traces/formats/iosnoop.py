"""Output of iosnoop (perf-tools): `STARTs ENDs COMM PID TYPE DEV BLOCK BYTES LATms`.

The two times are in seconds; the options `-s` and `-t` print them. The type is rwbs, the block a
sector number. A task name may contain blanks. Lines are in the order of the completions.
"""

from __future__ import annotations

import polars as pl

from .. import rwbs
from ..text import NUMBER, Head, TextReader, Usual
from .base import Format

_LINE = (
    r"^\s*(?:(?P<first>\d+\.\d+)\s+)?(?:(?P<second>\d+\.\d+)\s+)?(?:\S.*?\s+)?\d+\s+"
    rf"(?P<rwbs>[A-Z]+)\s+(?P<device>\d+,\d+)\s+(?P<offset>{NUMBER})\s+(?P<length>{NUMBER})\s+"
    r"\d+\.\d+\s*$"
)
_USUAL = Usual("first_time text digits rwbs device:pair offset length fraction", gap="")
_HEADER = r"^\s*(?:STARTs\s+)?(?:ENDs\s+)?COMM\s+PID\s+TYPE\s+DEV\s+BLOCK\s+BYTES\s+LATms\s*$"
_AROUND = r"^\s*(?:Tracing |Ending |WARNING)|LOST .*EVENTS"


def _claims(head: Head) -> bool:
    return any(head.some(_HEADER)) or bool(head.matches(_LINE, _AROUND))


class _Reader(TextReader):
    def __init__(self) -> None:
        units = ("s", "sectors", "bytes")
        super().__init__(_LINE, rwbs.OPS, units, other=(_AROUND, ""), usual=_USUAL)
        self._has_times = self._has_ends_only = False
        self._passed = 0

    def usual_rows(self, frame: pl.DataFrame, decimals: int) -> pl.DataFrame:
        self._has_times = self._has_times or not frame.is_empty()
        return frame

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        header = pl.col("line").str.contains(_HEADER)
        ends_only = header & pl.col("line").str.contains(r"^\s*ENDs")
        self._has_ends_only = self._has_ends_only or bool(frame.select(ends_only.any()).item())
        lines = frame.filter(~header)
        self._has_times = self._has_times or bool(lines["first"].is_not_null().any())
        bare = pl.col("rwbs").is_not_null() & pl.col("first").is_null()
        time = pl.when(bare).then(pl.lit("0")).otherwise(pl.col("first"))
        rows = rwbs.one_op_a_row(lines.with_columns(time.alias("time")))
        requests = rows.filter(~rwbs.is_other())
        self._passed += rows.height - requests.height
        return requests

    def notes(self) -> list[str]:
        notes = []
        if self._candidates and not self._has_times:
            notes.append("the log has no times: every request is at time 0; iosnoop -s prints them")
        elif self._has_ends_only:
            notes.append("completions read, with the times of completion; iosnoop -s has starts")
        return notes + rwbs.left_out(self._passed)


FORMAT = Format(
    "iosnoop",
    "perf-tools iosnoop: STARTs ENDs COMM PID TYPE DEV BLOCK BYTES LATms",
    "brendangregg/perf-tools, iosnoop",
    _claims,
    _Reader,
)
