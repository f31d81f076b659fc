"""ASA-FTL: hot, warm and cold by age (Xie and Chen, CCGrid 2014).

The paper's Figure 2 is lost, and the paper gives no geometry and no sizes. The reproduction checks
its text. Our levels and their reasons are in the preset `asa14` and in docs/papers/asa.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from floatgate.papers.kit.experiment import Experiment, Run, Workload
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper, runs_at
from floatgate.papers.kit.verdict_tables import by_level

from . import domain
from .claims import CLAIMS, UNCHECKED
from .figures import COLUMNS, LABELLED, SHOWN, figures, skew
from .reduce import LEFT_OUT, Point, reduce, round_of

NOTES = """\
The real traces are excerpts, each played over and over until it has written the drive five times, \
and each round has its hundred windows in another order; --full plays Financial1 as a loop, too. \
The drive holds the pages of 4 KiB that the excerpt touches and no others.
Left out of all verdicts alike: runs with a backlog (used 95% of the time, with 1% of the response \
spent waiting for the queue), and excerpts that write a page less than twice in a round, of which \
most ages would be those of our repetition: TPCC, and Cambridge at its most throughput.
The sentences on Cambridge and TPCC are checked where the excerpt has larger writes and less skew \
than that of Financial1: the paper gives these as its reasons. No excerpt here has both.
synth x/10 sends x/10 of the writes to (10\N{MINUS SIGN}x)/10 of the space. The text has \
(10\N{MINUS SIGN}x)/x, which --full has as well; 5/10 is uniform in both.
A label is wrong if a write to the generator's hot zone is labelled cold, or one to the rest hot.
An order counts from half a per cent. "No difference" is 1%, "much smaller" half, "adapts" at \
least half, "close to optimal" and "accurately" 10%, "minimal" 5%: the paper gives no number for \
any.
DFTL and ASA-FTL clean with CAT. The paper cites Desnoyers (2012) for it; CAT is of Chiang and \
Chang (1999), its reference 2. Where free units are short the cheapest is cleaned instead: how \
often is in the table of what cleaning does.
"""


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    return Experiment(domain.AXES, tuple(workloads), domain.LINES, domain.STANDS_FOR)


def _experiment(lab: Lab) -> Experiment:
    excerpts = [domain.workload_of(*one, lab.bench) for one in lab.wanted(domain.EXCERPTS)]
    return experiment_of([*excerpts, *domain.synthetic(lab.full)])


def _is_plain(work: Workload) -> bool:
    """Returns whether a workload is an excerpt or a load of writes alone, and no variant of another
    workload (in another order, on another span, or with reads)."""
    return work.name in domain.TENTHS or work.played.windows > 0


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    """Yields every workload with every reading and the bound at the middle point, and the lines of
    the table of labels."""
    middle = experiment.points((), True)
    yield from runs_at(experiment, experiment.workloads, middle, ("dftl", *SHOWN), full)
    zoned = [work for work in experiment.workloads if work.family in domain.LETTER]
    yield from runs_at(experiment, zoned, middle, LABELLED, full)


def _more(findings: Findings[Point]) -> More:
    bench, plain = findings.lab.bench, filter(_is_plain, findings.experiment.workloads)
    sizes = {p.trace: p.write_bytes for p in findings.every if p.write_bytes is not None}
    levels = ("equal", "sample", "moved")
    return More(
        exhibits=[
            *(by_level(findings.experiment, axis, findings.judged) for axis in levels),
            *figures(findings.every),
            skew({work.name: bench.hotness(work.played.spec) for work in plain}, sizes),
        ],
    )


PAPER = Paper(
    device=domain.DEVICE,
    sources=domain.EXCERPTS,
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
