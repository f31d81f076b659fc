"""fio I/O logs, versions 2 and 3.

Version 2 lines are `file action offset length`; their only clock is `wait`. fio sends the lines
after `wait N` no sooner than N milliseconds after the job began (`read_iolog_get` in its iolog.c,
3.33). The manual of fio defines N as microseconds after the previous wait. Version 3 puts a time in
front of each line: microseconds since the start of the log. Every file name is a device.
"""

from __future__ import annotations

import re

import polars as pl

from ..model import FLUSH, NO_REQUESTS, READ, TRIM, WRITE, Parsed, TraceError, plural, shorten
from ..text import EXACT, NUMBER, Head, TextReader, Usual, number
from .base import Format

_HEADER = re.compile(r"fio version (\d+) iolog\s*$")
_ACTION = (
    r"(?P<device>\S+)\s+(?P<op>[A-Za-z_]+)"
    rf"(?:\s+(?:(?P<offset>{NUMBER})\s+(?P<length>{NUMBER})\s*)?)?$"
)
_USUAL = "device:text op offset length"

#: Operation of a wait in version 2, until its time is known.
_WAIT = FLUSH + 1

_OPS = {"read": READ, "write": WRITE, "trim": TRIM}
_OPS.update({sync: FLUSH for sync in ("sync", "datasync", "sync_file_range")})


def _claims(head: Head) -> bool:
    return bool(head.lines) and _HEADER.match(head.lines[0]) is not None


class _Reader(TextReader):
    def __init__(self) -> None:
        super().__init__("", _OPS, ("us", "bytes", "bytes"))
        self._waited = self._left_out = self._headers = 0
        self._files: set[str] = set()
        self._used: set[str] = set()

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        if not self.line:
            first, end, _ = data.lstrip().partition(b"\n")
            if not end and not last:
                return NO_REQUESTS, 0
            self._begin(first[:200].decode("utf-8", "replace"))
        return super().take(data, last)

    def _begin(self, first: str) -> None:
        """Reads the version from the first line."""
        header = _HEADER.match(first)
        version = header[1] if header else ""
        if version not in ("2", "3"):
            raise TraceError(
                f"line 1: {shorten(first)}: expected 'fio version 2 iolog' or version 3"
            )
        self.line = rf"^\s*(?P<time>\d+)\s+{_ACTION}"
        self.usual = Usual(f"whole_time {_USUAL}", gap="")
        self.guesses["time"] = "time taken as us, as fio writes it in version 3"
        if version == "2":
            self.line, self.usual = rf"^\s*{_ACTION}", Usual(_USUAL, gap="")
            self.ops = {**_OPS, "wait": _WAIT}
            self.units = ("ms", "bytes", "bytes")
            self.guesses["time"] = (
                "waits taken as ms since the job began, as fio plays them; the fio manual "
                "defines them as us after the previous wait"
            )

    def usual_rows(self, frame: pl.DataFrame, decimals: int) -> pl.DataFrame:
        self._used |= set(frame.filter(pl.col("op") != _WAIT)["device"].unique())
        return frame

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        header = pl.col("line").str.contains(_HEADER.pattern)
        requests = frame.filter(~header)
        self._headers += frame.height - requests.height
        if "time" not in frame.columns:
            requests = requests.with_columns(time=pl.lit("0"))
        self._files |= set(requests.filter(pl.col("op") == "add")["device"].unique())
        files = pl.col("op").is_in(["add", "open", "close"])
        is_wait = (pl.col("op") == "wait") & number("offset").is_not_null()
        waits = is_wait & (self.units[0] == "us")
        kept = requests.filter(~(files | waits).fill_null(False))
        self._left_out += requests.height - kept.height
        self._used |= set(kept.filter(~is_wait.fill_null(False))["device"].drop_nulls().unique())
        return kept

    def _read(self, data: bytes) -> pl.DataFrame:
        found = super()._read(data)
        return self._timed(found) if self.units[0] == "ms" else found

    def _timed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Replaces waits by the time of the requests below; a smaller wait does not turn time
        back.
        """
        is_wait = pl.col("op") == _WAIT
        wait = pl.when(is_wait).then("offset").fill_null(0).cum_max()
        time = pl.max_horizontal(wait, pl.lit(self._waited, pl.UInt64))
        if frame.height:
            self._waited = int(frame.select(time.last()).item())
        requests = frame.with_columns(time=time.cast(EXACT)).filter(~is_wait)
        self._left_out += frame.height - requests.height
        self._candidates -= frame.height - requests.height
        return requests

    def told(self) -> Parsed:
        parsed = super().told()
        mixed = parsed.unparsed or (self._files and not self._used <= self._files)
        if self._headers > 1 and mixed:
            # Interleaved lines can merge digits into other valid numbers, which go unnoticed.
            parsed.cause = (
                f"the header occurs {self._headers} times: several fio jobs wrote this log at once "
                "and mixed their lines; give each job a write_iolog of its own"
            )
        return parsed

    def notes(self) -> list[str]:
        notes = []
        if self.units[0] == "ms" and self._used and not self._waited:
            notes.append("the log has no times: every request is at time 0")
        if self._headers > 1:
            notes.append(f"{plural(self._headers - 1, 'line')} left out: the header")
        if self._left_out:
            notes.append(f"{plural(self._left_out, 'line')} left out: add, open, close or wait")
        return notes


FORMAT = Format(
    "fio",
    "fio iolog version 2 (file action offset length) and 3 (the same after a time)",
    "fio documentation, Trace file format; fio 3.33, iolog.c",
    _claims,
    _Reader,
)
