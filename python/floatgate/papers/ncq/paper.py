"""The NCQ-aware write buffer: blocks that queued commands will use stay (Kim and Kim, 2013).

The paper's Figures 3 to 5 are lost, and it states no geometry, timing, span or capacity; what is
checked is what its text says. What we chose, and why: the preset `ncq13`, and docs/papers/ncq.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.papers import PAPERS
from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.experiment import FULL_SEEDS, QUICK_SEEDS, Experiment, Run
from floatgate.papers.kit.judging import OpenClaim, judge, runs_of
from floatgate.papers.kit.numbers import Judged, met_at_once, met_in_pairs
from floatgate.papers.kit.paper import UNCHECKED, Numbers, Outcome
from floatgate.papers.kit.trace_files import find_traces
from floatgate.papers.kit.verdict_tables import axes_table, by_confidence, by_factor, map_of

from .claims import ALL_SIX, CLAIMS, NOT_CHECKED, STATED
from .edges import WORST_CLAIMS, all_speeds, by_construction, finer, worst
from .examples import figure_2, table_1
from .figures import LABELS, figures
from .runs import (
    CLAIMED,
    DEVICE,
    FULL,
    IDLE,
    QUICK,
    SCHEMES,
    SIZES,
    Point,
    experiment_of,
    reduce,
    sized,
)
from .tables import COLUMNS, asked_with, tables

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.papers.kit.cache import Cache
    from floatgate.result import Result

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
and all places are equally likely: whichever blocks they keep, they find buffer / span, as LRU does.
The bound is Belady's on blocks. It is a bound where all parts of commands are whole blocks and \
nothing is read or trimmed, as in the figures; elsewhere it is not run.
A claim holds at a point if the whole 95% interval of our number (Student's t over seeds) is where \
the claim says; where a part is, the point is ambiguous. A stated number is met within a factor of \
1.5, an order by half a per cent or half a point. "Up to" is the largest gain of all sizes, taken \
seed by seed.
Left out of all verdicts alike: points at which the drive keeps up with LRU and 1 MiB (at work \
less than 95% of the time), as no buffer can then change its bandwidth. What comes out with them \
stands beside. A claim that a gain falls is not asked where there is too little of it to fall: \
this was said after results were seen.
With --full, the table of numbers that are met at once has two more speeds on one span, between \
those that claims are asked with.
"""
"""What is to be known, a line each."""


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Cache | None = None
) -> Outcome:
    """Runs the experiment; `full` has the whole domain, more seeds and longer runs.

    It is played from a generator: what is in the directory of traces makes no difference.
    """
    find_traces((), traces)
    bench = Bench(DEVICE, progress, kept)
    experiment = experiment_of(FULL if full else QUICK)
    runs = [*runs_of(experiment, CLAIMS, full), *_shown(experiment, full)]
    main, results = _measured(experiment, bench, runs)
    claims = [(claim, judge(experiment, claim, main, full, IDLE)) for claim in CLAIMS]
    edge = worst(experiment)
    apart, others = _measured(edge, bench, runs_of(edge, WORST_CLAIMS, full))
    at_edge = [(claim, judge(edge, claim, apart, full, IDLE)) for claim in WORST_CLAIMS]
    between, rest, fine = _finer(experiment, bench, full)
    asked = [
        asked_with(experiment, main, full, key, title, *axes)
        for key, (title, axes) in BESIDE.items()
    ]
    every = list(main.values())
    listed = next(paper for paper in PAPERS if paper.name == "ncq")
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=LABELS,
        exhibits=[
            axes_table(edge, [*CLAIMS, *WORST_CLAIMS]),
            by_factor(experiment, claims, main, full, IDLE),
            by_confidence(claims),
            *figures(every),
            *tables(every),
            *_together(experiment, claims, fine),
            *asked,
            table_1(experiment, full),
            figure_2(),
            *(map_of(experiment, claim, found) for claim, found in claims if found.rows),
            *(
                map_of(edge, claim, replace(found, verdict=UNCHECKED))
                for claim, found in at_edge
                if found.rows
            ),
        ],
        claims=[
            *claims,
            *((claim, by_construction(found)) for claim, found in at_edge),
            *NOT_CHECKED,
        ],
        points=[*every, *apart.values(), *between.values()],
        results=[*results, *others, *rest],
        columns=COLUMNS,
        shown="ncq",
        notes=NOTES.splitlines(),
    )


def _measured(
    experiment: Experiment, bench: Bench, runs: Iterable[Run]
) -> tuple[dict[Run, Point], list[Result]]:
    """The runs, reduced, and their results in the same order."""
    results = experiment.simulate(bench, runs)
    points = {run: reduce(experiment, run, result) for run, result in results.items()}
    return points, list(results.values())


def _finer(
    experiment: Experiment, bench: Bench, full: bool
) -> tuple[dict[Run, Point], list[Result], list[Judged]]:
    """The six numbers, and all at once, with the speeds between: only in full."""
    if not full:
        return {}, [], []
    between = finer(experiment)
    asked = [*STATED, ALL_SIX]
    points, results = _measured(between, bench, runs_of(between, asked, full))
    judged = [(claim, judge(between, claim, points, full, IDLE)) for claim in asked]
    return points, results, judged


def _together(
    experiment: Experiment, claims: Sequence[Judged], fine: Sequence[Judged]
) -> list[Numbers]:
    """Where the six numbers are met at once; pairs of them with the speeds that are swept."""
    by_key = {claim.key: (claim, found) for claim, found in claims}
    if ALL_SIX.key not in by_key:
        return []
    more = {claim.key: found.rows for claim, found in fine}

    def known(claim: OpenClaim[Point]) -> Judged:
        found = by_key[claim.key][1]
        return claim, replace(found, rows=[*found.rows, *more.get(claim.key, ())])

    whole, parts = known(ALL_SIX), [known(claim) for claim in STATED]
    swept = [by_key[claim.key] for claim in STATED]
    return [
        met_at_once(experiment, whole, parts, all_speeds(experiment)),
        met_in_pairs(by_key[ALL_SIX.key], swept),
    ]


BESIDE = {
    "claims-otherwise": ("The claims with one thing taken otherwise", ("otherwise",)),
    "claims-arrivals": ("The claims by arrivals and speed", ("arrivals", "speed")),
}
"""Tables of the claims along axes that they are not swept over."""


def _shown(experiment: Experiment, full: bool) -> Iterator[Run]:
    """The runs of figures and of the tables beside the verdicts, which claims need or not."""
    seeds = range(1, 1 + (FULL_SEEDS if full else QUICK_SEEDS))
    lines = [sized(scheme, mib) for scheme, mib in product(SCHEMES, SIZES)]
    pair = [sized(scheme, mib) for scheme, mib in product(("lru", "ncq"), CLAIMED)]
    asked = [(experiment.places((), full), lines)]
    asked += [(experiment.places(axes, full), pair) for _, axes in BESIDE.values()]
    for places, keys in asked:
        for work, place, line, seed in product(experiment.workloads, places, keys, seeds):
            yield experiment.run(work, experiment.line(line), place, seed)
