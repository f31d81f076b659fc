"""The ETI experiment's points in the form for figures: by trace and line, with a value per seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Row
from floatgate.papers.kit.numbers import mean_row, points_at

from .domain import LOOPED, STAND_IN, SYNTHETIC
from .reduce import Point

DEFAULTS = {
    "skew": "0.6",
    "cold": "scattered",
    "drift": "nothing",
    "copies": "their own",
    "unit": "commands",
    "mbf": "round robin",
    "mhf": "plain",
}
PLACE = "Stand-ins: skew 0.6, cold data scattered. Whiskers: 95% intervals."


def place_of(points: Iterable[Point], **place: str) -> list[Point]:
    traces = [point for point in points if point.kind not in (SYNTHETIC, LOOPED)]
    return points_at(traces, DEFAULTS | place)


Values = Mapping[tuple[str, str], Mapping[int, float]]


def by_seed(points: Iterable[Point], metric: str = "write_amplification") -> Values:
    found: dict[tuple[str, str], dict[int, float]] = {}
    for point in points:
        value = getattr(point, metric)
        if value is not None:
            found.setdefault((point.trace, point.line), {})[point.seed] = value
    return found


def changed(values: Values, trace: str, base: str, line: str) -> Row | None:
    """Returns the relative change from one line to another, over the seeds that both have."""
    before, after = values.get((trace, base), {}), values.get((trace, line), {})
    seeds = before.keys() & after.keys()
    return mean_row(after[seed] / before[seed] - 1 for seed in sorted(seeds)) if seeds else None


def with_interval(row: Row | None, said: str) -> str | None:
    if row is None:
        return None
    if said == "change":
        half = "" if not row["half"] else f" ± {100 * row['half']:.1f}"
        return change(row["value"]).replace("%", f"{half}%")
    return f"{row['value']:.3f}" + ("" if not row["half"] else f" ± {row['half']:.3f}")


def of_one_size(points: Iterable[Point]) -> list[Point]:
    """Returns the points of traces, without models of other sizes."""
    return [point for point in points if ", " not in point.trace or point.kind != STAND_IN]
