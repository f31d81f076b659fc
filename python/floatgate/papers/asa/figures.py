"""ASA-FTL's figures: the paper's Figure 2, and figures over the parameters that the paper leaves
open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from floatgate.analysis.hotness import Hotness
from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Bars, Column, Dots, Exhibit, Lines, Numbers, Row
from floatgate.papers.kit.numbers import mean_row, points_at
from floatgate.results.values import count, fixed, measured, percent, ratio

from .domain import CACHES, FINANCIAL1, LINES, SPARES, SYNTH9
from .measures import PAPER_GC, PAPER_RESPONSE, gc_reads, gc_writes
from .reduce import Point

LABELS = {line.key: line.label for line in LINES}
READINGS = ("asa-bytes", "asa-entries", "asa-free")
SHOWN = (*READINGS, "oracle")
METHODS = ("asa-entries", "asa-cached", "asa-log", "asa-relabel", "asa-few", "asa-many")
DEFAULTS = {"spare": "15%", "cache": "1/4", "start": "aged", "arrivals": "one at a time"}

Number = Callable[[Point], float]
RATIOS: Mapping[str, tuple[str, Number]] = {
    "gc-reads": ("GC page reads", gc_reads),
    "gc-writes": ("GC page writes", gc_writes),
    "erasures": ("block erasures", lambda point: point.erases),
    "response": ("mean response time", lambda point: point.mean_us),
}
STATED = {"gc-reads": PAPER_GC, "gc-writes": PAPER_GC, "response": PAPER_RESPONSE}
"""Changes that the paper prints, for Financial1 and synth9/10."""


def figures(points: Sequence[Point]) -> list[Exhibit]:
    found: list[Exhibit] = [
        _ratios(points, f"figure-2-{n}", key) for n, key in enumerate(RATIOS, 1)
    ]
    found.append(_both_changes(points))
    found += [_by_line(points, spare) for spare in SPARES]
    found += [_cache_sweep(points), _methods(points), _traffic(points), _memory(points)]
    return [exhibit for exhibit in found if exhibit.rows]


def place_of(points: Iterable[Point], **place: str) -> list[Point]:
    return points_at(points, DEFAULTS | place)


def against_dftl(points: Iterable[Point], of: Number) -> dict[tuple[str, str], Row]:
    """Returns the mean ratio to DFTL over seeds by workload and line, and half its interval if
    anything is random. All points have one place."""
    known = {(point.trace, point.line, point.seed): of(point) for point in points}
    values: dict[tuple[str, str], list[float]] = {}
    for (trace, line, seed), number in known.items():
        if base := known.get((trace, "dftl", seed)):
            values.setdefault((trace, line), []).append(number / base)
    return {key: mean_row(found) for key, found in values.items()}


def _ratios(points: Sequence[Point], key: str, metric: str) -> Bars:
    """Returns a part of Figure 2: bars by workload, normalised to DFTL as in the paper."""
    title, of = RATIOS[metric]
    found = against_dftl(place_of(points), of)
    rules = [("DFTL", 1.0)]
    if metric in STATED:
        rules.append(("the paper, Financial1 and synth9/10", 1 + STATED[metric]))
    return Bars(
        key=key,
        title=f"Figure 2: {title}",
        axis="Against DFTL",
        caption=(
            "Against DFTL on the same drive and requests, which is 1; 15% spare space, a cache of "
            "1/4, an aged drive, one request at a time. Whiskers: 95% intervals. TPCC, and "
            "Cambridge at its most throughput, overwrite nearly nothing: no verdict is on them."
        ),
        rows=[
            {"trace": trace, "line": line, **row}
            for (trace, line), row in found.items()
            if line in SHOWN
        ],
        style=".3f",
        labels={line: LABELS[line] for line in SHOWN},
        panel=None,
        row="trace",
        rules={None: rules},
    )


def _both_changes(points: Sequence[Point]) -> Dots:
    """Draws the change in response time over the change in copies, at every place that was run."""
    places: dict[tuple[str | None, ...], list[Point]] = {}
    for point in points:
        if point.family in (FINANCIAL1, SYNTH9):
            place = (point.spare, point.cache, point.start, point.arrivals)
            places.setdefault(place, []).append(point)
    rows: list[Row] = []
    for (spare, *_), chosen in places.items():
        time = against_dftl(chosen, RATIOS["response"][1])
        for (trace, line), copies in against_dftl(chosen, gc_writes).items():
            if line in READINGS:
                at = {"spare": f"{spare} spare space", "trace": trace, "line": line}
                response = time[trace, line]
                both = {"copies": copies["value"] - 1, "response": response["value"] - 1}
                halves = {"copies_half": copies["half"], "response_half": response["half"]}
                rows.append(at | both | halves)
    return Dots(
        key="cleaning-response",
        title="Change of mean response time",
        caption=(
            "Financial1 and synth9/10 at every cache, start, arrival and load that was run, by the "
            "reading of the equal cache; 0.1 is 10% more than DFTL has. Lines through a dot: 95% "
            "intervals."
        ),
        rows=sorted(rows, key=lambda row: list(SPARES).index(row["spare"].split()[0])),
        metric="response",
        style=".2f",
        labels={line: LABELS[line] for line in READINGS},
        panel="spare",
        x="copies",
        x_title="Change of GC page writes",
        x_spread="copies_half",
        spread="response_half",
        marks=[("the paper", PAPER_GC, PAPER_RESPONSE)],
        size=30,
    )


def _by_line(points: Sequence[Point], spare: str) -> Numbers:
    found = against_dftl(place_of(points, spare=spare), gc_writes)
    traces = list(dict.fromkeys(trace for trace, _ in found))
    rows = [
        {"line": LABELS[line]} | {t: found[t, line] for t in traces if (t, line) in found}
        for line in ("dftl", *SHOWN)
    ]
    return Numbers(
        key=f"gc-writes-{spare.removesuffix('%')}",
        title=f"GC page writes against DFTL, {spare} spare",
        caption=(
            "Those of the map included; 1 is as many. A cache of 1/4; 95% intervals over seeds."
        ),
        rows=[row for row in rows if len(row) > 1],
        columns=[Column("", "line"), *(Column(trace, trace, _three_digits) for trace in traces)],
    )


def _cache_sweep(points: Sequence[Point]) -> Lines:
    rows = [
        {"trace": trace, "line": line, "share": share, **row}
        for cache, share in CACHES.items()
        for (trace, line), row in against_dftl(place_of(points, cache=cache), gc_writes).items()
        if line in ("dftl", *READINGS)
    ]
    return Lines(
        key="caches",
        title="GC page writes by the size of the cache",
        caption=(
            "Against DFTL with a cache of the same size, which is 1; 15% spare space. Lines over "
            "the dots: 95% intervals."
        ),
        rows=rows,
        style=".3f",
        labels={line: LABELS[line] for line in ("dftl", *READINGS)},
        x="share",
        x_title="Entries of DFTL's cache, of its map",
        x_text=lambda value: {share: text for text, share in CACHES.items()}.get(value, ""),
        rules=[("the paper, Financial1 and synth9/10", 1 + PAPER_GC)],
    )


def _methods(points: Sequence[Point]) -> Numbers:
    """Returns other readings of the method, all with DFTL's number of entries."""
    chosen = place_of(points)
    found = against_dftl(chosen, gc_writes)
    traces = [t for t in dict.fromkeys(t for t, _ in found) if (t, "asa-log") in found]
    rows = [
        {"line": LABELS[line]} | {t: found[t, line] for t in traces if (t, line) in found}
        for line in METHODS
    ]
    return Numbers(
        key="methods",
        title="GC page writes with other readings of the method",
        caption=(
            "Change against DFTL, with as many entries; the first takes 1,000 ages of random "
            "pages. 15% spare space, a cache of 1/4; 95% intervals over seeds."
        ),
        rows=[row for row in rows if len(row) > 1],
        columns=[Column("", "line"), *(Column(trace, trace, _change) for trace in traces)],
        brief=False,
    )


