"""SHRD: sequentialize in the host, randomize in the device (Kim, Shin, Jeong and Kim, FAST 2017).

The slides' figures are lost. The reproduction checks their text. Our levels and their reasons are
in the preset `shrd17` and in docs/papers/shrd.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper
from floatgate.papers.kit.verdict_tables import by_level, map_of

from . import crash, domain, workloads
from .claims import CLAIMS, UNCHECKED
from .figures import COLUMNS, figures
from .reduce import BACKLOG, Point, reduce

NOTES = """\
The prototype is a modified SATA drive; its geometry and map pages are those of its authors' \
public sources, its flash times are ours (preset shrd17). Its two cores wait for each map page; \
next to it is a drive in which only the dies are waited for.
Either host has 32 commands in the drive, as SATA has it. SHRD's holds 128 requests and packs \
those that wait. All runs except bursts and those at a rate are closed loops.
Three captures were recorded before: pgbench and RocksDB on ext4; postmark, and fio with fsync, on \
f2fs. Their first tenth is left out: files and tables are made there. fio on ext4 and on f2fs was \
recorded on the live drive by tools/record_file_systems.py. The times of all captures are those of \
the recording machine, so they are played in closed loops. Their cache is a share of the map of \
the pages that they touch.
An order counts from half a per cent.
Left out of all verdicts alike: points at which a drive serves less than 95% of the requests that \
arrive. Maps show these points. No closed loop has arrivals to fall behind.
"""


def _experiment(lab: Lab) -> Experiment:
    captures = [workloads.captured(source, file) for source, file in lab.wanted(workloads.SOURCES)]
    fio = [work for work in workloads.recorded() if Path(work.played.spec).is_file()]
    bursts = workloads.FULL if lab.full else workloads.QUICK
    return domain.experiment_of([*workloads.generated(bursts), *fio, *captures])


def _shown(experiment: Experiment, full: bool) -> Iterator[Run]:
    """Yields DFTL and SHRD on every workload."""
    points = experiment.points(("controller", "window"), full)
    lines = (workloads.DFTL, workloads.SHRD)
    for name, levels, line in product(workloads.LOADS, points, lines):
        if experiment.has(levels, [name]):
            yield from experiment.runs_of(levels, name, line, full)


def _more(findings: Findings[Point]) -> More:
    lab, experiment = findings.lab, findings.experiment
    recovery = crash.judged(lab.full, lab.bench)
    return More(
        judged=[recovery],
        exhibits=[
            *figures(findings.every),
            *(by_level(experiment, a, findings.judged) for a in ("load", "controller", "window")),
            map_of(crash.EXPERIMENT, *recovery),
        ],
    )


PAPER = Paper(
    device=domain.DEVICE,
    sources=workloads.SOURCES,
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
