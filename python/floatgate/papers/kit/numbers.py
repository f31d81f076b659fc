"""Numbers of runs over seeds, and tables that several papers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from floatgate.results.intervals import mean_and_half_width
from floatgate.results.values import fixed

from .claims import Judged, Point
from .exhibits import Column, Format, Numbers, Row
from .experiment import Axis, Experiment
from .verdicts import AS_CLAIMED, STRADDLES


def digits(number: int) -> Format:
    """Returns the format of numbers with this many digits after the point."""
    return partial(fixed, digits=number)


def plus_minus(mean: float, half: float | None, text: Format) -> str:
    """Formats a mean with half of its interval, if it has an interval: "1.23 ± 0.04"."""
    return text(mean) + (f" ± {text(half).lstrip('+')}" if half else "")


def spread(values: Sequence[float], text: Format) -> str:
    """Formats a mean over seeds with half its 95 % interval, if values differ."""
    mean, half = mean_and_half_width(values)
    assert mean is not None, "a mean is of one value or more"
    return plus_minus(mean, half, text)


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


def by_line(points: Iterable[Any]) -> dict[tuple[str, str], dict[int, Any]]:
    """Returns points by workload and line, and then by seed. All are at one point."""
    lines: dict[tuple[str, str], dict[int, Any]] = {}
    for point in points:
        lines.setdefault((point.trace, point.line), {})[point.seed] = point
    return lines


def met_at_once(
    experiment: Experiment, whole: Judged[Any], parts: Sequence[Judged[Any]], columns: Axis
) -> Numbers:
    """Counts the paper's numbers that are met at each point that all these claims share. The
    levels of one axis are the columns."""
    axes = [key for key in whole[0].axes if key != columns.key]
    table: dict[tuple[str, ...], Row] = {}
    for levels, cases in _cases_at(whole, parts):
        row = table.setdefault(
            tuple(levels[key] for key in axes), {key: levels[key] for key in axes}
        )
        sure, unclear = cases.count(AS_CLAIMED), cases.count(STRADDLES)
        met = f"{sure} to {sure + unclear}" if unclear else str(sure)
        row[levels[columns.key]] = met + (" (left out)" if levels["rejected"] else "")
    seen = {levels[columns.key] for levels in whole[1].rows}
    return Numbers(
        key="met",
        title="How many of the paper's numbers are met at once",
        caption=f"Of {len(parts)}, within a factor of 1.5; a range where intervals leave some "
        "open. What is left out of all verdicts is marked.",
        rows=list(table.values()),
        columns=[
            *(Column(experiment.axis(key).text, key) for key in axes),
            *(Column(one.key, one.key) for one in columns.levels if one.key in seen),
        ],
        brief=False,
    )


def _cases_at(whole: Judged[Any], parts: Sequence[Judged[Any]]) -> list[tuple[Row, list[str]]]:
    """Returns each point that all the claims share, with the case of each claim."""
    cases_of = [
        (claim.axes, {_at(row, claim.axes): row["case"] for row in measured.rows})
        for claim, measured in parts
    ]
    return [(row, [cases[_at(row, axes)] for axes, cases in cases_of]) for row in whole[1].rows]


def _at(row: Row, axes: Sequence[str]) -> tuple[str, ...]:
    return tuple(row[key] for key in axes)
