"""Pills on compared drives that differ in more than their config states: flash and erase units."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from floatgate.results.marks import is_scaled
from floatgate.results.result import Result
from floatgate.results.values import flatten, measured, size
from floatgate.simulation.configs import SHAPE

from .pills import AMBER, PLAIN, Pill
from .runs import Run
from .told import Told

STATED = ("capacity.", "flash.", "slc.")
"""Tables of keys that set the size of the flash. Drives that differ here may differ in size."""

CLEAR = 1.05
"""A difference of at least this factor is amber; a smaller difference is a plain note."""


TIMES = 2
"""From this factor on, a pill states the factor; below, the difference in per cent."""


def unlike_drives(runs: Sequence[Run]) -> list[Pill]:
    """Returns a pill on drives of unlike flash, and one on drives of unlike erase units."""
    scaled = [run for run in runs if is_scaled(run.result)]
    pills = (
        _pill(
            _widest(runs, _flash, _stated),
            "flash differs",
            _flash,
            "The drives have {least} to {most} of flash for the same data: they keep different "
            "reserves of erase units (for cleaning, open streams or a log). TBW grows with the "
            "flash, and differs by {more} for this reason alone.",
        ),
        _pill(
            _widest(scaled, unit_bytes, lambda result: result.workload.name),
            "sizes of erase units differ",
            unit_bytes,
            "Scaled erase units have {least} to {most}. Their size changes write amplification a "
            "little; flash.superblock and flash.pages_per_block set one size for all drives.",
        ),
    )
    return [pill for pill in pills if pill is not None]


def unit_bytes(result: Result) -> int:
    """Returns the bytes of data in an erase unit."""
    return result.drive.pages_per_unit * result.drive.page_bytes


def _flash(result: Result) -> int:
    return result.drive.physical_bytes


def _stated(result: Result) -> Hashable:
    """Returns the workload and the settings of a drive's size. Drives that agree in these should
    have equal flash.
    """
    config = flatten(result.config)
    keys = [key for key in config if key.startswith(STATED) and key not in SHAPE]
    return (result.workload.name, result.device, *((key, config[key]) for key in keys))


def _widest(
    runs: Sequence[Run], of: Callable[[Result], int], group: Callable[[Result], Hashable]
) -> Sequence[Run]:
    """Returns the group of runs whose numbers differ by the largest factor."""
    groups: dict[Hashable, list[Run]] = {}
    for run in runs:
        if of(run.result):
            groups.setdefault(group(run.result), []).append(run)
    return max(groups.values(), key=lambda one: _factor(one, of), default=[])


def _factor(runs: Sequence[Run], of: Callable[[Result], int]) -> float:
    numbers = [of(run.result) for run in runs]
    return max(numbers) / min(numbers)


def _pill(runs: Sequence[Run], what: str, of: Callable[[Result], int], text: str) -> Pill | None:
    """Returns the pill of a group of runs, or None if they are alike."""
    if not runs or (factor := _factor(runs, of)) == 1:
        return None
    numbers = [of(run.result) for run in runs]
    per_cent = f"{measured(100 * (factor - 1))} %"
    more = per_cent if factor < TIMES else f"a factor of {measured(factor)}"
    words = text.format(least=size(min(numbers)), most=size(max(numbers)), more=more)
    each = [(run.name, size(number)) for run, number in zip(runs, numbers, strict=True)]
    told = Told(words, [run.name for run in runs], each)
    return Pill(AMBER if factor >= CLEAR else PLAIN, f"{what} by {more}", [told])
