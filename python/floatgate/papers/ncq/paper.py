"""The NCQ-aware write buffer, which keeps blocks that queued commands will use (Kim and Kim, 2013).

The paper's Figures 3 to 5 are lost, and the paper states no geometry, timing, span or capacity. The
reproduction checks its text. Our levels and their reasons are in the preset `ncq13` and in
docs/papers/ncq.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper, investigate, runs_at
from floatgate.papers.kit.verdict_tables import axes_table, map_of, met_at_once

from . import domain
from .claims import ALL_SIX, AS_LRU, CLAIMS, STATED, UNCHECKED, by_construction
from .examples import figure_2
from .figures import COLUMNS, LABELS, asked_with, figures
from .reduce import IDLE, Point, reduce

NOTES = """\
Iometer's records are made anew, at random places, all writes. The paper states neither span nor \
alignment nor reads, and of arrivals the means.
The paper states no drive. Preset ncq13 says where each number is from: BAST on blocks of 128 KiB, \
which are the buffer's blocks too, interleaved over 16 dies with the times of the C++ FlashSim. \
Faster drives have shorter times.
The default pin is the letter of section III: "no action is required" for data outside the buffer. \
Counted pins, which also cover blocks that enter later, are an extension of ours.
One command is served at a time. Those behind it in the queue are known, what waits outside is \
not. Where the queue is full, times are those of a backlog, and only rates are shown.
All records are of one size, so that bandwidth and IOPS change alike. The paper's gains do not.
The bound is Belady's on blocks. It is a bound where all parts of commands are whole blocks and \
nothing is read or trimmed, as in the figures.
An order counts from half a per cent or half a point. "Up to" is the largest gain of all sizes, \
taken seed by seed. "With every size" leaves out sizes that hold the whole span.
Left out of all verdicts: points at which the drive keeps up with LRU and 1 MiB (at work less than \
95% of the time), as no buffer can then change its bandwidth. Maps show these points.
After results were seen: spans below 64 MiB, and the premise that there is a gain that can fall.
"""

BESIDE = {
    "claims-otherwise": ("The claims with one assumption changed", ("otherwise",)),
    "claims-arrivals": ("The claims by arrivals and speed", ("arrivals", "speed")),
}
"""Tables of the claims along axes that the claims do not sweep."""


def _experiment(lab: Lab) -> Experiment:
    return domain.experiment_of(domain.FULL if lab.full else domain.QUICK)


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    """Yields the runs of figures and of the tables next to the verdicts."""
    sizes = domain.SIZES if full else domain.CLAIMED
    lines = [domain.sized(scheme, mib) for scheme, mib in product(domain.SCHEMES, sizes)]
    pair = [domain.sized(scheme, mib) for scheme, mib in product(("lru", "ncq"), domain.CLAIMED)]
    least = [domain.sized(scheme, domain.SMALLEST) for scheme in ("lru", "ncq", "ncq-counted")]
    drawn = [(experiment.points((), full), lines), (experiment.points(("span",), full), least)]
    drawn += [(experiment.points(axes, full), pair) for _, axes in BESIDE.values()]
    for points, keys in drawn:
        yield from runs_at(experiment, experiment.workloads, points, keys, full)


def _more(findings: Findings[Point]) -> More:
    experiment = findings.experiment
    [whole], parts = findings.of(ALL_SIX.key), findings.of(*(claim.key for claim in STATED))
    edge = investigate(PAPER, findings.lab, domain.worst(experiment), [AS_LRU])
    return More(
        judged=[(claim, by_construction(ours)) for claim, ours in edge.judged],
        points=edge.every,
        results=list(edge.results.values()),
        labels=LABELS,
        exhibits=[
            axes_table(edge.experiment, [*CLAIMS, AS_LRU]),
            *figures(findings.every),
            met_at_once(experiment, whole, parts, experiment.axis("speed")),
            *(asked_with(findings, key, title, *axes) for key, (title, axes) in BESIDE.items()),
            figure_2(),
            *(map_of(edge.experiment, claim, ours) for claim, ours in edge.judged if ours.rows),
        ],
    )


PAPER = Paper(
    device=domain.DEVICE,
    experiment=_experiment,
    claims=CLAIMS,
    reduce=reduce,
    filter=IDLE,
    shown=_shown,
    more=_more,
    unchecked=UNCHECKED,
    columns=COLUMNS,
    example="ncq",
    notes=NOTES,
)
