"""Config keys to fit: their ranges, and conversion between numbers and config texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._core import ConfigError

RANGES: dict[str, tuple[str, str]] = {
    "capacity.spare_factor": ("0.02", "0.6"),
    "capacity.over_provisioning": ("0.02", "1.5"),
    "flash.read": ("10us", "200us"),
    "flash.program": ("50us", "3ms"),
    "flash.bus": ("200MB/s", "3200MB/s"),
    "controller.command": ("0ns", "10us"),
    "controller.translate": ("0ns", "10us"),
    "link.latency": ("0ns", "20us"),
    "buffer.capacity": ("64KiB", "256MiB"),
    "buffer.ram_page": ("0ns", "20us"),
}
"""Default range of the search for each key."""

WIDE = 8
"""A range whose ends differ by at least this factor is searched in steps of equal ratio."""

# Unit of a number in the config's text, by kind; other kinds have no unit.
_UNITS = {"time": "ns", "size": "B", "rate": "B/s"}


@dataclass(frozen=True)
class Key:
    """A key with the range of its search, as numbers in the unit of its text."""

    name: str
    kind: str
    """Kind of value: "number", "integer", "time" (ns), "size" (bytes) or "rate" (bytes/s)."""
    low: float
    high: float

    @property
    def _wide(self) -> bool:
        return self.low > 0 and self.high >= WIDE * self.low

    def at(self, share: float) -> float:
        """Returns the value at a share of the range, 0 to 1."""
        share = min(max(share, 0.0), 1.0)
        if self._wide:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + share * (self.high - self.low)
        return value if self.kind == "number" else float(round(value))

    def share(self, value: float) -> float:
        if self._wide:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def text(self, value: float) -> str:
        if self.kind == "number":
            return repr(float(f"{value:.5g}"))
        return f"{round(value)}{_UNITS.get(self.kind, '')}"


def parse(text: str, resolve: Callable[[Mapping[str, str]], dict[str, Any]]) -> Key:
    """Parses KEY[=LOW..HIGH]; `resolve` returns the drive's config with the given keys set.

    Raises `ConfigError` for an unknown key, a key without a number, and a malformed range.
    """
    name, given, span = (part.strip() for part in text.partition("="))
    low_text, dots, high_text = (part.strip() for part in span.partition(".."))
    if given and not (dots and low_text and high_text):
        raise ConfigError(f"fit: {text!r}; expected KEY or KEY=LOW..HIGH")
    if not given:
        if name not in RANGES:
            resolve({name: "1"})  # raises an error if the key does not exist
            raise ConfigError(
                f"fit: {name} has no usual range; expected {name}=LOW..HIGH to be searched"
            )
        low_text, high_text = RANGES[name]
    kind, low = value_of(resolve({name: low_text}), name)
    _, high = value_of(resolve({name: high_text}), name)
    if low >= high:
        raise ConfigError(f"fit: {text!r}; expected LOW to be below HIGH")
    return Key(name, kind, low, high)


def value_of(config: dict[str, Any], name: str) -> tuple[str, float]:
    """Returns kind and number of a key in a resolved config.

    Raises `ConfigError` if the key has no number.
    """
    value: Any = config
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, bool) or value is None:
        raise ConfigError(f"fit: {name} is {value!r} in the config; expected a number")
    if isinstance(value, int):
        return "integer", float(value)
    if isinstance(value, float):
        return "number", value
    if isinstance(value, str):
        if (span := _core.span_ns(value)) is not None:
            return "time", float(span)
        if (size := _core.size_bytes(value)) is not None:
            return "size", float(size)
        if value.endswith("/s") and (rate := _core.number(value)) is not None:
            return "rate", rate
    raise ConfigError(f"fit: {name} is {value!r}; expected a key with a number")
