"""fio I/O logs, versions 2 and 3.

Version 2 lines are `file action offset length`; their only clock is `wait`, whose offset is a
number of microseconds after the previous `wait`. Version 3 puts a time in front of each line:
fio writes the microseconds since the start of the log. Every file name is a device.
"""

from __future__ import annotations

import re

import polars as pl

from ..model import FLUSH, READ, TRIM, WRITE, Parsed, TraceError, plural, shorten
from ..text import NUMBER, Head, match, number, parsed
from .base import Format

_HEADER = re.compile(r"fio version (\d+) iolog\s*$")
_ACTION = (
    rf"(?P<device>\S+)\s+(?P<op>[a-z_]+)(?:\s+(?P<offset>{NUMBER})\s+(?P<length>{NUMBER}))?\s*$"
)
_OPS = {"read": READ, "write": WRITE, "trim": TRIM}
_OPS.update({sync: FLUSH for sync in ("sync", "datasync", "sync_file_range")})


def _claims(head: Head) -> bool:
    return bool(head.lines) and _HEADER.match(head.lines[0]) is not None


def _read(data: bytes) -> Parsed:
    first = data.lstrip()[:200].decode("utf-8", "replace").partition("\n")[0]
    header = _HEADER.match(first)
    version = header[1] if header else ""
    if version not in ("2", "3"):
        raise TraceError(f"line 1: {shorten(first)}: expected 'fio version 2 iolog' or version 3")
    line = rf"^\s*{_ACTION}" if version == "2" else rf"^\s*(?P<time>\d+)\s+{_ACTION}"
    matched = match(data, line, (_HEADER.pattern, "the header"))
    frame, guesses = matched.frame, {}
    if version == "2":
        wait = pl.when(pl.col("op") == "wait").then(number("offset"))
        frame = frame.with_columns(wait.fill_null(0).cum_sum().cast(pl.String).alias("time"))
        if not frame["op"].eq_missing("wait").any():
            matched.notes.append("the log has no times: every request is at time 0")
    else:
        guesses["time"] = "time taken as us, as fio writes it in version 3"
    files = pl.col("op").is_in(["add", "open", "close"])
    waits = (pl.col("op") == "wait") & number("offset").is_not_null()
    matched.frame = frame.filter(~(files | waits).fill_null(False))
    left_out = frame.height - matched.frame.height
    if left_out:
        matched.notes.append(f"{plural(left_out, 'line')} left out: add, open, close or wait")
    return parsed(matched, _OPS, ("us", "bytes", "bytes"), guesses=guesses)


FORMAT = Format(
    "fio",
    "fio iolog version 2 (file action offset length) and 3 (the same after a time)",
    "fio documentation, Trace file format",
    _claims,
    _read,
)
