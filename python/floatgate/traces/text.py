"""Text formats: a regular expression names the fields of a line, Polars does the work."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from .model import FLUSH, NUMBER_LIMIT, READ, WRITE, Parsed, plural, shorten

#: A time of day or a tick count: digits, perhaps a fraction, perhaps an exponent.
TIME = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"

#: An address or a length. A negative one has the form, so that the value is what is complained of.
NUMBER = r"-?\d+"

#: A read or a write as a letter or a word, in any case; `RW` is what they mean.
RW_WORD = r"(?i:r|w|read|write)"
RW = {"r": READ, "read": READ, "w": WRITE, "write": WRITE}

# Nine digits keep nanoseconds of a time in seconds, where a float of today's date keeps 240 ns.
_EXACT = pl.Decimal(38, 9)

_IDLE = r"^\s*(?:#.*)?$"


@dataclass(frozen=True)
class Head:
    """The start of a file, to recognise its format by: some KiB, and the lines in them."""

    data: bytes
    complete: bool
    lines: list[str]

    @classmethod
    def of(cls, data: bytes, size: int = 1 << 16, lines_max: int = 1000) -> Head:
        """Head of `data`; a last line that `size` cuts through is left out."""
        complete = len(data) <= size
        head = data[:size]
        lines = [] if b"\0" in head else head.decode("utf-8-sig", "replace").splitlines()
        if not complete:
            lines = lines[:-1]
        return cls(head, complete, [s for s in lines if not re.match(_IDLE, s)][:lines_max])

    def fits(self, line: str, header: str) -> bool:
        """Whether the first line is the `header` of a format, or its lines match `line`."""
        return bool((self.lines and re.search(header, self.lines[0])) or self.matches(line, header))

    def matches(self, line: str, other: str | None = None) -> list[re.Match[str]]:
        """Matches of `line`, or none unless at least half of the lines, less `other`, match."""
        candidates = [s for s in self.lines if other is None or not re.search(other, s)]
        found = [m for m in (re.search(line, s) for s in candidates) if m]
        return found if 2 * len(found) >= len(candidates) else []


@dataclass
class Matched:
    """Candidate lines with the named groups of the expression as text columns.

    `frame` also has `line` and `number` (from 1); in a line that did not match, all groups are
    null. `notes` says which lines were left out as no requests.
    """

    frame: pl.DataFrame
    notes: list[str] = field(default_factory=list)


def match(data: bytes, line: str, other: tuple[str, str] | None = None) -> Matched:
    """Takes every line apart by the expression `line`.

    `other` is (expression, what such a line is) for lines of the format that are no requests.
    Empty lines and lines that start with # are none either.
    """
    if not data.isascii():
        data = data.decode("utf-8-sig", "replace").encode()
    frame = pl.read_lines(io.BytesIO(data), name="line", row_index_name="number")
    frame = frame.with_columns(pl.col("number") + 1)
    notes: list[str] = []
    idle = (_IDLE, "an empty line or a comment")
    for expression, what in (idle, other) if other else (idle,):
        hit = pl.col("line").str.contains(expression).fill_null(False)
        left_out = frame.filter(hit)["number"]
        # One header at the top of the file is part of its form and not worth a word.
        if len(left_out) > 1 or left_out.sum() > 1:
            notes.append(f"{plural(len(left_out), 'line')} left out: {what}")
        frame = frame.filter(~hit)
    groups = pl.col("line").str.extract_groups(line).alias("groups")
    return Matched(frame.with_columns(groups).unnest("groups"), notes)


def number(column: str) -> pl.Expr:
    """A text column as an address or a length; null where it is none."""
    value = pl.col(column).cast(pl.UInt64, strict=False)
    return pl.when(value < NUMBER_LIMIT).then(value)


def parsed(
    matched: Matched,
    ops: Mapping[str, int],
    units: tuple[str, str, str],
    *,
    device: pl.Expr | None = None,
    guesses: dict[str, str] | None = None,
) -> Parsed:
    """Turns text columns `time`, `op`, `offset`, `length` into numbers and counts what fails.

    `ops` maps the text of `op`, in lower case, to 0 to 3; the file may have it in any case.
    Without `device` the column of that name is taken, or there is one device. A flush needs no
    offset and no length.
    """
    frame = matched.frame
    if device is None:
        device = pl.col("device") if "device" in frame.columns else pl.lit("0")
    op = pl.col("op").str.to_lowercase().replace_strict(ops, default=None, return_dtype=pl.UInt8)
    flush = op == FLUSH
    frame = frame.select(
        "number",
        "line",
        pl.struct("time", "op", "offset", "length").alias("texts"),
        pl.col("time").cast(_EXACT, strict=False),
        op,
        device.alias("device"),
        pl.when(flush).then(pl.lit(0, pl.UInt64)).otherwise(number("offset")).alias("offset"),
        pl.when(flush).then(pl.lit(0, pl.UInt64)).otherwise(number("length")).alias("length"),
    )
    fields = ["time", "op", "device", "offset", "length"]
    whole = frame.select(fields).drop_nulls()
    first = None
    if whole.height < frame.height:
        bad = frame.filter(pl.any_horizontal(pl.col(fields).is_null())).row(0, named=True)
        first = f"line {bad['number']}: {shorten(bad['line'].rstrip())}{_reason(bad, ops)}"
    return Parsed(
        frame=whole,
        units=units,
        guesses=guesses or {},
        candidates=frame.height,
        unparsed=frame.height - whole.height,
        first_unparsed=first,
        notes=matched.notes,
    )


def _reason(bad: Mapping[str, Any], ops: Mapping[str, int]) -> str:
    """Which field of a line is wrong; nothing where the line as a whole has another form."""
    expected = {
        "time": "expected a number",
        "offset": "expected 0 to 2^50 - 1",
        "length": "expected 0 to 2^50 - 1",
        "op": f"expected {', '.join(ops)}",
    }
    for name, words in expected.items():
        text = bad["texts"][name]
        if bad[name] is None and text is not None:
            return f" ({name} {shorten(text)}; {words})"
    return ""
