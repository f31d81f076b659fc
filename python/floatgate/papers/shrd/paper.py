"""SHRD: sequentialize in the host, randomize in the device (Kim, Shin, Jeong and Kim, FAST 2017).

The slides' figures are lost. The reproduction checks their text. Our levels and their reasons are
in the preset `shrd17` and in docs/papers/shrd.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from floatgate.papers.kit.experiment import Experiment, Levels, Run, seeds_of
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper
from floatgate.papers.kit.verdict_tables import by_level, map_of

from . import crash, domain
from .claims import CLAIMS, UNCHECKED
from .figures import COLUMNS, figures
from .pattern import pattern, worked_example
from .reduce import BACKLOG, Point, reduce

NOTES = """\
The prototype is a modified SATA drive; its geometry and map pages are those of its authors' \
public sources, its flash times are ours (preset shrd17). Its two cores wait for each map page; \
next to it is a drive in which only the dies are waited for.
Either host has 32 commands in the drive, as SATA has it. SHRD's holds 128 requests and packs \
those that wait. All runs but the bursts and those at a rate are closed loops.
The captures are recorded for this project: pgbench and RocksDB on ext4; postmark, and fio with \
fsync, on f2fs. The first tenth of each is left out: files and tables are made there. Their times \
are those of a device as fast as memory, so they are played in closed loops. Their cache is a \
share of the map of the pages that they touch.
The two of ext4 are different loads of one file system, so nothing is averaged over them.
An order counts from half a per cent.
Left out of all verdicts alike: points at which a drive serves less than 95% of the requests that \
arrive. Maps show these points. No closed loop has arrivals to fall behind.
"""


def _experiment(lab: Lab) -> Experiment:
    captures = [domain.captured(source, file) for source, file in lab.wanted(domain.SOURCES)]
    return domain.experiment_of(
        [*domain.generated(domain.FULL if lab.full else domain.QUICK), *captures]
    )


def _shown(experiment: Experiment, full: bool) -> Iterator[Run]:
    """Yields DFTL and SHRD on every workload, the bound on random writes (in full on all), and SHRD
    over logs and thresholds."""
    windows = experiment.points(("controller", "window"), full)
    for name in domain.LOADS:
        bound = (domain.WHOLE,) if full or name == domain.RANDOM else ()
        yield from _runs(experiment, name, (domain.DFTL, domain.SHRD, *bound), windows, full)
    captures = domain.CAPTURED if full else (domain.POSTMARK,)
    for name, axis in {domain.RANDOM: "log", **dict.fromkeys(captures, "threshold")}.items():
        points = experiment.points((axis, "window"), full=True)
        yield from _runs(experiment, name, (domain.SHRD,), points, full)
    yield from _narrow(experiment, full)


def _narrow(experiment: Experiment, full: bool) -> Iterator[Run]:
    """Yields runs over spans outside every claim. A figure finds there the span at which the gain
    is 30."""
    lines = {domain.RANDOM: (domain.DFTL, domain.SHRD), domain.BURSTS: (domain.DFTL, domain.IDLE)}
    for levels in experiment.points(("controller", "log", "window"), full):
        for (name, each), span, seed in product(lines.items(), domain.NARROW, seeds_of(full)):
            work = experiment.workload(f"{name}, {span}")
            for line in each:
                yield experiment.run(work, experiment.line(domain.STANDS_FOR[line]), levels, seed)


def _runs(
    experiment: Experiment, name: str, lines: Iterable[str], points: Sequence[Levels], full: bool
) -> Iterator[Run]:
    for levels, line, seed in product(points, lines, seeds_of(full)):
        if experiment.has(levels, [name]):
            yield experiment.run_of(levels, name, line, seed)


def _more(findings: Findings[Point]) -> More:
    bench, experiment = findings.lab.bench, findings.experiment
    losses, recovery = crash.judged(findings.lab.full, bench.progress, bench.kept)
    captures = [work for work in experiment.workloads if work.name == domain.POSTMARK]
    return More(
        judged=[recovery],
        exhibits=[
            worked_example(),
            *figures(findings.every),
            *(by_level(experiment, a, findings.judged) for a in ("load", "controller", "window")),
            *(one for w in captures for one in pattern(bench, w.name, w.played, domain.LIMIT)),
            losses,
            map_of(crash.EXPERIMENT, *recovery),
        ],
    )


PAPER = Paper(
    device=domain.DEVICE,
    sources=domain.SOURCES,
    experiment=_experiment,
    claims=CLAIMS,
    reduce=reduce,
    filter=BACKLOG,
    shown=_shown,
    more=_more,
    unchecked=UNCHECKED,
    columns=COLUMNS,
    example="shrd",
    notes=NOTES,
)
