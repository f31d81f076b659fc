"""Makes several columns of a table in one call, and formats of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from floatgate.results.values import fixed

from .exhibits import Column

Format = Callable[[float], str]


def digits(number: int) -> Format:
    """Returns the format of numbers with this many digits after the point."""
    return partial(fixed, digits=number)


def texts(**titles: str) -> list[Column]:
    """Returns a column of texts for each field, under its title."""
    return [Column(title, field) for field, title in titles.items()]


def numbers(form: Callable[[Any], str], **titles: str) -> list[Column]:
    """Returns a column of numbers in one format for each field, under its title."""
    return [Column(title, field, form) for field, title in titles.items()]
