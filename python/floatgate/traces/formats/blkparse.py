"""Text that blkparse prints by default.

`device cpu sequence time process action rwbs sector + sectors [command]`, time in seconds. A
request passes several actions; only one is read: D (issued to the driver), or Q (queued) in a
file without D. In rwbs an F before the operation asks for a flush first, D is a discard.
"""

from __future__ import annotations

import polars as pl

from ..model import FLUSH, READ, TRIM, WRITE, Parsed, plural
from ..text import NUMBER, Head, Matched, match, parsed
from .base import Format

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


def _read(data: bytes) -> Parsed:
    matched = match(data, _LINE, _SUMMARY)
    frame = matched.frame
    action = "D" if (frame["action"] == "D").any() else "Q"
    # The comparison is null in a line that did not match: it stays, to be counted as unparsed.
    other = frame.filter(pl.col("action") != action).height
    frame = frame.filter((pl.col("action") == action).fill_null(True))
    if other:
        matched.notes.append(
            f"{plural(other, 'line')} left out: actions other than {action}, the one that is read"
        )
    matched.frame = _one_op_a_row(frame, matched)
    return parsed(matched, _OPS, ("s", "sectors", "sectors"))


def _one_op_a_row(frame: pl.DataFrame, matched: Matched) -> pl.DataFrame:
    """Adds `op`; a write that asks for a flush first becomes two rows."""
    flush = pl.col("rwbs").str.starts_with("F")
    verb = pl.col("rwbs").str.extract(r"^F?([RWD])")
    empty = pl.col("length").is_null() | (pl.col("length") == "0")
    frame = frame.with_columns(
        pl.when(flush & (empty | verb.is_null()))
        .then(pl.concat_list(pl.lit("F")))
        .when(flush)
        .then(pl.concat_list(pl.lit("F"), verb))
        .otherwise(pl.concat_list(verb))
        .alias("op")
    ).explode("op")
    # A command that is neither a read nor a write, such as a mode sense, has no sector range.
    ranged = (pl.col("op") == "F") | pl.col("length").is_not_null() | pl.col("rwbs").is_null()
    kept = frame.filter(ranged & ~pl.col("rwbs").str.starts_with("N").fill_null(False))
    if kept.height < frame.height:
        passed = plural(frame.height - kept.height, "request")
        matched.notes.append(f"{passed} left out: neither read, write, discard nor flush")
    return kept


FORMAT = Format(
    "blkparse",
    "blkparse default text: device cpu seq time pid action rwbs sector + sectors",
    "blkparse(1), blktrace user guide",
    _claims,
    _read,
)
