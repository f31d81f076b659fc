"""Pills at the top of a report: whether the drives were steady, had enough units, kept up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from floatgate.results.marks import UNITS_FEW
from floatgate.results.result import Result
from floatgate.results.values import count

from .runs import Run
from .told import Told, messages, spaced

GOOD, PLAIN, AMBER, RED = "good", "plain", "amber", "red"
LEVELS = (GOOD, PLAIN, AMBER, RED)
"""Levels of a pill, from the best; `plain` means that there is nothing to judge."""

SYMBOLS = {GOOD: "\N{CHECK MARK}", PLAIN: "\N{EN DASH}", AMBER: "!", RED: "\N{MULTIPLICATION X}"}
"""Signs of the levels: no level is known from its colour alone."""

NAMED = 4
"""Maximum number of pills that are named after their warning."""

UNITS_LEAST = 32
"""With fewer erase units, single units decide the result."""

OFF = 0.1
"""A run is not steady if its write amplification differs from that of its last quarter by more than
this share."""

UNSTEADY = ("not steady", "in long use", "never ran", "nothing has reached the flash")
"""Texts of warnings that the run was not steady."""

UNSETTLED = "the start state did not settle"
FEW, ENLARGED = "erase units: with fewer than", "the drive was enlarged by"
BACKLOG = "the drive does not keep up with the arrivals"
READ_ONLY = "the drive became read-only"


class Pill(NamedTuple):
    """One pill, with the warnings that it opens."""

    level: str
    text: str
    warnings: Sequence[Told] = ()

    @property
    def symbol(self) -> str:
        return SYMBOLS[self.level]


def steady(result: Result) -> str:
    """Returns the level of the run's steadiness."""
    if not result.workload.write_pages:
        return PLAIN
    mean, last = result.write_amplification, result.write_amplification_last_quarter
    texts = [text for text in result.warnings if any(part in text for part in UNSTEADY)]
    if any(not text.startswith("not steady") for text in texts):
        return RED
    if texts:
        is_near = mean is not None and last is not None and abs(mean - last) <= OFF * last
        return AMBER if is_near else RED
    return AMBER if any(UNSETTLED in text for text in result.warnings) else GOOD


def enough_units(result: Result) -> str:
    """Returns the level of the number of erase units."""
    units = result.drive.units
    if units < UNITS_LEAST:
        return RED
    return AMBER if units < UNITS_FEW or result.drive.units_added else GOOD


def valid_latency(result: Result) -> str:
    """Returns the level of the response times."""
    if result.latency.all.mean_us is None:
        return PLAIN
    if any(READ_ONLY in text for text in result.warnings):
        return RED
    return RED if any(BACKLOG in text for text in result.warnings) else GOOD


def doubtful(result: Result) -> bool:
    """Returns whether a pill of the run is red."""
    return RED in (steady(result), enough_units(result), valid_latency(result))


def pills(runs: Sequence[Run]) -> list[Pill]:
    """Returns the pills of a page: the worst level of the runs, and their warnings."""
    results = [run.result for run in runs]
    told = [*map(spaced, messages(runs, lambda one: one.warnings))]
    of_steady = [one for one in told if _about(one, (*UNSTEADY, UNSETTLED))]
    of_units = [one for one in told if _about(one, (FEW, ENLARGED))]
    of_times = [one for one in told if _about(one, (BACKLOG,))]
    known = [*of_steady, *of_units, *of_times]
    others = [one for one in told if one not in known]
    found = [
        _pill([steady(result) for result in results], _STEADY, of_steady),
        _pill(
            [enough_units(result) for result in results],
            dict.fromkeys(LEVELS, _units_text([result.drive.units for result in results])),
            of_units,
        ),
        _pill([valid_latency(result) for result in results], _latency(results), of_times),
    ]
    if others:
        level = RED if any(_about(one, (READ_ONLY,)) for one in others) else AMBER
        many = f"{len(others)} other warning{'s' * (len(others) > 1)}"
        found.append(Pill(level, many, others))
    return found


HEAD = 40
"""Maximum number of characters of a pill that is named after its warning."""


def warning_pills(warnings: Sequence[Told]) -> list[Pill]:
    """Returns amber pills for warnings of a page without rows: one for each of few warnings that
    begin with a name and a colon, and one for all others."""
    found, others = list[Pill](), list[Told]()
    for one in warnings:
        name, colon, _ = one.text.partition(":")
        if colon and len(name) <= HEAD and len(found) < NAMED:
            found.append(Pill(AMBER, name, [one]))
        else:
            others.append(one)
    if others:
        many = f"{len(others)} {'other ' * bool(found)}warning{'s' * (len(others) > 1)}"
        found.append(Pill(AMBER, many, others))
    return found


_STEADY = {GOOD: "steady", PLAIN: "no writes", AMBER: "nearly steady", RED: "not steady"}


def _latency(results: Sequence[Result]) -> dict[str, str]:
    ways = {str(result.setting("queue.arrivals")) for result in results}
    valid = "latency valid, closed loop" if ways == {"closed"} else "latency valid"
    timed = any(result.timed for result in results)
    none = "no response times" if timed else "time not simulated"
    return {
        GOOD: valid,
        PLAIN: none,
        AMBER: valid,
        RED: "latency of a backlog or of refused requests",
    }


def _pill(levels: Sequence[str], texts: dict[str, str], warnings: Sequence[Told]) -> Pill:
    """Returns a pill of the worst level, with the number of runs that have it if not all do."""
    worst = max(levels, key=LEVELS.index)
    many = levels.count(worst)
    where = "" if many == len(levels) or worst == GOOD else f", {many} of {len(levels)} runs"
    if worst == RED and texts[AMBER] != texts[RED] and (near := levels.count(AMBER)):
        where += f"; {texts[AMBER]}, {near}"
    return Pill(worst, texts[worst] + where, warnings)


def _units_text(units: Sequence[int]) -> str:
    least, most = min(units), max(units)
    if least == most:
        return f"{count(least)} erase units"
    word = "and" if len(set(units)) == 2 else "to"
    return f"{count(least)} {word} {count(most)} erase units"


def _about(one: Told, texts: Sequence[str]) -> bool:
    return any(text in one.text for text in texts)
