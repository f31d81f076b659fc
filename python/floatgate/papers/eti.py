"""ETI: hot data by extents (Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016).

The traces are four volumes of MSR Cambridge and those of an unnamed partner; none is at hand, and
the figures are lost. What stands in for them, and what follows from that: docs/papers/eti.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.report.values import count, fixed, percent, ratio, size

from . import PAPERS
from . import eti_exhibits as exhibits
from .batch import Bench, Played
from .eti_claims import Evidence, judge
from .eti_runs import (
    CAPTURED,
    DEVICE,
    EXCERPT,
    SYNTHETIC,
    TABLE_1,
    VOLUMES,
    Extents,
    Point,
    Scheme,
    TableRow,
    Workload,
    blocks_for,
    generator,
    pages_of,
    sample_extents,
    simulate,
    stand_in,
    two_volumes,
)
from .eti_schemes import (
    EVERY,
    FIGURE_4,
    READINGS,
    SENSITIVITY,
    VICTIMS,
    larger_filters,
)
from .paper import Column, Exhibit, Outcome
from .sources import Source, find_traces, missing_warning

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.hot_data import Hotness
    from floatgate.jobs import Kept
    from floatgate.result import Result

MODEL = 16
"""Quick is a model of the experiment at one part in so many."""

GBS = 4
"""GB of a stand-in that are looked at for Table 1 and Figures 1 and 2."""

CAPTURES = (
    Source("pgbench", CAPTURED, "capture-pgbench-ext4-656k.csv.zst", 656_291),
    Source("RocksDB", CAPTURED, "capture-rocksdb-ext4-905k.csv.zst", 904_811),
    Source("postmark", CAPTURED, "capture-postmark-f2fs-996k.csv.zst", 995_873),
)
"""With as many requests as they have."""

EXCERPTS = (
    Source("MSR window", EXCERPT, "msr-sample-rw20-80-10k.trace.zst"),
    Source("Financial1", EXCERPT, "umass-financial1-50k-pages.trace.zst"),
    Source("HP hplajw", EXCERPT, "hp-hplajw-1week-45k.srt.zst"),
)
"""Short real traces, played over and over: writes that come in bursts, as they do."""
MORE = (
    Source("CloudPhysics", EXCERPT, "cloudphysics-114k.vscsi.zst"),
    Source("PC DiskMon", EXCERPT, "pc-diskmon-87k.txt.zst"),
)

CHECKED = ("single", "eti", "mbf-1", "mhf-1", "direct")
"""Schemes that are held against closed forms, with one that makes no error."""
CHECK_BLOCKS = 2048

NOTES = """\
The paper's traces are not available: proj_0, src1_2, src2_0, usr_0 (MSR Cambridge) and SW1 are \
stand-ins made from their rows of Table 1, those of the other partner traces are not known. A \
stand-in shares with its trace what its row says and no more; verdicts on them are given as such.
The drive is full before: every page once in order, then twice the volume in uniform random \
writes, during which the classifiers run; measured are two volumes of the trace.
Other traces are real but not in the paper. Those of pgbench, RocksDB and postmark were captured \
for this project; each is played whole, once, on a drive that it spans, with its trims. Excerpts \
and short traces are played over and over, on drives that they span, until they have written two \
volumes: loops that they do not have.
A trace on which ETI takes less than 1% of the writes for hot says nothing about how well it tells \
hot from cold; it is shown and plays no part in these verdicts.
Which two CRCs the paper hashes with is not known, so the three variants are ours.
A stated percentage holds within a factor of 1.5, and partly with the right sign; an order holds \
in all cases, and partly in at least half of them; write amplifications within 0.5% are the same. \
Nothing was tuned to match.
"""

QUICK = f"""\
Quick is a model at 1/{MODEL}: a drive of 2,048 blocks, and 1/{MODEL} of the pages of a row, of \
ETI's extents, of the bits and counters of MBF and MHF, and of all periods. Writes are as long and \
blocks as large as in the paper. Table 1 and Figures 1 and 2 are not scaled.
"""

FULL = f"""\
Full plays the stand-ins at the paper's size with the schemes of Figure 4. Sensitivity, larger \
filters and other readings are on the real traces, and on models of the stand-ins at 1/{MODEL}, \
which are named so.
"""

COLUMNS = (
    Column("Trace", "trace"),
    Column("Kind", "kind"),
    Column("Scheme", "line"),
    Column("Victim", "victim"),
    Column("Write amplification", "write_amplification", ratio),
    Column("Hot", "hot_share", percent),
    Column("Valid in a victim", "victim_valid", percent),
    Column("Memory", "memory_bytes", size),
    Column("Extents at the end", "extents", count),
    Column("Volumes", "volumes", lambda value: fixed(value, 2)),
)


@dataclass
class Findings:
    """What was measured."""

    runs: list[tuple[Point, Result]] = field(default_factory=list)
    every: list[tuple[Point, Result]] = field(default_factory=list)
    """Of the table of every placement."""
    extents: list[Extents] = field(default_factory=list)
    hotness: list[tuple[Workload, Hotness]] = field(default_factory=list)


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Kept | None = None
) -> Outcome:
    """Runs the experiment; `full` at the paper's size, with more schemes and captured traces."""
    scale = 1 if full else MODEL
    bench = Bench(DEVICE, progress, kept)
    found, missing = find_traces(EXCERPTS + (MORE + CAPTURES if full else ()), traces)
    real = [_real(bench, source, file) for source, file in found]
    works = [stand_in(row, scale) for row in TABLE_1] + real
    findings = Findings()
    variants = [*SENSITIVITY, *larger_filters(1), *(READINGS if full else READINGS[:2])]
    schemes = [*FIGURE_4, *variants]
    if full:
        stand_ins = works[: len(TABLE_1)]
        findings.runs += simulate(bench, [(w, s) for w in stand_ins for s in FIGURE_4])
        findings.runs += simulate(bench, [(w, s) for w in real for s in schemes])
        models = [stand_in(row, MODEL) for row in TABLE_1]
        models = [replace(work, name=f"{work.name}, 1/{MODEL}") for work in models]
        bases = [scheme for scheme in FIGURE_4 if scheme.key in CHECKED]
        cases = [(work, scheme) for work in models for scheme in [*bases, *variants]]
        findings.runs += simulate(bench, cases, MODEL)
    else:
        findings.runs += simulate(bench, [(w, s) for w in works for s in schemes], scale)
    findings.runs += _checks(bench, 12 if full else 3)
    findings.extents = sample_extents(bench, works, scale, 8 if full else 4)
    long = [work for work in works if work.kind != EXCERPT]
    findings.hotness = [(work, _hotness(work, progress)) for work in long]
    if full:
        spanned = [_spanned(bench, row) for row in TABLE_1]
        works = spanned + [work for work in real if work.kind == CAPTURED]
        cases = [(work, scheme) for work in works for scheme in EVERY]
        for victim in VICTIMS:
            findings.every += simulate(bench, cases, victim=victim)
    return _outcome(full, scale, findings, missing_warning(missing))


