"""The one error of the closed-form models, and the range checks that raise it."""

from __future__ import annotations

import math

MIN_ALPHA = 1.0 + 1e-9
"""Smallest physical/logical ratio the laws accept; below it the solutions lose their digits."""

MIN_SHARE = 1e-9
"""Smallest share of the writes or of the pages that a hot or a cold class may have."""

MAX_PAGES_PER_BLOCK = 1 << 16
"""Largest erase block the laws accept, in pages; tables of this length are built per block size."""


class ModelError(ValueError):
    """A model was asked for something outside its range; one line: what was given and expected."""


def check_between(name: str, value: float, low: float, high: float) -> float:
    """Return `value` if low <= value <= high (a NaN never is), else raise ModelError."""
    if not low <= value <= high:
        raise ModelError(f"{name} is {value!r}, expected a number from {low:g} to {high:g}")
    return value


def check_not_negative(name: str, value: float) -> float:
    """Return `value` if it is finite and at least zero, else raise ModelError."""
    if not (math.isfinite(value) and value >= 0):
        raise ModelError(f"{name} is {value!r}, expected a finite number of at least 0")
    return value


def check_alpha(alpha: float, name: str = "alpha") -> float:
    """Return the physical/logical ratio if it is finite and at least MIN_ALPHA, else raise."""
    if not (math.isfinite(alpha) and alpha >= MIN_ALPHA):
        raise ModelError(
            f"{name} is {alpha!r}, expected a finite physical/logical ratio of at least 1 + 1e-9"
        )
    return alpha


def check_pages_per_block(b: int) -> int:
    """Return `b` if it is an integer from 1 to MAX_PAGES_PER_BLOCK, else raise ModelError."""
    if not isinstance(b, int) or isinstance(b, bool) or not 1 <= b <= MAX_PAGES_PER_BLOCK:
        raise ModelError(
            f"pages per block is {b!r}, expected an integer from 1 to {MAX_PAGES_PER_BLOCK}"
        )
    return b


def check_choices(d: int) -> int:
    """Return the number of sampled blocks if it is an integer of at least 1, else raise."""
    if not isinstance(d, int) or isinstance(d, bool) or d < 1:
        raise ModelError(f"d is {d!r}, expected an integer of at least 1")
    return d


def check_mix(r: float, f: float) -> None:
    """Raise ModelError unless both hot shares leave a hot and a cold class to speak of."""
    check_between("hot share of writes r", r, MIN_SHARE, 1.0 - MIN_SHARE)
    check_between("hot share of pages f", f, MIN_SHARE, 1.0 - MIN_SHARE)
