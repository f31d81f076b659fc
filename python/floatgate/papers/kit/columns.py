"""Columns of a table, several in one call, and formats of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from floatgate.results.values import fixed

from .exhibits import columns_of

Format = Callable[[float], str]


def digits(number: int) -> Format:
    """Returns the format of numbers with this many digits after the point."""
    return partial(fixed, digits=number)


texts = numbers = columns_of
