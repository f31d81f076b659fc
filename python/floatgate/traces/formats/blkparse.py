"""Text that blkparse prints by default.

`device cpu sequence time process action rwbs sector + sectors [command]`, time in seconds. blkparse
prints several actions of each request, and the reader uses only one: D (issued to the driver), Q
(queued) in a file without D, or C (completed) in a file without D and Q.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from .. import rwbs
from ..stages import LETTERS, Stages
from ..text import NUMBER, Head, TextReader, Usual
from .base import Again, Format

_LINE = (
    r"^\s*(?P<device>\d+,\d+)\s+\d+\s+\d+\s+(?P<time>\d+\.\d+)\s+\d+\s+(?P<action>[A-Za-z]+)\s+"
    rf"(?P<rwbs>[A-Z]+)(?:\s+(?P<offset>{NUMBER})\s+\+\s+(?P<length>{NUMBER})(?:\s.*)?|"
    r"(?P<rest>\s.*))?$"
)
_USUAL = Usual(
    "device:pair digits digits fraction_time digits action:letters rwbs offset plus length",
    gap="",
    has_rest=True,
)
_SUMMARY = (
    r"^\s*(?:CPU\s*\d+ \(|Total \(|Input file |Throughput |Events |Skips:|[A-Z][A-Za-z. ]+:)",
    "the summary of blkparse",
)
#: Text that blkparse prints instead of sectors for a passed-through command: its bytes and text, or
#: nothing.
_NO_SECTORS = r"^\s*(?:\d+\s+\(|\[|$)"


def _claims(head: Head) -> bool:
    return bool(head.matches(_LINE, _SUMMARY[0]))


class _Reader(TextReader):
    """Reads the actions of one kind: the first of `LETTERS` that the file has shown so far."""

    def __init__(self, action: str | None = None) -> None:
        units = ("s", "sectors", "sectors")
        super().__init__(_LINE, rwbs.OPS, units, other=_SUMMARY, usual=_USUAL)
        self._stages = Stages(LETTERS, "action", action)
        self._passed = 0

    def usual_rows(self, frame: pl.DataFrame, decimals: int) -> pl.DataFrame:
        return self._stages.only(frame, "action", _again)

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        kept = rwbs.one_op_a_row(self._stages.only(frame, "action", _again))
        requests = _requests(kept)
        self._passed += kept.height - requests.height
        return requests

    def why(self, bad: Mapping[str, Any]) -> str:
        """Explains a line without the plus sign, which a user-defined blkparse format may omit."""
        if bad["texts"]["offset"] is None and bad["texts"]["time"] is not None:
            return f" (action {self._stages.chosen} without 'sector + count')"
        return super().why(bad)

    def notes(self) -> list[str]:
        return self._stages.notes("line") + rwbs.left_out(self._passed)


def _requests(frame: pl.DataFrame) -> pl.DataFrame:
    # A command that is neither a read nor a write, such as a mode sense, has no sector range.
    bare = pl.col("rest").fill_null("").str.contains(_NO_SECTORS)
    passed = pl.col("offset").is_null() & bare & pl.col("rwbs").is_not_null()
    return frame.filter((pl.col("op") == "F").fill_null(False) | ~(passed | rwbs.is_other()))


def _again(kind: str) -> Again:
    return Again(_Reader(kind))


FORMAT = Format(
    "blkparse",
    "blkparse default text: device cpu seq time pid action rwbs sector + sectors",
    "blkparse(1), blktrace user guide",
    _claims,
    _Reader,
)
