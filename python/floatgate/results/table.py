"""Several results as one table, with a label for each result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from .marks import DEVICE, mark
from .result import Result

if TYPE_CHECKING:
    import polars as pl

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
"""Sections of a result whose numbers are metrics."""


def labels(results: Sequence[Result], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Returns a label for each result that distinguishes it: its trace, and the keys that vary."""
    told = [{key: _value(result, key) for key in keys} for result in results]
    names = _traces(results, told)
    return [{"trace": name} | values for name, values in zip(names, told, strict=True)]


def _traces(results: Sequence[Result], told: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the trace name of each result. Different traces with one name also get the start of
    their digest, as in a report.

    Traces differ if runs with the same name, seed and drive have different requests. A generator
    makes different requests for each seed, and a trace wrapped onto drives differs with each drive
    size, so seeds and drives are compared too.
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
    """Returns one row per result: `trace`, the config keys `keys`, then every metric.

    If different traces share a name, `trace` also has the start of `workload.hash`. With several
    seeds among the results, `seed` comes before the metrics. `drive` states where the drive
    deviates from the config: few erase units, or another spare factor. Otherwise `drive` is empty.
    A metric's column is named after its path in the result: `write_amplification`,
    `latency.all.p99_us`, `flash.programs.gc`. Units are the units of `Result`.
    """
    import polars as pl

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
    """Returns the `latencies` of all results that kept them, with their labels;
    None if no result has any.
    """
    import polars as pl

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
    """Returns the keys that change no metric: rows that differ only in such a key are equal."""
    return [
        key
        for key in keys
        if (values := table[key].n_unique()) > 1
        and table.drop(key).unique().height * values == table.height
    ]


def _value(result: Result, key: str) -> Any:
    """Returns a result's value for a key that varied: a config key, or "device"."""
    return result.device if key == DEVICE else result.setting(key)


def _numbers(section: Any, prefix: str) -> dict[str, Any]:
    """Returns the numbers (and Nones) of a section of a result under dotted names,
    without lists.
    """
    flat: dict[str, Any] = {}
    for name, value in vars(section).items():
        if is_dataclass(value):
            flat |= _numbers(value, f"{prefix}{name}.")
        elif value is None or isinstance(value, (int, float)):
            flat[f"{prefix}{name}"] = value
    return flat
