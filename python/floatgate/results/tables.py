"""Tables of results as text ready to draw: the terminal, the report and notebooks draw them.

Cells keep the raw number for sorting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, NamedTuple

from floatgate.result_types import LatencySummary, ResultFields, SpaceResult

from .values import (
    ABSENT,
    SIZES,
    TIMES,
    count,
    fixed,
    interval,
    percent,
    ratio,
    size,
    unit_of,
)

LAST = "write_amplification_last_quarter"
"""Metric that terminals leave out if, in every run, it is close to the mean of the run."""

Unit = tuple[str, float]
"""Name and size of a unit."""

Interval = tuple[float | None, float | None]
"""Mean and half the width of its interval; None where a number does not exist."""


class Part(NamedTuple):
    """Part of a bar that a cell shows below its text."""

    name: str
    number: int
    share: float
    """Share of the bar, in per cent."""

    @property
    def kind(self) -> str:
        """Name as a CSS class."""
        return self.name.replace(" ", "-")


@dataclass(frozen=True)
class Cell:
    """One cell: its text, and the number or text that sorts it."""

    text: str
    order: float | str | None = None
    metric: str = ""
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Table:
    """Table whose first column names the row."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    text_columns: frozenset[int] = field(default=frozenset({0}))
    """Columns of text, aligned left; the others hold numbers and are aligned right."""


@dataclass(frozen=True)
class Column:
    """Column of numbers: its heading, with the unit of all its cells, and its cells."""

    title: str
    cells: list[Cell]


Make = Callable[[str, Sequence[float | None]], Column]
"""Makes a column from a title and values."""


def written(write: Callable[[float | None], str]) -> Make:
    """Returns a maker of columns that formats every number with `write`."""
    return lambda title, values: Column(title, [Cell(write(value), value) for value in values])


def in_unit(title: str, found: Sequence[Interval], units: Sequence[Unit]) -> Column:
    """Returns a column of means in the unit that suits them, which the heading names."""
    unit, base = unit_of([mean for mean, _ in found], units)

    def scaled(value: float | None) -> float | None:
        return None if value is None else value / base

    known = [(scaled(mean), scaled(half)) for mean, half in found]
    cells = [Cell(interval(mean, half), mean) for mean, half in known]
    return Column(f"{title},\N{NO-BREAK SPACE}{unit}" if unit else title, cells)


def in_unit_of(units: Sequence[Unit]) -> Make:
    """Returns a maker of columns in the unit that suits the values."""
    return lambda title, values: in_unit(title, [(value, None) for value in values], units)


def per_cent(mean: float | None, half: float | None) -> str:
    """Returns a difference in per cent, with its sign."""
    sign = "+" if mean is not None and mean > 0 else ""
    return ABSENT if mean is None else f"{sign}{interval(mean, half)} %"


class Metric(NamedTuple):
    """Number of a result: its headings, its place and its format."""

    name: str
    title: str
    """Heading in a report."""
    short: str
    """Heading in a terminal; empty if terminals do not show the number."""
    path: str
    """Place in a result, and column of `comparison_table`: `latency.all.p99_us`."""
    write: Callable[[float | None], str] | None = None
    """Formats the number without an interval; None if the heading names one of the units."""
    units: Sequence[Unit] = (("", 1.0),)
    """Units of a mean with its interval, and of the number without one if `write` is None."""

    def of(self, result: ResultFields) -> Any:
        """Returns the number of a result; of a list, its length."""
        value = attrgetter(self.path)(result)
        return len(value) if isinstance(value, tuple) else value

    def column(self, title: str, values: Sequence[float | None]) -> Column:
        make = written(self.write) if self.write else in_unit_of(self.units)
        return self._named(make(title, values))

    def means(self, title: str, found: Sequence[Interval]) -> Column:
        """Returns a column of means with their intervals."""
        return self._named(in_unit(title, found, self.units))

    def _named(self, made: Column) -> Column:
        return Column(made.title, [replace(cell, metric=self.name) for cell in made.cells])


