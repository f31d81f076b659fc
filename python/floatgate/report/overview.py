"""Overview of the runs in a few lines: the drive, the workload, the queue, the lifetime.

For several runs, a line has the text they share, or the values that occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from floatgate.results.messages import alike, merged
from floatgate.results.result import Result, WorkloadResult
from floatgate.results.tables import Unit
from floatgate.results.values import (
    NARROW_SPACE,
    count,
    measured,
    percent,
    plain,
    ratio,
    size,
)

from .runs import Run

UNTIMED = "not simulated (timing = none)"

SHOWN = 3
"""Maximum number of texts in a line, and of different numbers in a text. With more texts, the line
states only their number; with more numbers, the text has their range."""

Facts = list[tuple[str, str]]


def overview(runs: Sequence[Run], life: Unit) -> Facts:
    """Returns name and text of every fact that at least one run has; `life` is the unit of TBW."""
    results = [run.result for run in runs]
    facts = [
        ("Drive", _shared(results, _drive)),
        ("Flash", _shared(results, _flash)),
        ("Policies", _policies(results)),
        ("Workload", _shared(results, _workload)),
        ("Start", _shared(results, start)),
        ("Queue depth", _shared(results, _queue)),
        ("Time", _shared(results, lambda result: "" if result.timed else UNTIMED)),
        ("Lifetime", _lifetime(results, life)),
    ]
    return [(name, text) for name, text in facts if text]


def start(result: Result) -> str:
    """Describes the state of the drive at the start of the workload."""
    state = result.start
    parts = [f"fill: {state.fill}"]
    if state.model_units is not None:
        parts.append(f"sampled from a drive of {state.model_units:,} units")
    if state.volumes:
        parts.append(f"{state.volumes:.3g} drive volumes written before the run")
    if state.played_volumes:
        played = result.setting("start.play")
        parts.append(f"{state.played_volumes:.3g} drive volumes of {played} written before the run")
    if state.settled is not None:
        parts.append("settled" if state.settled else "not settled")
    if state.write_amplification is not None:
        parts.append(f"write amplification {ratio(state.write_amplification)} at its end")
    return ", ".join(parts)


def requests_by_kind(workload: WorkloadResult) -> list[str]:
    """Returns the number of requests of each kind that occurs: "12 reads"."""
    kinds = {"reads": workload.reads, "writes": workload.writes}
    kinds |= {"trims": workload.trims, "flushes": workload.flushes}
    return [f"{count(requests)} {kind}" for kind, requests in kinds.items() if requests]


def _shared(results: Sequence[Result], write: Callable[[Result], str]) -> str:
    """Joins the texts that `write` returns for the results.

    Texts that differ only in numbers become one text.
    """
    said = [(text, text) for text in dict.fromkeys(map(write, results)) if text]
    texts = [merged([text for text, _ in group], SHOWN) for group in alike(said)]
    return "; ".join(texts) if len(texts) <= SHOWN else f"{len(texts)} different ones, see below"


def _drive(result: Result) -> str:
    drive = result.drive
    logical, physical = size(drive.logical_bytes), size(drive.physical_bytes)
    return (
        f"{logical} for the host on {physical} of flash, spare factor {percent(drive.spare_factor)}"
    )


def _flash(result: Result) -> str:
    drive = result.drive
    channels, dies = _many(drive.channels, "channel"), _many(drive.dies, "die")
    units, pages = count(drive.units), count(drive.pages_per_unit)
    return (
        f"{channels} of {dies} of {_many(drive.planes, 'plane')}; "
        f"{units} erase units of {pages} pages of {size(drive.page_bytes)}"
    )


def _many(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def _policies(results: Sequence[Result]) -> str:
    """Returns the policy of each axis, or all policies where runs differ."""
    axes = {
        "map": "mapping.scheme",
        "cleaning": "cleaning.victim",
        "placement": "placement.scheme",
        "buffer": "buffer.scheme",
    }
    found = []
    for name, key in axes.items():
        values = [result.setting(key) for result in results]
        names = dict.fromkeys(plain(value) for value in values if value is not None)
        if names:
            found.append(f"{name} {' / '.join(names)}")
    return ", ".join(found)


def _workload(result: Result) -> str:
    workload = result.workload
    text = f"{workload.name}: {count(workload.requests)} requests"
    if kinds := requests_by_kind(workload):
        text += f" ({', '.join(kinds)})"
    return f"{text}, {measured(workload.volumes_written)} drive volumes written"


def _queue(result: Result) -> str:
    depth, arrivals = result.setting("queue.depth"), result.setting("queue.arrivals")
    if depth is None:
        return ""
    return count(depth) if arrivals is None else f"{count(depth)}, arrivals {plain(arrivals)}"


def _lifetime(results: Sequence[Result], life: Unit) -> str:
    """Describes the host bytes until the mean unit is worn out, and the years that takes."""
    sizes = _known(result.lifetime.host_bytes for result in results)
    if not sizes:
        return ""
    unit, base = life
    text = f"{_range([value / base for value in sizes])}{NARROW_SPACE}{unit} written by the host"
    if years := _known(result.lifetime.years for result in results):
        text += f" ({lifetimes(years)} at this rate)"
    rated = _shared(results, lambda result: count(result.lifetime.endurance))
    return f"{text} until the units have had {rated} erases each"


def lifetimes(years: Sequence[float]) -> str:
    """Returns the range of lifetimes in years, or in days where one is below a tenth of a year."""
    if min(years) >= 0.1:
        return f"{_range(years)} years"
    return f"{_range([365.25 * value for value in years])} days"


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _range(values: Sequence[float]) -> str:
    least, most = measured(min(values)), measured(max(values))
    return least if least == most else f"{least} to {most}"
