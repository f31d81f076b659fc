"""Runs of the WARP paper reduced to numbers, and the filter for drives without room."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floatgate.papers.kit.claims import Filter
from floatgate.papers.kit.experiment import Experiment, Run

from .domain import PAGES, added_units

if TYPE_CHECKING:
    from floatgate.results.result import Result


@dataclass(frozen=True)
class Point:
    """One run. Write amplification is cumulative from the empty drive on, including the fill."""

    trace: str
    line: str
    seed: int
    spare: str | None
    """Levels of axes, here and below. None: the axis has no effect on the run."""
    unit: str | None
    victim: str | None
    ahead: str | None
    relabel: str | None
    write_amplification: float
    cache_amplification: float
    """Write amplification of the pages of the first two handles, which a flash cache uses."""
    copied_first: float
    """Share of the first handle's pages in the pages that cleaning copied, 0 to 1."""
    copied_second: float
    copied_third: float
    relabelled: int
    """Pages that were relabelled."""
    added_units: int
    """Erase units that the drive has in addition to its spare space."""


def reduce(experiment: Experiment, run: Run, result: Result, _: object = None) -> Point:
    owners = result.placement.owners
    written = [owner.host_pages for owner in owners]
    # A drive with fewer handles has all further jobs in the first.
    copied = [*(owner.gc_pages for owner in owners), 0, 0]
    copies = sum(copied) or 1
    # Without `fit` the experiment returns what the axes ask for.
    work = replace(experiment.workload(run.workload), fit=None)
    asked = replace(experiment, workloads=(work,)).settings(run, PAGES)
    return Point(
        **run.named("spare", "unit", "victim", "ahead", "relabel"),
        write_amplification=result.page_write_amplification or 1.0,
        cache_amplification=1 + sum(copied[:2]) / (sum(written[:2]) or 1),
        copied_first=copied[0] / copies,
        copied_second=copied[1] / copies,
        copied_third=copied[2] / copies,
        relabelled=sum(owner.relabelled_pages for owner in owners),
        added_units=added_units(result.drive.logical_pages, asked),
    )


def lacks_room(point: Point) -> bool:
    """Returns whether the drive got more units than its spare space has."""
    return point.added_units > 0


ROOMY: Filter[Point] = Filter("where open units need more than the spare space", lacks_room)
