"""Several results side by side: as a table, over seeds, in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import polars as pl

from . import notebook
from .configs import DEVICE
from .result import Result

METRIC_SECTIONS = ("latency", "throughput", "mapping", "buffer", "flash", "wear", "host")
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

    def _repr_html_(self) -> str:
        return notebook.rows_html([(labels(result, self.keys), result) for result in self])


def labels(result: Result, keys: Sequence[str]) -> dict[str, Any]:
    """What tells a result from the others: its trace, and the keys that vary."""
    return {"trace": result.workload.name} | {key: _value(result, key) for key in keys}


def comparison_table(results: Sequence[Result], keys: Sequence[str]) -> pl.DataFrame:
    """One row per result: `trace`, the config keys `keys`, then every metric.

    With several seeds among the results, `seed` comes before the metrics. A metric's column has
    the path that it has in the result: `write_amplification`, `latency.all.p99_us`,
    `flash.programs.gc`. Units are those of `Result`.
    """
    rows = []
    several = len({result.seed for result in results}) > 1
    for result in results:
        row = labels(result, keys)
        row |= {"seed": result.seed} if several else {}
        row["write_amplification"] = result.write_amplification
        row["data_write_amplification"] = result.data_write_amplification
        for section in METRIC_SECTIONS:
            row |= _numbers(getattr(result, section), f"{section}.")
        rows.append(row | {"warnings": len(result.warnings)})
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def latency_rows(results: Sequence[Result], keys: Sequence[str]) -> pl.DataFrame | None:
    """The `latencies` of all results that kept them, with what tells these apart; None of none."""
    found = [
        result.latencies.select(
            *(pl.lit(value).alias(name) for name, value in labels(result, keys).items()),
            pl.lit(result.seed).alias("seed"),
            pl.all(),
        )
        for result in results
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
