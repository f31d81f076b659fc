"""Delimited text of any form: the user states the meaning of each column.

`time=3,op=5,offset=2,length=4` names columns by number, from 1, or by title; `device` is optional.
`read`, `write`, `trim` and `flush` define further words for an operation, joined by plus signs.
Words in `WORDS` and rwbs of the kernel need no definition. Addresses and lengths may be
hexadecimal, and times may have a decimal comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from . import rwbs
from .formats.disksim import UntimedReader
from .headers import BLANKS, DELIMITERS, cells_of, unit_in
from .model import (
    FLUSH,
    NO_REQUESTS,
    READ,
    TRIM,
    UNSTATED,
    WRITE,
    Parsed,
    TraceError,
    plural,
    shorten,
)
from .separators import Separators
from .text import IDLE, RW

NEEDED = ("time", "op", "offset", "length")
OPERATIONS = {"read": READ, "write": WRITE, "trim": TRIM, "flush": FLUSH}
WORDS = {**RW, "t": TRIM, "trim": TRIM, "d": TRIM, "discard": TRIM, "f": FLUSH, "flush": FLUSH}

#: Bytes at the start of a file that are searched for a header.
_TOP_BYTES = 1 << 16

#: Matches a number, with or without separators.
_NUMBER = r"-?(?:0[xX][0-9A-Fa-f]+|\d[\d.,'\u2019\u00a0\u202f ]*(?:[eE][+-]?\d+)?)"

#: Matches an rwbs word of the kernel with several letters, such as WS, RA or FWFS.
_RWBS = r"^F?[RWD][EFASMU]+$|^F[RWDFN][EFASMU]*$"

_EXPECTED = "expected time=N,op=N,offset=N,length=N, N the number or the name of a column"


def parse_columns(given: str | Mapping[str, str | int]) -> dict[str, str]:
    """Returns the given columns as texts by key.

    Raises `TraceError` if a key is missing, unknown or repeated, or if a word is given for two
    operations.
    """
    if isinstance(given, str):
        pairs = [part.partition("=") for part in given.split(",")]
        items = [(key.strip(), value.strip()) for key, _, value in pairs]
    else:
        items = [(key, str(value)) for key, value in given.items()]
    found = dict(items)
    known = (*NEEDED, "device", *OPERATIONS)
    if len(found) < len(items) or not all(found.values()) or not {*found} <= {*known}:
        raise TraceError(
            f"columns: {given!r} given; {_EXPECTED}; optional are device, and a word for an "
            f"operation: {', '.join(OPERATIONS)}"
        )
    if missing := [key for key in NEEDED if key not in found]:
        raise TraceError(f"columns: {missing[0]} is missing in {given!r}; {_EXPECTED}")
    words = [word for op in OPERATIONS if op in found for word in words_of(found[op])]
    if doubled := next((word for word in words if words.count(word) > 1), None):
        raise TraceError(f"columns: {doubled!r} stands for an operation twice in {given!r}")
    return found


def words_of(given: str) -> list[str]:
    """Splits text at plus signs, in lower case; a plus at either end makes it a single word."""
    words = given.lower().split("+")
    return words if all(words) else [given.lower()]


def is_operation(word: str) -> bool:
    """Returns whether `word` names an operation without a definition by the user."""
    return word.lower() in WORDS or bool(re.search(_RWBS, word))


class Reader(UntimedReader):
    """Reads text with the columns that `parse_columns` returned.

    If any column is given by title, the header is the first line with all given columns. Otherwise
    the first request is the first line with numbers for time, address and length, and the line
    above it is the header. Lines above the header are left out. The delimiter is the first of tab,
    comma, semicolon, bar and blanks that splits this line into enough columns. Quoted text is never
    split.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._places = {key: value for key, value in given.items() if key not in OPERATIONS}
        self._words = {
            word: code
            for op, code in OPERATIONS.items()
            if op in given
            for word in words_of(given[op])
        }
        self._top: _Top | None = None
        self._above = self._headers = 0
        self._separators = Separators()
        self._is_aligned = True

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        if self._top is None:
            self._top = _top_of(data, last, self._places)
            if self._top is None:
                return NO_REQUESTS, 0
            self._begin(self._top)
        frame, used = super().take(data, last)
        self._is_aligned = self._is_aligned and not (frame["length"] % 512 != 0).any()
        return frame, used

    def _begin(self, top: _Top) -> None:
        at = {key: _index(value, top.cells) for key, value in self._places.items()}
        if doubled := [key for key in at if list(at.values()).count(at[key]) > 1]:
            raise TraceError(f"columns: {' and '.join(doubled)} are the same column")
        if top.is_titled:
            for value in self._places.values():
                _refuse_doubled(value, top.cells)
        address, why_address = _space("addresses", top.title(at["offset"]))
        length, why_length = _space("lengths", top.title(at["length"]))
        super().__init__(
            _line(top.delimiter, at),
            WORDS | self._words,
            ("s", address, length),
            guesses={"address": why_address, "length": why_length},
        )
        self.title = top.title(at["time"])

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        top = self._top
        assert top is not None
        below = frame.filter(pl.col("number") > top.above)
        self._above += frame.height - below.height
        lines = below.filter(pl.col("line").str.strip_chars() != (top.header or ""))
        self._headers += below.height - lines.height
        lines = lines.with_columns(pl.col(key).str.strip_chars(' \t"') for key in self._places)
        lines = self._separators.leave_out(lines)
        return super().rows(_one_op_a_row(lines, self.ops))

    def told(self) -> Parsed:
        parsed = super().told()
        parsed.cause = self._separators.doubt()
        if not self._is_aligned and parsed.units[2] == "bytes":
            parsed.guesses["length"] += ", and some are no multiples of 512"
        return parsed

    def notes(self) -> list[str]:
        notes = self._separators.notes()
        top = self._top
        if top is None:
            return notes
        if self._headers > 1:
            notes.append(f"{plural(self._headers - 1, 'line')} left out: the header")
        if self._above:
            lines = plural(self._above, "line")
            notes.append(
                f"{lines} above the header left out, the first: {shorten(top.first.strip())}"
            )
        if top.header is not None and not _has_names(self._places):
            place = f"line {top.above + 1}" if top.above else "the first line"
            notes.append(f"{place} taken as a header: {shorten(top.header)}")
        return notes


