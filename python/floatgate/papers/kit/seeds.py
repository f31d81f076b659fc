"""Rows of figures and tables: each stands for runs that differ in their seeds alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from .claims import Point
from .exhibits import Format, Row
from .numbers import mean_row, spread

Key = Callable[[Any], Any]


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


def spread_rows(
    points: Iterable[Any], numbers: Mapping[str, Format], *fields: str, **keys: Key
) -> list[Row]:
    """Returns the keys of each group with mean and interval of each field, in its format."""
    return [row | spread_row(alike, numbers) for row, alike in grouped(points, *fields, **keys)]


def spread_row(points: Iterable[Any], numbers: Mapping[str, Format]) -> Row:
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
