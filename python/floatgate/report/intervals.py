"""Means over seeds with 95 % confidence intervals, as cells, tables, and marks in plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from floatgate.results.intervals import compared, differences, mean_and_half_width
from floatgate.results.result import Result
from floatgate.results.tables import METRICS, Cell, Column, Table, beside, per_cent

from .frames import ROW, Cache, hit_ratio
from .runs import Run
from .units import Units

SPREAD = ROW | dict.fromkeys(("value", "low", "high"), pl.Float64)

DOTS = ROW | {"seed": pl.String, "value": pl.Float64}


def means_table(runs: Sequence[Run], units: Units | None = None) -> Table:
    """Returns the main metrics of every combination: the mean over its seeds, and its interval.

    Without `units`, each column has its own unit.
    """
    columns = []
    for metric in (units.of(one) if units else one for one in METRICS.values()):
        samples = [[metric.of(result) for result in run.seeds] for run in runs]
        found = [mean_and_half_width(sample) for sample in samples]
        columns.append(metric.means(metric.title, found))
    names = {"Run": [run.name for run in runs]}
    return beside(f"Means of {len(runs[0].seeds)} seeds \N{PLUS-MINUS SIGN} 95 %", names, columns)


def differences_table(
    runs: Sequence[Run], keys: Sequence[str], baseline: Mapping[str, Any] | None
) -> Table:
    """Compares each combination with the baseline, in per cent of the baseline.

    Pairs runs with the same trace and seed.
    """
    results = [result for run in runs for result in run.seeds]
    every = [*zip(runs, compared(results, keys, baseline), strict=True)]
    pairs = [(run, one) for run, one in every if one.base is not None]
    bases = [run.name for run, one in every if one.base is None]
    columns = []
    for name, metric in METRICS.items():
        found = []
        for _, one in pairs:
            own = [metric.of(results[at]) for at in one.runs]
            theirs = [metric.of(results[at]) for at in one.base or ()]
            found.append(mean_and_half_width(differences(own, theirs)[1]))
        if any(mean is not None for mean, _ in found):
            cells = [Cell(per_cent(*each), each[0], name) for each in found]
            columns.append(Column(metric.title, cells))
    base = bases[0] if len(bases) == 1 else "the baseline"
    title = f"Differences to {base}, in per cent of its run with the same trace and seed"
    return beside(title, {"Run": [run.name for run, _ in pairs]}, columns)


def mean_parts(make: Callable[[Sequence[Run]], pl.DataFrame], runs: Sequence[Run]) -> pl.DataFrame:
    """Averages the frame of stacked bars from `make` over seeds, part by part."""
    if all(len(run.seeds) == 1 for run in runs):
        return make(runs)
    names = ["run", "row", "part", "order"]
    frames = []
    for run in runs:
        each = [make([replace(run, result=result)]) for result in run.seeds]
        parts = pl.concat(each).group_by(names, maintain_order=True)
        # A part that a run lacks counts as 0.
        mean = parts.agg(pl.col("value").sum() / sum(not one.is_empty() for one in each))
        shares = pl.col("value") / pl.col("value").sum()
        frames.append(mean.with_columns(share=shares).sort("order"))
    return pl.concat(frames)


def mean_hit_ratio(runs: Sequence[Run], cache: Cache) -> pl.DataFrame:
    """Returns a cache's hit ratios, hits and misses as means over the seeds."""
    each = [hit_ratio([replace(run, result=one) for one in run.seeds], cache) for run in runs]
    means = pl.concat(each).group_by("run", "row", maintain_order=True)
    return means.agg(pl.col("value", "hits", "misses").mean())


def seed_marks(
    runs: Sequence[Run], of: Callable[[Result], float | None]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns marks for bars over several seeds: each mean's interval, and each seed's value.

    The first frame has `value`, `low` and `high`; the second has `seed` and `value`. Neither has
    rows for a run of one seed.
    """
    spread, dots = [], []
    for run in runs:
        values = [(result.seed, value) for result in run.seeds if (value := of(result)) is not None]
        mean, half = mean_and_half_width([value for _, value in values])
        if mean is not None and half is not None:
            spread.append((run.label, run.row, mean, mean - half, mean + half))
            dots += [(run.label, run.row, str(seed), value) for seed, value in values]
    return (
        pl.DataFrame(spread, schema=SPREAD, orient="row"),
        pl.DataFrame(dots, schema=DOTS, orient="row"),
    )
