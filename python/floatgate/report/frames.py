"""Results as tidy tables, one for each plot: `charts` draws them, the page prints them below.

Every frame has the column `run` (full label, for tooltips). It also has either `row` (name within
the panel) or `colour` and `dash` (which distinguish the lines). Frames leave out values that are
null in the result, so a frame without rows has nothing to draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import polars as pl

from floatgate.results.causes import BLAME, CAUSES
from floatgate.results.intervals import mean_and_half_width
from floatgate.results.jobs import names as job_names
from floatgate.results.result import (
    AmplificationResult,
    BlameTimes,
    BufferResult,
    Distribution,
    LatencySummary,
    MappingResult,
    Result,
)
from floatgate.results.tables import KINDS

from .runs import Run

Cache = Callable[[Result], MappingResult | BufferResult]
"""Returns the mapping cache or the write buffer of a result."""


def kept(run: Run, operation: str, cause: str = "response") -> Distribution | None:
    """Returns the whole distribution of a time, if the run kept it and not all times are zero."""
    for one in run.result.distributions:
        if (one.operation, one.cause) == (operation, cause) and one.ns:
            return one
    return None


HISTOGRAM_BARS = 40
CURVE_STEP = 0.02
"""Points of a distribution closer than this, in decades on both axes, are one point on screen."""

ROW = {"run": pl.String, "row": pl.String}
PARTS = ROW | {"part": pl.String, "order": pl.Int64, "value": pl.Float64, "share": pl.Float64}
LINE = {"run": pl.String, "colour": pl.String, "dash": pl.String}


def amplification(runs: Iterable[Run]) -> pl.DataFrame:
    """Returns the write amplification by cause: bytes programmed per byte of the host."""
    rows = []
    for run in runs:
        rows += _parts(run, run.result.amplification, CAUSES, 1.0)
    return pl.DataFrame(rows, schema=PARTS, orient="row")


def blame(runs: Iterable[Run], names: dict[str, str] = BLAME) -> pl.DataFrame:
    """Returns the mean response time by cause, in microseconds; `names` has the causes' names."""
    rows = []
    for run in runs:
        rows += _parts(run, run.result.latency.blame_us, names, 1.0)
    return pl.DataFrame(rows, schema=PARTS, orient="row")


def job_blame(run: Run, names: dict[str, str]) -> pl.DataFrame:
    """Returns the mean completion latency of each job of a run by cause, in microseconds."""
    rows = []
    for name, job in zip(job_names(run.result.jobs), run.result.jobs, strict=True):
        rows += _parts(replace(run, row=name), job.blame_us, names, 1.0)
    return pl.DataFrame(rows, schema=PARTS, orient="row")


