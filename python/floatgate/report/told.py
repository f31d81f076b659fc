"""Warnings and notes of many runs; messages that differ only in numbers become one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from floatgate.results.messages import alike, merged
from floatgate.results.result import Result
from floatgate.results.values import NARROW_SPACE

from .runs import Run

THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
"""Comma between thousands."""


class Told(NamedTuple):
    """Message, with the runs that it applies to."""

    text: str
    """Text, with a range in place of each number that differs between the runs."""
    runs: Sequence[str]
    each: Sequence[tuple[str, str]] = ()
    """Each run with its own text, if the texts differ."""


def spaced(one: Told) -> Told:
    """Returns the message with thousands separated as in the tables of a page."""
    each = [(name, separated(text)) for name, text in one.each]
    return Told(separated(one.text), one.runs, each)


def separated(text: str) -> str:
    """Returns the text with thousands separated as in the tables of a page."""
    return THOUSANDS.sub(NARROW_SPACE, text)


def messages(runs: Sequence[Run], of: Callable[[Result], Sequence[str]]) -> list[Told]:
    """Returns the warnings, or the notes, of the runs, in order of appearance."""
    said = [(run.name, text) for run in runs for text in dict.fromkeys(of(run.result))]
    told = []
    for group in alike(said):
        texts = list(dict.fromkeys(text for _, text in group))
        names = list(dict.fromkeys(name for name, _ in group))
        told.append(Told(merged(texts), names, group if len(texts) > 1 else ()))
    return told
