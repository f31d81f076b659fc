"""Block events of the kernel as text: ftrace, `trace-cmd report` and `perf script`.

A line is `task cpu flags time: event: device rwbs bytes (command) sector + sectors [task]`. Tool
options choose the columns in front of the event; `perf script` may omit the name of the event. The
kernel writes the text after the event (include/trace/events/block.h): requests have the bytes and
the command, completions only the command, bios neither; newer kernels add the priority. The kernel
records several events for each request, and the reader uses only one kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from .. import rwbs
from ..model import plural
from ..stages import Stages
from ..text import NUMBER, Head, TextReader, Usual
from .base import Again, Format

_LINE = (
    r"^(?:.*?\s)?(?P<time>\d+\.\d+):\s+(?:\(\+?\d+\)\s+)?(?:\d+\s+)?"
    r"(?:(?:block:)?(?P<event>block_\w+):\s+)?(?P<device>\d+,\d+)\s+(?P<rwbs>[A-Z]+)\s+"
    r"(?:(?P<bytes>\d+)\s+)?(?:\((?P<command>[^)]*)\)\s+)?"
    rf"(?P<offset>{NUMBER})\s+\+\s+(?P<length>{NUMBER})(?:\s.*)?$"
)
_USUAL = Usual("stamped_time event:event device:pair rwbs sectors", gap="", has_rest=True)
#: Events with a range of sectors, in the order of preference.
_RANKED = (
    "block_rq_issue",
    "block_bio_queue",
    "block_rq_insert",
    "block_io_start",
    "block_rq_complete",
    "block_io_done",
    "block_bio_complete",
)
_READ = rf"\b(?:{'|'.join(_RANKED)})[:(]"
_LOST = r"(?i)\bLOST\b.*\bEVENTS?\b|\bEVENTS? DROPPED\b"


def _claims(head: Head) -> bool:
    return bool(head.some(_READ) or head.matches(_LINE))


class _Reader(TextReader):
    """Reads the events of one kind: the first of `_RANKED` that the file has shown so far."""

    def __init__(self, event: str | None = None) -> None:
        super().__init__(_LINE, rwbs.OPS, ("s", "sectors", "sectors"), usual=_USUAL)
        self._stages = Stages(_RANKED, "event", event)
        self._passed = self._other = self._lost = 0
        self._unnamed: set[str] = set()

    def usual_rows(self, frame: pl.DataFrame, decimals: int) -> pl.DataFrame:
        return self._stages.only(frame, "event", _again)

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        frame = self._of_block(frame)
        unnamed = pl.col("event").is_null() & pl.col("time").is_not_null()
        self._unnamed |= set(frame.filter(unnamed).select(_by_fields()).to_series().unique())
        named = pl.when(unnamed).then(_by_fields()).otherwise(pl.col("event"))
        frame = frame.with_columns(named.alias("event"))
        kept = self._stages.only(frame, "event", _again)
        passed = rwbs.is_other() | (pl.col("command").fill_null("") != "")
        requests = kept.filter(~passed)
        self._passed += kept.height - requests.height
        return rwbs.one_op_a_row(requests)

    def _of_block(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Returns the lines of block events; counts and drops the other lines of a recording."""
        self._lost += int(frame["line"].str.contains(_LOST).sum())
        is_read = pl.col("time").is_not_null() | pl.col("line").str.contains(_READ)
        events = frame.filter(is_read)
        self._other += frame.height - events.height
        return events

    def why(self, bad: Mapping[str, Any]) -> str:
        """Explains a line without a time: tool options omit times, print ticks or raw fields."""
        if bad["texts"]["time"] is None:
            return " (expected 'SECONDS: EVENT: DEVICE RWBS ... SECTOR + COUNT')"
        return super().why(bad)

    def notes(self) -> list[str]:
        notes = self._stages.notes("line")
        if self._other:
            notes.append(f"{plural(self._other, 'line')} left out: no request of a block device")
        if self._lost:
            lost = plural(self._lost, "line")
            notes.append(
                f"events were lost during the recording: the tool printed {lost} about losses"
            )
        if self._unnamed:
            names = " and ".join(sorted(self._unnamed))
            notes.append(f"lines without the name of an event taken as {names}, by their fields")
        return notes + rwbs.left_out(self._passed)


def _by_fields() -> pl.Expr:
    """Returns the event that the fields of an unnamed line imply."""
    return (
        pl.when(pl.col("bytes").is_not_null())
        .then(pl.lit("block_rq_issue"))
        .when(pl.col("command").is_not_null())
        .then(pl.lit("block_rq_complete"))
        .otherwise(pl.lit("block_bio_queue"))
    )


def _again(kind: str) -> Again:
    return Again(_Reader(kind))


FORMAT = Format(
    "block-events",
    "block events of ftrace, trace-cmd report and perf script",
    "Linux, include/trace/events/block.h",
    _claims,
    _Reader,
)
