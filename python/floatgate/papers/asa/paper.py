"""ASA-FTL: hot, warm and cold by age (Xie and Chen, CCGrid 2014).

The paper's Figure 2 is lost, and the paper gives no geometry and no sizes. The reproduction checks
its text. Our levels and their reasons are in the preset `asa14` and in docs/papers/asa.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from floatgate.papers.kit.claims import AnyClaim, Measured, Statement
from floatgate.papers.kit.experiment import Experiment, Run, Workload
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper, runs_at
from floatgate.papers.kit.verdict_tables import by_level

from . import domain
from .claims import CLAIMS, READS, UNCHECKED
from .examples import worked_examples
from .figures import COLUMNS, METHODS, SHOWN, figures, skew
from .reduce import LEFT_OUT, Point, reduce, round_of

NOTES = """\
The real traces are excerpts, each played over and over until it has written the drive five times, \
and each round has its hundred windows in another order; --full plays Financial1 as a loop, too. \
The drive holds the pages of 4 KiB that the excerpt touches and no others, or it would be idle \
space that cleaning lives on. No number on them is one of the whole trace.
Left out of all verdicts alike: runs with a backlog (used 95% of the time, with 1% of the response \
spent waiting for the queue), and excerpts that write a page less than twice in a round, of which \
most ages would be those of our repetition: TPCC, and Cambridge at its most throughput. Maps show \
these points.
"Much smaller than on Financial1" is asked where Financial1 gains more than half a per cent, with \
its whole interval: elsewhere nothing can be smaller, and the claim cannot be checked. This, and \
the question whether both numbers are lower at all, were added after the first results.
Cambridge is MSR Cambridge; which volumes the paper used is not stated, and neither is that of our \
windows.
synth x/10 sends x/10 of the writes to (10\N{MINUS SIGN}x)/10 of the space. The text has \
(10\N{MINUS SIGN}x)/x, which --full has as well; 5/10 is uniform in both.
Ages are sampled from random pages, as the paper says, at a read of the map for each that is not \
cached; the preset samples cached pages, which is a row of the table of other readings.
"Ages in the map" compares ASA-FTL with as many entries to DFTL's map with ages that take no room: \
what twice as many translation pages cost. Both sample, so that sampling is a claim of its own: \
what it reads is counted, what k-means computes is not.
An order counts from half a per cent. "No difference" is 1%, "much smaller" half, "adapts" at \
least half, with the hot tenth elsewhere in each volume, "close to optimal" 10%, "minimal" 5%: the \
paper gives no number for any.
DFTL and ASA-FTL clean with CAT. The paper cites Desnoyers (2012) for it; CAT is of Chiang and \
Chang (1999), its reference 2. Where free units are short the cheapest is cleaned instead: how \
often is in the table of what cleaning does.
"""


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    return Experiment(domain.DEVICE, domain.AXES, tuple(workloads), domain.LINES, domain.STANDS_FOR)


def excerpts_of(lab: Lab, volumes: int = domain.VOLUMES) -> list[Workload]:
    """Returns the available traces, each played until it has written its drive `volumes` times."""
    files = dict(lab.wanted(excerpt.source for excerpt in domain.EXCERPTS))
    return [
        excerpt.workload(lab.bench, files[excerpt.source], volumes)
        for excerpt in domain.EXCERPTS
        if excerpt.source in files
    ]


def _experiment(lab: Lab) -> Experiment:
    return experiment_of([*excerpts_of(lab), *domain.synthetic(lab.full)])


def _is_plain(work: Workload) -> bool:
    """Returns whether a workload is an excerpt or a load of writes alone, and no variant of another
    workload (in another order, on another span, or with reads)."""
    return work.name in domain.TENTHS or work.played.windows > 0


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    """Yields every workload with every reading and the bound at the middle point. Also yields
    Financial1 and synth9/10 (with --full all workloads) over spare space and cache, and with other
    readings of the method."""
    middle = experiment.points((), True)
    swept = [levels for axis in ("spare", "cache") for levels in experiment.points((axis,), True)]
    for work in experiment.workloads:
        central = full or (work.family in (domain.FINANCIAL1, domain.SYNTH9) and not work.slow)
        lines = ("dftl", *SHOWN)
        yield from runs_at(experiment, [work], swept if central else middle, lines, full)
        yield from runs_at(experiment, [work], middle, METHODS if central else (), full)


def reads_of(findings: Findings[Point]) -> list[AnyClaim]:
    """Returns the claims on GC page reads. The runs give no more information on reads than on
    writes."""
    why = "is {} again: cleaning reads each page that it writes, once".format
    return [
        (
            Statement(*READS[claim.key], claim.origin),
            Measured(writes.ours, why(claim.key), writes.number),
        )
        for claim, writes in findings.of(*READS)
    ]


def _more(findings: Findings[Point]) -> More:
    bench, plain = findings.lab.bench, filter(_is_plain, findings.experiment.workloads)
    return More(
        judged=reads_of(findings),
        exhibits=[
            by_level(findings.experiment, "equal", findings.judged),
            *worked_examples(),
            *figures(findings.every),
            skew({work.name: bench.hotness(work.played.spec) for work in plain}),
        ],
    )


PAPER = Paper(
    device=domain.DEVICE,
    sources=[excerpt.source for excerpt in domain.EXCERPTS],
    experiment=_experiment,
    claims=CLAIMS,
    facts=round_of,
    reduce=reduce,
    filter=LEFT_OUT,
    shown=_shown,
    more=_more,
    unchecked=UNCHECKED,
    columns=COLUMNS,
    example="asa-bytes",
    notes=NOTES,
)
