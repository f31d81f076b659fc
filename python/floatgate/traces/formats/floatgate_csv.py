"""The project's own captures: CSV with the header `timestamp_us,op,offset_bytes,size_bytes`.

The header may be missing. A file with another header has another format. op is R (read),
W (write), T (trim) or F (flush); a flush has offset and size 0.
"""

from __future__ import annotations

import io
import re

import polars as pl

from ..headers import titles_of
from ..model import FLUSH, READ, TRIM, WRITE, TraceError, plural, shorten
from ..text import IDLE, NUMBER, RW, TIME, Head, TextReader, Usual
from .base import Format

_LINE = (
    rf"^\s*(?P<time>{TIME}),(?P<op>(?i:r(?:ead)?|w(?:rite)?|t(?:rim)?|f(?:lush)?)),"
    rf"(?P<offset>{NUMBER}),(?P<length>{NUMBER})\s*$"
)
_HEADER = r"^\s*timestamp_us,op,offset_bytes,size_bytes\s*$"
_OPS = {**RW, "t": TRIM, "trim": TRIM, "f": FLUSH, "flush": FLUSH}


HEADER = b"timestamp_us,op,offset_bytes,size_bytes\n"


def lines(frame: pl.DataFrame) -> bytes:
    """Returns the requests of a trace's frame as CSV; times have three decimals: nanoseconds."""
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
    if not head.lines or _is_foreign(head.comment):
        return False
    first = head.lines[0]
    return bool(re.search(_HEADER, first) or (re.search(_LINE, first) and head.matches(_LINE)))


def _is_foreign(line: str) -> bool:
    return titles_of(line) is not None and not re.search(_HEADER, line)


class _Reader(TextReader):
    def __init__(self) -> None:
        usual = Usual("time op offset length")
        super().__init__(_LINE, _OPS, ("us", "bytes", "bytes"), usual=usual)
        self._is_begun = False
        self._headers = 0

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        if not self._is_begun:
            self._look_at_first(data if last else data[: data.rfind(b"\n") + 1])
        return super().take(data, last)

    def _look_at_first(self, data: bytes) -> None:
        """Checks the first line that is neither empty nor a comment, if the file shows it yet."""
        for number, line in enumerate(io.BytesIO(data), self._lines + 1):
            text = line.decode("utf-8-sig", "replace").rstrip()
            if not re.match(IDLE, text):
                self._begin(text, number)
                return

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        lines = frame.filter(~pl.col("line").str.contains(_HEADER))
        self._headers += frame.height - lines.height
        return lines

    def _begin(self, first: str, number: int) -> None:
        """Checks the first line: the header, or the first request of a file without a header."""
        self._is_begun = True
        if _is_foreign(first):
            raise TraceError(
                f"line {number} is {shorten(first)}; expected the header "
                f"{HEADER.decode().rstrip()!r}, or --columns for other tables"
            )
        if not re.search(_HEADER, first):
            self.guesses = {
                "time": "time taken as us: the file has no header",
                "address": "addresses taken as bytes: the file has no header",
                "length": "lengths taken as bytes: the file has no header",
            }

    def notes(self) -> list[str]:
        if self._headers < 2:
            return []
        return [f"{plural(self._headers - 1, 'line')} left out: the header"]


FORMAT = Format(
    "floatgate-csv",
    "capture CSV: timestamp_us,op,offset_bytes,size_bytes (op R, W, T trim, F flush)",
    "this project",
    _claims,
    _Reader,
)
