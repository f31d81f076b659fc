"""Keys and objectives of `floatgate tune`, checked before any run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from floatgate import _core
from floatgate.guests.base import Policy
from floatgate.guests.given import by_name
from floatgate.result_types import ResultFields
from floatgate.results.table import METRIC_SECTIONS
from floatgate.simulation import configs
from floatgate.simulation.configs import Device

from . import ranges
from .ranges import Allowed, Range, Value

Given = str | Sequence[Any] | Mapping[str, Any]
"""Choices or a range, as a user writes them."""


class Objective(BaseModel):
    """Number of a result to minimise or maximise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metric: str
    direction: Literal["min", "max"]

    @property
    def sign(self) -> int:
        """Factor that makes smaller values better."""
        return 1 if self.direction == "min" else -1


class Asked(BaseModel):
    """Checked options of a search."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    objectives: tuple[Objective, ...] = Field(min_length=1, max_length=4)
    axes: dict[str, Allowed] = Field(min_length=1)
    trials: int = Field(ge=1, le=100_000)
    seed: int = Field(ge=0, lt=1 << 32)
    sampler: Literal["tpe", "random"]
    prune: bool


def asked(objectives: Sequence[str], vary: Mapping[str, Given], **other: Any) -> Asked:
    """Returns the checked options from texts. Raises ConfigError."""
    named = [_objective(text) for text in objectives]
    known = [one.metric for one in named]
    if repeated := {metric for metric in known if known.count(metric) > 1}:
        raise _core.ConfigError(f"objective: {', '.join(sorted(repeated))} is given twice")
    axes = {key: _allowed(key, given) for key, given in vary.items()}
    try:
        return Asked(objectives=tuple(named), axes=axes, **other)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        expected = first["msg"].removeprefix("Input should be ")
        given = f"{first['input']!r} given; expected {expected}"
        raise _core.ConfigError(f"tune: {place}: {given}") from error


def config_text(of: Allowed, value: Value) -> str:
    if isinstance(of, Range) and of.doubles:
        return f"{value}B"
    if isinstance(of, Range) and isinstance(value, float):
        # Six digits are readable, but may round out of the range.
        short = f"{value:.6g}"
        return short if of.low <= float(short) <= of.high else ranges.text(value)
    return ranges.text(value)


def check_axes(axes: Mapping[str, Allowed], device: Device | None, set: Mapping[str, Any]) -> None:
    """Raises ConfigError for a key or a value that no config has, and for a policy's parameter if
    no trial can have that policy.
    """
    found = []
    for key, of in axes.items():
        if key in set:
            raise _core.ConfigError(f"vary: {key} is also set, to {set[key]!r}")
        for end in ranges.ends(of):
            found.append(configs.resolve(device, {**set, key: config_text(of, end)}).table())
    configs.check_used([*axes], found)


def metrics() -> list[str]:
    """Returns the numbers of a result that can be an objective, by their paths."""
    found = [f"{name}write_amplification" for name in ("", "page_", "data_")]
    found.append("write_amplification_last_quarter")
    hints = get_type_hints(ResultFields)
    for section in METRIC_SECTIONS:
        found += _numbers(hints[section], section)
    return found


def _numbers(kind: Any, path: str) -> list[str]:
    found = []
    hints = get_type_hints(kind)
    for field in fields(kind):
        hint = hints[field.name]
        if is_dataclass(hint):
            found += _numbers(hint, f"{path}.{field.name}")
        elif get_origin(hint) is not tuple and {*(get_args(hint) or (hint,))} & {int, float}:
            found.append(f"{path}.{field.name}")
    return found


def _objective(text: str) -> Objective:
    direction, colon, metric = text.partition(":")
    if not colon:
        direction, metric = "min", text
    known = metrics()
    if direction not in ("min", "max") or metric not in known:
        near = [name for name in known if metric.rpartition(".")[2] in name][:4] or known[:4]
        raise _core.ConfigError(
            f"objective: {text!r} given; expected min:METRIC or max:METRIC, such as "
            + ", ".join(near)
        )
    return Objective(metric=metric, direction="min" if direction == "min" else "max")


def _allowed(key: str, given: Given) -> Allowed:
    """Returns the values that a key may have:
    choices ("a,b,c" or a list) as texts of a config, or a range.
    """
    if isinstance(given, str) and ".." not in given:
        given = [word.strip() for word in given.split(",")]
    if isinstance(given, Sequence) and not isinstance(given, str):
        if policies := [one for one in given if isinstance(one, Policy)]:
            raise _core.ConfigError(f"vary: {key}: {by_name(policies[0])}")
        given = [*map(ranges.text, given)]
    try:
        return ranges.read(given, least=2)
    except ValueError as error:
        raise _core.ConfigError(f"vary: {key}: {error}") from None
