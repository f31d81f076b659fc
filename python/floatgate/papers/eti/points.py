"""The ETI experiment's points as figures need them: by trace and line, with a value per seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from floatgate.intervals import mean_and_half_width
from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Row

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
    """The points of traces at the defaults, but for what is named; synthetic loads have none, and
    loops are no default."""
    wanted = DEFAULTS | place
    return [
        point
        for point in points
        if point.kind not in (SYNTHETIC, LOOPED)
        and all(getattr(point, axis) in (None, choice) for axis, choice in wanted.items())
    ]


Values = Mapping[tuple[str, str], Mapping[int, float]]


def by_seed(points: Iterable[Point], metric: str = "write_amplification") -> Values:
    """A metric by trace and line, and seed."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for point in points:
        value = getattr(point, metric)
        if value is not None:
            found.setdefault((point.trace, point.line), {})[point.seed] = value
    return found


def mean_of(values: Iterable[float]) -> Row:
    mean, half = mean_and_half_width(list(values))
    return {"value": mean, "half": half}


def changed(values: Values, trace: str, base: str, line: str) -> Row | None:
    """The relative change from a line to another, over the seeds that both have."""
    before, after = values.get((trace, base), {}), values.get((trace, line), {})
    seeds = before.keys() & after.keys()
    return mean_of(after[seed] / before[seed] - 1 for seed in sorted(seeds)) if seeds else None


def with_interval(row: Row | None, said: str) -> str | None:
    if row is None:
        return None
    if said == "change":
        half = "" if not row["half"] else f" ± {100 * row['half']:.1f}"
        return change(row["value"]).replace("%", f"{half}%")
    return f"{row['value']:.3f}" + ("" if not row["half"] else f" ± {row['half']:.3f}")


def of_one_size(points: Iterable[Point]) -> list[Point]:
    """The points of traces, without models of other sizes."""
    return [point for point in points if ", " not in point.trace or point.kind != STAND_IN]
