"""Numbers of an advice as text, as a table of lifetimes, and as the large numbers of its page."""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.results.tables import Cell, Table, Unit
from floatgate.results.values import (
    ABSENT,
    NARROW_SPACE,
    TIMES,
    count,
    fixed,
    measured,
    percent,
    size,
)

from .answers import (
    AMPLIFICATION,
    DAILY,
    DAYS,
    WRITTEN,
    YEARS,
    YEARS_SOLD,
    YEARS_SPAN,
    years_text,
)
from .lines import Advice, Line, Number

COLUMNS = (AMPLIFICATION, DAILY, YEARS_SPAN, WRITTEN, YEARS_SOLD)
"""Columns of the table of lifetimes. A column is left out if no drive has its number."""

TITLES = {
    "footprint": "Data",
    "amplification": "Write amplification",
    "separation": "Write amplification",
    "map": "Map memory",
    "life": "Life",
    "latency": "Latency",
    "streams": "Write amplification, streams",
}
"""Names of the large numbers, by question."""

PERIODS = (("hours", 1 / 24 / DAYS), ("days", 1 / DAYS), ("years", 1.0))
"""Units of lives, with their length in years."""

BOUNDS = ("one stream", "one handle", "oracle")
"""Numbers that a scheme or a way to name streams is compared with."""


def words(number: Number, time: Unit = TIMES[0]) -> str:
    """Returns a number as text for people, in its unit; latencies are in the unit `time`."""
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
    if number.unit == "us":
        return f"{measured(number.value / time[1])}{NARROW_SPACE}{time[0]}"
    return f"{measured(number.value)} {number.unit}"


def time_of(numbers: Sequence[Number]) -> Unit:
    """Returns the largest unit in which the longest of the latencies is 1 or more."""
    ends = [one.value if one.high is None else one.high for one in numbers if one.unit == "us"]
    fit = [unit for unit in TIMES if max(ends, default=0.0) >= unit[1]]
    return fit[-1] if fit else TIMES[0]


def life_table(found: Advice) -> Table:
    """Returns a row for each drive and spare factor, without rows if lifetimes are not known.

    The numbers of a column have one unit.
    """
    numbers = {(one.of, one.name): one for one in found["life"].numbers}
    drives = list(dict.fromkeys(one.of for one in found["life"].numbers))
    names = [name for name in COLUMNS if any((drive, name) in numbers for drive in drives)]
    columns = [_column(name, [numbers.get((drive, name)) for drive in drives]) for name in names]
    cells = zip(drives, *(own for _, own in columns), strict=True)
    rows = [[Cell(drive, drive), *own] for drive, *own in cells]
    return Table("Life of a drive", ["Drive", *(title for title, _ in columns)], rows)


def _column(name: str, numbers: Sequence[Number | None]) -> tuple[str, list[Cell]]:
    """Returns the title of a column with its unit, and its cells."""
    known = [one.value for one in numbers if one is not None]
    unit = next((one.unit for one in numbers if one is not None), "")
    title = f"{name[:1].upper()}{name[1:]}"
    if unit == "years":
        fit = [period for period in PERIODS if max(known) >= period[1]]
        unit, length = fit[-1] if fit else PERIODS[0]
        cells = [_cell(one, measured(one.value / length) if one else "") for one in numbers]
        return f"{title}, {unit}", cells
    if unit == "TB":
        cells = [_cell(one, count(one.value) if one else "") for one in numbers]
        return f"{title}, {unit}", cells
    return title, [_cell(one, words(one) if one else "") for one in numbers]


def _cell(number: Number | None, text: str) -> Cell:
    return Cell(ABSENT) if number is None else Cell(text, number.value)


def large_numbers(found: Advice) -> list[tuple[str, str]]:
    """Returns the number that answers each question first, with its name."""
    chosen = [(line, _largest(line)) for line in found.lines if line.numbers]
    return [
        (f"{TITLES[line.key]}, {one.of or one.name}", words(one, time_of(line.numbers)))
        for line, one in chosen
    ]


def headline(found: Advice) -> str:
    """Returns the answer in one sentence: what cleaning costs, and how long a drive lasts."""
    cleaning = found["amplification"]
    if not cleaning.numbers:
        reason = cleaning.answer.removeprefix(f"{cleaning.found}: ")
        return f"{'The trace is ' if reason.startswith('too') else 'No steady state: '}{reason}."
    filled_in_order = [one for one in cleaning.numbers if not one.of]
    least, most = filled_in_order[0], filled_in_order[-1]
    text = f"Write amplification is {words(least)} with {least.name}"
    if most is not least:
        text += f" and {words(most)} with {most.name}"
    lives = found["life"].numbers
    if not lives:
        return f"{text}."
    return f"{text}. {_life(lives)}"


def _life(lives: Sequence[Number]) -> str:
    """Returns a sentence on the drives that last; without times, on what they endure a day."""
    sold = [one for one in lives if one.name == YEARS_SOLD]
    if not sold:
        known = [one for one in lives if one.name == DAILY]
        least, most = (of(known, key=lambda one: one.value) for of in (min, max))
        return (
            f"{most.of}, endures {words(most)} drive writes a day, and {least.of}, {words(least)}."
        )
    first = min(sold, key=lambda one: one.value)
    short = [one for one in sold if (one.value if one.low is None else one.low) < YEARS]
    if short:
        return f"At this rate {len(short)} of {len(sold)} drives may not last {YEARS} years."
    return f"At this rate every drive lasts {YEARS} years; the first to fail, {words(first)}."


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
