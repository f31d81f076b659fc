"""Delimited text of any form: the user says which column holds what.

`time=3,op=5,offset=2,length=4` names columns by number, from 1, or by the header in the first
line; `device` may be added. `read`, `write`, `trim` and `flush` give the word that stands for an
operation, where it is not one of `WORDS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .formats.disksim import time_unit
from .model import FLUSH, READ, TRIM, WRITE, Parsed, TraceError, shorten
from .text import RW, TIME, Head, match, parsed

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


def read(data: bytes, given: Mapping[str, str]) -> Parsed:
    """Takes text apart by what `parse_columns` returned.

    The first line tells the delimiter: the first of tab, comma, semicolon, bar and blanks that
    splits it into enough columns. It is a header where columns are named, or where its time is
    no number.
    """
    lines = Head.of(data).lines
    if not lines:
        raise TraceError("columns: expected lines of text")
    places = {key: value for key, value in given.items() if key not in OPERATIONS}
    delimiter, cells = _split(lines[0], places)
    at = {key: _index(value, cells) for key, value in places.items()}
    if doubled := [key for key in at if list(at.values()).count(at[key]) > 1]:
        raise TraceError(f"columns: {' and '.join(doubled)} are the same column")
    named = not all(value.isdecimal() for value in places.values())
    header = named or not re.fullmatch(f"-?{TIME}", cells[at["time"]])
    words = r"\s+".join(re.escape(word) for word in lines[0].split())
    matched = match(
        data, _line(delimiter, at), (rf"^\s*{words}\s*$", "the header") if header else None
    )
    if header and not named:
        matched.notes.append(f"the first line taken as a header: {shorten(lines[0])}")
    result = parsed(
        matched,
        WORDS | {given[op].lower(): code for op, code in OPERATIONS.items() if op in given},
        ("s", "bytes", "bytes"),
        guesses={
            "address": "addresses taken as bytes: nothing says their unit",
            "length": "lengths taken as bytes: nothing says their unit",
        },
    )
    unit, result.guesses["time"] = time_unit(result.frame)
    result.units = (unit, "bytes", "bytes")
    return result


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
