"""SHRD: sequentialize in the host, randomize in the device (Kim, Shin, Jeong and Kim, FAST 2017).

The slides' figures are lost; what is checked is their text. What we chose, and why: the preset
`shrd17`, and docs/papers/shrd.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.papers import PAPERS
from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.experiment import FULL_SEEDS, QUICK_SEEDS, Experiment, Place, Run
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.paper import Claim, Exhibit, Measured, Outcome
from floatgate.papers.kit.trace_files import find_traces, missing_warning
from floatgate.papers.kit.verdict_tables import (
    axes_table,
    by_choice,
    by_confidence,
    by_factor,
    map_of,
)

from . import crash as shrd_crash
from .claims import CLAIMS, OUT_OF_REACH
from .crash import NONE_LEFT_OUT, RECOVERY, Crashes
from .figures import exhibits
from .pattern import exhibits as pattern
from .pattern import worked_example
from .reduce import BACKLOG, reduce
from .runs import (
    BURSTS,
    CAPTURED,
    DEVICE,
    DFTL,
    FULL,
    IDLE,
    LIMIT,
    MIXED,
    NARROW,
    POSTMARK,
    QUICK,
    RANDOM,
    READS,
    SEQUENTIAL,
    SHRD,
    SOURCES,
    STANDS_FOR,
    STREAM,
    WHOLE,
    captured,
    experiment_of,
    generated,
)
from .tables import COLUMNS, LABELS

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.papers.kit.cache import Cache

NOTES = """\
The prototype is a modified SATA drive; its geometry and map pages are those of its authors' \
public sources, its flash times are ours (preset shrd17). Its two cores wait for each map page; \
beside it stands a drive in which only the dies are waited for.
Either host has 32 commands in the drive, as SATA has it. SHRD's holds 128 requests and packs \
those that wait. All runs but the bursts and those at a rate are closed loops.
The captures are recorded for this project: pgbench and RocksDB on ext4; postmark, and fio with \
fsync, on f2fs. The first tenth of each is left out: files and tables are made there. Their \
times are those of a device as fast as memory, so they are played in closed loops. Their cache is \
a share of the map of the pages that they touch.
The two of ext4 are different loads of one file system, so nothing is averaged over them.
A claim holds at a point if the whole 95% interval of our number (Student's t over seeds; none \
where nothing is random) is where the claim says; where a part is, the point is ambiguous. A \
stated number is met within a factor of 1.5, an order by half a per cent.
Left out of all verdicts alike: points at which a drive serves less than 95% of the requests that \
arrive. What comes out with them stands beside. No closed loop has arrivals to fall behind.
"""
"""What is to be known, a line each."""


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Cache | None = None
) -> Outcome:
    """Runs the experiment; `full` has the whole domain, more seeds, and longer captures."""
    found, missing = find_traces(SOURCES, traces)
    captures = [captured(source, file) for source, file in found]
    experiment = experiment_of([*generated(FULL if full else QUICK), *captures])
    runs = [*runs_of(experiment, CLAIMS, full), *_shown(experiment, full)]
    bench = Bench(DEVICE, progress, kept)
    results = experiment.simulate(bench, runs)
    points = {run: reduce(experiment, run, result) for run, result in results.items()}
    judged = [(claim, judge(experiment, claim, points, full, BACKLOG)) for claim in CLAIMS]
    maps = [map_of(experiment, claim, found) for claim, found in judged if found.rows]
    losses, recovery = _recovery(full, progress, kept)
    listed = next(paper for paper in PAPERS if paper.name == "shrd")
    shown: list[Exhibit] = [
        axes_table(experiment, CLAIMS),
        by_factor(experiment, judged, points, full, BACKLOG),
        by_confidence([*judged, (RECOVERY, recovery)]),
        worked_example(),
        *exhibits(list(points.values())),
        *(by_choice(experiment, axis, judged) for axis in ("load", "controller", "window")),
        *(
            each
            for work in captures
            if work.name == POSTMARK
            for each in pattern(bench, work.name, work.played, LIMIT)
        ),
        losses,
        *maps,
        map_of(shrd_crash.EXPERIMENT, RECOVERY, recovery),
    ]
    unchecked: list[tuple[Claim[Any], Measured]] = [
        (claim, claim.measure(None)) for claim in OUT_OF_REACH
    ]
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=LABELS,
        exhibits=shown,
        claims=[*judged, (RECOVERY, recovery), *unchecked],
        points=list(points.values()),
        results=list(results.values()),
        columns=COLUMNS,
        shown="shrd",
        warnings=missing_warning(missing),
        notes=NOTES.splitlines(),
    )


def _recovery(
    full: bool, progress: Progress | None, kept: Cache | None
) -> tuple[Exhibit, Measured]:
    """The claim that no run with a clock can say anything about."""
    experiment = shrd_crash.EXPERIMENT
    runs = runs_of(experiment, [RECOVERY], full)
    found: dict[Run, Crashes] = shrd_crash.explore(runs, full, progress, kept)
    judged = judge(experiment, RECOVERY, found, full, NONE_LEFT_OUT)
    crashes = list(found.values())
    return shrd_crash.table(crashes), shrd_crash.bounded(judged, crashes)


def _shown(experiment: Experiment, full: bool) -> Iterator[Run]:
    """The runs of figures, which claims need or not: DFTL and SHRD on every workload, the bound on
    random writes, in full on all; and SHRD over logs and thresholds."""
    seeds = range(1, 1 + (FULL_SEEDS if full else QUICK_SEEDS))
    windows = experiment.places(("controller", "window"), full)
    for name in (RANDOM, READS, MIXED, SEQUENTIAL, STREAM, *CAPTURED):
        lines = (DFTL, SHRD, *((WHOLE,) if full or name == RANDOM else ()))
        yield from _runs(experiment, name, lines, windows, seeds)
    swept = {RANDOM: "log", **dict.fromkeys(CAPTURED if full else (POSTMARK,), "threshold")}
    known = experiment.axis("window").side(full)
    for name, axis in swept.items():
        places = [p for p in experiment.places((axis, "window"), True) if p["window"] in known]
        yield from _runs(experiment, name, (SHRD,), places, seeds)
    yield from _narrow(experiment, full, seeds)


def _narrow(experiment: Experiment, full: bool, seeds: Sequence[int]) -> Iterator[Run]:
    """Over spans at which no claim is asked: it is looked for where the gain is 30."""
    lines = {RANDOM: (DFTL, SHRD), BURSTS: (DFTL, IDLE)}
    for place in experiment.places(("controller", "log", "window"), full):
        for (name, each), span, seed in product(lines.items(), NARROW, seeds):
            work = experiment.workload(f"{name}, {span}")
            for line in each:
                yield experiment.run(work, experiment.line(STANDS_FOR[line]), place, seed)


def _runs(
    experiment: Experiment,
    name: str,
    lines: Sequence[str],
    places: Sequence[Place],
    seeds: Sequence[int],
) -> Iterator[Run]:
    for place, line, seed in product(places, lines, seeds):
        if experiment.has(place, [name]):
            yield experiment.run_of(place, name, line, seed)
