"""Results as tidy tables, one per plot: what `charts` draws and what the page prints below it.

Every frame has the columns `run` (full label, for tooltips) and either `row` (name within the
panel) or `colour` and `dash` (how the line is told apart). Values that are null in the result are
left out, so a frame without rows means: nothing to draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import polars as pl

from floatgate.intervals import mean_and_half_width
from floatgate.result import (
    AmplificationResult,
    BlameTimes,
    BufferResult,
    Distribution,
    LatencySummary,
    MappingResult,
    Result,
)

from .causes import BLAME
from .runs import Run

CAUSES = {
    "host": "host writes",
    "gc": "cleaning",
    "map": "map",
    "gc_map": "map, for cleaning",
    "merge": "merges",
    "wear": "wear levelling",
    "remap": "remapping",
    "other": "other",
    "partial": "partial pages",
}
"""Why bytes were programmed, in the order of the palette."""

NAMED = CAUSES | {
    "journal": "journal",
    "retire": "broken units",
    "pad": "padding",
    "fold": "folding",
    "parity": "parity",
}
"""The same with what is drawn as "other": there are no more colours that can be told apart."""

Cache = Callable[[Result], MappingResult | BufferResult]
"""The map's cache, or the write buffer."""

Times = Callable[[Result], LatencySummary]
"""The response times of one kind of request."""

KINDS: dict[str, Times] = {
    "read": lambda result: result.latency.read,
    "write": lambda result: result.latency.write,
    "all": lambda result: result.latency.all,
}


def kept(run: Run, operation: str, cause: str = "response") -> Distribution | None:
    """The whole distribution of a time, where the run kept it and it is not nothing throughout."""
    for one in run.result.distributions:
        if (one.operation, one.cause) == (operation, cause) and one.ns:
            return one
    return None


HISTOGRAM_BARS = 40
CURVE_STEP = 0.02
"""Points of a distribution closer than this, in decades both ways, are one point on screen."""

ROW = {"run": pl.String, "row": pl.String}
_PARTS = ROW | {"part": pl.String, "order": pl.Int64, "value": pl.Float64, "share": pl.Float64}
LINE = {"run": pl.String, "colour": pl.String, "dash": pl.String}


def amplification(runs: Iterable[Run]) -> pl.DataFrame:
    """Bytes programmed per byte of the host, by cause; the parts sum to the write amplification."""
    rows = []
    for run in runs:
        rows += _parts(run, run.result.amplification, CAUSES, 1.0)
    return pl.DataFrame(rows, schema=_PARTS, orient="row")


def blame(runs: Iterable[Run], names: dict[str, str] = BLAME) -> pl.DataFrame:
    """Microseconds of the mean response time, by what the request waited for, under its name."""
    rows = []
    for run in runs:
        rows += _parts(run, run.result.latency.blame_us, names, 1.0)
    return pl.DataFrame(rows, schema=_PARTS, orient="row")


def hit_ratio(runs: Iterable[Run], cache: Cache) -> pl.DataFrame:
    """Hit ratio (0 to 1) of a cache, with the counts behind it."""
    known = [(run, cache(run.result)) for run in runs]
    rows = [(run.label, run.row, one.hit_ratio, one.hits, one.misses) for run, one in known]
    schema = ROW | dict.fromkeys(("value", "hits", "misses"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("value")


def distribution(runs: Iterable[Run], kind: str) -> pl.DataFrame:
    """Response times (`us`) against the share of requests that are faster, to the slowest.

    That of a run that kept all of it is at full resolution, others are in steps of a percentile.
    `nines` is -log10(1 - share): 1 at 90 %, 2 at 99 %, 3 at 99.9 %, so that the tail, where
    devices differ, takes as much room as the body. The slowest of n requests is as slow as
    1/n of them: it stands at log10(n).
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
    """A row per window of a run, at the host pages written by its end; a column per metric.

    A run with a single window has no timeline.
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
    """Erase units by how often they were erased, in at most `HISTOGRAM_BARS` equal bins."""
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
    """Erases per unit: least, mean, most, and one standard deviation either side of the mean."""
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
    """A metric against a swept quantity, over seeds its mean; `axis` has the quantity of each
    run."""
    rows = [
        (run.label, run.colour, run.dash, at, mean_and_half_width([*map(metric, run.seeds)])[0])
        for run, at in zip(runs, axis, strict=True)
    ]
    schema = LINE | {"at": pl.Float64, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("value")


def _parts(
    run: Run, parts: AmplificationResult | BlameTimes, names: dict[str, str], scale: float
) -> list[tuple[str, str, str, int, float, float]]:
    """One row per part of a stacked bar; parts of nothing are left out."""
    values = {key: value or 0.0 for key, value in vars(parts).items()}
    whole = sum(values.values())
    if not whole:
        return []
    known = {key: values.get(key, 0.0) for key in names}
    if "other" in known:
        # A cause without a colour of its own still counts: a bar must end at its sum.
        known["other"] += whole - sum(known.values())
    return [
        (run.label, run.row, names[key], i, value * scale, value / whole)
        for i, (key, value) in enumerate(known.items())
        if abs(value) > whole * 1e-9
    ]


def _curve(times: LatencySummary, whole: Distribution | None) -> list[tuple[float, float, float]]:
    """Time, share and nines of the points that show on screen, the slowest request the last."""
    points: list[tuple[float, float, float]] = []
    slowest = times.max_us
    for us, share in times.cdf if whole is None else whole.cdf:
        # No logarithm of zero: a request that took no time (a full buffer hit) stands at the edge.
        if us <= 0 or not 0 <= share < 1:
            continue
        # A point is the end of a bin of times, and the slowest request may lie before it.
        point = (min(us, slowest or us), share, -math.log10(1 - share))
        if not (points and _close(points[-1], point)):
            points.append(point)
    if points and times.requests and slowest:
        points.append((slowest, 1.0, max(math.log10(times.requests), points[-1][2])))
    return points


def _close(a: tuple[float, float, float], b: tuple[float, float, float]) -> bool:
    """Whether two points of a distribution fall on nearly the same place of the plot."""
    return abs(math.log10(b[0] / a[0])) < CURVE_STEP and abs(b[2] - a[2]) < CURVE_STEP
