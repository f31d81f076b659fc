"""ETI: hot data by extents (Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016).

The paper uses four volumes of MSR Cambridge and traces of an unnamed partner. None of them is at
hand, and the figures are lost. docs/papers/eti.md describes the stand-ins and their limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from floatgate.papers.kit.batch import WINDOWS, Bench, Played
from floatgate.papers.kit.claims import NOTHING, Claim
from floatgate.papers.kit.experiment import Experiment, Run, Workload
from floatgate.papers.kit.judging import judge
from floatgate.papers.kit.reproduce import Findings, Lab, More, Paper, runs_at
from floatgate.papers.kit.trace_files import Source
from floatgate.papers.kit.verdict_tables import axes_table, map_of

from . import domain, hot
from .claims import UNCHECKED, claims_on
from .figures import COLUMNS, figures
from .lines import FIGURE_4
from .reduce import HOT_ENOUGH, Point, facts_of, reduce

NOTES = f"""\
The paper's traces are not available: proj_0, src1_2, src2_0, usr_0 (MSR Cambridge) and SW1 are \
stand-ins made from their rows of Table 1, those of the other partner traces are not known. A \
stand-in shares with its trace what its row says and no more; what the row leaves open is swept.
Stand-ins are played in models at 1/{domain.SCALE}: a drive of 1,024 blocks, and 1/{domain.SCALE} \
of the pages of a row, of ETI's extents, of the bits and counters of MBF and MHF, and of all \
periods. Writes are as long and blocks as large as in the paper. Table 1 and Figures 1 and 2 are \
not scaled.
The drive is full before: every page once in order, then twice the volume in uniform random \
writes, during which the classifiers run; measured are two volumes of the trace.
Real traces are not the paper's. That of pgbench was captured for this project and is played \
whole, once, on a drive that it spans. The others are short and played over and over, on drives \
that they span, until they have written two volumes. Every round has its {WINDOWS} \
windows in another order; with --full some are played in a loop, too.
Which two CRCs the paper hashes with is not known, so the three variants are ours.
An order counts from half a per cent.
Left out of all verdicts on write amplification alike: traces of which a smaller share of the \
writes goes to hot pages than of any of Table 1 (4.1%), as section 3.2 counts them. Maps show \
these points. A claim with a premise is not asked where that is not sure.
"""


def _experiment(lab: Lab) -> Experiment:
    wanted = lab.wanted(domain.REAL_TRACES)
    workloads = [*map(domain.stand_in, domain.TABLE_1)]
    real = [played_on(lab.bench, trace, file) for trace, file in wanted]
    if lab.full:
        src2_0 = next(row for row in domain.TABLE_1 if row.name == domain.SRC2_0)
        workloads.append(domain.stand_in(src2_0, 1, domain.SRC2_0_WHOLE))
        looped = [work for (trace, _), work in zip(wanted, real, strict=True) if trace.quick]
        real += map(domain.in_a_loop, looped)
    return domain.experiment_of([*workloads, *real])


def played_on(bench: Bench, trace: Source, file: Path) -> Workload:
    """Returns a real trace on a drive that it spans."""
    played = Played(str(file), trace.limit)
    pages = -(-bench.span_bytes(played) // 4096)
    return domain.real(trace, str(file), pages, bench.written_bytes(played))


def _claims(experiment: Experiment, _: bool) -> Sequence[Claim[Point]]:
    """Returns the claims. Claims on several real traces together cover the available short
    traces."""
    short = [work.name for work in experiment.workloads if work.family == domain.EXCERPT]
    return claims_on(short or domain.SHORT)


def _shown(experiment: Experiment, full: bool) -> Iterable[Run]:
    """Yields Figure 4's schemes at the default point. Large traces and a quick reproduction have
    only the baseline and the bound."""
    few = ["single", "oracle"]
    large = {domain.SRC2_0_WHOLE, *(t.name for t in domain.REAL_TRACES if not t.quick)}
    for work in experiment.workloads:
        if work.family != domain.LOOPED:
            lines = FIGURE_4 if full and work.name not in large else few
            yield from runs_at(experiment, [work], experiment.points((), full=True), lines, full)


def more(findings: Findings[Point], looked_gbs: int = hot.GBS) -> More:
    lab = findings.lab
    found = lab.wanted((*hot.LONG_TRACES, *hot.WINDOWS))
    traces = hot.hot_experiment(hot.traces_of(found, looked_gbs))
    looked = hot.look(traces, lab.bench)
    judged = [(claim, judge(traces, claim, looked, lab.full, NOTHING)) for claim in hot.HOT_CLAIMS]
    return More(
        judged=judged,
        exhibits=[
            replace(axes_table(traces, hot.HOT_CLAIMS), key="domain-hot", title="Traces looked at"),
            *hot.merged({run.workload: hotness for run, hotness in looked.items()}),
            *figures(findings.every),
            *(map_of(traces, claim, ours) for claim, ours in judged if len(ours.rows) > 1),
        ],
    )


PAPER = Paper(
    device=domain.DEVICE,
    sources=[*hot.LONG_TRACES, *hot.WINDOWS, *domain.REAL_TRACES],
    experiment=_experiment,
    claims=_claims,
    facts=facts_of,
    reduce=reduce,
    filter=HOT_ENOUGH,
    shown=_shown,
    more=more,
    unchecked=UNCHECKED,
    columns=COLUMNS,
    example="eti",
    notes=NOTES,
)
