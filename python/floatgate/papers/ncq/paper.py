"""The NCQ-aware write buffer: blocks that queued commands will use stay (Kim and Kim, 2013).

The paper's Figures 3 to 5 are lost, and the paper states no geometry, timing, span or capacity. The
reproduction checks its text. Our choices and their reasons are in the preset `ncq13` and in
docs/papers/ncq.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from floatgate.papers.kit.claims import Judged
from floatgate.papers.kit.exhibits import Numbers, Row
from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.numbers import met_at_once, met_in_pairs
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper, investigate, runs_at
from floatgate.papers.kit.verdict_tables import axes_table, map_of

from .claims import ALL_SIX, CLAIMS, STATED, UNCHECKED
from .domain import CLAIMED, DEVICE, FULL, QUICK, SCHEMES, SIZES, experiment_of, sized
from .edges import WORST_CLAIMS, all_speeds, by_construction, finer, worst
from .examples import figure_2, table_1
from .figures import LABELS, figures
from .reduce import IDLE, Point, reduce
from .tables import COLUMNS, asked_with, tables

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
"""Limits and conditions, one a line."""

BESIDE = {
    "claims-otherwise": ("The claims with one thing taken otherwise", ("otherwise",)),
    "claims-arrivals": ("The claims by arrivals and speed", ("arrivals", "speed")),
}
"""Tables of the claims along axes that the claims do not sweep."""


def _experiment(lab: Lab) -> Experiment:
    return experiment_of(FULL if lab.full else QUICK)


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    """Yields the runs of figures and of the tables next to the verdicts."""
    lines = [sized(scheme, mib) for scheme, mib in product(SCHEMES, SIZES)]
    pair = [sized(scheme, mib) for scheme, mib in product(("lru", "ncq"), CLAIMED)]
    asked = [(experiment.places((), full), lines)]
    asked += [(experiment.places(axes, full), pair) for _, axes in BESIDE.values()]
    for places, keys in asked:
        yield from runs_at(experiment, experiment.workloads, places, keys, full)


def _more(found: Findings[Point]) -> More:
    lab, experiment, points = found.lab, found.experiment, found.every
    edge = investigate(PAPER, lab, worst(experiment), WORST_CLAIMS)
    others = [edge]
    if lab.full:
        others.append(investigate(PAPER, lab, finer(experiment), [*STATED, ALL_SIX]))
    return More(
        judged=[(claim, by_construction(ours)) for claim, ours in edge.judged],
        points=[point for one in others for point in one.every],
        results=[result for one in others for result in one.results.values()],
        labels=LABELS,
        exhibits=[
            axes_table(edge.experiment, [*CLAIMS, *WORST_CLAIMS]),
            *figures(points),
            *tables(points),
            *_met(found, [pair for one in others[1:] for pair in one.judged]),
            *(asked_with(found, key, title, *axes) for key, (title, axes) in BESIDE.items()),
            table_1(experiment, lab.full),
            figure_2(),
            *(map_of(edge.experiment, claim, ours) for claim, ours in edge.judged if ours.rows),
        ],
    )


def _met(found: Findings[Point], between: Sequence[Judged[Point]]) -> list[Numbers]:
    """Shows where the six numbers are met at once, and pairs of them with the speeds in between."""
    rows: Mapping[str, Sequence[Row]] = {claim.key: ours.rows for claim, ours in between}

    def with_finer(judged: Judged[Point]) -> Judged[Point]:
        claim, ours = judged
        return claim, replace(ours, rows=[*ours.rows, *rows.get(claim.key, ())])

    parts = found.of(*(claim.key for claim in STATED))
    return [
        table
        for whole in found.of(ALL_SIX.key)
        for table in (
            met_at_once(
                found.experiment,
                with_finer(whole),
                [with_finer(part) for part in parts],
                all_speeds(found.experiment),
            ),
            met_in_pairs(whole, parts),
        )
    ]


PAPER = Paper(
    device=DEVICE,
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