@dataclass(frozen=True)
class _Top:
    """Header or first request of a file, and the number of lines above it."""

    above: int
    """Number of lines above the header, or above the first request if there is no header."""
    first: str
    """The first line that is neither empty nor a comment."""
    delimiter: str
    cells: list[str]
    """Cells of the header, or of the first request."""
    header: str | None = None
    is_titled: bool = False
    """Whether the cells are column titles."""

    def title(self, index: int) -> str:
        """Returns the title of a column, or an empty text if it has none."""
        return self.cells[index] if self.is_titled and index < len(self.cells) else ""


def _top_of(data: bytes, last: bool, places: Mapping[str, str]) -> _Top | None:
    """Returns the top of a file that begins with `data`, or None if more data is needed."""
    head = data[:_TOP_BYTES]
    is_all = last or len(data) > _TOP_BYTES
    lines = head.decode("utf-8-sig", "replace").split("\n")
    if not is_all:
        lines.pop()
    filled = [(at, line) for at, line in enumerate(lines) if not re.match(IDLE, line)]
    if b"\0" in head or (is_all and not filled):
        raise TraceError("columns: expected lines of text")
    named = _has_names(places)
    top = _named_top(lines, filled, places) if named else _numbered_top(filled, places)
    return top if top is not None or not is_all else _plain_top(filled[0][1], places)


def _has_names(places: Mapping[str, str]) -> bool:
    return not all(value.isdecimal() for value in places.values())


def _named_top(
    lines: Sequence[str], filled: Sequence[tuple[int, str]], places: Mapping[str, str]
) -> _Top | None:
    """Finds the line of titles, which may be a comment."""
    for at, line in enumerate(lines):
        bare = line.strip()
        for delimiter, cells in _splits(bare.lstrip("#").strip(), places):
            header = None if bare.startswith("#") else bare
            return _Top(at, filled[0][1] if filled else "", delimiter, cells, header, True)
    return None


