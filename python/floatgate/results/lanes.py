"""The request at the centre of a window of a run, in words."""

from __future__ import annotations

from collections.abc import Mapping

from .causes import blame_names
from .result import LookedAtResult, Result
from .values import TIMES, count, measured, size, unit_of

SMALL = 0.0005
"""Components of a response time below this share of the total are left out."""


def request_words(result: Result) -> str:
    """Describes in words the request at the centre of the window, and what it waited for."""
    request = result.lanes.request
    if request.latency_us is None:
        return "No read or write was under way at that time."
    arrived, took = time_words((request.arrival_ns or 0) / 1000), time_words(request.latency_us)
    what = f"a {request.op} of {size(request.length)} at byte {count(request.offset)}"
    dies = ", ".join(map(str, request.dies))
    where = f"; its own operations were on die{'s' * (len(request.dies) > 1)} {dies}"
    return (
        f"Request {count(request.number)}, {what}, arrived at {arrived} and took {took}: "
        f"{_blame_words(request, blame_names([result]))}{where if dies else ''}."
    )


def _blame_words(request: LookedAtResult, names: Mapping[str, str]) -> str:
    """Lists what a request waited for, longest first, all in the unit that suits the total."""
    unit, us = unit_of([request.latency_us], TIMES)
    least = SMALL * (request.latency_us or 0)
    parts = [(n, names[part]) for part, n in vars(request.blame_us).items() if n and n > least]
    told = [f"{name} {measured(n / us)}" for n, name in sorted(parts, reverse=True)]
    return " + ".join(told) or f"0 {unit}"


def time_words(us: float) -> str:
    unit, base = unit_of([us], TIMES)
    return f"{measured(us / base)} {unit}"
