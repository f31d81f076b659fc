"""Writing numbers for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ABSENT = "–"
"""Stands in a table where a number does not apply."""

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def fixed(value: float | None, digits: int) -> str:
    """`value` with `digits` decimals and its thousands apart."""
    if value is None:
        return ABSENT
    text = f"{value:,.{digits}f}".replace(",", NARROW_SPACE)
    return "\N{MINUS SIGN}" + text[1:] if text.startswith("-") else text


def count(value: float | None) -> str:
    """A whole number with its thousands apart."""
    return fixed(value, 0)


def ratio(value: float | None) -> str:
    """A factor such as write amplification: enough digits to tell policies apart."""
    return fixed(value, 3 if value is None or abs(value) < 100 else 1)


def percent(value: float | None) -> str:
    """A share (0 to 1) in percent."""
    return ABSENT if value is None else f"{fixed(value * 100, 2)}%"


def measured(value: float | None) -> str:
    """A measured time or rate: at least three digits, no false precision."""
    if value is None or value == 0:
        return ABSENT if value is None else "0"
    magnitude = math.floor(math.log10(abs(value)))
    return fixed(value, min(3, max(0, 2 - magnitude)))


def lasting(seconds: float | None) -> str:
    """A duration: in seconds from one on, else in the unit that leaves a number of one or more."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds and round(seconds, 9) < 1000 * scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{measured(seconds)} s"


def size(value: float | None) -> str:
    """Bytes in the largest binary unit that leaves a number of one or more."""
    if value is None:
        return ABSENT
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.4g}{NARROW_SPACE}{unit}"
        value /= 1024
    return f"{value:.4g}{NARROW_SPACE}TiB"


TIMES = (("µs", 1.0), ("ms", 1e3), ("s", 1e6))
"""Units of simulated time, each with its microseconds."""

DAYS = (("days", 1.0), ("years", 365.25))
"""Units of a lifetime, each with its days."""

SIZES = (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30), ("TiB", 2.0**40))
"""Units of capacity, each with its bytes."""


def unit_of(
    values: Iterable[float | None], units: Sequence[tuple[str, float]]
) -> tuple[str, float]:
    """The largest of the units in which every value but zero is one or more, else the first.

    It is the unit of a column: all of its numbers are read in the same one.
    """
    known = [abs(value) for value in values if value]
    fit = [unit for unit in units if known and min(known) >= unit[1]]
    return fit[-1] if fit else units[0]


def plain(value: Any) -> str:
    """A config value as the user would write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(plain(item) for item in value) + "]"
    return str(value)


def flatten(config: Any, prefix: str = "") -> dict[str, str]:
    """Nested config tables as dotted keys, in their order, with values as text."""
    if not isinstance(config, Mapping):
        return {}
    flat: dict[str, str] = {}
    for name, value in config.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{key}."))
        else:
            flat[key] = plain(value)
    return flat
