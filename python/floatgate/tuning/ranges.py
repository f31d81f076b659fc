"""Values that a key may have: a list of choices, or a range of numbers.

`tune` and studies use this module to read ranges that a user writes, and to draw values from them.
A wrong range raises ValueError; the caller adds where the range was written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from floatgate import _core

if TYPE_CHECKING:
    import optuna

Value = bool | int | float | str
"""Value that a key can be set to."""

LOG = ":log"
"""Suffix of a range written as a text."""

FORMS = "expected a range of numbers or sizes, such as 1..8 or 64KiB..4MiB, or a list of values"


@dataclass(frozen=True)
class Range:
    """Numbers between two ends, both included. Only whole numbers if both ends are whole."""

    low: int | float
    high: int | float
    log: bool = False
    """Whether equal ratios are equally likely."""
    doubles: bool = False
    """Whether the numbers are bytes: `low` times a power of two."""

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError("expected a range from less to more")
        if (self.log or self.doubles) and self.low <= 0:
            raise ValueError("expected a range above 0, as it is logarithmic or doubles")

    @property
    def is_whole(self) -> bool:
        """Whether the range has whole numbers only."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def doublings(self) -> int:
        """How often `low` can be doubled within the range."""
        return int(self.high // self.low).bit_length() - 1


Allowed = Range | list[Value]


def read(given: Any, *, least: int = 1) -> Allowed:
    """Returns a list of at least `least` different values, or a range.

    A range is a text or a table. A text is "1..8", "0.05..0.3:log" or "64KiB..4MiB" (sizes that
    double from the first). A table is, for example, {"from": "64KiB", "to": "4MiB", "log": True};
    its sizes are whole numbers.
    """
    try:
        if isinstance(given, str):
            return _of_text(given)
        if isinstance(given, Mapping):
            return _of_table(given)
        if isinstance(given, Sequence):
            return different([*map(_value, given)], least=least)
        raise ValueError(FORMS)
    except ValueError as error:
        raise ValueError(f"{given!r} given; {error}") from None


def different(values: list[Any], *, least: int = 1) -> list[Any]:
    """Returns the values if there are at least `least` (one or two), all different."""
    if len(values) < least or len({(type(value), value) for value in values}) < len(values):
        words = "one" if least == 1 else "two"
        raise ValueError(f"expected {words} or more values, all different")
    return values


def number(value: Any) -> Any:
    """Returns the bytes of a size such as "64KiB", and any other value unchanged."""
    size = _core.size_bytes(value) if isinstance(value, str) else None
    return value if size is None else size


def ends(of: Allowed) -> list[Value]:
    """Returns every choice, or both ends of a range."""
    return [of.low, of.high] if isinstance(of, Range) else [*of]


def document(of: Allowed) -> Any:
    """Returns the JSON form that `read` takes."""
    if not isinstance(of, Range):
        return of
    if of.doubles:
        return f"{of.low}B..{of.high}B"
    return {"from": of.low, "to": of.high} | ({"log": True} if of.log else {})


def text(value: Any) -> str:
    """Returns a value as a config writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def draw(of: Allowed, random: Random) -> Value:
    """Draws one of the values at random."""
    if not isinstance(of, Range):
        return random.choice(of)
    if of.doubles:
        return int(of.low) << random.randint(0, of.doublings)
    if of.log:
        # Widened by 0.5, so that the ends are as likely as the whole numbers between them.
        wider = 0.5 if of.is_whole else 0
        value = math.exp(random.uniform(math.log(of.low - wider), math.log(of.high + wider)))
        return min(max(round(value), int(of.low)), int(of.high)) if of.is_whole else value
    if of.is_whole:
        return random.randint(int(of.low), int(of.high))
    return random.uniform(of.low, of.high)


def suggest(of: Allowed, trial: optuna.Trial, key: str) -> Value:
    """Returns the value that Optuna proposes."""
    if not isinstance(of, Range):
        return of[int(trial.suggest_categorical(key, [*range(len(of))]))]
    if of.doubles:
        return int(of.low) << trial.suggest_int(key, 0, of.doublings)
    if of.is_whole:
        return trial.suggest_int(key, int(of.low), int(of.high), log=of.log)
    return trial.suggest_float(key, of.low, of.high, log=of.log)


def _of_text(given: str) -> Range:
    ends = [end.strip() for end in given.removesuffix(LOG).split("..")]
    kinds: tuple[Callable[[str], Any], ...] = (int, float, _core.size_bytes)
    for kind in kinds:
        with suppress(ValueError):
            found = [*map(kind, ends)]
            break
    if len(found) != 2 or None in found:
        raise ValueError(FORMS)
    return Range(found[0], found[1], given.endswith(LOG), kind is _core.size_bytes)


def _of_table(given: Mapping[str, Any]) -> Range:
    log = given.get("log", False)
    if not {"from", "to"} <= given.keys() <= {"from", "to", "log"} or not isinstance(log, bool):
        raise ValueError("expected a range with from and to, and perhaps log = true")
    low, high = number(given["from"]), number(given["to"])
    if not {type(low), type(high)} <= {int, float}:
        raise ValueError(FORMS)
    return Range(low, high, log)


def _value(given: Any) -> Value:
    if not isinstance(given, bool | int | float | str):
        raise ValueError("expected a list of numbers, texts, true or false")
    return given