def _numbered_top(filled: Sequence[tuple[int, str]], places: Mapping[str, str]) -> _Top | None:
    """Finds the first line with numbers for time, offset and length; the line above is a header."""
    for index, (at, line) in enumerate(filled):
        for delimiter, cells in _splits(line, places):
            numbers = (cells[int(places[key]) - 1] for key in ("time", "offset", "length"))
            if not all(re.fullmatch(_NUMBER, cell) for cell in numbers):
                continue
            if not index:
                return _Top(at, line, delimiter, cells)
            above, header = filled[index - 1]
            titles = cells_of(header, delimiter)
            is_titled = len(titles) == len(cells)
            used = titles if is_titled else cells
            return _Top(above, filled[0][1], delimiter, used, header.strip(), is_titled)
    return None


def _plain_top(first: str, places: Mapping[str, str]) -> _Top:
    """Returns the first line as the top, in a file where no line has valid values.

    Raises `TraceError` if the first line lacks one of the columns.
    """
    for delimiter, cells in _splits(first, places):
        is_header = not _has_names(places) and not re.fullmatch(
            _NUMBER, cells[int(places["time"]) - 1]
        )
        return _Top(0, first, delimiter, cells, first.strip() if is_header else None)
    titles = max((cells_of(first, delimiter) for delimiter in DELIMITERS), key=len)
    named = [value for value in places.values() if not value.isdecimal()]
    missing = [value for value in named if value not in titles]
    if len(missing) < len(named):
        raise TraceError(
            f"columns: no column is called {missing[0]!r}; expected one of "
            f"{', '.join(map(shorten, titles))}"
        )
    wanted = ", ".join(f"{key}={value}" for key, value in places.items())
    raise TraceError(
        f"columns: {wanted} given, but the first line is {shorten(first)}; expected these columns "
        "between tabs, commas, semicolons, bars or blanks"
    )


def _splits(line: str, places: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yields each delimiter that gives the line every column, with the cells."""
    for delimiter in DELIMITERS:
        cells = cells_of(line, delimiter)
        if all(_index(value, cells) >= 0 for value in places.values()):
            yield delimiter, cells


def _index(value: str, cells: Sequence[str]) -> int:
    """Returns the index of the column with this number or title, or -1."""
    if value.isdecimal():
        return int(value) - 1 if int(value) <= len(cells) else -1
    return cells.index(value) if value in cells else -1


def _refuse_doubled(title: str, titles: Sequence[str]) -> None:
    """Raises `TraceError` if a column is given by a title that several columns have."""
    numbers = [str(at) for at, one in enumerate(titles, 1) if one == title]
    if not title.isdecimal() and len(numbers) > 1:
        raise TraceError(
            f"columns: {len(numbers)} columns are called {title!r}; expected the number of one: "
            f"{' or '.join(numbers)}"
        )


def _line(delimiter: str, at: Mapping[str, int]) -> str:
    """Returns the expression of a line, with a named group for each requested column."""
    blanks = delimiter == BLANKS
    text = r'"[^"]*"|[^ \t"]+' if blanks else f'"[^"]*"|[^{delimiter}"]*?'
    other = r'"[^"]*"|\S+' if blanks else f' *"[^"]*" *|[^{delimiter}]*'
    names = {index: key for key, index in at.items()}
    cells = [
        rf" *(?P<{names[index]}>{text}) *" if index in names else f"(?:{other})"
        for index in range(max(names) + 1)
    ]
    start, rest = (r"\s*", r"\s.*") if blanks else ("", f"{delimiter}.*")
    return rf"^{start}{delimiter.join(cells)}(?:{rest})?\s*$"


def _space(what: str, title: str) -> tuple[str, str]:
    """Returns the unit of addresses or lengths under a title, and a sentence with the reason."""
    unit = unit_in(title, "space")
    if unit is None:
        return "bytes", f"{what} taken as bytes: {UNSTATED}"
    return unit, f"{what} taken as {unit}: their column is called {shorten(title)}"


def _one_op_a_row(frame: pl.DataFrame, words: Mapping[str, int]) -> pl.DataFrame:
    """Replaces rwbs words by the letter of the operation; a flush before a write gets its own row.

    Words in `words` are not replaced.
    """
    op = pl.col("op")
    is_rwbs = op.str.contains(_RWBS) & ~op.str.to_lowercase().is_in([*words])
    frame = frame.with_columns(pl.when(is_rwbs).then(op).alias("rwbs"), op.alias("word"))
    split = rwbs.one_op_a_row(frame)
    return split.with_columns(pl.coalesce("op", "word").alias("op"))
