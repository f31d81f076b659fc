"""Runs the stops of the tour, and states the results in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from floatgate import api
from floatgate.simulation.watching import Progress

from .stops import SEEDS, STOPS, Load, Row, Stop

HARDLY = 0.5
"""Minimum difference that counts, in per cent."""

HELPS, HARMS = "helps", "does harm"


@dataclass(frozen=True)
class Bar:
    """One row of a picture: a mean over the seeds, with half of its 95 % interval."""

    row: Row
    mean: float
    half: float


@dataclass(frozen=True)
class Change:
    """Difference to the baseline in per cent of it, paired by seed, with half of its interval."""

    percent: float
    half: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return abs(self.percent) > self.half


@dataclass(frozen=True)
class Picture:
    """A stop's rows on one of its workloads."""

    load: Load
    bars: Sequence[Bar]
    change: Change
    """Change by the system, against its baseline."""
    least: Change
    """Change by the ideal drive, against the same baseline. It is no bound for a host that sends
    fewer commands.
    """
    command: str


@dataclass(frozen=True)
class Shown:
    """A stop with its two pictures and its two sentences."""

    stop: Stop
    pictures: tuple[Picture, Picture]

    @property
    def answer(self) -> str:
        """Says in two sentences whether the system helps on each of its workloads."""
        return " ".join(_sentence(self.stop, one) for one in self.pictures)

    def document(self) -> dict[str, Any]:
        """Returns the stop as JSON, with a row for each bar."""
        return {
            "system": self.stop.name,
            "metric": self.stop.metric.column,
            "answer": self.answer,
            "pictures": [
                {
                    "workload": one.load.spec,
                    "command": one.command,
                    "change_percent": one.change.percent,
                    "change_percent_ci95": one.change.half,
                    "rows": [
                        {"label": bar.row.label, "mean": bar.mean, "ci95": bar.half}
                        for bar in one.bars
                    ],
                }
                for one in self.pictures
            ],
        }


def take(progress: Progress | None = None, stops: Sequence[Stop] = STOPS) -> list[Shown]:
    return [Shown(stop, _pictures(stop, progress)) for stop in stops]


def _pictures(stop: Stop, progress: Progress | None) -> tuple[Picture, Picture]:
    first, second = (_picture(stop, load, progress) for load in stop.loads)
    return first, second


def _picture(stop: Stop, load: Load, progress: Progress | None) -> Picture:
    runs = api.compare_results(
        load.spec,
        vary=stop.vary,
        device=stop.device,
        set=stop.set,
        seeds=SEEDS,
        progress=progress,
    )
    baseline = dict(zip(stop.vary, stop.baseline.values, strict=True))
    table = {
        tuple(str(line[key]) for key in stop.vary): line
        for line in runs.summary(baseline).iter_rows(named=True)
    }
    column = stop.metric.column
    bars = [
        Bar(row, *(stop.metric.factor * table[row.values][f"{column}{of}"] for of in ("", ".ci95")))
        for row in stop.rows
    ]
    own, bound = (_change(table[row.values], column) for row in (stop.own, stop.bound))
    return Picture(load, bars, own, bound, stop.command(load))


def _change(line: dict[str, Any], column: str) -> Change:
    return Change(line[f"{column}.difference_percent"], line[f"{column}.difference_percent_ci95"])


def _sentence(stop: Stop, picture: Picture) -> str:
    return (
        f"With {picture.load.title}, it {verdict(picture.change)}: {stop.metric.name} "
        f"{change_text(picture.change)} against {stop.baseline.label} "
        f"({stop.bound.label}: {change_text(picture.least)})."
    )


def verdict(change: Change) -> str:
    """Returns the effect of a system in words."""
    if not change.is_clear:
        return "makes no clear difference"
    if abs(change.percent) < HARDLY:
        return "hardly makes a difference"
    return HELPS if change.percent < 0 else HARMS


def change_text(change: Change) -> str:
    """Returns a change as text, with half of its interval unless that rounds to 0."""
    sign = "\N{MINUS SIGN}" if change.percent < 0 else "+"
    half = f" \N{PLUS-MINUS SIGN} {change.half:.1f}" if change.half >= 0.05 else ""
    return f"{sign}{abs(change.percent):.1f}{half} %"
