"""Reading leaves out of results, and writing numbers for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]
"""One simulation's result as its document: nested, any leaf may be null or missing."""

ABSENT = "–"
"""Stands in a table where a number does not apply."""

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def leaf(result: Document, *path: str) -> Any:
    """The value at `path`, or None when it or anything on the way is missing or null."""
    value: Any = result
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def number(result: Document, *path: str) -> float | None:
    """The finite number at `path`, or None: a report has no use for NaN or infinity."""
    return finite(leaf(result, *path))


def finite(value: Any) -> float | None:
    """`value` if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) else None


def rows_of(result: Document, *path: str) -> list[Any]:
    """The list at `path`; empty when there is none."""
    value = leaf(result, *path)
    return list(value) if isinstance(value, (list, tuple)) else []


def total(result: Document, *path: str) -> float | None:
    """The sum of the numbers under `path` (a count by cause), or None when there are none."""
    parts = leaf(result, *path)
    if not isinstance(parts, Mapping):
        return None
    known = [part for part in map(finite, parts.values()) if part is not None]
    return sum(known) if known else None


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
