"""Output of biosnoop (bcc): `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`.

Times are completion times, in seconds since the first request. Options add columns before the last
one: the time in the queue, and the pattern (S, R or ?). A task name may contain blanks, and the
disk column may be empty. The libbpf version prints rwbs as the operation. A flush is printed as a
read of 0 bytes.
"""

from __future__ import annotations

import polars as pl

from .. import rwbs
from ..model import plural
from ..text import NUMBER, Head, TextReader, Usual
from .base import Format

_LINE = (
    r"^\s*(?P<time>\d+\.\d+)\s+(?:\S.*?\s+)?\d+\s+(?:(?P<device>\S+)\s+)?(?P<rwbs>[A-Z]+)\s+"
    rf"(?P<offset>{NUMBER})\s+(?P<length>{NUMBER})(?:\s+\d+\.\d+)?(?:\s+[SR?])?"
    r"(?:\s+\d+\.\d+){1,2}\s*$"
)
_USUAL = Usual("fraction_time text digits device:text rwbs offset length fractions", gap="")
_HEADER = r"^\s*TIME\(s\)\s+COMM\s+PID\s+DISK\s+T\s+SECTOR\s+BYTES\b"
_AROUND = rf"{_HEADER}|^\s*(?i:Tracing |Possibly lost |lost \d+ )"


def _claims(head: Head) -> bool:
    return bool(head.some(_HEADER) or head.matches(_LINE, _AROUND))


class _Reader(TextReader):
    def __init__(self) -> None:
        units = ("s", "sectors", "bytes")
        super().__init__(
            _LINE,
            rwbs.OPS,
            units,
            other=(_AROUND, "the header, or a message of the tool"),
            usual=_USUAL,
        )
        self._empty = self._passed = 0

    def usual_rows(self, frame: pl.DataFrame, decimals: int) -> pl.DataFrame:
        moving = frame.filter(pl.col("length") > 0)
        self._empty += frame.height - moving.height
        return moving

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        frame = rwbs.one_op_a_row(frame.with_columns(pl.col("device").fill_null("unknown")))
        empty = (pl.col("length") == "0") & (pl.col("op") != "F")
        moving = frame.filter(~empty.fill_null(False))
        requests = moving.filter(~rwbs.is_other())
        self._empty += frame.height - moving.height
        self._passed += moving.height - requests.height
        return requests

    def notes(self) -> list[str]:
        notes = ["completions read, with the times of completion"] if self._candidates else []
        if self._empty:
            empty = plural(self._empty, "request")
            notes.append(f"{empty} of no bytes left out: biosnoop prints flushes like that")
        return notes + rwbs.left_out(self._passed)


FORMAT = Format(
    "biosnoop",
    "bcc biosnoop: TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)",
    "iovisor/bcc, tools/biosnoop.py and libbpf-tools/biosnoop.c",
    _claims,
    _Reader,
)
