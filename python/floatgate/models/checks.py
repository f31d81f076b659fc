"""Error of the closed-form models, and the range checks that raise it."""

from __future__ import annotations

import math

MIN_ALPHA = 1.0 + 1e-9
"""Smallest physical/logical ratio that the laws accept; below it, the solutions lose precision."""

MIN_SHARE = 1e-9
"""Smallest share of the writes or of the pages that a hot or a cold class may have."""

MAX_PAGES_PER_BLOCK = 1 << 16
"""Largest erase block that the laws accept, in pages;
each block size needs a table of this length.
"""


class ModelError(ValueError):
    """Argument of a model outside its range. One line states the given and the expected value."""


def check_between(name: str, value: float, low: float, high: float) -> float:
    """Returns `value` if low <= value <= high (a NaN never is); else raises ModelError."""
    if not low <= value <= high:
        raise ModelError(f"{name} is {value!r}, expected a number from {low:g} to {high:g}")
    return value


def check_not_negative(name: str, value: float) -> float:
    """Returns `value` if it is finite and at least zero; else raises ModelError."""
    if not (math.isfinite(value) and value >= 0):
        raise ModelError(f"{name} is {value!r}, expected a finite number of at least 0")
    return value


def check_alpha(alpha: float, name: str = "alpha") -> float:
    """Returns the physical/logical ratio if it is finite and at least MIN_ALPHA; else raises."""
    if not (math.isfinite(alpha) and alpha >= MIN_ALPHA):
        raise ModelError(
            f"{name} is {alpha!r}, expected a finite physical/logical ratio of at least 1 + 1e-9"
        )
    return alpha


def check_pages_per_block(b: int) -> int:
    """Returns `b` if it is an integer from 1 to MAX_PAGES_PER_BLOCK; else raises ModelError."""
    if not isinstance(b, int) or isinstance(b, bool) or not 1 <= b <= MAX_PAGES_PER_BLOCK:
        raise ModelError(
            f"pages per block is {b!r}, expected an integer from 1 to {MAX_PAGES_PER_BLOCK}"
        )
    return b


def check_choices(d: int) -> int:
    """Returns the number of sampled blocks if it is an integer of at least 1; else raises."""
    if not isinstance(d, int) or isinstance(d, bool) or d < 1:
        raise ModelError(f"d is {d!r}, expected an integer of at least 1")
    return d


def check_mix(r: float, f: float) -> None:
    """Raises ModelError unless each hot share leaves both classes at least MIN_SHARE."""
    check_between("hot share of writes r", r, MIN_SHARE, 1.0 - MIN_SHARE)
    check_between("hot share of pages f", f, MIN_SHARE, 1.0 - MIN_SHARE)
