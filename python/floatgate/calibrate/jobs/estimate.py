"""An estimated parameter: its value and interval, or why the jobs do not determine it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A parameter of a drive."""

    name: str
    unit: str
    """Unit of the numbers: ns, B, B/s, or empty."""
    value: float | None
    low: float | None
    high: float | None
    jobs: str
    """Jobs that the estimate uses."""
    why: str = ""
    """Why the jobs do not determine the value, or a condition of the value."""

    @property
    def is_known(self) -> bool:
        """Whether the jobs determine the value."""
        return self.value is not None

    @property
    def number(self) -> float:
        """The value, which the jobs determine."""
        assert self.value is not None, f"{self.name} is not known"
        return self.value


def known(
    name: str, unit: str, values: Iterable[float], jobs: str, why: str = "", spread: float = 0.0
) -> Estimate:
    """Returns an estimate from repeated values: their mean, and their range.

    The interval is wider than the range by the relative `spread` on both sides.
    """
    all_values = list(values)
    mean = sum(all_values) / len(all_values)
    low, high = min(all_values) * (1 - spread), max(all_values) * (1 + spread)
    return Estimate(name, unit, mean, low, high, jobs, why)


def unknown(name: str, unit: str, jobs: str, why: str) -> Estimate:
    """Returns a parameter that the jobs do not determine."""
    return Estimate(name, unit, None, None, None, jobs, why)
