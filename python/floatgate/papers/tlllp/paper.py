"""TLLLP: prefetching map entries by request length and history (Yin et al., 2017).

The paper states no geometry and no cache size, and its figures are lost; what is checked is what
its text says. What we chose, and why: the preset `tlllp17`, and docs/papers/tlllp.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.papers import PAPERS
from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.experiment import FULL_SEEDS, QUICK_SEEDS, Experiment, Run, Workload
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.paper import Exhibit, Outcome
from floatgate.papers.kit.trace_files import Source, find_traces, missing_warning
from floatgate.papers.kit.verdict_tables import axes_table, by_confidence, by_factor, map_of

from .claims import CLAIMS
from .examples import figure_1, table_1
from .figures import BARS, COLUMNS, LABELS, OTHERS, exhibits
from .runs import (
    BACKLOG,
    CAPTURED,
    CAPTURES,
    DEVICE,
    EXCERPTS,
    FINANCIAL1,
    FITTED,
    MSR,
    WEBSEARCH,
    Point,
    backlogged,
    experiment_of,
    reduce,
)
from .tables import bursts, tables

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.papers.kit.cache import Cache

STAND_INS = (
    Workload("stand-in: zipf writes", FINANCIAL1, Played("zipf:span=64MiB,theta=0.99,writes=20k")),
    Workload(
        "stand-in: random reads",
        WEBSEARCH,
        Played("iometer:span=256MiB,size=8KiB,reads=1,requests=10k"),
    ),
    Workload(
        "stand-in: sequential writes", MSR, Played("sequential:span=64MiB,writes=4k,size=16KiB")
    ),
)
"""Of nothing but the kind of requests: no claim is judged on them."""

NOTES = """\
Financial1, WebSearch and MSR are here as excerpts, Financial2 is not: its stand-in has the mix \
and the size that are published of it, and a skew and a span of ours. Claims on all traces are \
asked without it and with it.
The paper gives no geometry, timing or cache sizes. Device: preset tlllp17, which says where each \
number is from. What is left open beyond that is swept: the table of what the paper leaves open.
DFTL has 8 bytes an entry; TLLLP 8 an entry and 8 a mapping page with cached entries.
Each excerpt is played once. The two of Financial1 overlap in time, and one has all its devices on \
top of each other; the windows of MSR are of volumes that are not named. No two of a family are \
averaged. WebSearch writes 16 pages: start and spare space cannot matter to it.
A claim holds at a point if the whole 95% interval of our number (Student's t over seeds; none \
where nothing is random) is where the claim says; where a part is, the point is ambiguous. A \
stated number is met within a factor of 1.5, an order by half a per cent or half a point.
One request at a time, a response is a request's service: no other is waited for.
An excerpt begins cold: a look-up that is the first of its page can hardly hit. Whether MSR has \
very many hits is not asked of an excerpt that cannot have them, nor whether WebSearch has few of \
one that can have no more; the verdict without this stands beside. This, the stand-in in \
verdicts, the verdicts by wait, and the claim on all four numbers were added after results were \
seen; so were those on hits of WebSearch and on the map of Financial1.
Left out of all verdicts alike: points at which a drive has a backlog, used 95% of the time with \
1% of the response spent waiting for the queue. What comes out with them stands beside.
"""
"""What is to be known, a line each."""


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Cache | None = None
) -> Outcome:
    """Runs the experiment; `full` has the whole domain, more seeds, schemes and traces."""
    wanted = {excerpt.source: excerpt for excerpt in EXCERPTS + (CAPTURES if full else ())}
    found, missing = find_traces(list(wanted), traces)
    workloads = [wanted[source].workload(file) for source, file in found]
    paper_traces = any(work.family != CAPTURED for work in workloads)
    workloads += [FITTED] if paper_traces else STAND_INS
    experiment = experiment_of(workloads)
    runs = [*runs_of(experiment, CLAIMS, full), *_shown(experiment, full)]
    results = experiment.simulate(Bench(DEVICE, progress, kept), runs)
    points = {run: reduce(experiment, run, result) for run, result in results.items()}
    claims = [(claim, judge(experiment, claim, points, full, BACKLOG)) for claim in CLAIMS]
    maps = [map_of(experiment, claim, found) for claim, found in claims if found.rows]
    listed = next(paper for paper in PAPERS if paper.name == "tlllp")
    every = list(points.values())
    shown: list[Exhibit] = [
        axes_table(experiment, CLAIMS),
        by_factor(experiment, claims, points, full, BACKLOG),
        by_confidence(claims),
        *exhibits(every),
        *tables(experiment, claims, points, full),
        figure_1(),
        table_1(),
        *maps,
    ]
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=LABELS,
        exhibits=shown,
        claims=claims,
        points=every,
        results=list(results.values()),
        columns=COLUMNS,
        shown="tlllp",
        warnings=[*_warnings(missing, paper_traces), *_saturated(every), *bursts(every)],
        notes=NOTES.splitlines(),
    )


def _shown(experiment: Experiment, full: bool) -> Iterator[Run]:
    """The runs of figures, which claims need or not: every workload with every cache on a fresh
    drive; and with the middle one on both drives, of which quickly the aged one is left to claims
    and the stand-in."""
    lines = [*BARS, "belady", "ideal", *(OTHERS if full else ())]
    seeds = range(1, 1 + (FULL_SEEDS if full else QUICK_SEEDS))
    paper_own = [work for work in experiment.workloads if work.family != CAPTURED]
    for work, place, line, seed in product(
        experiment.workloads, experiment.places(("cache",), full=True), lines, seeds
    ):
        yield experiment.run(work, experiment.line(line), place, seed)
    for work, place, line, seed in product(
        paper_own, experiment.places(("start", "arrivals"), full=True), BARS, seeds
    ):
        if full or work.random or place["start"] == "fresh":
            yield experiment.run(work, experiment.line(line), place, seed)


def _warnings(missing: Sequence[Source], paper_traces: bool) -> list[str]:
    told = missing_warning(missing)
    if not paper_traces:
        told.append(
            "None of the paper's traces is here: the figures are of synthetic stand-ins, which "
            "say nothing about the claims."
        )
    return told


def _saturated(points: Sequence[Point]) -> list[str]:
    """Traces whose requests come faster than the device can serve them, on some scheme."""
    worst: dict[str, Point] = {}
    for point in filter(backlogged, points):
        known = worst.setdefault(point.trace, point)
        worst[point.trace] = max(known, point, key=lambda point: point.queue_share)
    return [
        f"{name} comes faster than the device serves it: up to {point.queue_share:.0%} of the mean "
        "response time is waiting in a backlog, whose length grows with the trace."
        for name, point in worst.items()
    ]
