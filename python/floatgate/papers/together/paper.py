"""What none of the papers did: all five mechanisms on one aged drive, with bounds.

No reproduction: the claims are questions of our own, asked before the runs. What was chosen, and
why: `together_runs`, and docs/papers/together.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.papers import PAPERS
from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.experiment import FULL_SEEDS, QUICK_SEEDS, Experiment, Run
from floatgate.papers.kit.judging import runs_of
from floatgate.papers.kit.paper import Exhibit, Outcome
from floatgate.papers.kit.trace_files import find_traces, missing_warning
from floatgate.papers.kit.verdict_tables import axes_table, by_choice, by_confidence, map_of

from . import drives as together_drives
from .claims import claims_of, judge_all, later
from .drives import find_measurements, measured_table, rates_table
from .figures import COLUMNS, exhibits, first_volume
from .runs import (
    BASE,
    BY_WORKLOAD,
    DEVICE,
    LABELS,
    LINES,
    PAIRS,
    RECORDED,
    SYNTHETIC,
    SYNTHETICS,
    Point,
    experiment_of,
    reduce,
)
from .sentence import summed_up
from .traces import QUICK_TRACES, TRACES, excerpts

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.papers.kit.cache import Cache
    from floatgate.result import Result

NOTES = """\
No paper: the questions are ours, and so are their numbers, which were written down before the \
first run, but for the one about all measured drives. That questions are asked on each workload, \
and whole traces, came after results, too.
The drive is the preset tlc-enterprise with 2 of its 32 dies and 64 MiB for the host, filled in \
order and once over at random. Every line has the same flash; what a line keeps on flash, its map \
or its log, it takes from the spare space.
The map cache has 16 KiB, the buffer 1 MiB, SHRD's log 1 MiB, or as large a share of a larger \
drive. A baseline has the whole map in \
memory, one stream, greedy cleaning, no buffer.
A trace is its first 10,000 requests, on the pages that it touches, in windows in another order \
each round; the rest of the drive is cold. With --full two that write their pages twice only as a \
whole are played whole, on a drive of their size.
Of 16 traces most are left out, each for a reason that the table of traces has.
A claim holds at a point if the whole 95% interval of our number (Student's t over seeds) is where \
the claim says; where a part is, the point is ambiguous. Each question is asked on each \
workload; beside the verdict stands what it would be if the worst of them decided for all.
The first volume that a workload writes is counted, a transient; a table has the verdicts without.
"""
"""What is to be known, a line each."""

SLOW = f"sum-{RECORDED}"
"""Takes all pairs on all traces, which a quick run does without."""

NO_DRIVES = (
    "Measurements of drives not found: name their directory with FLOATGATE_DRIVES. No policy is "
    "held against them."
)


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Cache | None = None
) -> Outcome:
    """Runs the experiment; `full` has all traces, victims and points, with more seeds."""
    bench = Bench(DEVICE, progress, kept)
    found, missing = find_traces(TRACES, traces)
    known = list(excerpts(bench, found))
    recorded = [one.workload(bench) for one in known if one.is_played(full)]
    synthetic = [one.workload for one in SYNTHETICS]
    experiment = experiment_of([*synthetic, *recorded])
    families = list(dict.fromkeys(work.family for work in experiment.workloads))
    claims = [claim for claim in claims_of(families) if full or claim.key != SLOW]
    runs = [*runs_of(experiment, claims, full), *_shown(experiment, full)]
    results = experiment.simulate(bench, runs)
    points = {run: reduce(experiment, run, result) for run, result in results.items()}
    judged = judge_all(experiment, claims, points, full)
    maps = [map_of(experiment, claim, ours) for claim, ours in judged if len(ours.rows) > 1]
    truth = find_measurements()
    drives = _measured(progress, kept, full) if truth else {}
    steadies = {run: together_drives.steady(result) for run, result in drives.items()}
    numbers = together_drives.by_seed(steadies)
    shown: list[Exhibit] = [axes_table(experiment, claims), by_confidence(judged)]
    shown += [by_choice(experiment, BY_WORKLOAD[family], judged) for family in families]
    every_run = list(points.values())
    shown += exhibits(every_run, known)
    shown.append(first_volume(judged, judge_all(experiment, claims, later(points), full)))
    if truth:
        measured = (measured_table(numbers, truth), rates_table(numbers, truth))
        shown += [table for table in measured if table.rows]
    of_drives = together_drives.judged(numbers, truth)
    sentence = summed_up(every_run, of_drives[0][1] if truth else None)
    listed = next(paper for paper in PAPERS if paper.name == "together")
    every: list[Point] = [
        *every_run,
        *(reduce(together_drives.EXPERIMENT, run, result) for run, result in drives.items()),
    ]
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=LABELS | together_drives.LABELS,
        exhibits=[*shown, *maps],
        claims=[*judged, *of_drives],
        points=every,
        results=[*results.values(), *drives.values()],
        columns=COLUMNS,
        shown=BASE,
        warnings=[
            *missing_warning([s for s in missing if full or s.spec in QUICK_TRACES]),
            *([] if truth else [NO_DRIVES]),
        ],
        notes=[sentence, *NOTES.splitlines()],
    )


def _measured(progress: Progress | None, kept: Cache | None, full: bool) -> dict[Run, Result]:
    """The runs that are held against measured drives."""
    bench = Bench(together_drives.DEVICE, progress, kept)
    return together_drives.EXPERIMENT.simulate(bench, together_drives.runs(full))


def _shown(experiment: Experiment, full: bool) -> Iterator[Run]:
    """The runs of tables, which claims need or not: every line on every workload in the middle."""
    seeds = range(1, 1 + (FULL_SEEDS if full else QUICK_SEEDS))
    [middle] = experiment.places((), True)
    pairs = {pair.key for pair in PAIRS}
    for work, line, seed in product(experiment.workloads, LINES, seeds):
        if full or line.key not in pairs or work.family == SYNTHETIC:
            yield experiment.run(work, line, middle, seed)
