"""Formats numbers for people."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

ABSENT = "–"
"""Text of a table cell whose number does not apply."""

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"

SPACE = "\N{NO-BREAK SPACE}"
"""Space between a number and `%`."""

JOINED = re.compile(r"(?<=\d)%(?!\w)")
"""`%` directly after a number."""


def space_percent(text: str) -> str:
    """Returns a text with a space before each `%` that directly follows its number."""
    return JOINED.sub(f"{SPACE}%", text)


def fixed(value: float | None, digits: int) -> str:
    """Formats `value` with `digits` decimals and separated thousands."""
    if value is None:
        return ABSENT
    text = f"{value:,.{digits}f}".replace(",", NARROW_SPACE)
    return "\N{MINUS SIGN}" + text[1:] if text.startswith("-") else text


def count(value: float | None) -> str:
    """Formats a whole number with separated thousands."""
    return fixed(value, 0)


def ratio(value: float | None) -> str:
    """Formats a factor such as write amplification, with enough digits to distinguish policies."""
    return fixed(value, 3 if value is None or abs(value) < 100 else 1)


def percent(value: float | None) -> str:
    """Formats a share (0 to 1) in per cent."""
    return ABSENT if value is None else f"{fixed(value * 100, 2)}{SPACE}%"


def measured(value: float | None) -> str:
    """Formats a measured time or rate with at least three digits and without false precision."""
    if value is None or value == 0:
        return ABSENT if value is None else "0"
    magnitude = math.floor(math.log10(abs(value)))
    return fixed(value, min(3, max(0, 2 - magnitude)))


def interval(
    mean: float | None, half: float | None, write: Callable[[float | None], str] = measured
) -> str:
    """Formats a mean with half the width of its interval, if it has one."""
    whole = write(mean)
    return whole if mean is None or half is None else f"{whole} \N{PLUS-MINUS SIGN} {write(half)}"


def lasting(seconds: float | None) -> str:
    """Formats a duration: in seconds from 1 s on, else in the largest unit that gives 1 or more."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds and round(seconds, 9) < 1000 * scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{measured(seconds)} s"


def size(value: float | None) -> str:
    """Formats bytes in the largest binary unit that gives one or more."""
    if value is None:
        return ABSENT
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.4g}{NARROW_SPACE}{unit}"
        value /= 1024
    return f"{value:.4g}{NARROW_SPACE}TiB"


TIMES = (("µs", 1.0), ("ms", 1e3), ("s", 1e6))
"""Units of simulated time, with their length in microseconds."""

SIZES = (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30), ("TiB", 2.0**40))
"""Units of capacity, with their size in bytes."""


def unit_of(
    values: Iterable[float | None], units: Sequence[tuple[str, float]]
) -> tuple[str, float]:
    """Returns the largest unit in which every value except zero is one or more, else the first
    unit.

    All numbers of a column are in this one unit.
    """
    known = [abs(value) for value in values if value]
    fit = [unit for unit in units if known and min(known) >= unit[1]]
    return fit[-1] if fit else units[0]


def plain(value: Any) -> str:
    """Returns a config value as the user would write it."""
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
    """Returns nested config tables as dotted keys, in their order, with values as text."""
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
