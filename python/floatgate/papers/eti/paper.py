"""ETI: hot data by extents (Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016).

The traces are four volumes of MSR Cambridge and those of an unnamed partner; none is at hand, and
the figures are lost. What stands in for them, and what follows from that: docs/papers/eti.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.papers import PAPERS
from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.experiment import FULL_SEEDS, QUICK_SEEDS, Experiment, Run, Workload
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.paper import Outcome
from floatgate.papers.kit.trace_files import Source, find_traces, missing_warning
from floatgate.papers.kit.verdict_tables import (
    axes_table,
    by_choice,
    by_confidence,
    by_factor,
    map_of,
)

from .claims import MEMORY, claims_of
from .examples import worked_example
from .figures import COLUMNS, exhibits
from .hot import (
    HOT_CLAIMS,
    LONG_TRACES,
    WINDOWS,
    hot_experiment,
    hot_writes,
    left_out,
    look,
    merged,
    table_1,
    traces_of,
)
from .lines import EVERY, FIGURE_4, LABELS, LARGER, MBF, MHF, PERIOD, READINGS, SENSITIVE
from .runs import (
    CHECK_LINES,
    CHECKS,
    DEVICE,
    EXCERPT,
    HOT_ENOUGH,
    LOOPED,
    PERFECT,
    REAL_TRACES,
    ROUND_WINDOWS,
    SCALE,
    SHORT,
    SRC2_0,
    STAND_IN,
    SYNTHETIC,
    TABLE_1,
    RealTrace,
    Traced,
    check,
    experiment_of,
    in_a_loop,
    real,
    reduce,
    sized,
    stand_in,
)

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.papers.kit.cache import Cache

NOTES = f"""\
The paper's traces are not available: proj_0, src1_2, src2_0, usr_0 (MSR Cambridge) and SW1 are \
stand-ins made from their rows of Table 1, those of the other partner traces are not known. A \
stand-in shares with its trace what its row says and no more; what the row leaves open is swept.
Stand-ins are played in models at 1/{SCALE}: a drive of 1,024 blocks, and 1/{SCALE} of the pages \
of a row, of ETI's extents, of the bits and counters of MBF and MHF, and of all periods. Writes \
are as long and blocks as large as in the paper. Table 1 and Figures 1 and 2 are not scaled.
The drive is full before: every page once in order, then twice the volume in uniform random \
writes, during which the classifiers run; measured are two volumes of the trace.
Real traces are not the paper's. That of pgbench was captured for this project and is played \
whole, once, on a drive that it spans. The others are short and played over and over, on drives \
that they span, until they have written two volumes. Every round has its {ROUND_WINDOWS} windows \
in another order; with --full some are played in a loop, too. Loops had been judged before.
Which two CRCs the paper hashes with is not known, so the three variants are ours.
A claim holds at a point if the whole 95% interval of our number (Student's t over seeds) is where \
the claim says; where a part is, the point is ambiguous. A stated number is met within a factor of \
1.5, an order by half a per cent.
Left out of all verdicts on write amplification alike: traces of which a smaller share of the \
writes goes to hot pages than of any of Table 1 (4.1%), as section 3.2 counts them. What comes out \
with them stands beside. A claim with a premise is not asked where that is not sure.
"""
"""What is to be known, a line each."""


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Cache | None = None
) -> Outcome:
    """Runs the experiment; `full` has the whole domain, more seeds, schemes and traces."""
    files, missing = _files(full, traces)
    hot = hot_experiment(traces_of(files, full))
    bench = Bench(DEVICE, progress, kept)
    looked = look(hot, bench)
    wanted = _wanted(REAL_TRACES, full, files)
    played = [played_on(bench, trace, files[trace.spec]) for trace in wanted]
    experiment = experiment_of([*_made(full), *played, *(_loops(wanted, played) if full else ())])
    asked = claims_of([trace.name for trace in wanted if trace.kind == EXCERPT] or SHORT)
    runs = [*runs_of(experiment, asked, full), *_shown(experiment, full)]
    results, traced = experiment.simulate(bench, runs), _traced(experiment, bench)
    points = {run: reduce(experiment, run, one, traced) for run, one in results.items()}
    claims = [(claim, judge(experiment, claim, points, full, HOT_ENOUGH)) for claim in asked]
    of_hot = [(claim, judge(hot, claim, looked, full, left_out(claim))) for claim in HOT_CLAIMS]
    maps = [map_of(experiment, claim, found) for claim, found in claims if found.rows]
    maps += [map_of(hot, claim, found) for claim, found in of_hot if found.rows]
    if full:
        maps.append(by_choice(experiment, "rounds", claims))
    every = list(points.values())
    named = {run.workload: found for run, found in looked.items()}
    open_hot = replace(axes_table(hot, HOT_CLAIMS), key="domain-hot", title="Traces looked at")
    listed = next(paper for paper in PAPERS if paper.name == "eti")
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=LABELS,
        exhibits=[
            axes_table(experiment, asked),
            by_factor(experiment, claims, points, full, HOT_ENOUGH),
            by_confidence([*claims, *of_hot]),
            open_hot,
            table_1(named),
            *merged(named),
            *exhibits(every),
            worked_example(kept),
            *maps,
        ],
        claims=[*claims, (MEMORY, MEMORY.measure(every)), *of_hot],
        points=every,
        results=list(results.values()),
        columns=COLUMNS,
        shown="eti",
        warnings=missing_warning(missing),
        notes=NOTES.splitlines(),
    )


def _files(full: bool, directory: Path | None) -> tuple[dict[str, Path], list[Source]]:
    """The files of the traces that are wanted, by their names, and what is missing."""
    every = {t.spec: t for t in (*LONG_TRACES, *WINDOWS, *REAL_TRACES) if full or t.quick}
    sources = [Source(trace.name, trace.kind, spec) for spec, trace in every.items()]
    found, missing = find_traces(sources, directory)
    return {source.spec: file for source, file in found}, missing


def _wanted(traces: Sequence[RealTrace], full: bool, files: Mapping[str, Path]) -> list[RealTrace]:
    return [trace for trace in traces if trace.spec in files and (full or trace.quick)]


def _made(full: bool) -> list[Workload]:
    """Everything that is generated."""
    src2_0 = next(row for row in TABLE_1 if row.name == SRC2_0)
    return [
        *map(stand_in, TABLE_1),
        *(sized(src2_0) if full else ()),
        *(check(name, 12 if full else 2) for name in CHECKS),
    ]


def played_on(bench: Bench, trace: RealTrace, file: Path) -> Workload:
    """A real trace on a drive that it spans."""
    played = Played(str(file), trace.requests)
    pages = -(-bench.span_bytes(played) // 4096)
    return real(trace, str(file), pages, bench.written_bytes(played))


def _loops(traces: Sequence[RealTrace], played: Sequence[Workload]) -> list[Workload]:
    """Those of a quick reproduction in a loop, as they were judged before."""
    return [in_a_loop(t, work) for t, work in zip(traces, played, strict=True) if t.quick]


def _traced(experiment: Experiment, bench: Bench) -> dict[str, Traced]:
    """What there is to know of each workload: of stand-ins as their row has it, of real traces as
    it is in one pass; synthetic loads are no traces."""
    rows = {row.name: row.hot_writes / (row.hot_writes + row.cold_writes) for row in TABLE_1}
    found = {}
    for work in experiment.workloads:
        if work.family == STAND_IN:
            found[work.name] = Traced(rows[work.name.partition(",")[0]])
        elif work.family == SYNTHETIC:
            found[work.name] = Traced(1.0)
        else:
            shares = hot_writes(bench.hotness(work.played.spec))
            found[work.name] = Traced(shares, bench.write_ends(work.played, PERIOD))
    return found


def _shown(experiment: Experiment, full: bool) -> Iterator[Run]:
    """The runs of figures, which claims need or not."""
    seeds = range(1, 1 + (FULL_SEEDS if full else QUICK_SEEDS))
    (place,) = experiment.places((), full=True)
    few = ["single", "oracle"]
    lines = [*FIGURE_4, *SENSITIVE, *LARGER, *READINGS, *EVERY] if full else few
    large = {trace.name for trace in REAL_TRACES if not trace.quick}
    works = [work for work in experiment.workloads if work.family != LOOPED]
    for work, seed in product(works, seeds):
        own = lines
        if work.family == SYNTHETIC:
            own = list(dict.fromkeys([*CHECK_LINES[: None if full else 2], PERFECT[work.name]]))
        elif work.family == STAND_IN and ", " in work.name:
            own = ["single", "eti", MBF[0], MHF[0]]
        elif work.name in large:
            own = few
        for line in own:
            yield experiment.run(work, experiment.line(line), place, seed)
