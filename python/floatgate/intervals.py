"""What several seeds say: means, 95 % confidence intervals, and differences to a baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import polars as pl

from . import _core
from .comparison import comparison_table
from .result import Result

CONFIDENCE = 0.95

Values = tuple[Any, ...]


def summary_table(
    results: Sequence[Result], keys: Sequence[str], baseline: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """One row per trace and combination of values, over the seeds, from `compare_results`.

    `trace`, the config keys `keys`, and `seeds`, which says of how many runs the rest is. For each
    metric of `comparison_table`, say `iops`: `iops`, the mean; `iops.ci95`, half the width of its
    95 % confidence interval (Student's t); `iops.difference`, the mean of the differences to the
    baseline's run with the same trace and seed; `iops.difference_ci95`, the same of that. All in
    the metric's unit. Null where there is none: the interval of one seed, a mean of which a run
    lacks the metric, the difference of the baseline to itself.

    `baseline` says the values of some of the keys; each row is compared with that which has these
    values and is like it otherwise. Without it, the first combination is the baseline. Raises
    ConfigError where no run is the baseline, or a run lacks one of the seeds.
    """
    table = comparison_table(results, keys)
    metrics = table.columns[table.columns.index("write_amplification") :]
    seeds = list(dict.fromkeys(result.seed for result in results))
    wanted = _wanted(baseline, keys)
    rows = []
    for block in _blocks(results, table.to_dicts(), keys, len(seeds)):
        for values, runs in block.items():
            base = _baseline(values, keys, wanted, block)
            row = {"trace": runs[0]["trace"], **dict(zip(keys, values, strict=True))}
            row["seeds"] = len(runs)
            for metric in metrics:
                row |= _measured(metric, runs, block[base] if base != values else None)
            rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def mean_and_half_width(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """The mean of a sample, and half the width of its 95 % confidence interval."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None, None
    if len(known) == 1:
        return known[0], None
    return fmean(known), t_quantile(len(known) - 1) * _deviation(known) / math.sqrt(len(known))


def _deviation(values: Sequence[float]) -> float:
    """The standard deviation of a sample. That of `statistics` reckons in fractions, which takes
    ten times as long; counted from the first value, that of equal ones is 0 here, too."""
    off = [value - values[0] for value in values]
    squares = math.fsum(by * by for by in off) - math.fsum(off) ** 2 / len(off)
    return math.sqrt(max(squares, 0.0) / (len(off) - 1))


@cache
def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """How many standard errors from 0 Student's t stays with probability `confidence`."""
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """P(|T| <= t) for whole degrees of freedom: Abramowitz and Stegun 26.7.3 and 26.7.4."""
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
    results: Sequence[Result], rows: Sequence[dict[str, Any]], keys: Sequence[str], seeds: int
) -> Iterator[dict[Values, list[dict[str, Any]]]]:
    """For each trace, the runs of each combination of values, in the order of the seeds."""
    block: dict[Values, list[dict[str, Any]]] = {}
    order = [result.seed for result in results[:seeds]]
    for start in range(0, len(rows), seeds):
        if [result.seed for result in results[start : start + seeds]] != order:
            raise _core.ConfigError("results: expected a run with each seed, seeds varying fastest")
        values = tuple(rows[start][key] for key in keys)
        if values in block:
            yield block
            block = {}
        block[values] = list(rows[start : start + seeds])
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
    """The combination that `values` is compared with."""
    if wanted is None:
        return next(iter(block))
    for other in block:
        pairs = zip(keys, other, values, strict=True)
        if all(_same(theirs, wanted.get(key, own)) for key, theirs, own in pairs):
            return other
    told = ", ".join(f"{key}={value}" for key, value in wanted.items())
    raise _core.ConfigError(f"baseline: no run has {told}")


def _same(value: Any, text: Any) -> bool:
    """Whether a value of a config is what was written: 0.1 is 0.10, True is true."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value) == float(text)
        except ValueError:
            return False
    return str(value).lower() == str(text).lower()


def _measured(
    metric: str, runs: Sequence[Mapping[str, Any]], base: Sequence[Mapping[str, Any]] | None
) -> dict[str, float | None]:
    own = [run[metric] for run in runs]
    found: dict[str, float | None] = {}
    found[metric], found[f"{metric}.ci95"] = mean_and_half_width(own)
    differences: list[float | None] = [None]
    if base is not None:
        pairs = zip(own, (run[metric] for run in base), strict=True)
        differences = [None if None in pair else pair[0] - pair[1] for pair in pairs]
    mean, half = mean_and_half_width(differences)
    return found | {f"{metric}.difference": mean, f"{metric}.difference_ci95": half}
