"""Several results side by side: as a table, over seeds, in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from . import notebook
from .configs import DEVICE
from .result import Result


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
    document = result.to_dict()
    return {"trace": result.workload.name} | {key: value_of(document, key) for key in keys}


def comparison_table(results: Sequence[Result], keys: Sequence[str]) -> pl.DataFrame:
    """One row per result: `trace`, the config keys `keys`, then every metric.

    With several seeds among the results, `seed` comes before the metrics. A metric's column has
    the path that it has in the result: `write_amplification`, `latency.all.p99_us`,
    `flash.programs.gc`. Units are those of `Result`.
    """
    rows = []
    several = len({result.seed for result in results}) > 1
    for result in results:
        document = result.to_dict()
        row: dict[str, Any] = {"trace": result.workload.name}
        row |= {key: value_of(document, key) for key in keys}
        row |= {"seed": result.seed} if several else {}
        row |= {name: document[name] for name in ("write_amplification", _DATA)}
        for section in ("latency", "throughput", "mapping", "buffer", "flash", "wear", "host"):
            row |= _numbers(document[section], f"{section}.")
        rows.append(row | {"warnings": len(result.warnings)})
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


_DATA = "data_write_amplification"


def idle_keys(table: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Those of `keys` that change no metric: rows of a comparison that differ in one are equal."""
    return [
        key
        for key in keys
        if (values := table[key].n_unique()) > 1
        and table.drop(key).unique().height * values == table.height
    ]


def value_of(document: Mapping[str, Any], key: str) -> Any:
    """What a result's document has for a key that varied: one of its config, or "device"."""
    if key == DEVICE:
        return document[DEVICE]
    value: Any = document["config"]
    for step in key.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _numbers(table: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The numbers (and nulls) in nested tables under dotted names; lists are left out."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= _numbers(value, f"{prefix}{name}.")
        elif value is None or isinstance(value, (int, float)):
            flat[f"{prefix}{name}"] = value
    return flat
