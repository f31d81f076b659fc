"""The NCQ-aware write buffer: blocks that queued commands will use stay (Kim and Kim, 2013).

The paper's Figures 3 to 5 are lost, and it states no geometry, timing, span or capacity; what is
checked is what its text says. What we chose, and why: the preset `ncq13`, and docs/papers/ncq.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from . import PAPERS
from .batch import Bench
from .experiment import FULL_SEEDS, QUICK_SEEDS, Experiment, Run
from .judging import axes_table, by_factor, judge, map_of, runs_of
from .ncq_claims import CLAIMS, NOT_CHECKED
from .ncq_figures import LABELS, figures
from .ncq_runs import (
    CLAIMED,
    DEVICE,
    FULL,
    IDLE,
    QUICK,
    SCHEMES,
    SIZES,
    experiment_of,
    reduce,
    sized,
)
from .ncq_tables import COLUMNS, asked_with, met_at_once, tables
from .paper import Outcome
from .sources import find_traces

if TYPE_CHECKING:
    from floatgate.api import Progress

    from .cache import Cache

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
stands beside.
"""
"""What is to be known, a line each."""


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Cache | None = None
) -> Outcome:
    """Runs the experiment; `full` has the whole domain, more seeds and longer runs.

    It is played from a generator: what is in the directory of traces makes no difference.
    """
    find_traces((), traces)
    experiment = experiment_of(FULL if full else QUICK)
    runs = [*runs_of(experiment, CLAIMS, full), *_shown(experiment, full)]
    results = experiment.simulate(Bench(DEVICE, progress, kept), runs)
    points = {run: reduce(experiment, run, result) for run, result in results.items()}
    every = list(points.values())
    claims = [(claim, judge(experiment, claim, points, full, IDLE)) for claim in CLAIMS]
    maps = [map_of(experiment, claim, found) for claim, found in claims if found.rows]
    asked = [
        asked_with(experiment, points, full, key, title, *axes)
        for key, (title, axes) in BESIDE.items()
    ]
    listed = next(paper for paper in PAPERS if paper.name == "ncq")
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=LABELS,
        exhibits=[
            axes_table(experiment, CLAIMS),
            by_factor(experiment, claims, points, full, IDLE),
            *figures(every),
            *tables(every),
            met_at_once({claim.key: found for claim, found in claims}),
            *asked,
            *maps,
        ],
        claims=[*claims, *NOT_CHECKED],
        points=every,
        results=list(results.values()),
        columns=COLUMNS,
        shown="ncq",
        notes=NOTES.splitlines(),
    )


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
