"""Text that blkparse prints by default.

`device cpu sequence time process action rwbs sector + sectors [command]`, time in seconds. A
request passes several actions; only one is read: D (issued to the driver), or Q (queued) in a
file without D. In rwbs an F before the operation asks for a flush first, D is a discard.
"""

from __future__ import annotations

import polars as pl

from ..model import FLUSH, READ, TRIM, WRITE, plural
from ..text import NUMBER, Head, TextReader
from .base import Again, Format

_LINE = (
    r"^\s*(?P<device>\d+,\d+)\s+\d+\s+\d+\s+(?P<time>\d+\.\d+)\s+\d+\s+(?P<action>[A-Za-z]+)\s+"
    rf"(?P<rwbs>[A-Z]+)(?:\s+(?P<offset>{NUMBER})\s+\+\s+(?P<length>{NUMBER}))?(?:\s.*)?$"
)
_SUMMARY = (
    r"^\s*(?:CPU\s*\d+ \(|Total \(|Input file |Throughput |Events |Skips:|[A-Z][A-Za-z. ]+:)",
    "the summary of blkparse",
)
_OPS = {"r": READ, "w": WRITE, "d": TRIM, "f": FLUSH}


def _claims(head: Head) -> bool:
    return bool(head.matches(_LINE, _SUMMARY[0]))


class _Reader(TextReader):
    """Reads the actions of one kind; Q as long as it is not said that there is a D."""

    def __init__(self, action: str | None = None) -> None:
        super().__init__(_LINE, _OPS, ("s", "sectors", "sectors"), other=_SUMMARY)
        self._action = action
        self._other = self._passed = 0

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        issued = bool((frame["action"] == "D").any())
        if self._action is None:
            self._action = "D" if issued else "Q"
        elif issued and self._action == "Q":
            raise Again(_Reader("D"))
        # The comparison is null in a line that did not match: it stays, to be counted as unparsed.
        chosen = frame.filter((pl.col("action") == self._action).fill_null(True))
        kept = _one_op_a_row(chosen)
        self._other += frame.height - chosen.height
        self._passed += kept.height
        kept = _requests(kept)
        self._passed -= kept.height
        return kept

    def notes(self) -> list[str]:
        found = []
        if self._other:
            others = f"actions other than {self._action}, the one that is read"
            found.append(f"{plural(self._other, 'line')} left out: {others}")
        if self._passed:
            passed = plural(self._passed, "request")
            found.append(f"{passed} left out: neither read, write, discard nor flush")
        return found


def _one_op_a_row(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds `op`; a write that asks for a flush first becomes two rows."""
    flush = pl.col("rwbs").str.starts_with("F")
    verb = pl.col("rwbs").str.extract(r"^F?([RWD])")
    empty = pl.col("length").is_null() | (pl.col("length") == "0")
    return frame.with_columns(
        pl.when(flush & (empty | verb.is_null()))
        .then(pl.concat_list(pl.lit("F")))
        .when(flush)
        .then(pl.concat_list(pl.lit("F"), verb))
        .otherwise(pl.concat_list(verb))
        .alias("op")
    ).explode("op")


def _requests(frame: pl.DataFrame) -> pl.DataFrame:
    # A command that is neither a read nor a write, such as a mode sense, has no sector range.
    ranged = (pl.col("op") == "F") | pl.col("length").is_not_null() | pl.col("rwbs").is_null()
    return frame.filter(ranged & ~pl.col("rwbs").str.starts_with("N").fill_null(False))


FORMAT = Format(
    "blkparse",
    "blkparse default text: device cpu seq time pid action rwbs sector + sectors",
    "blkparse(1), blktrace user guide",
    _claims,
    _Reader,
)
