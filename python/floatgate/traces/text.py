"""Text formats: a regular expression names the fields of a line, and Polars applies it.

An expression that leaves one way to go on after each character is matched in one pass, several
times as fast as any other. So words of an alternative begin with different letters, and what may
follow a blank stands behind one `\\s+`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

import polars as pl

from floatgate import _core

from .headers import titles_of
from .model import FLUSH, NO_REQUESTS, NUMBER_LIMIT, READ, WRITE, Parsed, plural, shorten

#: A time as a number: digits, perhaps a fraction, perhaps an exponent.
TIME = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"

#: Matches a date or a time of day, but no number.
_DATE = r"\d[-/:]\d"

#: Columns of `Parsed.frame`.
_FIELDS = ("time", "op", "device", "offset", "length")

#: Columns of numbers that a flush does not need.
_NUMBERS = ("offset", "length")

#: An address or a length. A negative number matches, so that the error names the value.
NUMBER = r"-?\d+"

#: A read or a write as a letter or a word, in any case; `RW` maps them to operations.
RW_WORD = r"(?i:r(?:ead)?|w(?:rite)?)"
RW = {"r": READ, "read": READ, "w": WRITE, "write": WRITE}

# Nine decimals keep the nanoseconds of a time in seconds. A float of today's date keeps 240 ns.
EXACT = pl.Decimal(38, 9)

#: Lines that are worth a thread.
_THREAD_LINES = 1 << 15

#: An empty line or a comment.
IDLE = r"^\s*(?:#.*)?$"


@dataclass(frozen=True)
class Head:
    """Start of a file, for recognition of its format: some KiB, and the lines in them."""

    data: bytes
    complete: bool
    lines: list[str]
    comment: str = ""
    """The last comment before the first of the lines, without its mark."""

    @classmethod
    def of(cls, data: bytes, size: int = 1 << 16, lines_max: int = 1000) -> Head:
        """Returns the head of `data`; a last line that `size` cuts through is left out."""
        complete = len(data) <= size
        head = data[:size]
        lines = [] if b"\0" in head else head.decode("utf-8-sig", "replace").splitlines()
        if not complete:
            lines = lines[:-1]
        comment = ""
        is_idle = re.compile(IDLE).match
        for line in takewhile(is_idle, lines):
            comment = line.strip().lstrip("#").strip() or comment
        kept = islice((s for s in lines if not is_idle(s)), lines_max)
        return cls(head, complete, [*kept], comment)

    def fits(self, line: str, header: str) -> bool:
        """Returns whether the first line is the `header` of a format, or lines match `line`."""
        return bool((self.lines and re.search(header, self.lines[0])) or self.matches(line, header))

    def matches(self, line: str, other: str | None = None) -> list[re.Match[str]]:
        """Returns the matches of `line`; none if fewer than half of the lines match.

        Lines that match `other` do not count. If column titles precede the lines and do not match
        `other`, there are no matches either, because titles may define other columns or units.
        """
        is_other = None if other is None else re.compile(other).search
        candidates = [s for s in self.lines if is_other is None or not is_other(s)]
        matched = [*map(re.compile(line).search, candidates)]
        found = [m for m in matched if m]
        if 2 * len(found) < len(candidates):
            return []
        above = takewhile(lambda at: not matched[at], range(len(matched)))
        is_titled = any(titles_of(*candidates[at : at + 2]) for at in above)
        return [] if is_titled else found

    def some(self, line: str) -> list[re.Match[str]]:
        return [m for m in (re.search(line, s) for s in self.lines) if m]


@dataclass(frozen=True)
class Usual:
    """Usual form of a line: cells between commas or another `gap`.

    `cells` has the content of each cell. `NAME:` in front of it makes it a text column. The
    expression of the format must match each such line, too, with the same fields: only lines of
    other forms need the expression, which takes several times as long. `gap` is a character; "c+"
    allows several of it, "c " blanks behind it, and "" stands for blanks alone. `has_rest` allows
    more cells.
    """

    cells: str
    gap: str = ","
    has_rest: bool = False

    def line(self, ops: Mapping[str, int]) -> _core.UsualLine:
        """Returns the form as the engine takes it."""
        pairs = [cell.rpartition(":") for cell in self.cells.split()]
        cells = [(content, name or None) for name, _, content in pairs]
        return _core.UsualLine(cells, self.gap, self.has_rest, [*ops.items()])


class TextReader:
    """Reads lines of text; a regular expression names their fields.

    `line` has the groups `time`, `op`, `offset` and `length`, and optionally `device`; `rows` may
    compute these fields from other groups. `other` is (expression, description) for lines of the
    format that are no requests; notes count these lines unless the description is empty. Empty
    lines and lines that start with # are no requests either. `ops` maps the text of `op`, in lower
    case, to 0 to 3; the file may have it in any case. Without the argument `device`, the reader
    uses the column `device`, or assumes a single device. A flush needs no offset and no length.
    """

    def __init__(
        self,
        line: str,
        ops: Mapping[str, int],
        units: tuple[str, str, str],
        *,
        other: tuple[str, str] | None = None,
        device: pl.Expr | None = None,
        guesses: Mapping[str, str] | None = None,
        usual: Usual | None = None,
    ) -> None:
        self.line = line
        self.ops = ops
        self.units = units
        self.guesses = dict(guesses or {})
        self._device = device
        self.usual = usual
        self._idle = [_LeftOut(IDLE, "an empty line or a comment")]
        if other is not None:
            self._idle.append(_LeftOut(*other))
        self._lines = self._candidates = self._unparsed = 0
        self._first: str | None = None

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Returns a row for each request, from lines with the named groups as text columns.

        `frame` also has `line` and `number` (from 1). A line that did not match has null in all
        groups; it must stay, so that it is counted.
        """
        return frame

    def usual_rows(self, frame: pl.DataFrame, decimals: int) -> pl.DataFrame:
        """Returns a row for each request in usual lines, which have numbers and named text columns.

        `decimals` is the largest number of decimals of a time in these lines.
        """
        return frame

    def notes(self) -> list[str]:
        """Returns notes about lines that `rows` has left out or changed."""
        return []

    def why(self, bad: Mapping[str, Any]) -> str:
        """Names the wrong field of a line; empty if the line as a whole has another form.

        `bad` has the columns of a frame of `Parsed`, null if they cannot be read, and `texts`, the
        text of each column.
        """
        expected = {
            "time": "expected a number, not a date or a time of day"
            if re.search(_DATE, bad["texts"]["time"] or "")
            else "expected a number",
            "offset": "expected 0 to 2^50 - 1",
            "length": "expected 0 to 2^50 - 1",
            "op": f"expected {', '.join(self.ops)}",
        }
        for name, words in expected.items():
            text = bad["texts"][name]
            if bad[name] is None and text is not None:
                return f" ({name} {shorten(text)}; {words})"
        return ""

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        """See `Reader.take`; uses whole lines only."""
        used = len(data) if last else data.rfind(b"\n") + 1
        return self._read(data[:used]).select(_FIELDS), used

    def told(self) -> Parsed:
        """See `Reader.told`."""
        return Parsed(
            NO_REQUESTS,
            self.units,
            guesses=self.guesses,
            candidates=self._candidates,
            unparsed=self._unparsed,
            first_unparsed=self._first,
            notes=[note for idle in self._idle for note in idle.told()] + self.notes(),
        )

    def _read(self, data: bytes) -> pl.DataFrame:
        """Returns the requests of whole lines, with the numbers of their lines."""
        if self.usual is None or not data:
            lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
            found = self._others(data, pl.int_range(1, lines + 1, dtype=pl.UInt64, eager=True))
            self._lines += lines
            return found
        batches, left = self.usual.line(self.ops).scan(data)
        usual = self.usual_rows(pl.concat(map(pl.DataFrame, batches)), left.decimals)
        usual = usual.select("number", "time", "op", self._device_of(usual), *_NUMBERS)
        self._candidates += usual.height
        usual = _without_numbers_of_flushes(usual).with_columns(pl.col("number") + self._lines)
        others = NO_REQUESTS
        if left.left:
            others = self._others(left.left, pl.Series(left.left_numbers, dtype=pl.UInt64))
        self._lines += left.lines
        if others.is_empty():
            return usual
        return pl.concat([usual, others]).sort("number", maintain_order=True)

    def _others(self, data: bytes, numbers: pl.Series) -> pl.DataFrame:
        """Returns the requests of lines in any form; `numbers` has the numbers of the lines."""
        return self._requests(self.rows(self._matched(data, numbers)))

    def _matched(self, data: bytes, numbers: pl.Series) -> pl.DataFrame:
        """Returns the candidate lines, split into their fields."""
        if not data.isascii():
            data = data.decode("utf-8" if self._lines else "utf-8-sig", "replace").encode()
        frame = pl.read_lines(io.BytesIO(data), name="line")
        frame = frame.select((numbers + self._lines).alias("number"), "line")
        for idle in self._idle:
            frame = idle.leave_out(frame)
        return _in_threads(frame, lambda part: _with_groups(part, self.line))

    def _requests(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Converts text columns to numbers; counts the lines that fail."""
        read = _in_threads(frame, self._typed)
        whole = read.drop_nulls()
        self._candidates += frame.height
        self._unparsed += frame.height - whole.height
        if self._first is None and whole.height < frame.height:
            is_bad = read.select(pl.any_horizontal(pl.all().is_null())).to_series()
            texts = frame.filter(is_bad).row(0, named=True)
            bad = {**read.filter(is_bad).row(0, named=True), "texts": texts}
            line = shorten(texts["line"].rstrip())
            self._first = f"line {texts['number']}: {line}{self.why(bad)}"
        return whole

    def _device_of(self, frame: pl.DataFrame) -> pl.Expr:
        """Returns the column of the devices' names."""
        device = self._device
        if device is None:
            device = pl.col("device") if "device" in frame.columns else pl.lit("0")
        return device.alias("device")

    def _typed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Converts text columns to numbers; null where a text is no valid one."""
        # As files usually write them.
        cases = (str.lower, str.upper, str.capitalize)
        words = {case(word): op for word, op in self.ops.items() for case in cases}
        read = frame.select(
            "number",
            pl.col("time").cast(EXACT, strict=False),
            pl.col("op").replace_strict(words, default=None, return_dtype=pl.UInt8),
            self._device_of(frame),
            pl.col("offset").cast(pl.UInt64, strict=False),
            pl.col("length").cast(pl.UInt64, strict=False),
        )
        if read["op"].null_count():
            lower = frame["op"].str.to_lowercase()
            op = lower.replace_strict(self.ops, default=None, return_dtype=pl.UInt8)
            read = read.with_columns(op)
        for name in _NUMBERS:
            if (read[name] >= NUMBER_LIMIT).any():
                read = read.with_columns(pl.when(pl.col(name) < NUMBER_LIMIT).then(name))
        return _without_numbers_of_flushes(read)


def _without_numbers_of_flushes(frame: pl.DataFrame) -> pl.DataFrame:
    """Replaces offset and length of flushes by 0."""
    if not (frame["op"] == FLUSH).any():
        return frame
    zero = pl.when(pl.col("op") == FLUSH).then(pl.lit(0, pl.UInt64))
    return frame.with_columns(zero.otherwise(name).alias(name) for name in _NUMBERS)


def _in_threads(frame: pl.DataFrame, work: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Returns the result of `work` on all rows, which it reads row by row, on several threads."""
    parts = min(pl.thread_pool_size(), frame.height // _THREAD_LINES)
    if parts < 2:
        return work(frame)
    with ThreadPoolExecutor(parts) as pool:
        return pl.concat(pool.map(work, frame.iter_slices(-(-frame.height // parts))))


def _with_groups(frame: pl.DataFrame, line: str) -> pl.DataFrame:
    """Adds the groups of an expression as columns; null in lines that it does not match."""
    # `\d` also means the digits of other scripts, with which no expression is matched in one pass.
    groups = pl.col("line").str.extract_groups(line.replace(r"\d", "[0-9]")).alias("groups")
    return frame.with_columns(groups).unnest("groups")


class _LeftOut:
    """Lines of one kind that are no requests, and their count."""

    def __init__(self, expression: str, what: str) -> None:
        self._expression = expression
        self._what = what
        self._count = 0
        self._is_first = True

    def leave_out(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Counts the lines of this kind and returns all others."""
        hit = frame["line"].str.contains(self._expression).fill_null(False)
        if not hit.any():
            return frame
        numbers = frame.filter(hit)["number"]
        self._count += len(numbers)
        self._is_first = self._is_first and int(numbers.sum()) <= 1
        return frame.filter(~hit)

    def told(self) -> list[str]:
        """Returns the note about these lines; a single header at the top needs no note."""
        if self._is_first or not self._what:
            return []
        return [f"{plural(self._count, 'line')} left out: {self._what}"]


def number(column: str) -> pl.Expr:
    """Converts a text column to an address or a length; null if it is no valid one."""
    value = pl.col(column).cast(pl.UInt64, strict=False)
    return pl.when(value < NUMBER_LIMIT).then(value)


def unhex(column: str) -> pl.Expr:
    """Replaces hexadecimal numbers with `0x` in a text column by decimal numbers."""
    text = pl.col(column)
    digits = text.str.extract(r"^0[xX]([0-9A-Fa-f]+)$")
    value = digits.str.to_integer(base=16, dtype=pl.UInt64, strict=False)
    return pl.when(value.is_not_null()).then(value.cast(pl.String)).otherwise(text).alias(column)
