"""What was run, in a few lines: the drive, the workload, the queue, the lifetime.

For several runs a line has what they share, or the values they take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .runs import Run
from .told import alike, merged
from .values import (
    NARROW_SPACE,
    SIZES,
    Document,
    count,
    leaf,
    measured,
    number,
    percent,
    plain,
    ratio,
    size,
    unit_of,
)

SHOWN = 3
"""More different texts than this are counted, not shown."""

Facts = list[tuple[str, str]]


def overview(runs: Sequence[Run]) -> Facts:
    """Name and text of every fact that at least one run has."""
    results = [run.result for run in runs]
    facts = [
        ("Drive", _shared(results, _drive)),
        ("Flash", _shared(results, _flash)),
        ("Policies", _policies(results)),
        ("Workload", _shared(results, _workload)),
        ("Start", _shared(results, start)),
        ("Queue depth", _shared(results, _queue)),
        ("Lifetime", _lifetime(results)),
    ]
    return [(name, text) for name, text in facts if text]


def start(result: Document) -> str:
    """How the drive stood before the workload."""
    fill = leaf(result, "start", "fill")
    if fill is None:
        return ""
    parts = [f"fill: {plain(fill)}"]
    volumes = number(result, "start", "volumes")
    if volumes:
        parts.append(f"{volumes:.3g} drive volumes written before the run")
    settled = leaf(result, "start", "settled")
    if settled is not None:
        parts.append("settled" if settled else "not settled")
    factor = number(result, "start", "write_amplification")
    if factor is not None:
        parts.append(f"write amplification {ratio(factor)} at its end")
    return ", ".join(parts)


def _shared(results: Sequence[Document], write: Callable[[Document], str]) -> str:
    """What `write` says of the results; what differs in numbers only is said once."""
    said = [(text, text) for text in dict.fromkeys(map(write, results)) if text]
    texts = [merged([text for text, _ in group]) for group in alike(said)]
    return "; ".join(texts) if len(texts) <= SHOWN else f"{len(texts)} different ones, see below"


def _drive(result: Document) -> str:
    logical, physical = (
        number(result, "drive", name) for name in ("logical_bytes", "physical_bytes")
    )
    if logical is None or physical is None:
        return ""
    spare = percent(number(result, "drive", "spare_factor"))
    return f"{size(logical)} for the host on {size(physical)} of flash, spare factor {spare}"


def _flash(result: Document) -> str:
    names = ("channels", "dies", "planes", "units", "pages_per_unit", "page_bytes")
    values = [number(result, "drive", name) for name in names]
    if None in values:
        return ""
    channels, dies, planes, units, pages = map(count, values[:-1])
    parts = [_many(channels, "channel"), _many(dies, "die"), _many(planes, "plane")]
    return f"{' of '.join(parts)}; {units} erase units of {pages} pages of {size(values[-1])}"


def _many(number: str, noun: str) -> str:
    return f"{number} {noun}{'' if number == '1' else 's'}"


def _policies(results: Sequence[Document]) -> str:
    """The policy of each axis, or those that the runs have."""
    axes = {
        "map": ("mapping", "scheme"),
        "cleaning": ("cleaning", "victim"),
        "placement": ("placement", "scheme"),
        "buffer": ("buffer", "scheme"),
    }
    found = []
    for name, path in axes.items():
        values = [leaf(result, "config", *path) for result in results]
        names = dict.fromkeys(plain(value) for value in values if value is not None)
        if names:
            found.append(f"{name} {' / '.join(names)}")
    return ", ".join(found)


def _workload(result: Document) -> str:
    name, requests = leaf(result, "workload", "name"), number(result, "workload", "requests")
    if name is None or requests is None:
        return ""
    kinds = [
        f"{count(n)} {kind}"
        for kind in ("reads", "writes", "trims", "flushes")
        if (n := number(result, "workload", kind))
    ]
    text = f"{plain(name)}: {count(requests)} requests"
    if kinds:
        text += f" ({', '.join(kinds)})"
    volumes = number(result, "workload", "volumes_written")
    return text if volumes is None else f"{text}, {measured(volumes)} drive volumes written"


def _queue(result: Document) -> str:
    depth = number(result, "config", "queue", "depth")
    arrivals = leaf(result, "config", "queue", "arrivals")
    if depth is None:
        return ""
    return count(depth) if arrivals is None else f"{count(depth)}, arrivals {plain(arrivals)}"


def _lifetime(results: Sequence[Document]) -> str:
    """What the host can write until the mean unit is worn out, and the years that takes."""
    sizes = _known(results, "host_bytes")
    if not sizes:
        return ""
    unit, base = unit_of(sizes, SIZES)
    text = f"{_range([value / base for value in sizes])}{NARROW_SPACE}{unit} written by the host"
    if years := _known(results, "years"):
        text += f", {_range(years)} years at this rate"
    rated = _shared(results, lambda result: count(number(result, "lifetime", "endurance")))
    return f"{text}, of {rated} erases a unit"


def _known(results: Sequence[Document], name: str) -> list[float]:
    found = (number(result, "lifetime", name) for result in results)
    return [value for value in found if value is not None]


def _range(values: Sequence[float]) -> str:
    least, most = measured(min(values)), measured(max(values))
    return least if least == most else f"{least} to {most}"
