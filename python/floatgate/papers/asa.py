"""ASA-FTL: hot, warm and cold by age (Xie and Chen, CCGrid 2014).

The paper's Figure 2 is lost, and it gives no geometry and no sizes; what is checked is what its
text says. What we chose, and why: the preset `asa14`, and docs/papers/asa.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.report.values import count, fixed, measured, percent, ratio

from . import PAPERS
from .asa_claims import judge
from .asa_runs import (
    CAMBRIDGE,
    CLOSED,
    DEVICE,
    FINANCIAL1,
    LINES,
    OTHER_CACHES,
    OTHER_SPARES,
    PAGE,
    RATIOS,
    SYNTH,
    TPCC,
    VARIANTS,
    Point,
    Workload,
    simulate,
)
from .batch import Bench, Played
from .paper import Bars, Column, Exhibit, Lines, Numbers, Outcome, crosstab, rows_of
from .sources import Source, find_traces, missing_warning

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.jobs import Kept
    from floatgate.result import Result

EXCERPTS = (
    Source("Financial1, 10k requests", FINANCIAL1, "umass-financial1-10k.ascii.zst"),
    Source("Financial1, 50k requests", FINANCIAL1, "umass-financial1-50k-pages.trace.zst"),
    Source("Cambridge, 20% reads", CAMBRIDGE, "msr-sample-rw20-80-10k.trace.zst"),
    Source("Cambridge, most throughput", CAMBRIDGE, "msr-sample-most-thpt-10k.trace.zst"),
    Source("TPCC, 7k requests", TPCC, "tpcc-7k.trace.zst"),
)
OWN_TIMES = ("umass-financial1-10k.ascii.zst", "umass-financial1-50k-pages.trace.zst")
"""Traces whose times leave the drive idle; the others come faster than it can serve."""

SKEWS = {"synth9/10": (0.9, 0.1), "synth7/10": (0.7, 0.3), "synth5/10": (0.5, 0.5)}
"""Shares of the writes and of the space, (10 - x)/10 of it."""
LITERAL = {"synth9/10, literal": (0.9, 1 / 9), "synth7/10, literal": (0.7, 3 / 7)}
"""(10 - x)/x of the space, as the text has it; 5/10 is uniform in both readings."""


@dataclass(frozen=True)
class Size:
    """How much is played."""

    rounds: int
    """Volumes of the drive that an excerpt is played for."""
    span: int
    """Bytes that a synthetic load goes to."""
    volumes: int
    """Volumes of its drive that it writes."""


QUICK = Size(20, 128 << 20, 5)
FULL = Size(40, 256 << 20, 12)

NOTES = """\
The real traces are excerpts, each played over and over until it has written the drive several \
times: a loop, in which every page written comes back at the same distance. No number on them is \
one of the whole trace. The drive holds the pages of 4 KiB that the excerpt touches and no others, \
or it would be idle space that cleaning lives on.
Cambridge is MSR Cambridge; which volumes the paper used is not stated, and neither is that of our \
windows. One of them, and TPCC, overwrite hardly anything within a round.
synth x/10 sends x/10 of the writes to (10-x)/10 of the space. The text has (10-x)/x, with which \
9/10 would be 11% of the space and 7/10 43%; 5/10 is uniform in both.
Excerpts start on a drive filled in order, synthetic loads on one that was then overwritten once \
at random.
Financial1 comes at its own times; the other excerpts come faster than the drive serves them, and \
synthetic loads have no times: one request at a time, so that a response is what its work takes.
The paper gives no geometry, timing, spare space or cache: preset asa14 says where each number is \
from, but for 7% of spare space, with which a drive as small as an excerpt can still clean, and a \
cache for a quarter of DFTL's map, so that a drive may be small or large. DFTL and ASA-FTL clean \
with CAT. The paper cites Desnoyers (2012) for it; CAT is of Chiang and Chang (1999), its \
reference 2.
A stated percentage holds within a factor of 1.5, and partly with the right sign; an order holds \
in all cases, and partly in at least half of them. Nothing was tuned to match.
"""

COLUMNS = (
    Column("Workload", "trace"),
    Column("FTL", "line"),
    Column("Spare", "spare", percent),
    Column("Cached", "cached", percent),
    Column("Data write amplification", "write_amplification", ratio),
    Column("GC reads", "gc_reads", count),
    Column("GC writes", "gc_writes", count),
    Column("Erasures", "erases", count),
    Column("Mean, µs", "mean_us", measured),
    Column("Map hit ratio", "hit_ratio", percent),
    Column("Volumes", "volumes", lambda value: fixed(value, 1)),
)


def reproduce(
    full: bool, traces: Path | None, progress: Progress | None, kept: Kept | None = None
) -> Outcome:
    """Runs the experiment; `full` for longer, with other readings and more spare space."""
    found, missing = find_traces(EXCERPTS, traces)
    bench = Bench(DEVICE, progress, kept)
    size = FULL if full else QUICK
    works = [_excerpt(bench, source, file, size.rounds) for source, file in found]
    skews = SKEWS | (LITERAL if full else {})
    works += [_synthetic(name, mix, size.span, size.volumes) for name, mix in skews.items()]
    lines = LINES + (VARIANTS if full else ())
    runs = simulate(bench, works, lines)
    spares: list[tuple[Point, Result]] = []
    judged = LINES[:3]
    for spare in OTHER_SPARES if full else ():
        spares += simulate(bench, works, judged, spare=spare)
    caches: list[tuple[Point, Result]] = []
    for cached in OTHER_CACHES if full else ():
        caches += simulate(bench, works, judged, cached=cached)
    return _outcome(full, runs, spares, caches, missing_warning(missing))


def _outcome(
    full: bool,
    runs: list[tuple[Point, Result]],
    spares: list[tuple[Point, Result]],
    caches: list[tuple[Point, Result]],
    warnings: list[str],
) -> Outcome:
    points = [point for point, _ in runs]
    labels = {line.key: line.label for line in LINES + VARIANTS}
    listed = next(paper for paper in PAPERS if paper.name == "asa")
    everything = runs + spares + caches
    return Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=labels,
        exhibits=_exhibits(
            points, [point for point, _ in spares], [point for point, _ in caches], labels
        ),
        claims=judge(points),
        points=[point for point, _ in everything],
        results=[result for _, result in everything],
        columns=COLUMNS,
        shown="asa-bytes",
        warnings=warnings,
        notes=NOTES.splitlines(),
    )


def _excerpt(bench: Bench, source: Source, file: Path, volumes: int) -> Workload:
    """An excerpt, repeated until it has written the drive so many times."""
    once = Played(str(file), dense=True)
    rounds = volumes * bench.span_bytes(once) / bench.written_bytes(once)
    settings = {"queue.arrivals": "open"} if source.spec in OWN_TIMES else CLOSED
    played = replace(once, repeat=max(2, round(rounds)))
    pages = bench.span_bytes(once) // PAGE
    return Workload(source.name, source.family, played, pages, settings)


def _synthetic(name: str, mix: tuple[float, float], span: int, volumes: int) -> Workload:
    r, f = mix
    writes = volumes * span // PAGE
    spec = f"hotcold:span={span}B,size={PAGE}B,r={r},f={f:.6f},writes={writes}"
    family = SYNTH if name in SKEWS else "literal"
    mixed = {"start.fill": "random", "start.overwrites": "1"}
    return Workload(name, family, Played(spec), span // PAGE, CLOSED | mixed)


def _exhibits(
    points: Sequence[Point],
    spares: Sequence[Point],
    caches: Sequence[Point],
    labels: dict[str, str],
) -> list[Exhibit]:
    shown = ("asa-bytes", "asa-entries", "asa-free", "oracle")
    names = {key: labels[key] for key in shown}
    found: list[Exhibit] = []
    for n, (metric, title) in enumerate(RATIOS.items(), 1):
        found.append(
            Bars(
                key=f"figure-2-{n}",
                title=f"Figure 2: {title}",
                axis="Against DFTL",
                caption="Against DFTL on the same workload, which is 1. Excerpts are loops.",
                rows=rows_of(points, shown, metric),
                metric=metric,
                style=".3f",
                labels=names,
                panel=None,
                row="trace",
                rules={None: [("DFTL", 1.0)]},
            )
        )
    found.append(_crosstab("gc-writes", "GC page writes against DFTL", points, labels))
    for spare in OTHER_SPARES:
        some = [point for point in spares if point.spare == float(spare)]
        title = f"GC page writes against DFTL, {float(spare):.0%} spare"
        found.append(_crosstab(f"gc-writes-{spare[2:]}", title, some, labels))
    if caches:
        found.append(_cache_sweep([*points, *caches], labels))
    return [exhibit for exhibit in found if exhibit.rows]


def _cache_sweep(points: Sequence[Point], labels: dict[str, str]) -> Lines:
    shown = ("dftl", "asa-bytes", "asa-entries")
    return Lines(
        key="caches",
        title="GC page writes by the size of the cache",
        caption="Against DFTL with a cache of the same size, which is 1.",
        rows=rows_of(points, shown, "gc_writes_ratio", "cached"),
        metric="gc_writes_ratio",
        style=".3f",
        labels={key: labels[key] for key in shown},
        x="cached",
        x_title="Entries of DFTL's cache, of its map",
        x_text=lambda share: f"{share:.0%}" if share >= 0.1 else f"{share:.1%}",
    )


def _crosstab(key: str, title: str, points: Sequence[Point], labels: dict[str, str]) -> Numbers:
    rows, columns = crosstab(points, labels, "gc_writes_ratio", _three)
    return Numbers(
        key=key,
        title=title,
        caption="Those of the map included; 1 is as many.",
        rows=rows,
        columns=columns,
    )


def _three(value: Any) -> str:
    return fixed(value, 3)