_METRICS = (
    Metric("write_amplification", "Write amplification", "WA", "write_amplification", ratio),
    Metric(LAST, "Last quarter", "last quarter", LAST, ratio),
    Metric("data_write_amplification", "Data WA", "data WA", "data_write_amplification", ratio),
    Metric("hit_ratio", "Map hit ratio", "map hits", "mapping.hit_ratio", percent, (("%", 0.01),)),
    Metric("mean_us", "Mean", "mean", "latency.all.mean_us", units=TIMES),
    Metric("p99_us", "p99", "p99", "latency.all.p99_us", units=TIMES),
    Metric("p999_us", "p99.9", "p99.9", "latency.all.p999_us", units=TIMES),
    Metric("iops", "IOPS", "IOPS", "throughput.iops", count),
    Metric("erases", "Erases", "erases", "flash.erases.total", count),
    Metric("device_seconds", "Device time", "", "throughput.device_seconds", units=(("s", 1.0),)),
    Metric("lifetime_bytes", "TBW", "", "lifetime.host_bytes", units=SIZES),
    Metric("warnings", "Warnings", "", "warnings", count),
)

METRICS = {metric.name: metric for metric in _METRICS}
"""Main numbers of a result, in the order of the columns of a comparison."""


def beside(title: str, names: Mapping[str, Sequence[str]], columns: Sequence[Column]) -> Table:
    """Joins columns into a table: text columns first, keyed by their headings, then numbers."""
    texts = [[Cell(text, text) for text in texts] for texts in names.values()]
    every = [*texts, *(column.cells for column in columns)]
    titles = [*names, *(column.title for column in columns)]
    rows = [list(row) for row in zip(*every, strict=True)]
    return Table(title, titles, rows, frozenset(range(len(names))))


KINDS: dict[str, Callable[[ResultFields], LatencySummary]] = {
    "read": lambda result: result.latency.read,
    "write": lambda result: result.latency.write,
    "all": lambda result: result.latency.all,
}
"""Response times of a result, by kind of request."""

QUANTILES: dict[str, Callable[[LatencySummary], float | None]] = {
    "Mean": lambda times: times.mean_us,
    "Std dev": lambda times: times.stdev_us,
    "p50": lambda times: times.p50_us,
    "p95": lambda times: times.p95_us,
    "p99": lambda times: times.p99_us,
    "p99.9": lambda times: times.p999_us,
    "p99.99": lambda times: times.p9999_us,
    "Max": lambda times: times.max_us,
}
"""Statistics of a result's response times, by heading."""


def latency_columns(
    summaries: Sequence[LatencySummary], units: Sequence[Unit] = TIMES
) -> list[Column]:
    """Returns the number of requests and their response times; each column has one of the units."""
    requests = written(count)("Requests", [summary.requests for summary in summaries])
    return [requests] + [
        in_unit_of(units)(title, [quantile(summary) for summary in summaries])
        for title, quantile in QUANTILES.items()
    ]


SPACE = {
    "user": "host",
    "log": "log of the host",
    "map": "map",
    "spare": "spare",
    "cleaning": "reserve of cleaning",
    "slc": "SLC cache",
    "journal": "journal",
    "fault": "spare units",
    "reserve": "kept",
    "parity": "parity",
}
"""Uses of the flash, by the names of the fields of `space` without `_bytes`."""


def space_parts(space: SpaceResult) -> list[tuple[str, int]]:
    """Returns the uses of the whole flash with their bytes, without the uses that take none."""
    parts = [(name, getattr(space, f"{key}_bytes")) for key, name in SPACE.items()]
    return [(name, value) for name, value in parts if value]


def space_table(space: SpaceResult) -> Table | None:
    """Divides the whole flash by use; returns None if the result has no sizes."""
    if not space.raw_bytes:
        return None
    rows = [
        [
            Cell(name),
            Cell(size(value), value),
            Cell(fixed(value / 1e9, 1), value),
            Cell(percent(value / space.raw_bytes), value),
        ]
        for name, value in [*space_parts(space), ("all", space.raw_bytes)]
    ]
    return Table("What the flash is used for", ["For", "Size", "GB", "Share"], rows)
