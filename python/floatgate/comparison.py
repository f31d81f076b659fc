"""Several results side by side: as a table, over seeds, in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import polars as pl

from . import notebook
from .configs import DEVICE
from .result import Result
from .scaling import mark

METRIC_SECTIONS = (
    "amplification",
    "latency",
    "throughput",
    "mapping",
    "buffer",
    "flash",
    "wear",
    "host",
)
"""The parts of a result whose numbers are metrics."""


class Comparison(list[Result]):
    """The results of `compare_results`, in its order. A notebook shows their main metrics."""

    def __init__(self, results: Iterable[Result], keys: Sequence[str]) -> None:
        super().__init__(results)
        self.keys = list(keys)
        """The config keys that varied; "device" where presets did."""

    def table(self) -> pl.DataFrame:
        """A row for each run: `comparison_table`."""
        return comparison_table(self, self.keys)

    def summary(self, baseline: Mapping[str, Any] | None = None) -> pl.DataFrame:
        """Means over the seeds, intervals, differences to `baseline`: `summary_table`."""
        from .intervals import summary_table

        return summary_table(self, self.keys, baseline)

    @property
    def plot(self) -> notebook.Plots:
        """The figures of the report as Altair charts: `runs.plot.write_amplification`."""
        from .report.shown import figures_of

        return notebook.Plots(figures_of(self))

    def report(
        self,
        path: str | Path,
        *,
        baseline: Mapping[str, Any] | None = None,
        title: str | None = None,
    ) -> Path:
        """Writes the report, a page that needs no network, to `path`.

        With several seeds a combination is one row and one bar with its interval. Differences are
        to `baseline`, as those of `summary`. Raises ConfigError where no run is the baseline, and
        OSError where the file cannot be written.
        """
        from .report import write_report

        return write_report(self, Path(path), baseline=baseline, title=title)

    def _repr_html_(self) -> str:
        rows = notebook.rows_html([*zip(labels(self, self.keys), self, strict=True)])
        if len({result.seed for result in self}) < 2:
            return rows
        from .report.intervals import means_table
        from .report.runs import combined_runs

        means = means_table(combined_runs(self))
        return notebook.table_html(means, means.title) + rows


def labels(results: Sequence[Result], keys: Sequence[str]) -> list[dict[str, Any]]:
    """What tells each result from the others: its trace, and the keys that vary."""
    told = [{key: _value(result, key) for key in keys} for result in results]
    names = _traces(results, told)
    return [{"trace": name} | values for name, values in zip(names, told, strict=True)]


def _traces(results: Sequence[Result], told: Sequence[Mapping[str, Any]]) -> list[str]:
    """Trace names; of traces of one name each has the start of its digest, as in a report.

    That is where runs of one seed and drive have different requests: a generator has others with
    each seed, and a trace that is wrapped onto drives with each size.
    """
    contents: dict[Any, set[str]] = {}
    names = [result.workload.name for result in results]
    for name, result, values in zip(names, results, told, strict=True):
        place = (name, result.seed, *map(str, values.values()))
        contents.setdefault(place, set()).add(result.workload.hash)
    several = {place[0] for place, digests in contents.items() if len(digests) > 1}
    return [
        f"{name} ({result.workload.hash[:8]})".strip() if name in several else name
        for name, result in zip(names, results, strict=True)
    ]


def comparison_table(results: Sequence[Result], keys: Sequence[str]) -> pl.DataFrame:
    """One row per result: `trace`, the config keys `keys`, then every metric.

    Of different traces of one name, `trace` has the start of `workload.hash` behind the name.
    With several seeds among the results, `seed` comes before the metrics. `drive` says what the
    drive has otherwise than was asked: few erase units, or another spare factor; else it is empty.
    A metric's column has
    the path that it has in the result: `write_amplification`, `latency.all.p99_us`,
    `flash.programs.gc`. Units are those of `Result`.
    """
    rows = []
    several = len({result.seed for result in results}) > 1
    for result, row in zip(results, labels(results, keys), strict=True):
        row |= {"seed": result.seed} if several else {}
        row["drive"] = mark(result)
        row["write_amplification"] = result.write_amplification
        row["write_amplification_last_quarter"] = result.write_amplification_last_quarter
        row["page_write_amplification"] = result.page_write_amplification
        row["data_write_amplification"] = result.data_write_amplification
        for section in METRIC_SECTIONS:
            row |= _numbers(getattr(result, section), f"{section}.")
        rows.append(row | {"warnings": len(result.warnings)})
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def latency_rows(results: Sequence[Result], keys: Sequence[str]) -> pl.DataFrame | None:
    """The `latencies` of all results that kept them, with what tells these apart; None of none."""
    found = [
        result.latencies.select(
            *(pl.lit(value).alias(name) for name, value in label.items()),
            pl.lit(result.seed).alias("seed"),
            pl.all(),
        )
        for result, label in zip(results, labels(results, keys), strict=True)
        if result.distributions
    ]
    return pl.concat(found, how="vertical_relaxed") if found else None


def idle_keys(table: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Those of `keys` that change no metric: rows of a comparison that differ in one are equal."""
    return [
        key
        for key in keys
        if (values := table[key].n_unique()) > 1
        and table.drop(key).unique().height * values == table.height
    ]


def _value(result: Result, key: str) -> Any:
    """What a result has for a key that varied: one of its config, or "device"."""
    return result.device if key == DEVICE else result.setting(key)


def _numbers(section: Any, prefix: str) -> dict[str, Any]:
    """The numbers (and Nones) of a part of a result under dotted names; lists are left out."""
    flat: dict[str, Any] = {}
    for name, value in vars(section).items():
        if is_dataclass(value):
            flat |= _numbers(value, f"{prefix}{name}.")
        elif value is None or isinstance(value, (int, float)):
            flat[f"{prefix}{name}"] = value
    return flat