TRAFFIC: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "data_copies": ("data copies", count),
    "map_copies": ("map copies", count),
    "erases": ("erasures", count),
    "mean_us": ("mean, µs", measured),
    "write_amplification": ("write amplification without the map", ratio),
    "cleaning_time": ("cleaning, of the mean", percent),
    "hit_ratio": ("map hit ratio", percent),
    "sampling": ("samples, of the flash's time", percent),
    "sample_reads": ("samples, over other reads", percent),
    "emergency": ("emergency cleans", percent),
}


def _traffic(points: Sequence[Point]) -> Numbers:
    """Returns traffic of data and of translation separately, and how often cleaning bypassed
    CAT."""
    rows: list[Row] = []
    for spare in SPARES:
        by_run: dict[tuple[str, str], list[Point]] = {}
        for point in place_of(points, spare=spare):
            if point.line in ("dftl", *SHOWN):
                by_run.setdefault((point.trace, point.line), []).append(point)
        for (trace, line), runs in by_run.items():
            cells = {name: mean_row([getattr(p, name) for p in runs]) for name in TRAFFIC}
            rows.append({"trace": trace, "spare": spare, "line": LABELS[line], **cells})
    return Numbers(
        key="traffic",
        title="What cleaning does: data and translation apart",
        caption=(
            "Pages programmed by cleaning, and of its cleans those in which free units were so few "
            "that the cheapest was taken, whatever CAT says. A cache of 1/4; 95% intervals over "
            "seeds."
        ),
        rows=rows,
        columns=[
            Column("Workload", "trace"),
            Column("Spare", "spare"),
            Column("FTL", "line"),
            *(Column(title, name, _spread(text)) for name, (title, text) in TRAFFIC.items()),
        ],
        brief=False,
    )


