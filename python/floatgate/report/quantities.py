"""Titles and units of any column of a result, for pages on which the user chooses the columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from floatgate.results.tables import METRICS, QUANTILES, Unit
from floatgate.results.values import TIMES, measured, ratio

from .units import LIVES

LATENCY = re.compile(r"latency\.(all|read|write)\.(\w+)_us")

STATISTICS = {title.replace(".", "").lower(): title for title in QUANTILES}
"""Titles of statistics, by the name of their field: `p999` is p99.9."""

MEAN = "Mean response time"

_TITLES = {metric.path: metric.title for metric in METRICS.values()}


class Quantity(NamedTuple):
    """Column of a result as a page shows it."""

    title: str
    unit: Unit
    """Unit, with its length in the unit of the column."""

    @property
    def heading(self) -> str:
        """Title with the unit."""
        return f"{self.title}, {self.unit[0]}" if self.unit[0] else self.title

    def shown(self, value: float | None) -> float | None:
        """Returns a value of the column in the unit."""
        return None if value is None else value / self.unit[1]

    def text(self, value: float) -> str:
        """Returns a value of the column as text, without its unit."""
        write = ratio if self.title == _TITLES["write_amplification"] else measured
        return write(value / self.unit[1])

    def words(self, value: float) -> str:
        """Returns a value of the column as text, with its unit."""
        return " ".join(filter(None, (self.text(value), self.unit[0])))


def quantity_of(column: str, values: Iterable[float | None]) -> Quantity:
    """Returns the title of a column, and a unit in which the greatest of the values is 1 or more.

    A column that no page names has its own name as title.
    """
    most = max((abs(value) for value in values if value is not None), default=0.0)
    if found := LATENCY.fullmatch(column):
        kind, statistic = found.groups()
        title = STATISTICS.get(statistic, statistic)
        title = MEAN if title == "Mean" else title
        return Quantity(title if kind == "all" else f"{title} of {kind}s", _fit(most, TIMES))
    if column == METRICS["lifetime_bytes"].path:
        return Quantity(_TITLES[column], _fit(most, LIVES))
    return Quantity(_TITLES.get(column, column), ("", 1.0))


def _fit(most: float, units: Iterable[Unit]) -> Unit:
    """Returns the largest unit in which a number is 1 or more, else the first."""
    first, *others = units
    return [first, *(unit for unit in others if most >= unit[1])][-1]
