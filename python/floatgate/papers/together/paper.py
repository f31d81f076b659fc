"""All five mechanisms on one aged drive, with bounds: questions of our own, no reproduction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from floatgate.calibrate.measured import read_skews, skew_files
from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.claims import Claim
from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper, runs_at

from . import domain, drives
from .claims import claims_of
from .figures import COLUMNS, figures
from .reduce import BACKLOG, Point, reduce
from .traces import TRACES, excerpts

if TYPE_CHECKING:
    from floatgate.results.result import Result

NOTES = """\
No paper: the questions and their numbers are ours, and were written down before the first run. \
The question about all measured drives, the whole traces, the question for each workload and ETI's \
other reading came after results.
The drive is the preset tlc-enterprise with 2 of its 32 dies and 64 MiB for the host, filled in \
order and once over at random. Every line has the same flash; what a line keeps on flash, its map \
or its log, it takes from the spare space.
The map cache has 16 KiB, the buffer 1 MiB, SHRD's log 1 MiB, or as large a share of a larger \
drive. A baseline has the whole map in memory, one stream, greedy cleaning, no buffer.
A trace is its first 10,000 requests, on the pages that it touches, in windows in another order \
each round; the rest of the drive is cold. With --full two that write their pages twice only as a \
whole are played whole, on a drive of their size.
Of 16 traces most are left out, each for a reason that the table of traces has.
The first volume that a workload writes is counted. `numbers` has the amplification without it, too.
"""

NO_DRIVES = (
    "Measurements of drives not found: name their directory with FLOATGATE_DRIVES. No policy is "
    "compared with them."
)


def _experiment(lab: Lab) -> Experiment:
    recorded = [one.workload(lab.bench) for one in excerpts(lab) if one.is_played(lab.full)]
    generators = domain.GENERATORS if lab.full else (domain.UNIFORM, domain.HOT_COLD)
    return domain.experiment_of([*map(domain.synthetic, generators), *recorded])


def _claims(experiment: Experiment, full: bool) -> Sequence[Claim[Point]]:
    families = list(dict.fromkeys(work.family for work in experiment.workloads))
    return list(claims_of(families, full))


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    pairs = {pair.key for pair in domain.PAIRS}
    lines = [line.key for line in domain.LINES if full or line.key not in pairs]
    middle = experiment.points((), True)
    yield from runs_at(experiment, experiment.workloads, middle, lines, full)


def _more(findings: Findings[Point]) -> More:
    lab = findings.lab
    files = skew_files()
    truth = read_skews(*files) if files else None
    measured = _measured(lab) if truth else {}
    numbers = drives.by_seed({run: drives.steady(result) for run, result in measured.items()})
    return More(
        judged=drives.judged(numbers, truth),
        points=[reduce(drives.EXPERIMENT, run, result) for run, result in measured.items()],
        results=list(measured.values()),
        labels=drives.LABELS,
        warnings=[] if truth else [NO_DRIVES],
        exhibits=figures(findings.every, list(excerpts(lab))),
    )


def _measured(lab: Lab) -> dict[Run, Result]:
    bench = Bench(drives.DEVICE, lab.bench.progress, lab.bench.kept)
    return drives.EXPERIMENT.simulate(bench, drives.runs(lab.full))


PAPER = Paper(
    device=domain.DEVICE,
    sources=TRACES,
    read=skew_files,
    experiment=_experiment,
    claims=_claims,
    reduce=reduce,
    filter=BACKLOG,
    shown=_shown,
    more=_more,
    columns=COLUMNS,
    example=domain.BASE,
    notes=NOTES,
)
