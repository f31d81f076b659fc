"""Numbers of an advice as text, as a table of lifetimes, and as the large numbers of its page."""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT, count, fixed, measured, percent, size

from .answers import AMPLIFICATION, DAILY, WRITTEN, YEARS_SOLD, YEARS_SPAN, years_text
from .lines import Advice, Line, Number

COLUMNS = (AMPLIFICATION, DAILY, YEARS_SPAN, WRITTEN, YEARS_SOLD)
"""Columns of the table of lifetimes. A column is left out if no drive has its number."""

TITLES = {
    "footprint": "Data",
    "amplification": "Write amplification",
    "separation": "Separated",
    "map": "Map memory",
    "life": "Life",
    "latency": "Latency",
    "streams": "Streams",
}
"""Names of the large numbers, by question."""

BOUNDS = ("one stream", "one handle", "oracle")
"""Numbers that a scheme or a way to name streams is compared with."""


def words(number: Number) -> str:
    """Returns a number as text for people, in its unit."""
    if number.unit in ("bytes", "share"):
        return size(number.value) if number.unit == "bytes" else percent(number.value)
    if number.unit == "years":
        return years_text(number.value)
    if number.unit == "DWPD":
        return fixed(number.value, 2)
    if number.unit == "TB":
        return f"{count(number.value)} TB"
    if not number.unit:
        text = fixed(number.value, 2)
        return text if number.high is None else f"{text} ± {fixed(number.high - number.value, 2)}"
    return f"{measured(number.value)} {'µs' if number.unit == 'us' else number.unit}"


def life_table(found: Advice) -> Table:
    """Returns a row for each drive and spare factor, without rows if lifetimes are not known."""
    numbers = {(one.of, one.name): one for one in found["life"].numbers}
    drives = list(dict.fromkeys(one.of for one in found["life"].numbers))
    names = [name for name in COLUMNS if any((drive, name) in numbers for drive in drives)]
    rows = [
        [Cell(drive, drive), *(_cell(numbers.get((drive, name))) for name in names)]
        for drive in drives
    ]
    return Table("Life of a drive", ["Drive", *names], rows)


def _cell(number: Number | None) -> Cell:
    return Cell(ABSENT) if number is None else Cell(words(number), number.value)


def large_numbers(found: Advice) -> list[tuple[str, str]]:
    """Returns the number that answers each question first, with its name."""
    chosen = [(line.key, _largest(line)) for line in found.lines if line.numbers]
    return [(f"{TITLES[key]}, {one.of or one.name}", words(one)) for key, one in chosen]


def _largest(line: Line) -> Number:
    by_name: dict[str, Number] = {one.name: one for one in reversed(line.numbers)}
    if line.key == "life":
        return next(by_name[name] for name in (YEARS_SOLD, YEARS_SPAN, DAILY) if name in by_name)
    if line.key in ("separation", "streams"):
        tried: Sequence[Number] = [one for one in line.numbers if one.name not in BOUNDS]
        return min(tried, key=lambda one: one.value)
    if line.key == "map":
        return line.numbers[1]
    return line.numbers[0]
