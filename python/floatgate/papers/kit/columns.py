"""Formats of the numbers in a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from floatgate.results.values import fixed

Format = Callable[[float], str]


def digits(number: int) -> Format:
    """Returns the format of numbers with this many digits after the point."""
    return partial(fixed, digits=number)
