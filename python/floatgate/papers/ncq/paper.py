"""The NCQ-aware write buffer: blocks that queued commands will use stay (Kim and Kim, 2013).

The paper's Figures 3 to 5 are lost, and the paper states no geometry, timing, span or capacity. The
reproduction checks its text. Our levels and their reasons are in the preset `ncq13` and in
docs/papers/ncq.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from floatgate.papers.kit.claims import Claim, Judged, Measured
from floatgate.papers.kit.exhibits import Numbers
from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.numbers import met_at_once, met_in_pairs
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper, investigate, runs_at
from floatgate.papers.kit.verdict_tables import axes_table, map_of

from . import domain
from .claims import ALL_SIX, AS_LRU, CLAIMS, STATED, UNCHECKED, by_construction
from .examples import figure_2, table_1
from .figures import COLUMNS, LABELS, asked_with, figures, tables
from .reduce import IDLE, Point, reduce

NOTES = """\
Iometer's records are made anew, at random places, all writes. The paper states neither span nor \
alignment nor reads, and of arrivals the means.
The paper states no drive. Preset ncq13 says where each number is from: BAST on blocks of 128 KiB, \
which are the buffer's blocks too, interleaved over 16 dies with the times of the C++ FlashSim. \
Faster drives have shorter times. What is left open beyond that is swept: the table of it.
One command is served at a time. Those behind it in the queue are known, what waits outside is \
not. Where the queue is full, times are those of a backlog, and only rates are shown.
All records are of one size, so that bandwidth and IOPS change alike. The paper's gains do not.
FAB, BPLRU and CLC look at how much of a block is buffered. In the figures it is always all of it, \
and all places are equally likely: whichever blocks they keep, they find buffer / span, as LRU \
does.
The bound is Belady's on blocks. It is a bound where all parts of commands are whole blocks and \
nothing is read or trimmed, as in the figures; elsewhere it is not run.
An order counts from half a per cent or half a point. "Up to" is the largest gain of all sizes, \
taken seed by seed.
Left out of all verdicts alike: points at which the drive keeps up with LRU and 1 MiB (at work \
less than 95% of the time), as no buffer can then change its bandwidth. Maps show these points. A \
claim that a gain falls is not asked where there is too little of it to fall: this was said after \
results were seen.
With --full, the table of numbers that are met at once has two more speeds on one span, between \
those that claims are asked with.
"""

BESIDE = {
    "claims-otherwise": ("The claims with one thing taken otherwise", ("otherwise",)),
    "claims-arrivals": ("The claims by arrivals and speed", ("arrivals", "speed")),
}
"""Tables of the claims along axes that the claims do not sweep."""


def _experiment(lab: Lab) -> Experiment:
    return domain.experiment_of(domain.FULL if lab.full else domain.QUICK)


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    """Yields the runs of figures and of the tables next to the verdicts."""
    lines = [domain.sized(scheme, mib) for scheme, mib in product(domain.SCHEMES, domain.SIZES)]
    pair = [domain.sized(scheme, mib) for scheme, mib in product(("lru", "ncq"), domain.CLAIMED)]
    drawn = [(experiment.points((), full), lines)]
    drawn += [(experiment.points(axes, full), pair) for _, axes in BESIDE.values()]
    for points, keys in drawn:
        yield from runs_at(experiment, experiment.workloads, points, keys, full)


def _more(findings: Findings[Point]) -> More:
    lab, experiment, points = findings.lab, findings.experiment, findings.every
    edge = investigate(PAPER, lab, domain.worst(experiment), [AS_LRU])
    finely = (
        [investigate(PAPER, lab, domain.finer(experiment), [*STATED, ALL_SIX])] if lab.full else []
    )
    others = [edge, *finely]
    return More(
        judged=[(claim, by_construction(ours)) for claim, ours in edge.judged],
        points=[point for one in others for point in one.every],
        results=[result for one in others for result in one.results.values()],
        labels=LABELS,
        exhibits=[
            axes_table(edge.experiment, [*CLAIMS, AS_LRU]),
            *figures(points),
            *tables(points),
            *_met(findings, [pair for one in finely for pair in one.judged]),
            *(asked_with(findings, key, title, *axes) for key, (title, axes) in BESIDE.items()),
            table_1(experiment, lab.full),
            figure_2(),
            *(map_of(edge.experiment, claim, ours) for claim, ours in edge.judged if ours.rows),
        ],
    )


def _met(findings: Findings[Point], between: Sequence[Judged[Point]]) -> list[Numbers]:
    """Shows where the six numbers are met at once, and pairs of them with the speeds in between."""
    rows = {claim.key: ours.rows for claim, ours in between}

    def with_finer(claim: Claim[Point], ours: Measured) -> Judged[Point]:
        return claim, replace(ours, rows=[*ours.rows, *rows.get(claim.key, ())])

    [whole], parts = findings.of(ALL_SIX.key), findings.of(*(claim.key for claim in STATED))
    finely = [with_finer(*part) for part in parts]
    speeds = domain.all_speeds(findings.experiment)
    return [
        met_at_once(findings.experiment, with_finer(*whole), finely, speeds),
        met_in_pairs(whole, parts),
    ]


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
