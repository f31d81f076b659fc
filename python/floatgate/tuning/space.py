"""What `floatgate tune` may vary, and what it asks for: read from texts, checked before any run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from floatgate import _core, configs
from floatgate.comparison import METRIC_SECTIONS
from floatgate.configs import Device
from floatgate.result_types import ResultFields

if TYPE_CHECKING:
    import optuna

LOG = ":log"
"""Behind a range: equal ratios are equally likely."""

_Model = TypeVar("_Model", bound=BaseModel)

Kind = Literal["choices", "integer", "real", "size"]


class Axis(BaseModel):
    """The values that a config key may have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(pattern=r"^[a-z_0-9]+(\.[a-z_0-9]+)*$")
    kind: Kind
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = 0
    log: bool = False

    @model_validator(mode="after")
    def _is_some_range(self) -> Axis:
        if self.kind == "choices":
            if len(self.choices) < 2 or len({*self.choices}) < len(self.choices):
                raise ValueError("expected two different choices or more")
        elif not self.low < self.high:
            raise ValueError("expected a range from less to more")
        if self.log and self.low <= 0:
            raise ValueError("expected a range above 0, as it is logarithmic")
        return self

    @property
    def ends(self) -> list[str]:
        """Every choice, or both ends of the range, as texts of a config."""
        if self.kind == "choices":
            return [*self.choices]
        return [self.text(self.low), self.text(self.high)]

    def suggest(self, trial: optuna.Trial) -> str:
        """A value for a trial, as the text of a config."""
        if self.kind == "choices":
            return str(trial.suggest_categorical(self.key, self.choices))
        if self.kind == "real":
            return self.text(trial.suggest_float(self.key, self.low, self.high, log=self.log))
        if self.kind == "size":
            steps = int(self.high // self.low).bit_length() - 1
            return self.text(self.low * 2 ** trial.suggest_int(self.key, 0, steps))
        return self.text(trial.suggest_int(self.key, int(self.low), int(self.high), log=self.log))

    def text(self, value: float) -> str:
        """A value of a range as the text of a config."""
        if self.kind == "real":
            return f"{value:.6g}"
        return f"{int(value)}B" if self.kind == "size" else str(int(value))


class Objective(BaseModel):
    """A number of a result that is to be small or large."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metric: str
    direction: Literal["min", "max"]

    @property
    def sign(self) -> int:
        """What makes less better."""
        return 1 if self.direction == "min" else -1


class Asked(BaseModel):
    """A search, checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    objectives: tuple[Objective, ...] = Field(min_length=1, max_length=4)
    axes: tuple[Axis, ...] = Field(min_length=1)
    trials: int = Field(ge=1, le=100_000)
    seed: int = Field(ge=0, lt=1 << 32)
    sampler: Literal["tpe", "random"]
    prune: bool


def asked(
    objectives: Sequence[str], vary: Mapping[str, str | Sequence[Any]], **other: Any
) -> Asked:
    """What is asked for, from texts. Raises ConfigError."""
    named = [_objective(text) for text in objectives]
    known = [one.metric for one in named]
    if repeated := {metric for metric in known if known.count(metric) > 1}:
        raise _core.ConfigError(f"objective: {', '.join(sorted(repeated))} is given twice")
    axes = [_axis(key, given) for key, given in vary.items()]
    return _checked(Asked, "tune", objectives=tuple(named), axes=tuple(axes), **other)


def check_axes(axes: Sequence[Axis], device: Device | None, set: Mapping[str, Any]) -> None:
    """Raises ConfigError for a key or a value that no config has, and for a policy's own key where
    no trial can have that policy."""
    found = []
    for axis in axes:
        if axis.key in set:
            raise _core.ConfigError(f"vary: {axis.key} is also set, to {set[axis.key]!r}")
        for end in axis.ends:
            found.append(json.loads(configs.resolve(device, {**set, axis.key: end})))
    configs.check_used([axis.key for axis in axes], found)


def metrics() -> list[str]:
    """The numbers of a result that can be asked for, by their paths."""
    found = ["write_amplification", "data_write_amplification"]
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
    return _checked(Objective, "objective", metric=metric, direction=direction)


def _axis(key: str, given: str | Sequence[Any]) -> Axis:
    """An axis from "a,b,c", "1..8", "0.05..0.3:log", "64KiB..4MiB", or a list of values."""
    where = f"vary: {key}={given}"
    if not isinstance(given, str):
        words = [str(one).lower() if isinstance(one, bool) else str(one) for one in given]
        return _checked(Axis, where, key=key, kind="choices", choices=tuple(words))
    if ".." not in given:
        words = [word.strip() for word in given.split(",")]
        return _checked(Axis, where, key=key, kind="choices", choices=tuple(words))
    text = given.removesuffix(LOG)
    ends = [end.strip() for end in text.split("..")]
    if len(ends) != 2:
        raise _core.ConfigError(f"{where}: expected LOW..HIGH")
    log = given.endswith(LOG)
    readers: tuple[tuple[Kind, Callable[[str], float]], ...]
    readers = (("integer", int), ("real", float), ("size", _size))
    for kind, read in readers:
        try:
            low, high = map(read, ends)
        except ValueError:
            continue
        return _checked(Axis, where, key=key, kind=kind, low=low, high=high, log=log)
    raise _core.ConfigError(
        f"{where}: expected a range of numbers or sizes, such as 1..8 or 64KiB..4MiB"
    )


def _size(text: str) -> int:
    size = _core.size_bytes(text)
    if not size:
        raise ValueError(text)
    return size


def _checked(model: type[_Model], where: str, **values: Any) -> _Model:
    """An object of pydantic's, or a ConfigError that says what is wrong with it."""
    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        words = first["msg"].removeprefix("Value error, ")
        raise _core.ConfigError(f"{where}{f': {place}' if place else ''}: {words}") from error
