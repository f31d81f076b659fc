"""Statistics over several seeds: means, 95 % confidence intervals,
and differences to a baseline.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Any

from floatgate import _core

from .result import Result
from .table import comparison_table, labels

if TYPE_CHECKING:
    import polars as pl

CONFIDENCE = 0.95

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Compared:
    """One trace with one combination of values: its runs, and the baseline's runs."""

    trace: str
    values: Values
    runs: Sequence[int]
    """Indices of the runs among the results, one run per seed."""
    base: Sequence[int] | None
    """Indices of the baseline's runs with the same seeds; None for the baseline itself."""


def summary_table(
    results: Sequence[Result], keys: Sequence[str], baseline: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """Returns one row per trace and combination of values, with means over the seeds.

    A row begins with `trace`, the config keys `keys`, the number of `seeds`, and `drive` as in
    `comparison_table`. Each metric of `comparison_table`, say `iops`, has these columns:

    - `iops`: the mean.
    - `iops.ci95`: half the width of its 95 % confidence interval (Student's t).
    - `iops.difference` and `iops.difference_ci95`: the mean of the differences to the baseline's
      run with the same trace and seed, in the metric's unit.
    - `iops.difference_percent` and `iops.difference_percent_ci95`: each difference in per cent of
      the baseline's run.

    A cell is null if it has no value: the interval of one seed, a mean if a run lacks the metric,
    the difference of the baseline to itself, and per cent of a baseline of 0.

    `baseline` has the values of some of the keys. Each row is compared with the row that has these
    values and agrees in all other keys. By default, the first combination is the baseline. Raises
    ConfigError if no run is the baseline, or if a run lacks one of the seeds.
    """
    import polars as pl

    table = comparison_table(results, keys)
    metrics = table.columns[table.columns.index("write_amplification") :]
    values = {metric: table[metric].to_list() for metric in metrics}
    drives = table["drive"].to_list()
    rows = []
    for one in compared(results, keys, baseline):
        row = {"trace": one.trace, **dict(zip(keys, one.values, strict=True))}
        row["seeds"] = len(one.runs)
        row["drive"] = "; ".join(dict.fromkeys(filter(None, (drives[at] for at in one.runs))))
        for metric in metrics:
            row |= _measured(metric, values[metric], one)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def compared(
    results: Sequence[Result], keys: Sequence[str], baseline: Mapping[str, Any] | None = None
) -> list[Compared]:
    """Returns every trace and combination of values in order, with its baseline: see
    `summary_table`.
    """
    seeds = len({result.seed for result in results})
    rows = [tuple(row.values()) for row in labels(results, keys)]
    wanted = _wanted(baseline, keys)
    found = []
    for block in _blocks(results, rows, seeds):
        for (trace, *values), runs in block.items():
            base = _baseline((trace, *values), keys, wanted, block)
            is_base = base == (trace, *values)
            found.append(Compared(trace, tuple(values), runs, None if is_base else block[base]))
    return found


def what_seeds_change(results: Sequence[Result]) -> str:
    """Explains why the seeds differ: a generator, unlike a trace, also draws other requests."""
    digests: dict[str, dict[int, str]] = {}
    for result in results:
        digests.setdefault(result.workload.name, {})[result.seed] = result.workload.hash
    several = {name: of for name, of in digests.items() if len(of) > 1}
    if not several:
        return ""
    made = [name for name, of in several.items() if len(set(of.values())) > 1]
    drawn = "seeds draw the requests anew, the start state and the policies' random choices"
    kept = "seeds change the start state and the policies' random choices; the trace is the same"
    if not made:
        return kept
    if len(made) == len(several):
        return drawn
    return f"{drawn} ({', '.join(made)}); the requests of the other traces do not change"


def mean_and_half_width(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Returns the mean of a sample, and half the width of its 95 % confidence interval."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None, None
    if len(known) == 1:
        return known[0], None
    return fmean(known), t_quantile(len(known) - 1) * _deviation(known) / math.sqrt(len(known))


def _deviation(values: Sequence[float]) -> float:
    """Returns the standard deviation of a sample.

    It is ten times as fast as `statistics.stdev`, which computes with fractions. It sums the
    deviations from the first value, so equal values give exactly 0, as with `statistics`.
    """
    off = [value - values[0] for value in values]
    squares = math.fsum(by * by for by in off) - math.fsum(off) ** 2 / len(off)
    return math.sqrt(max(squares, 0.0) / (len(off) - 1))


@cache
def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Returns the distance from 0, in standard errors, within which Student's t stays with
    probability `confidence`.
    """
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """Returns P(|T| <= t) for whole degrees of freedom: Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(1, freedom // 2 + 1):
        total += term
        term *= math.cos(angle) ** 2 * (2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k))
    share = math.sin(angle) * total
    return 2 / math.pi * (angle + share) if odd else share


def _blocks(
    results: Sequence[Result], rows: Sequence[Values], seeds: int
) -> Iterator[dict[Values, range]]:
    """Yields for each trace the runs of each combination of values, in the order of the seeds."""
    block: dict[Values, range] = {}
    order = [result.seed for result in results[:seeds]]
    for start in range(0, len(rows), seeds):
        if [result.seed for result in results[start : start + seeds]] != order:
            raise _core.ConfigError("results: expected a run with each seed, seeds varying fastest")
        if block and (rows[start] in block or rows[start][0] != next(iter(block))[0]):
            yield block
            block = {}
        block[rows[start]] = range(start, start + seeds)
    yield block


def _wanted(baseline: Mapping[str, Any] | None, keys: Sequence[str]) -> dict[str, str] | None:
    for key in baseline or ():
        if key not in keys:
            known = ", ".join(keys) or "none"
            raise _core.ConfigError(f"baseline: {key} does not vary; the keys that do: {known}")
    return None if baseline is None else {key: str(value) for key, value in baseline.items()}


def _baseline(
    values: Values,
    keys: Sequence[str],
    wanted: Mapping[str, str] | None,
    block: Mapping[Values, object],
) -> Values:
    """Returns the combination that `values` is compared with."""
    if wanted is None:
        return next(iter(block))
    for other in block:
        pairs = zip(keys, other[1:], values[1:], strict=True)
        if all(_same(theirs, wanted.get(key, own)) for key, theirs, own in pairs):
            return other
    told = ", ".join(f"{key}={value}" for key, value in wanted.items())
    raise _core.ConfigError(f"baseline: no run has {told}")


def _same(value: Any, text: Any) -> bool:
    """Returns whether a config value equals a written value: 0.1 equals 0.10, True equals true."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value) == float(text)
        except ValueError:
            return False
    return str(value).lower() == str(text).lower()


def _measured(
    metric: str, values: Sequence[float | None], one: Compared
) -> dict[str, float | None]:
    own = [values[at] for at in one.runs]
    base = [None] * len(own) if one.base is None else [values[at] for at in one.base]
    gaps, shares = differences(own, base)
    found: dict[str, float | None] = {}
    found[metric], found[f"{metric}.ci95"] = mean_and_half_width(own)
    for name, sample in (("difference", gaps), ("difference_percent", shares)):
        column = f"{metric}.{name}"
        found[column], found[f"{column}_ci95"] = mean_and_half_width(sample)
    return found


def differences(
    own: Sequence[float | None], base: Sequence[float | None]
) -> tuple[list[float | None], list[float | None]]:
    """Returns the difference of each run to the baseline's run with the same seed, absolute and in
    per cent of the baseline.
    """
    pairs = [*zip(own, base, strict=True)]
    gaps = [None if a is None or b is None else a - b for a, b in pairs]
    shares = [
        None if gap is None or not b else 100 * gap / abs(b)
        for gap, (_, b) in zip(gaps, pairs, strict=True)
    ]
    return gaps, shares
