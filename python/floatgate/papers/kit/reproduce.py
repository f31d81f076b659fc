"""Reproduces a paper: runs its experiment, judges its claims, and collects the exhibits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from .batch import Bench
from .claims import JUDGED, AnyClaim, Claim, Filter, Judged, Point
from .coverage import coverage_of, recorded_claims
from .exhibits import Column, Exhibit
from .experiment import Experiment, Levels, Run, Workload
from .judging import judge, runs_of
from .outcome import Outcome
from .trace_files import Source, find_traces, missing_warning
from .verdict_tables import axes_table, by_factor, map_of

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.papers import Listed
    from floatgate.results.result import Result

    from .cache import Cache


@dataclass(frozen=True)
class Lab:
    full: bool
    files: Mapping[Source, Path]
    """The traces found, each with its file."""
    bench: Bench

    def wanted(self, sources: Iterable[Source]) -> list[tuple[Source, Path]]:
        """Returns the sources that this reproduction plays, with their files."""
        return [(s, self.files[s]) for s in sources if s in self.files and (self.full or s.quick)]


@dataclass(frozen=True)
class Findings(Generic[Point]):
    lab: Lab
    experiment: Experiment
    points: Mapping[Run, Point]
    results: Mapping[Run, Result]
    judged: Sequence[Judged[Point]]

    @property
    def every(self) -> list[Point]:
        return list(self.points.values())

    def of(self, *keys: str) -> list[Judged[Point]]:
        """Returns the judged claims with these keys, in the order of the keys."""
        by_key = {claim.key: (claim, measured) for claim, measured in self.judged}
        return [by_key[key] for key in keys if key in by_key]


@dataclass(frozen=True)
class More:
    """Exhibits, and claims judged in other ways, that a paper adds to its main experiment."""

    exhibits: Sequence[Exhibit] = ()
    """Extra exhibits. An exhibit replaces a common exhibit that has its key."""
    judged: Sequence[AnyClaim] = ()
    """Extra claims, placed in front of the claims without any measurement."""
    points: Sequence[Any] = ()
    results: Sequence[Result] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Paper(Generic[Point]):
    """A paper as data. Its title and its citation are in the table of papers."""

    experiment: Experiment | Callable[[Lab], Experiment]
    claims: Sequence[Claim[Point]] | Callable[[Experiment, bool], Sequence[Claim[Point]]]
    reduce: Callable[[Experiment, Run, Result, Any], Point]
    """Reduces a run to a dataclass with `trace` and `line` among its fields. The last argument is
    the result of `facts` for the run's workload."""
    filter: Filter[Point]
    columns: Sequence[Column]
    """Columns of the table of all runs, by the fields of a point."""
    example: str
    """Line for which the page shows one run per trace with its whole config."""
    device: str
    notes: str = ""
    sources: Sequence[Source] = ()
    read: Callable[[], Sequence[Path]] = tuple
    """Returns the files outside the package that the paper reads, apart from its traces."""
    facts: Callable[[Bench, Workload], Any] = lambda *_: None
    """Measures a workload itself, without a drive."""
    shown: Callable[[Experiment, bool], Iterable[Run]] = lambda *_: ()
    """Runs that figures need, even if no claim needs them."""
    more: Callable[[Findings[Point]], More] = lambda _: More()
    unchecked: Sequence[AnyClaim] = ()


def reproduce(
    paper: Paper[Any],
    listed: Listed,
    full: bool,
    traces: Path | None,
    progress: Progress | None,
    kept: Cache | None = None,
) -> Outcome:
    """Runs the paper's experiment, with `full` at every point of each claim's domain.

    `traces` is the directory of its traces, if given. `kept` has the results of earlier runs and
    receives new results. Raises ConfigError if the directory does not exist.
    """
    files, missing = find_traces(paper.sources, traces)
    lab = Lab(full, dict(files), Bench(paper.device, progress, kept))
    given, asked = paper.experiment, paper.claims
    experiment = given if isinstance(given, Experiment) else given(lab)
    asked = asked(experiment, full) if callable(asked) else asked
    findings = investigate(paper, lab, experiment, asked, paper.shown(experiment, full))
    more = paper.more(findings)
    judged = [*findings.judged, *more.judged]
    standard = [
        axes_table(experiment, asked),
        by_factor(experiment, findings.judged, findings.points, full, paper.filter),
    ]
    maps = [map_of(experiment, c, m) for c, m in findings.judged if len(m.rows) > 1]
    exhibits = {exhibit.key: exhibit for exhibit in (*standard, *more.exhibits, *maps)}
    claims = [*judged, *paper.unchecked]
    return Outcome(
        listed=listed,
        mode="full" if full else "quick",
        labels={line.key: line.label for line in experiment.lines} | {**more.labels},
        exhibits=[exhibit for exhibit in exhibits.values() if exhibit.rows],
        claims=claims,
        points=[*findings.every, *more.points],
        results=[*findings.results.values(), *more.results],
        columns=paper.columns,
        shown=paper.example,
        coverage="" if full else coverage_of(claims, recorded_claims(listed.name)),
        warnings=[*missing_warning([s for s in missing if full or s.quick]), *more.warnings],
        notes=[JUDGED, *paper.notes.splitlines()],
    )


def investigate(
    paper: Paper[Point],
    lab: Lab,
    experiment: Experiment,
    claims: Sequence[Claim[Point]],
    shown: Iterable[Run] = (),
) -> Findings[Point]:
    """Runs the claims' runs and the runs in `shown`, reduces them, and judges the claims."""
    results = experiment.simulate(lab.bench, [*runs_of(experiment, claims, lab.full), *shown])
    facts = {work.name: paper.facts(lab.bench, work) for work in experiment.workloads}
    points = {
        run: paper.reduce(experiment, run, result, facts[run.workload])
        for run, result in results.items()
    }
    judged = [(claim, judge(experiment, claim, points, lab.full, paper.filter)) for claim in claims]
    return Findings(lab, experiment, points, results, judged)


def runs_at(
    experiment: Experiment,
    workloads: Iterable[Workload],
    points: Sequence[Levels],
    lines: Sequence[str],
    full: bool,
) -> Iterable[Run]:
    """Yields the runs of our lines on our workloads at these points, with every seed."""
    for work, levels, line in product(workloads, points, lines):
        for seed in work.seeds_of(full):
            yield experiment.run(work, experiment.line(line), levels, seed)
