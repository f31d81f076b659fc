"""Delimited text of any form: the user says which column holds what.

`time=3,op=5,offset=2,length=4` names columns by number, from 1, or by the header in the first
line; `device` may be added. `read`, `write`, `trim` and `flush` give the word that stands for an
operation, where it is not one of `WORDS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from .formats.disksim import UntimedReader
from .model import FLUSH, NO_REQUESTS, READ, TRIM, WRITE, TraceError, shorten
from .text import RW, TIME, Head

NEEDED = ("time", "op", "offset", "length")
OPERATIONS = {"read": READ, "write": WRITE, "trim": TRIM, "flush": FLUSH}
WORDS = {**RW, "t": TRIM, "trim": TRIM, "d": TRIM, "discard": TRIM, "f": FLUSH, "flush": FLUSH}

_BLANKS = r"[ \t]+"
#: What stands between two columns, in the order in which it is tried.
_DELIMITERS = (r"\t", ",", ";", r"\|", _BLANKS)

_EXPECTED = "expected time=N,op=N,offset=N,length=N, N the number or the name of a column"


def parse_columns(given: str | Mapping[str, str | int]) -> dict[str, str]:
    """What was given, as texts; raises `TraceError` where a key is missing, unknown or doubled."""
    if isinstance(given, str):
        pairs = [part.partition("=") for part in given.split(",")]
        items = [(key.strip(), value.strip()) for key, _, value in pairs]
    else:
        items = [(key, str(value)) for key, value in given.items()]
    found = dict(items)
    known = (*NEEDED, "device", *OPERATIONS)
    if len(found) < len(items) or not all(found.values()) or not {*found} <= {*known}:
        raise TraceError(
            f"columns: {given!r} given; {_EXPECTED}; besides these, device, and the word that "
            f"stands for an operation: {', '.join(OPERATIONS)}"
        )
    if missing := [key for key in NEEDED if key not in found]:
        raise TraceError(f"columns: {missing[0]} is missing in {given!r}; {_EXPECTED}")
    return found


class Reader(UntimedReader):
    """Takes text apart by what `parse_columns` returned.

    The first line tells the delimiter: the first of tab, comma, semicolon, bar and blanks that
    splits it into enough columns. It is a header where columns are named, or where its time is
    no number.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._places = {key: value for key, value in given.items() if key not in OPERATIONS}
        self._ops = {given[op].lower(): code for op, code in OPERATIONS.items() if op in given}
        self._header: str | None = None
        self._is_begun = False

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        if not self._is_begun:
            lines = Head.of(data if last else data[: data.rfind(b"\n") + 1]).lines
            if not lines and not last:
                return NO_REQUESTS, 0
            if not lines:
                raise TraceError("columns: expected lines of text")
            self._begin(lines[0])
        return super().take(data, last)

    def _begin(self, first: str) -> None:
        delimiter, cells = _split(first, self._places)
        at = {key: _index(value, cells) for key, value in self._places.items()}
        if doubled := [key for key in at if list(at.values()).count(at[key]) > 1]:
            raise TraceError(f"columns: {' and '.join(doubled)} are the same column")
        named = not all(value.isdecimal() for value in self._places.values())
        header = named or not re.fullmatch(f"-?{TIME}", cells[at["time"]])
        words = r"\s+".join(re.escape(word) for word in first.split())
        super().__init__(
            _line(delimiter, at),
            WORDS | self._ops,
            ("s", "bytes", "bytes"),
            other=(rf"^\s*{words}\s*$", "the header") if header else None,
            guesses={
                "address": "addresses taken as bytes: nothing says their unit",
                "length": "lengths taken as bytes: nothing says their unit",
            },
        )
        self._header = first if header and not named else None
        self._is_begun = True

    def notes(self) -> list[str]:
        if self._header is None:
            return []
        return [f"the first line taken as a header: {shorten(self._header)}"]


def _split(line: str, places: Mapping[str, str]) -> tuple[str, list[str]]:
    """The delimiter and the cells of the first line, which has every column that is asked for."""
    for delimiter in _DELIMITERS:
        whole = line.strip() if delimiter == _BLANKS else line
        cells = [cell.strip(' \t"') for cell in re.split(delimiter, whole)]
        if all(_index(value, cells) >= 0 for value in places.values()):
            return delimiter, cells
    wanted = ", ".join(f"{key}={value}" for key, value in places.items())
    raise TraceError(
        f"columns: {wanted} given, but the first line is {shorten(line)}; expected these columns "
        "between tabs, commas, semicolons, bars or blanks"
    )


def _index(value: str, cells: list[str]) -> int:
    """The index of the column with this number or name; -1 where there is none."""
    if value.isdecimal():
        return int(value) - 1 if int(value) <= len(cells) else -1
    return cells.index(value) if value in cells else -1


def _line(delimiter: str, at: Mapping[str, int]) -> str:
    """The expression of a line with named groups where columns are asked for."""
    blanks = delimiter == _BLANKS
    text = r'[^ \t"]+' if blanks else f'[^{delimiter}"]*?'
    names = {index: key for key, index in at.items()}
    cells = []
    for index in range(max(names) + 1):
        if index in names:
            cells.append(rf' *"? *(?P<{names[index]}>{text}) *"? *')
        else:
            cells.append(r"\S+" if blanks else f"[^{delimiter}]*")
    start, rest = (r"\s*", r"\s.*") if blanks else ("", f"{delimiter}.*")
    return rf"^{start}{delimiter.join(cells)}(?:{rest})?\s*$"
