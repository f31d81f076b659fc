"""Numbers of runs over seeds: means with intervals, and the rows that figures and tables make of
runs that differ in their seeds alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from floatgate.results.intervals import mean_and_half_width
from floatgate.results.values import fixed

from .claims import Point
from .exhibits import Format, Row
from .experiment import Axis

Key = Callable[[Any], Any]


def digits(number: int) -> Format:
    """Returns the format of numbers with this many digits after the point."""
    return partial(fixed, digits=number)


def plus_minus(mean: float, half: float | None, text: Format) -> str:
    """Formats a mean with half of its interval, if it has an interval: "1.23 ± 0.04"."""
    return text(mean) + (f" ± {text(half).lstrip('+')}" if half else "")


def spread(values: Sequence[float], text: Format) -> str:
    """Formats a mean over seeds with half its 95 % interval, if values differ."""
    return mean_text(text)(mean_row(values))


def mean_row(values: Iterable[float]) -> Row:
    """Returns a mean over seeds and half its 95 % interval, which is None for one value."""
    mean, half = mean_and_half_width(list(values))
    return {"value": mean, "half": half}


def mean_text(text: Format) -> Callable[[Row], str]:
    """Returns the format of a column with rows of `mean_row` in its cells."""
    return lambda cell: plus_minus(cell["value"], cell["half"], text)


def points_at(points: Iterable[Point], axes: Iterable[Axis], **levels: str | None) -> list[Point]:
    """Returns the points with these levels, and with the default of every other axis. None leaves
    an axis open. A run on which an axis has no effect matches each of its levels."""
    wanted = {axis.key: axis.default for axis in axes} | levels
    return [
        point
        for point in points
        if all(
            level is None or getattr(point, axis, None) in (None, level)
            for axis, level in wanted.items()
        )
    ]


def grouped(
    points: Iterable[Point], *fields: str, **keys: Key
) -> Iterator[tuple[Row, list[Point]]]:
    """Yields the keys of each group, which are fields of a point or computed, and its points."""
    named: dict[str, Key] = {field: attrgetter(field) for field in fields} | keys
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        groups.setdefault(tuple(key(point) for key in named.values()), []).append(point)
    for group, alike in groups.items():
        yield dict(zip(named, group, strict=True)), alike


def values_of(points: Iterable[Any], number: str | Key) -> list[float]:
    """Returns a number of each point that has it: a field, or computed."""
    of = attrgetter(number) if isinstance(number, str) else number
    return [value for point in points if (value := of(point)) is not None]


def mean_rows(points: Iterable[Any], number: str | Key, *fields: str, **keys: Key) -> list[Row]:
    """Returns the keys of each group with the mean of a number as `value`, and half of its 95 %
    interval as `half`. A group without the number has no row."""
    return [
        row | mean_row(values)
        for row, alike in grouped(points, *fields, **keys)
        if (values := values_of(alike, number))
    ]


def text_rows(
    points: Iterable[Any], numbers: Mapping[str, Format], *fields: str, **keys: Key
) -> list[Row]:
    """Returns the keys of each group with mean and interval of each field, in its format."""
    return [row | text_row(alike, numbers) for row, alike in grouped(points, *fields, **keys)]


def text_row(points: Iterable[Any], numbers: Mapping[str, Format]) -> Row:
    return {
        number: spread(values, form)
        for number, form in numbers.items()
        if (values := values_of(points, number))
    }


def cells_across(
    points: Iterable[Any], column: str, number: str | Key, form: Format
) -> dict[str, str]:
    """Returns a cell for each value of `column`: mean and interval of a number."""
    return {
        str(row[column]): spread(values, form)
        for row, alike in grouped(points, column)
        if (values := values_of(alike, number))
    }


def by_line(points: Iterable[Any]) -> dict[tuple[str, str], dict[int, Any]]:
    """Returns points by workload and line, and then by seed. All are at one point."""
    lines: dict[tuple[str, str], dict[int, Any]] = {}
    for point in points:
        lines.setdefault((point.trace, point.line), {})[point.seed] = point
    return lines
