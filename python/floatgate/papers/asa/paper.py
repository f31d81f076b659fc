"""ASA-FTL: hot, warm and cold by age (Xie and Chen, CCGrid 2014).

The paper's Figure 2 is lost, and it gives no geometry and no sizes; what is checked is what its
text says. What we chose, and why: the preset `asa14`, and docs/papers/asa.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.papers import PAPERS
from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.experiment import FULL_SEEDS, QUICK_SEEDS, Experiment, Run, Workload
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

from .claims import OPEN_CLAIMS, READS, UNKNOWN_CLAIMS
from .examples import worked_examples
from .figures import COLUMNS, LABELS, METHODS, SHOWN, exhibits, skew
from .runs import (
    DEVICE,
    EXCERPTS,
    FINANCIAL1,
    LEFT_OUT,
    SYNTH9,
    TENTHS,
    Round,
    experiment_of,
    reduce,
    synthetic,
)

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.papers.kit.cache import Cache

NOTES = """\
The real traces are excerpts, each played over and over until it has written the drive five times, \
and each round has its hundred windows in another order; --full plays Financial1 as a loop, too. \
The drive holds the pages of 4 KiB that the excerpt touches and no others, or it would be idle \
space that cleaning lives on. No number on them is one of the whole trace.
Left out of all verdicts alike: runs with a backlog (used 95% of the time, with 1% of the response \
spent waiting for the queue), and excerpts that write a page less than twice in a round, of which \
most ages would be those of our repetition: TPCC, and Cambridge at its most throughput. What comes \
out with them stands beside.
"Much smaller than on Financial1" is asked where Financial1 gains more than half a per cent, with \
its whole interval: elsewhere nothing can be smaller, and the claim cannot be checked. This, and \
the question whether both numbers are lower at all, were added after the first results.
Cambridge is MSR Cambridge; which volumes the paper used is not stated, and neither is that of our \
windows.
synth x/10 sends x/10 of the writes to (10\N{MINUS SIGN}x)/10 of the space. The text has \
(10\N{MINUS SIGN}x)/x, which --full has as well; 5/10 is uniform in both.
Ages are sampled from random pages, as the paper says, at a read of the map for each that is not \
cached; the preset samples cached pages, which is a row of the table of other readings.
"Ages in the map" compares ASA-FTL with as many entries to DFTL's map with ages that take no room: \
what twice as many translation pages cost. Both sample, so that sampling is a claim of its own: \
what it reads is counted, what k-means computes is not.
A claim holds at a point if the whole 95% interval of our number (Student's t over seeds; none \
where nothing is random) is where the claim says; where a part is, the point is ambiguous. A \
stated number is met within a factor of 1.5, an order by half a per cent. "No difference" is 1%, \
"much smaller" half, "adapts" at least half, with the hot tenth elsewhere in each volume, \
"close to optimal" 10%, "minimal" 5%: the paper gives no number for any.
DFTL and ASA-FTL clean with CAT. The paper cites Desnoyers (2012) for it; CAT is of Chiang and \
Chang (1999), its reference 2. Where free units are short the cheapest is cleaned instead: how \
often is in the table of what cleaning does.
"""
"""What is to be known, a line each."""


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Cache | None = None
) -> Outcome:
    """Runs the experiment; `full` has the whole domain, with more seeds and excerpts."""
    bench = Bench(DEVICE, progress, kept)
    wanted = {excerpt.source: excerpt for excerpt in EXCERPTS if full or excerpt.quick}
    found, missing = find_traces(list(wanted), traces)
    recorded = [wanted[source].workload(bench, file) for source, file in found]
    workloads = [*recorded, *synthetic(full)]
    experiment = experiment_of(workloads)
    runs = [*runs_of(experiment, OPEN_CLAIMS, full), *_shown(experiment, full)]
    results = experiment.simulate(bench, runs)
    rounds = {
        work.name: Round(bench.write_bytes(work.played), bench.overwrites(work.played))
        for work in recorded
    }
    points = {run: reduce(experiment, run, result, rounds) for run, result in results.items()}
    judged = [(claim, judge(experiment, claim, points, full, LEFT_OUT)) for claim in OPEN_CLAIMS]
    maps = [map_of(experiment, claim, found) for claim, found in judged if found.rows]
    unknown: list[tuple[Claim[Any], Measured]] = [
        *((again, again.measure(f)) for c, f in judged if (again := READS.get(c.key))),
        *((claim, claim.measure(None)) for claim in UNKNOWN_CLAIMS),
    ]
    listed = next(paper for paper in PAPERS if paper.name == "asa")
    shown: list[Exhibit] = [
        axes_table(experiment, OPEN_CLAIMS),
        by_choice(experiment, "equal", judged),
        by_factor(experiment, judged, points, full, LEFT_OUT),
        by_confidence(judged),
        *worked_examples(),
        *exhibits(list(points.values())),
        skew({work.name: bench.hotness(work.played.spec) for work in workloads if _is_plain(work)}),
        *maps,
    ]
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=LABELS,
        exhibits=shown,
        claims=[*judged, *unknown],
        points=list(points.values()),
        results=list(results.values()),
        columns=COLUMNS,
        shown="asa-bytes",
        warnings=missing_warning(missing),
        notes=NOTES.splitlines(),
    )


def _is_plain(work: Workload) -> bool:
    """Whether a workload is none of the others in another order, on another span, or with reads:
    an excerpt, or a load of writes alone."""
    return work.name in TENTHS or work.played.windows > 0


def _shown(experiment: Experiment, full: bool) -> Iterator[Run]:
    """The runs of figures, which claims need or not: every workload with every reading and the
    bound in the middle; over the spare space and the cache, and with other readings of the method,
    Financial1 and synth9/10, and with --full all."""
    seeds = range(1, 1 + (FULL_SEEDS if full else QUICK_SEEDS))
    [middle] = experiment.places((), True)
    swept = [place for axis in ("spare", "cache") for place in experiment.places((axis,), True)]
    lines = ("dftl", *SHOWN)
    for work in experiment.workloads:
        central = full or (work.family in (FINANCIAL1, SYNTH9) and not work.slow)
        shown = [(place, line) for place in (swept if central else [middle]) for line in lines]
        shown += [(middle, line) for line in METHODS if central]
        for (place, line), seed in product(shown, seeds):
            yield experiment.run(work, experiment.line(line), place, seed)
