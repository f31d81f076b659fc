"""fio I/O logs, versions 2 and 3.

Version 2 lines are `file action offset length`; their only clock is `wait`, whose offset is a
number of microseconds after the previous `wait`. Version 3 puts a time in front of each line:
fio writes the microseconds since the start of the log. Every file name is a device.
"""

from __future__ import annotations

import re

import polars as pl

from ..model import FLUSH, NO_REQUESTS, READ, TRIM, WRITE, TraceError, plural, shorten
from ..text import NUMBER, Head, TextReader, number
from .base import Format

_HEADER = re.compile(r"fio version (\d+) iolog\s*$")
_ACTION = (
    rf"(?P<device>\S+)\s+(?P<op>[a-z_]+)(?:\s+(?P<offset>{NUMBER})\s+(?P<length>{NUMBER}))?\s*$"
)
_OPS = {"read": READ, "write": WRITE, "trim": TRIM}
_OPS.update({sync: FLUSH for sync in ("sync", "datasync", "sync_file_range")})


def _claims(head: Head) -> bool:
    return bool(head.lines) and _HEADER.match(head.lines[0]) is not None


class _Reader(TextReader):
    def __init__(self) -> None:
        super().__init__("", _OPS, ("us", "bytes", "bytes"), other=(_HEADER.pattern, "the header"))
        self._has_waits = False
        self._waited = self._left_out = 0

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        if not self.line:
            first, end, _ = data.lstrip().partition(b"\n")
            if not end and not last:
                return NO_REQUESTS, 0
            self._begin(first[:200].decode("utf-8", "replace"))
        return super().take(data, last)

    def _begin(self, first: str) -> None:
        """The first line says the version."""
        header = _HEADER.match(first)
        version = header[1] if header else ""
        if version not in ("2", "3"):
            raise TraceError(
                f"line 1: {shorten(first)}: expected 'fio version 2 iolog' or version 3"
            )
        if version == "3":
            self.guesses["time"] = "time taken as us, as fio writes it in version 3"
        self.line = rf"^\s*{_ACTION}" if version == "2" else rf"^\s*(?P<time>\d+)\s+{_ACTION}"

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        if "time" not in frame.columns:
            wait = pl.when(pl.col("op") == "wait").then(number("offset")).fill_null(0)
            frame = frame.with_columns(time=wait.cum_sum() + self._waited)
            if frame.height:
                self._waited = int(frame["time"][-1])
            frame = frame.with_columns(pl.col("time").cast(pl.String))
            self._has_waits = self._has_waits or bool(frame["op"].eq_missing("wait").any())
        files = pl.col("op").is_in(["add", "open", "close"])
        waits = (pl.col("op") == "wait") & number("offset").is_not_null()
        kept = frame.filter(~(files | waits).fill_null(False))
        self._left_out += frame.height - kept.height
        return kept

    def notes(self) -> list[str]:
        found = []
        if not self.guesses and not self._has_waits:
            found.append("the log has no times: every request is at time 0")
        if self._left_out:
            found.append(f"{plural(self._left_out, 'line')} left out: add, open, close or wait")
        return found


FORMAT = Format(
    "fio",
    "fio iolog version 2 (file action offset length) and 3 (the same after a time)",
    "fio documentation, Trace file format",
    _claims,
    _Reader,
)