def _memory(points: Sequence[Point]) -> Numbers:
    """Returns memory use for one seed, because nothing in it is random."""
    rows: list[Row] = []
    chosen = [p for p in place_of(points) if p.line in ("dftl", *READINGS) and p.seed == 1]
    base = {p.trace: p.cache_bytes + p.policy_bytes for p in chosen if p.line == "dftl"}
    for point in chosen:
        if point.trace in base:
            both = point.cache_bytes + point.policy_bytes
            rows.append(
                {
                    "trace": point.trace,
                    "line": LABELS[point.line],
                    "cache": point.cache_bytes,
                    "policy": point.policy_bytes,
                    "ratio": both / base[point.trace],
                }
            )
    order = list(base)
    return Numbers(
        key="memory",
        title="Memory of the map's cache and of the placement, in bytes",
        caption=(
            "Arithmetic of sizes that are ours: 8 bytes an entry, 16 with its age, 4 a sampled "
            "age. With as many entries the ages, 8 bytes an entry, stand beside the cache and are "
            'not in it; with "DFTL\'s map" they take 4 bytes a page of the drive. A cache of 1/4.'
        ),
        rows=sorted(rows, key=lambda row: order.index(row["trace"])),
        columns=[
            Column("Workload", "trace"),
            Column("FTL", "line"),
            Column("cache", "cache", count),
            Column("placement", "policy", count),
            Column("both, of DFTL's", "ratio", ratio),
        ],
        brief=False,
    )


SHARES = (0.01, 0.1, 0.2)
"""Shares of the written pages, starting from the most frequently written."""


def skew(found: Mapping[str, Hotness]) -> Numbers:
    rows: list[Row] = []
    for name, hotness in found.items():
        tops = {top.pages_share: top.writes_share for top in hotness.skew.top}
        rows.append(
            {
                "trace": name,
                "written": hotness.written_pages,
                "times": hotness.page_writes / hotness.written_pages,
                "gini": hotness.skew.gini,
                **{f"top{share:g}": tops[share] for share in SHARES},
            }
        )
    return Numbers(
        key="skew",
        title="How skewed the writes are",
        caption=(
            "Of each workload once, in pages of 4 KiB. The paper names no measure: these are the "
            "Gini coefficient of the writes per written page, and the share of the writes that "
            "the most written pages have."
        ),
        rows=rows,
        columns=[
            Column("Workload", "trace"),
            Column("pages written", "written", count),
            Column("writes of each", "times", ratio),
            Column("Gini", "gini", ratio),
            *(Column(f"top {share:.0%}", f"top{share:g}", percent) for share in SHARES),
        ],
        brief=False,
    )


def _spread(text: Callable[[Any], str]) -> Callable[[Row], str]:

    def said(cell: Row) -> str:
        half = f" ± {text(cell['half'])}" if cell["half"] else ""
        return text(cell["value"]) + half

    return said


_three_digits = _spread(lambda value: fixed(value, 3))


def _change(cell: Row) -> str:
    half = "" if not cell["half"] else f" ± {cell['half']:.1%}"
    return change(cell["value"] - 1) + half


COLUMNS = (
    Column("Workload", "trace"),
    Column("FTL", "line"),
    Column("Spare", "spare"),
    Column("Cache", "cache"),
    Column("Start", "start"),
    Column("Arrivals", "arrivals"),
    Column("Seed", "seed", str),
    Column("Data copies", "data_copies", count),
    Column("Map copies", "map_copies", count),
    Column("Erasures", "erases", count),
    Column("Mean, µs", "mean_us", measured),
    Column("Data write amplification", "write_amplification", ratio),
    Column("Map hit ratio", "hit_ratio", percent),
    Column("Emergency cleans", "emergency", percent),
    Column("Samples, of the flash's time", "sampling", percent),
    Column("Samples, over other reads", "sample_reads", percent),
    Column("Map cache, bytes", "cache_bytes", count),
    Column("Placement, bytes", "policy_bytes", count),
    Column("Cleaning", "cleaning_time", percent),
    Column("Utilization", "utilization", percent),
    Column("Volumes", "volumes", lambda value: fixed(value, 1)),
)