def _outcome(full: bool, scale: int, findings: Findings, warnings: list[str]) -> Outcome:
    points = [point for point, _ in findings.runs]
    evidence = Evidence(
        points,
        [(work.kind, data) for work, data in findings.hotness],
        findings.extents,
    )
    everything = findings.runs + findings.every
    listed = next(paper for paper in PAPERS if paper.name == "eti")
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else f"quick: a model at 1/{scale}",
        labels=_labels(scale),
        exhibits=_exhibits(full, scale, findings),
        claims=judge(evidence),
        points=[point for point, _ in everything],
        results=[result for _, result in everything],
        columns=COLUMNS,
        shown="eti",
        warnings=warnings,
        notes=[*(FULL if full else QUICK).splitlines(), *NOTES.splitlines()],
    )


def _labels(scale: int) -> dict[str, str]:
    schemes = [*EVERY, *FIGURE_4, *SENSITIVITY, *READINGS, *larger_filters(1)]
    return {scheme.key: scheme.label for scheme in schemes} | {"perfect": "no error"}


def _exhibits(full: bool, scale: int, findings: Findings) -> list[Exhibit]:
    points = [point for point, _ in findings.runs]
    named = [(work.name, data) for work, data in findings.hotness]
    size = "The paper's drive: 32,768 blocks." if full else f"A model at 1/{scale}: 2,048 blocks."
    return [
        exhibits.table_1(named),
        *exhibits.merged(named),
        *exhibits.figure_4(
            points,
            f"{size} Greedy cleaning over both streams. proj_0, src1_2, src2_0, usr_0 and SW1 are "
            "stand-ins made from Table 1.",
        ),
        exhibits.figure_5(points),
        exhibits.figure_6(findings.extents),
        exhibits.sensitivity(points),
        exhibits.closed_forms(
            points,
            f"{CHECK_BLOCKS:,} blocks, ETI, MBF and MHF as in the paper. Greedy cleaning of many "
            "blocks in a steady state; hot/cold loads come near to it slowly.",
        ),
        *([exhibits.every_placement([point for point, _ in findings.every])] if full else []),
    ]


def _real(bench: Bench, source: Source, file: Path) -> Workload:
    """A real trace on the smallest drive that holds it: whole, or over and over if it is short."""
    played = Played(str(file), source.limit)
    pages = -(-bench.span_bytes(played) // 4096)
    blocks = blocks_for(pages)
    if source.family == EXCERPT:
        rounds = VOLUMES * pages * 4096 / bench.written_bytes(played)
        played = replace(played, repeat=max(2, round(rounds)))
    return Workload(source.name, source.family, played, blocks)


def _spanned(bench: Bench, row: TableRow) -> Workload:
    """A stand-in on the smallest drive that holds all that it goes to."""
    pages = bench.span_bytes(Played(generator(row, 1, 1))) // 4096
    return two_volumes(row, 1, blocks_for(pages))


def _checks(bench: Bench, volumes: int) -> list[tuple[Point, Result]]:
    """Loads that closed forms are for."""
    cases = []
    pages = pages_of(CHECK_BLOCKS)
    writes = volumes * pages
    for name, mix in exhibits.HOT_COLD.items():
        spec = f"span={pages * 4096}B,writes={writes}"
        schemes = [scheme for scheme in FIGURE_4 if scheme.key in CHECKED]
        if mix is None:
            spec = f"uniform:{spec}"
        else:
            spec = f"hotcold:r={mix[0]},f={mix[1]},{spec}"
            known = {"perfect.hot_share": str(mix[1])}
            schemes.append(Scheme("perfect", "no error", "bound", "perfect", known))
        work = Workload(name, SYNTHETIC, Played(spec), CHECK_BLOCKS, writes)
        cases += [(work, scheme) for scheme in schemes]
    return simulate(bench, cases)


def _hotness(work: Workload, progress: Progress | None) -> Hotness:
    """Where hot data lie; in a stand-in as the paper's row has it, not in a model of it."""
    from floatgate.hot_data import hotness

    row = next((row for row in TABLE_1 if row.name == work.name), None)
    if row is None:
        return hotness(work.played.spec, progress=progress)
    writes = round(GBS * 1e9 / 4096 / row.length)
    return hotness(generator(row, 1, writes), progress=progress)
