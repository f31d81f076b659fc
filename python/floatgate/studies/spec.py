"""Validates a study file: its keys with their values, its traces and its seeds."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    model_validator,
)

from floatgate import _core
from floatgate.files.reading import read_text
from floatgate.guests.base import Policy
from floatgate.guests.given import by_name
from floatgate.tuning import ranges
from floatgate.tuning.optimizer import Direction, check_installed
from floatgate.tuning.ranges import Value

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RUNS_MAX = 5_000_000
"""Maximum number of runs of a study: planning takes some 200 bytes of memory for each run."""

METRIC = "write_amplification"
"""Metric that a search minimizes if the file names none."""


def _dotted(table: Any, prefix: str = "") -> Any:
    """Flattens nested tables to keys with dots: TOML makes tables of `mapping.scheme = ...`.

    A table with `from` and `to` is a range of values. A key that is given in both notations is
    refused, as TOML refuses a key that is given twice in one notation.
    """
    if not isinstance(table, Mapping):
        return table
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        is_table = isinstance(value, Mapping) and not {"from", "to"} & {*value}
        own = _dotted(value, f"{name}.") if is_table else {name: value}
        if twice := [one for one in own if one in found]:
            raise ValueError(f"{twice[0]} is given twice; expected it once")
        found |= own
    return found


Values = Annotated[list[Value], AfterValidator(ranges.different)]
Ranged = Annotated[ranges.Allowed, PlainValidator(ranges.read), PlainSerializer(ranges.document)]


class Strict(BaseModel):
    """A table that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _each_key_is_known(cls, table: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        if isinstance(table, Mapping) and (unknown := [key for key in table if key not in known]):
            raise ValueError(f"unknown key {unknown[0]}; expected one of {', '.join(known)}")
        return table


Ranges = Annotated[dict[str, Ranged], BeforeValidator(_dotted), Field(min_length=1)]
Settings = Annotated[dict[str, Value], BeforeValidator(_dotted)]


class Random(Strict):
    """Combinations that are drawn at random."""

    draws: int = Field(ge=1, le=RUNS_MAX)
    seed: int = 1
    keys: Ranges


class Search(Strict):
    """Combinations that Optuna proposes, each from the results of earlier combinations."""

    trials: int = Field(ge=1, le=RUNS_MAX)
    seed: int = Field(default=1, ge=0, lt=1 << 32)
    """Seed of numpy's generator, which takes 32 bits."""
    batch: int = Field(default=8, ge=1)
    """Trials that are proposed, and run, at a time."""
    keys: Ranges
    minimize: list[str] = []
    maximize: list[str] = []

    @model_validator(mode="after")
    def _each_metric_once(self) -> Search:
        named = [*self.minimize, *self.maximize]
        if twice := [metric for metric in named if named.count(metric) > 1]:
            raise ValueError(f"{twice[0]} is given twice in minimize and maximize")
        return self

    @property
    def goals(self) -> dict[str, Direction]:
        """Optuna's direction for each metric; a metric is a column of the results."""
        found: dict[str, Direction] = dict.fromkeys(self.minimize, "minimize")
        found |= dict.fromkeys(self.maximize, "maximize")
        return found or {METRIC: "minimize"}


class Options(Strict):
    """The options of a run; `floatgate.run` documents them."""

    repeat: int | None = None
    limit: int | None = None
    addresses: str | None = None
    time_scale: float | None = None
    verify: bool | None = None
    format: str | None = None
    close_gaps: str | None = None
    streams: str | None = None
    start_cache: str | None = None
    units: int | None = None
    full_size: bool | None = None

    def given(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in Options.model_fields}
        return {name: value for name, value in found.items() if value is not None}


class TraceSpec(Options):
    """A trace or a generator, with options of its own."""

    trace: str = Field(min_length=1)
    """A path, also with `*`; a URL; or a generator."""
    split: Literal["volume"] | None = None
    """Whether each volume of the trace is a workload of its own."""


def _as_traces(traces: Any) -> Any:
    given = traces if isinstance(traces, list) else [traces]
    if wrong := [one for one in given if not isinstance(one, (str, Mapping))]:
        raise ValueError(
            f"{wrong[0]!r} given; expected a path, a URL, a generator, or a table with `trace`"
        )
    return [{"trace": one} if isinstance(one, str) else one for one in given]


def _as_seeds(seeds: Any) -> Any:
    """Converts a number N of seeds to the seeds 1 to N."""
    if isinstance(seeds, list):
        return seeds
    if isinstance(seeds, int) and not isinstance(seeds, bool) and seeds >= 1:
        if seeds > RUNS_MAX:
            raise ValueError(f"{seeds:,} given; expected at most {RUNS_MAX:,}")
        return [*range(1, seeds + 1)]
    raise ValueError(f"{seeds!r} given; expected how many, 1 or more, or a list of them")


def _as_bytes(size: Any) -> Any:
    found = ranges.number(size)
    if isinstance(found, int) and not isinstance(found, bool) and found > 0:
        return found
    raise ValueError(f'{size!r} given; expected a number of bytes, or a size such as "2GiB"')


def _as_points(points: Any) -> Any:
    return [_dotted(point) for point in points] if isinstance(points, list) else points


Seed = Annotated[int, Field(ge=0, lt=1 << 64)]
Seeds = Annotated[list[Seed], BeforeValidator(_as_seeds), AfterValidator(ranges.different)]
Traces = Annotated[list[TraceSpec], BeforeValidator(_as_traces), Field(min_length=1)]
Points = Annotated[list[dict[str, Value]], BeforeValidator(_as_points)]
Grid = Annotated[dict[str, Values], BeforeValidator(_dotted)]


class StudySpec(Strict):
    """A study: every trace, with every combination of values, with every seed.

    A combination joins values of `grid` with an entry of `list`, and with a draw of `random` or a
    trial of `optuna`.
    """

    traces: Traces
    device: str | None = None
    settings: Settings = Field(default={}, alias="set")
    options: Options = Options()
    seeds: Seeds = [1]
    grid: Grid = {}
    points: Points = Field(default=[], alias="list")
    random: Random | None = None
    optuna: Search | None = None
    memory: Annotated[int, BeforeValidator(_as_bytes)] | None = None
    """Maximum memory of a run in bytes, for engines that place runs by memory."""

    @model_validator(mode="after")
    def _each_key_once(self) -> StudySpec:
        places = {
            "set": self.settings.keys(),
            "grid": self.grid.keys(),
            "list": {key for point in self.points for key in point},
            "random": self.random.keys.keys() if self.random else (),
            "optuna": self.optuna.keys.keys() if self.optuna else (),
        }
        if self.device is not None:
            places["device"] = {"device"}
        seen: dict[str, str] = {}
        for place, keys in places.items():
            for key in keys:
                if key in seen:
                    raise ValueError(f"{key} is in {seen[key]} and in {place}; expected one place")
                seen[key] = place
        return self

    @model_validator(mode="after")
    def _not_too_many(self) -> StudySpec:
        """Refuses too many runs before any memory is allocated for them."""
        counts = {
            "traces": len(self.traces),
            "seeds": len(self.seeds),
            **{key: len(values) for key, values in self.grid.items()},
            "list": max(1, len(self.points)),
            "draws": self.random.draws if self.random else 1,
            "trials": self.optuna.trials if self.optuna else 1,
        }
        if (runs := math.prod(counts.values())) > RUNS_MAX:
            product = " x ".join(f"{n:,} {name}" for name, n in counts.items() if n > 1)
            raise ValueError(f"{product} = {runs:,} runs; expected at most {RUNS_MAX:,}")
        return self

    @property
    def varied(self) -> dict[str, list[Any]]:
        """Values of each key that varies; for a range, its ends."""
        found: dict[str, list[Any]] = {key: [*values] for key, values in self.grid.items()}
        for point in self.points:
            for key, value in point.items():
                found.setdefault(key, []).append(value)
        for drawn in (self.random, self.optuna):
            for key, of in drawn.keys.items() if drawn else ():
                found[key] = ranges.ends(of)
        return found


def parse(document: Mapping[str, Any], where: str = "study") -> StudySpec:
    """Parses a document as TOML has it. Raises ConfigError with a message that begins with `where`.

    Also raises ConfigError if the study needs Optuna and Optuna is not installed. So this error
    appears before anything is written.
    """
    try:
        found = StudySpec.model_validate(dict(document))
    except ValidationError as error:
        raise _core.ConfigError(f"{where}: {_words(error)}") from None
    if found.optuna:
        check_installed()
    return found


def read(path: Path) -> StudySpec:
    """Reads the study in a TOML file. Raises ConfigError."""
    try:
        return parse(tomllib.loads(read_text(path)), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _core.ConfigError(f"{path}: cannot be read: {reason}") from error
    except tomllib.TOMLDecodeError as error:
        raise _core.ConfigError(f"{path}: no TOML: {error}") from error
    except RecursionError:
        raise _core.ConfigError(f"{path}: no study: lists or tables nest too deeply") from None


_EXPECTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le:,}",
    "too_short": "at least {min_length} of them",
    "string_too_short": "a text",
}
"""Expected value for each type of pydantic error."""


def _words(error: ValidationError) -> str:
    """Describes the first mistake: its place, the given value, the expected value."""
    # For a union, pydantic reports the errors of all members; the shortest place is the user's key.
    first = min(error.errors(), key=lambda one: len(one["loc"]))
    steps = [str(step) for step in first["loc"] if not str(step).startswith(("function-", "list["))]
    names = [step for step in steps if step not in ("bool", "int", "float", "str")]
    place = ".".join(names)
    if first["type"] == "missing":
        return f"{place} is missing"
    given = first["input"]
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, Policy):
            return f"{place}: {by_name(one)}"
    if first["type"] == "value_error":
        said = first["msg"].removeprefix("Value error, ")
        return f"{place}: {said}" if place else said
    if len(names) < len(steps):
        expected = "a number, a text, true or false"
    elif first["type"] in _EXPECTED:
        expected = _EXPECTED[first["type"]].format(**first.get("ctx", {}))
    else:
        expected = first["msg"].removeprefix("Input should be ")
    return f"{place} = {given!r} given; expected {expected}"
