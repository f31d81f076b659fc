"""Advice on generators, once for all tests of a process, and its numbers."""

from __future__ import annotations

from functools import cache

import floatgate as fg
from floatgate.advising.lines import Advice, Line

UNIFORM = "uniform:span=96MiB,writes=120k,interarrival=100us"


@cache
def advice(trace: str) -> Advice:
    return fg.advise(trace)


def values_of(*lines: Line) -> dict[str, float]:
    """Returns the numbers by their names; those of a drive begin with its name and spare factor."""
    numbers = [number for line in lines for number in line.numbers]
    return {f"{one.of}: {one.name}".removeprefix(": "): one.value for one in numbers}
