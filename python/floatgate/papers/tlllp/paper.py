"""TLLLP: prefetching map entries by request length and history (Yin et al., 2017).

The paper states no geometry and no cache size, and its figures are lost. The reproduction checks
its text. Our levels and their reasons are in the preset `tlllp17` and in docs/papers/tlllp.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Experiment, Run, Workload
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper, runs_at

from . import domain
from .claims import CLAIMS
from .figures import COLUMNS, MAIN, READ_AS, figures, tables, waits
from .reduce import BACKLOG, Point, reduce

STAND_INS = (
    Workload(
        "stand-in: zipf writes", domain.FINANCIAL1, Played("zipf:span=64MiB,theta=0.99,writes=20k")
    ),
    Workload(
        "stand-in: random reads",
        domain.WEBSEARCH,
        Played("iometer:span=256MiB,size=8KiB,reads=1,requests=10k"),
    ),
    Workload(
        "stand-in: sequential writes",
        domain.MSR,
        Played("sequential:span=64MiB,writes=4k,size=16KiB"),
    ),
)
"""Workloads that share only the kind of requests with the paper's. No claim is judged on them."""

NOTES = """\
Financial1, WebSearch and MSR are here as excerpts, Financial2 is not: its stand-ins have the mix \
and the size that are published of it, and a skew, a span and positions of hot pages of ours. \
Claims on all traces are tested without it and with each.
The paper gives no geometry, timing or cache sizes. Device: preset tlllp17, which says where each \
number is from. What is left open beyond that is swept: the table of what the paper leaves open.
DFTL has 8 bytes an entry; TLLLP 8 an entry and 8 a mapping page with cached entries.
Each excerpt is played once. The two of Financial1 overlap in time, and one has all its devices on \
top of each other; the windows of MSR are of volumes that are not named. No two of a family are \
averaged. WebSearch writes 16 pages: start and spare space cannot matter to it.
An order counts from half a per cent or half a point.
One request at a time, a response is a request's service: no other is waited for.
An excerpt begins cold: a look-up that is the first of its page can hardly hit. Whether MSR has \
very many hits is not asked of an excerpt that cannot have them, nor whether WebSearch has few of \
one that can have no more; such points are left out.
Chosen after results were seen: these two premises, the stand-ins in verdicts, the claims on all \
four numbers, on the hits of WebSearch, on the map of Financial1 and on nodes, and the readings \
of prefetch, victim and what leaves, whose effect on some traces was known.
Left out of all verdicts alike: points at which a drive has a backlog, used 95% of the time with \
1% of the response spent waiting for the queue. Maps show these points.
"""

NO_TRACES = (
    "None of the paper's traces is here: the figures are of synthetic stand-ins, which say nothing "
    "about the claims."
)


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    return Experiment(domain.AXES, tuple(workloads), domain.LINES, domain.STANDS_FOR)


def _experiment(lab: Lab) -> Experiment:
    excerpts = [domain.workload_of(one, file) for one, file in lab.wanted(domain.EXCERPTS)]
    return experiment_of([*excerpts, domain.FITTED, domain.CLUSTERED] if excerpts else STAND_INS)


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    """Yields every workload on a fresh drive, with every cache and with every reading. Claims have
    the other runs of the figures."""
    caches = experiment.points(("cache",), full=True)
    yield from runs_at(experiment, experiment.workloads, caches, MAIN, full)
    (default,) = experiment.points((), full)
    readings = [{**default, **levels} for levels in READ_AS.values()]
    yield from runs_at(experiment, experiment.workloads, readings, ("tlllp",), full)


def _more(findings: Findings[Point]) -> More:
    points = findings.every
    missing = [] if domain.FITTED in findings.experiment.workloads else [NO_TRACES]
    return More(
        exhibits=[*figures(points), *tables(findings)],
        warnings=[*missing, *waits(points)],
    )


PAPER = Paper(
    device=domain.DEVICE,
    sources=domain.EXCERPTS,
    experiment=_experiment,
    claims=CLAIMS,
    reduce=reduce,
    filter=BACKLOG,
    shown=_shown,
    more=_more,
    columns=COLUMNS,
    example="tlllp",
    notes=NOTES,
)