def hit_ratio(runs: Iterable[Run], cache: Cache) -> pl.DataFrame:
    """Returns the hit ratio (0 to 1) of a cache, with its counts of hits and misses."""
    known = [(run, cache(run.result)) for run in runs]
    rows = [(run.label, run.row, one.hit_ratio, one.hits, one.misses) for run, one in known]
    schema = ROW | dict.fromkeys(("value", "hits", "misses"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("value")


def distribution(runs: Iterable[Run], kind: str) -> pl.DataFrame:
    """Returns response times (`us`) with the share of faster requests, up to the slowest request.

    A run that kept the whole distribution has full resolution; other runs have steps of a
    percentile. `nines` is -log10(1 - share): 1 at 90 %, 2 at 99 %, 3 at 99.9 %. On this scale the
    tail, where devices differ, has as much room as the body. The slowest of n requests is 1/n of
    all, so its `nines` is log10(n).
    """
    rows = []
    for run in runs:
        rows += [
            (run.label, run.colour, run.dash, us, share, nines)
            for us, share, nines in _curve(KINDS[kind](run.result), kept(run, kind))
        ]
    schema = LINE | {"us": pl.Float64, "share": pl.Float64, "nines": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def timeline(runs: Iterable[Run], metrics: Sequence[str]) -> pl.DataFrame:
    """Returns a row for each window of a run, with the host pages written by the window's end.

    Each metric has a column. A run with a single window has no timeline.
    """
    schema = LINE | {"pages": pl.Float64, "seconds": pl.Float64}
    schema |= dict.fromkeys(metrics, pl.Float64)
    found = [pl.DataFrame(schema=schema)]
    for run in runs:
        windows = run.result.timeline
        if windows.height > 1:
            line = {"run": run.label, "colour": run.colour, "dash": run.dash}
            texts = {name: pl.lit(text) for name, text in line.items()}
            windows = windows.with_columns(**texts, pages="host_pages")
            found.append(windows.select(pl.col(name).cast(kind) for name, kind in schema.items()))
    return pl.concat(found)


def wear_histogram(run: Run) -> pl.DataFrame:
    """Counts erase units by their number of erases, in at most `HISTOGRAM_BARS` equal bins."""
    pairs = [(erases, units) for erases, units in run.result.wear.histogram if units]
    schema = {"run": pl.String, "first": pl.Int64, "last": pl.Int64, "units": pl.Int64}
    if not pairs:
        return pl.DataFrame(schema=schema)
    low = min(erases for erases, _ in pairs)
    high = max(erases for erases, _ in pairs)
    width = math.ceil((high - low + 1) / HISTOGRAM_BARS)
    bins: dict[int, int] = {}
    for erases, units in pairs:
        first = low + (erases - low) // width * width
        bins[first] = bins.get(first, 0) + units
    rows = [(run.label, first, first + width - 1, units) for first, units in sorted(bins.items())]
    return pl.DataFrame(rows, schema=schema, orient="row")


def wear_range(runs: Iterable[Run]) -> pl.DataFrame:
    """Returns erases per unit: minimum, mean, maximum, and a standard deviation around the mean."""
    rows = []
    for run in runs:
        wear = run.result.wear
        low, high = wear.erases_min, wear.erases_max
        mean, stdev = wear.erases_mean, wear.erases_stdev
        if low is None or high is None:
            continue
        near, far = max(low, mean - stdev), min(high, mean + stdev)
        rows.append((run.label, run.row, low, near, mean, far, high, stdev))
    names = ("low", "near", "mean", "far", "high", "stdev")
    schema = ROW | dict.fromkeys(names, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def sweep(
    runs: Sequence[Run], axis: Sequence[float], metric: Callable[[Result], float | None]
) -> pl.DataFrame:
    """Returns a metric, as the mean over seeds, against a swept quantity.

    `axis` has the quantity of each run.
    """
    rows = [
        (run.label, run.colour, run.dash, at, mean_and_half_width([*map(metric, run.seeds)])[0])
        for run, at in zip(runs, axis, strict=True)
    ]
    schema = LINE | {"at": pl.Float64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("value")


def _parts(
    run: Run, parts: AmplificationResult | BlameTimes, names: dict[str, str], scale: float
) -> list[tuple[str, str, str, int, float, float]]:
    """Returns a row for each part of a stacked bar; parts that are zero are left out."""
    values = {key: value or 0.0 for key, value in vars(parts).items()}
    whole = sum(values.values())
    if not whole:
        return []
    known = {key: values.get(key, 0.0) for key in names}
    if "other" in known:
        # A cause without its own colour counts as "other", so that a bar ends at its sum.
        known["other"] += whole - sum(known.values())
    return [
        (run.label, run.row, names[key], i, value * scale, value / whole)
        for i, (key, value) in enumerate(known.items())
        if abs(value) > whole * 1e-9
    ]


def _curve(times: LatencySummary, whole: Distribution | None) -> list[tuple[float, float, float]]:
    """Returns time, share and nines of the points visible on screen, up to the slowest request."""
    points: list[tuple[float, float, float]] = []
    slowest, least = times.max_us, 0.0
    for us, share in times.cdf if whole is None else whole.cdf:
        # Zero has no logarithm: a request that took no time (a full buffer hit) has no point.
        if us <= 0 and 0 <= share < 1:
            least = share
        if us <= 0 or not 0 <= share < 1:
            continue
        # A point is the end of a bin of times, so the slowest request may be faster than its bin's
        # end.
        point = (min(us, slowest or us), share, -math.log10(1 - share))
        if not (points and _close(points[-1], point)):
            points.append(point)
    if points and points[0][1] > least:
        points.insert(0, (points[0][0], least, -math.log10(1 - least)))
    if points and times.requests and slowest:
        points.append((slowest, 1.0, max(math.log10(times.requests), points[-1][2])))
    return points


def _close(a: tuple[float, float, float], b: tuple[float, float, float]) -> bool:
    """Returns whether two points of a distribution are nearly in the same position on the plot."""
    return abs(math.log10(b[0] / a[0])) < CURVE_STEP and abs(b[2] - a[2]) < CURVE_STEP
