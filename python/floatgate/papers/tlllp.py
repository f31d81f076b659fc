"""TLLLP: prefetching map entries by request length and history (Yin et al., 2017).

The paper states no geometry and no cache size, and its figures are lost; what is checked is what
its text says. What we chose, and why: the preset `tlllp17`, and docs/papers/tlllp.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.report.values import measured, percent, size

from . import PAPERS
from .paper import UNCHECKED, Claim, Column, Exhibit, Lines, Measured, Outcome, rows_of
from .sources import Source, find_traces, missing_warning
from .tlllp_claims import FINANCIAL1, MSR, WEBSEARCH, judge
from .tlllp_runs import Lab, Line, Point, run_trace

if TYPE_CHECKING:
    from floatgate.api import Progress

BUSY = 0.95
"""A utilization from which response times are those of a backlog, if requests wait."""
WAITING = 0.01
"""Of the mean response time, the least wait that is one: a load without times never has any."""

EXCERPTS = (
    Source("Financial1, 10k requests", FINANCIAL1, "umass-financial1-10k.ascii.zst"),
    Source("Financial1, 50k requests", FINANCIAL1, "umass-financial1-50k-pages.trace.zst"),
    Source("WebSearch, 25k requests", WEBSEARCH, "umass-websearch-25k.trace.zst"),
    Source("MSR, 20% reads, 10k requests", MSR, "msr-sample-rw20-80-10k.trace.zst"),
    Source("MSR, most throughput, 10k requests", MSR, "msr-sample-most-thpt-10k.trace.zst"),
)

CAPTURED = "not in the paper"
CAPTURES = (
    Source(
        "pgbench on ext4, 100k requests", CAPTURED, "capture-pgbench-ext4-656k.csv.zst", 100_000
    ),
    Source("RocksDB on ext4, 20k requests", CAPTURED, "capture-rocksdb-ext4-905k.csv.zst", 20_000),
    Source(
        "postmark on f2fs, 100k requests", CAPTURED, "capture-postmark-f2fs-996k.csv.zst", 100_000
    ),
)

STAND_INS = (
    Source("stand-in: zipf writes", FINANCIAL1, "zipf:span=64MiB,theta=0.99,writes=20k"),
    Source(
        "stand-in: random reads", WEBSEARCH, "iometer:span=256MiB,size=8KiB,reads=1,requests=10k"
    ),
    Source("stand-in: sequential writes", MSR, "sequential:span=64MiB,writes=4k,size=16KiB"),
)

LINES = (
    Line("dftl", "DFTL", "dftl", {}),
    Line("tlllp", "TLLLP", "tlllp", {}),
    Line("belady", "Belady, no prefetch", "belady", {}),
)
MORE_LINES = (
    Line("dftl-batch", "DFTL, evict_batch true", "dftl", {"dftl.evict_batch": "true"}),
    Line("tlllp-prev", "TLLLP, fetch_mode prev", "tlllp", {"tlllp.fetch_mode": "prev"}),
    Line("tpftl", "TPFTL", "tpftl", {}),
    Line("sftl", "S-FTL", "sftl", {}),
    Line("cdftl", "CDFTL", "cdftl", {}),
    Line("page_cache", "LRU of pages", "page_cache", {}),
)
BOUNDS = {"none": "No Cache", "ideal": "Map in memory"}

OTHERS = ("dftl", "tlllp", "tpftl", "sftl", "cdftl", "page_cache")
FIGURES = (
    (
        "figure-2",
        "Figure 2: hit ratio",
        "Share of map look-ups that the cache answers",
        "hit_ratio",
        ",.1%",
    ),
    (
        "figure-3",
        "Figure 3: mean response time",
        "From arrival to completion, in µs",
        "mean_us",
        ",.4~r",
    ),
    (
        "figure-4",
        "Figure 4: standard deviation of response time",
        "Over all requests, in µs",
        "stdev_us",
        ",.4~r",
    ),
)

COLUMNS = (
    Column("Trace", "trace"),
    Column("Scheme", "line"),
    Column("Arrivals", "arrivals"),
    Column("Cache", "cache_bytes", size),
    Column("Hit ratio", "hit_ratio", percent),
    Column("Mean, µs", "mean_us", measured),
    Column("Std dev, µs", "stdev_us", measured),
    Column("Map reads", "map_reads", "{:.3f}".format),
    Column("Map programs", "map_programs", "{:.3f}".format),
    Column("Prefetched used", "prefetch_used", percent),
    Column("Cleaning", "cleaning_share", percent),
    Column("Utilization", "utilization", percent),
)

NOTES = """\
Financial2 is not available; Financial1, WebSearch and MSR only as excerpts: no curve is that of \
the whole trace.
The paper gives no geometry, timing or cache sizes. Device: preset tlllp17, which says where each \
number is from. Caches: powers of two from 1/64 to 1/2 of the map of the pages that the trace \
touches, 4 KiB to 1 MiB.
DFTL has 8 bytes an entry; TLLLP 8 an entry and 8 a mapping page with cached entries.
Each trace is played once, at its own times, from a drive filled in order: an excerpt played \
again would be a loop that the trace does not have.
A stated percentage holds within a factor of 1.5, and partly with the right sign; an order holds \
in all cases, and partly in at least half of them. Nothing was tuned to match.
"""
"""What is to be known, a line each."""


def reproduce(full: bool, traces: Path | None, progress: Progress | None) -> Outcome:
    """Runs the experiment; `full` has more schemes, sizes and traces, and a closed loop."""
    wanted = EXCERPTS + (CAPTURES if full else ())
    found, missing = find_traces(wanted, traces)
    played = [(source, str(file)) for source, file in found]
    paper_traces = any(source in EXCERPTS for source, _ in found)
    if not paper_traces:
        played += [(source, source.spec) for source in STAND_INS]
    listed = next(paper for paper in PAPERS if paper.name == "tlllp")
    lab = Lab("tlllp17", 8, 4 << 10, 1 << 20, every=1 if full else 2)
    lines = LINES + (MORE_LINES if full else ())
    outcome = Outcome(
        name=listed.name,
        title=listed.title,
        citation=listed.citation,
        mode="full" if full else "quick",
        labels=BOUNDS | {line.key: line.label for line in lines},
        exhibits=[],
        claims=[],
        points=[],
        results=[],
        columns=COLUMNS,
        shown="tlllp",
        warnings=_warnings(missing, paper_traces),
        notes=NOTES.splitlines(),
    )
    for source, spec in played:
        for arrivals in ("open", "closed") if full else ("open",):
            chosen = lines if arrivals == "open" else LINES
            for point, result in run_trace(lab, source, spec, chosen, arrivals, progress):
                outcome.points.append(point)
                outcome.results.append(result)
    outcome.exhibits = _exhibits(full, outcome.points, outcome.labels)
    outcome.warnings += _saturated(outcome.points)
    outcome.claims = judge(outcome.points) if paper_traces else _doubted(outcome.points)
    return outcome


def _exhibits(full: bool, points: Sequence[Point], labels: Mapping[str, str]) -> list[Exhibit]:
    variants = ("dftl-batch", "tlllp-prev") if full else ()
    main = ("none", "dftl", "tlllp", *variants, "belady", "ideal")
    found: list[Exhibit] = []

    def add(key: str, title: str, text: str, metric: str, style: str, *lines: str) -> None:
        arrivals = "closed" if key == "closed-loop" else "open"
        shown = [point for point in points if point.arrivals == arrivals]
        chart = Lines(
            key=key,
            title=title,
            caption=text,
            rows=rows_of(shown, lines, metric, "cache_bytes"),
            metric=metric,
            style=style,
            labels={line: labels[line] for line in lines if line in labels},
            x="cache_bytes",
            x_title="Map cache",
            x_text=size,
            top=1.0 if style.endswith("%") else None,
        )
        found.append(chart)

    for key, title, caption, metric, style in FIGURES:
        text = f"{caption}. Excerpts only: the whole traces are not available."
        add(key, title, text, metric, style, *main)
        if full:
            add(f"{key}-others", f"{title}, other schemes", text, metric, style, *OTHERS)
    if full:
        text = "One request at a time, the next as soon as it is done: no backlog, in µs."
        lines = ("none", "dftl", "tlllp", "belady", "ideal")
        title = "Mean response time in a closed loop"
        add("closed-loop", title, text, "mean_us", ",.4~r", *lines)
    return found


def _warnings(missing: Sequence[Source], paper_traces: bool) -> list[str]:
    told = missing_warning(missing)
    if not paper_traces:
        told.append(
            "None of the paper's traces is here: the figures are of synthetic stand-ins, which "
            "say nothing about the claims. They have no times of their own: each request is sent "
            "as soon as the queue has room, so response times depend on the queue's depth."
        )
    return told


def _saturated(points: Sequence[Point]) -> list[str]:
    """Traces whose requests come faster than the device can serve them, on some scheme."""
    worst: dict[str, Point] = {}
    for point in points:
        backlog = point.utilization >= BUSY and point.queue_share >= WAITING
        if point.arrivals == "open" and backlog:
            known = worst.setdefault(point.trace, point)
            worst[point.trace] = max(known, point, key=lambda point: point.queue_share)
    return [
        f"{name} comes faster than the device serves it: up to {point.queue_share:.0%} of the mean "
        "response time is waiting in a backlog, whose length grows with the trace."
        for name, point in worst.items()
    ]


def _doubted(points: Sequence[Point]) -> list[tuple[Claim[Any], Measured]]:
    """The claims with what the stand-ins show, which is no verdict."""
    why = "the paper's traces are not here; the numbers are of stand-ins"
    return [(claim, replace(found, verdict=UNCHECKED, why=why)) for claim, found in judge(points)]
