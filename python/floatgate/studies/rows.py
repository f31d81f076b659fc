"""Converts a run to a row: typed columns from the fields of a result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

import polars as pl

from floatgate import _core
from floatgate.result_types import ResultFields
from floatgate.results.result import Result
from floatgate.simulation.options import RunOptions
from floatgate.tuning.ranges import text

from .planned import Task

Row = dict[str, Any]
Schema = dict[str, Any]
"""Polars types by column name."""

DONE, FAILED = "done", "failed"

CONFIG = "config"
"""Column of the whole config, as JSON text."""

HOST = "engine."
"""Prefix of columns about the machine that executed the run; no other column depends on it."""

OPTION = "options."
"""Prefix of columns with the options of a run, which distinguish entries of one trace."""

OPTIONS: Schema = {
    "repeat": pl.Int64,
    "limit": pl.Int64,
    "addresses": pl.String,
    "time_scale": pl.Float64,
    "verify": pl.Boolean,
    "format": pl.String,
    "close_gaps": pl.String,
    "streams": pl.String,
    "units": pl.Int64,
    "full_size": pl.Boolean,
}
"""All options of a study file except `start_cache`, which changes no result."""

LEADING: Schema = {
    "run": pl.String,
    "status": pl.String,
    "error": pl.String,
    "trace": pl.String,
    "volume": pl.String,
    "seed": pl.UInt64,
} | {f"{OPTION}{name}": kind for name, kind in OPTIONS.items()}

_TYPES: dict[Any, Any] = {
    bool: pl.Boolean,
    int: pl.Int64,
    float: pl.Float64,
    str: pl.String,
    tuple[str, ...]: pl.List(pl.String),
}


def schema(varied: Mapping[str, Sequence[Any]]) -> Schema:
    """Returns the columns of a study in which these keys have these values.

    The first columns identify a run. The varied keys follow, then the results under their names in
    the result, such as `latency.all.p99_us`. Lists have a column only if they are lists of texts.
    """
    chosen = {key: _type_of(values) for key, values in varied.items()}
    taken = {*LEADING, *chosen}
    found = {name: kind for name, kind in _result().kinds.items() if name not in taken}
    return LEADING | chosen | found | {CONFIG: pl.String}


def differing_options(study: Mapping[str, Any]) -> list[str]:
    """Returns the option columns in which traces of a study differ; `study` is its document."""
    plain = vars(RunOptions())
    common = {name: plain[name] for name in OPTIONS} | study.get("options", {})
    given = [common | trace for trace in study["traces"]]
    return [f"{OPTION}{name}" for name in OPTIONS if len({one[name] for one in given}) > 1]


def check_metric(metric: str, columns: Mapping[str, Any], place: str) -> None:
    """Raises ConfigError, with similar names, unless `metric` is a column of numbers.

    `columns` maps the columns to their types, as in a `Schema` or as texts.
    """
    known = [name for name, kind in columns.items() if str(kind) in ("Int64", "Float64")]
    if metric not in known:
        word = metric.rpartition(".")[2]
        close = get_close_matches(metric, known, 4, 0.5)
        near = [*dict.fromkeys([*close, *(name for name in known if word in name)])][:4]
        raise _core.ConfigError(
            f"{place}: {metric} is no metric; expected a column of numbers, such as "
            + ", ".join(near or known[:4])
        )


def row_of(task: Task, came: Result | BaseException) -> Row:
    """Returns the row of a run that has completed or failed."""
    row: Row = {
        "run": task.digest,
        "status": DONE,
        "error": None,
        "trace": task.trace,
        "volume": task.volume,
        "seed": task.how.seed,
    } | {f"{OPTION}{name}": task.options[name] for name in OPTIONS}
    config = task.drive.config.text if task.drive else json.dumps(task.values)
    if isinstance(came, Result):
        # The run has filled in the keys that its config leaves open.
        config = json.dumps(came.config)
        row = _result().columns_of(came) | row
    else:
        row |= {"status": FAILED, "error": " ".join(str(came).split()) or type(came).__name__}
    return row | dict(task.values) | {CONFIG: config}


def frame_of(rows: Sequence[Row], columns: Schema) -> pl.DataFrame:
    """Returns the rows as a table with these columns; a value that a row lacks is null."""
    data = {}
    for name, kind in columns.items():
        values = [row.get(name) for row in rows]
        if kind == pl.String:
            values = [value if value is None else text(value) for value in values]
        data[name] = pl.Series(name, values, dtype=kind, strict=kind != pl.Float64)
    return pl.DataFrame(data)


def _type_of(values: Sequence[Any]) -> Any:
    """Returns the narrowest type of a column that can hold all the values."""
    kinds = {type(value) for value in values}
    if kinds == {int} and not all(abs(value) < 1 << 63 for value in values):
        kinds = {str}
    for known in ({bool}, {int}, {int, float}):
        if kinds and kinds <= known:
            return _TYPES[float if float in kinds else next(iter(kinds))]
    return pl.String


class _Table:
    """Columns of a dataclass: of its fields, and of the dataclasses in it."""

    def __init__(self, kind: Any, prefix: str = "") -> None:
        self.kinds: Schema = {}
        self._fields: list[tuple[str, str, bool]] = []
        """Each field with its column, and whether it is a list."""
        self._tables: list[tuple[str, _Table]] = []
        for name, hint in get_type_hints(kind).items():
            kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
            one = next(one for one in kinds if one is not NoneType)
            column = f"{prefix}{name}"
            if is_dataclass(one):
                table = _Table(one, f"{column}.")
                self.kinds |= table.kinds
                self._tables.append((name, table))
            elif one in _TYPES:
                self.kinds[column] = _TYPES[one]
                self._fields.append((name, column, bool(get_args(one))))

    def columns_of(self, owner: Any) -> Row:
        """Returns the columns of a dataclass, or of none: then lists are empty, and all else is
        None.
        """
        row: Row = {}
        self._add(owner, row)
        return row

    def _add(self, owner: Any, row: Row) -> None:
        for name, column, is_list in self._fields:
            value = getattr(owner, name, None)
            row[column] = [*(value or ())] if is_list else value
        for name, table in self._tables:
            table._add(getattr(owner, name, None), row)


@cache
def _result() -> _Table:
    return _Table(ResultFields)
