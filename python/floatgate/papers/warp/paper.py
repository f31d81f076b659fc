"""WARP: placement handles on FDP drives and their emulator (Song et al., FAST 2026).

The paper's text is not at hand. Its numbers here are Table 2 and the plateaus of Figure 2, and the
facts about its drives and jobs that docs/papers/warp.md lists.
"""

from __future__ import annotations

from collections.abc import Iterable

from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.reproduce import Findings, More, Paper, runs_at

from . import domain
from .claims import CLAIMS, UNCHECKED
from .figures import COLUMNS, ISOLATED, figures
from .reduce import ROOMY, Point, reduce

NOTES = """\
Drives are scaled to a namespace of 57,344 pages of 4 KiB, or four times as many for one stream. A \
page stands for many pages of the drive; the Zipf jumper keeps fio's law on the pages of the drive.
Write amplification is cumulative from the empty drive on, fill included, at the volume at which \
the paper reads it: 4.0 volumes on emulated drives, 4.397 on real ones, as its unit is TiB on \
drives of TB.
Moved pages have a unit of their own also without handles: one stream on SSD_A and SSD_B shows it.
A printed number W is met if W - 1 is met within a factor of 1.5.
Units that the drive keeps free are part of its spare space.
After results were seen: the level 60 : 1 : 39 of the shares, and the spare space of SSD_A and \
SSD_B, which is fitted to one stream.
"""

CROSSING = (domain.ZIPF_12, domain.ZONED)


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    """Yields the runs of the figures of isolation, at all points, and of the neighbour."""
    swept = experiment.points(("spare", "unit"), full=True)
    first = next(iter(domain.SHARES))
    three = [experiment.workload(f"{law}, {first}") for law in CROSSING]
    yield from runs_at(experiment, three, swept, ISOLATED, full)
    caches = [experiment.workload(name) for name in (domain.CACHE, domain.NEIGHBOUR)]
    yield from runs_at(experiment, caches, experiment.points(("spare",), full), ISOLATED, full)


def _more(findings: Findings[Point]) -> More:
    return More(exhibits=figures(findings.every))


PAPER = Paper(
    device=domain.DEVICE,
    experiment=domain.EXPERIMENT,
    claims=CLAIMS,
    reduce=reduce,
    filter=ROOMY,
    shown=_shown,
    more=_more,
    unchecked=UNCHECKED,
    columns=COLUMNS,
    example="fdp",
    notes=NOTES,
)
