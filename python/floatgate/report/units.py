"""Units of a page: a quantity has one unit in all plots and tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from floatgate.results.result import Result
from floatgate.results.tables import Metric, Unit
from floatgate.results.values import SIZES, TIMES, unit_of

LIVES = (("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("PB", 1e15))
"""Units of the bytes that a drive can write in its life; data sheets use decimal ones."""

FINEST = 0.01
"""Minimum p50 in the unit of the page, because tables have three decimals."""


class Units(NamedTuple):
    """Units of a page."""

    time: Unit
    """Unit of response times, with its length in microseconds."""
    life: Unit
    """Unit of the bytes that a drive can write in its life."""

    def of(self, metric: Metric) -> Metric:
        """Returns the metric with the page's unit as its only one."""
        own = {TIMES: self.time, SIZES: self.life}.get(tuple(metric.units))
        return metric._replace(units=(own,)) if own else metric


def units_of(results: Sequence[Result]) -> Units:
    times = [result.latency.all for result in results]
    return Units(
        time_unit([one.p50_us for one in times], [one.p99_us for one in times]),
        unit_of([result.lifetime.host_bytes for result in results], LIVES),
    )


def time_unit(p50s: Iterable[float | None], p99s: Iterable[float | None]) -> Unit:
    """Returns the largest unit in which a p99 is 1 or more, and no p50 is too short to print."""
    fast = min((us for us in p50s if us), default=0.0)
    slow = max((us for us in p99s if us), default=0.0)
    fit = [unit for unit in TIMES if slow >= unit[1] and fast >= FINEST * unit[1]]
    return fit[-1] if fit else TIMES[0]
