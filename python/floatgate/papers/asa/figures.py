"""ASA-FTL's figures: the paper's Figure 2, and figures over the parameters that the paper leaves
open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from floatgate.analysis.hotness import Hotness
from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import (
    Bars,
    Column,
    Dots,
    Exhibit,
    Lines,
    Numbers,
    Row,
    columns_of,
)
from floatgate.papers.kit.numbers import by_line, cross_table, mean_row, mean_text, points_at
from floatgate.results.values import count, fixed, measured, percent, ratio

from .claims import PAPER_GC, PAPER_RESPONSE, gc_reads, gc_writes
from .domain import CACHES, FINANCIAL1, LINES, SPARES, SYNTH9
from .reduce import Point

LABELS = {line.key: line.label for line in LINES}
READINGS = ("asa-bytes", "asa-entries", "asa-free")
SHOWN = (*READINGS, "oracle")
METHODS = ("asa-entries", "asa-cached", "asa-log", "asa-relabel", "asa-few", "asa-many")
DEFAULTS = {"spare": "15%", "cache": "1/4", "start": "aged", "arrivals": "one at a time"}

Number = Callable[[Point], float]
RATIOS: Mapping[str, tuple[Number, float | None]] = {
    "GC page reads": (gc_reads, PAPER_GC),
    "GC page writes": (gc_writes, PAPER_GC),
    "block erasures": (lambda point: point.erases, None),
    "mean response time": (lambda point: point.mean_us, PAPER_RESPONSE),
}
"""The numbers of Figure 2, each with the change that the paper prints for Financial1 and
synth9/10."""


def figures(points: Sequence[Point]) -> list[Exhibit]:
    exhibits: list[Exhibit] = [
        *(_ratios(points, f"figure-2-{n}", title) for n, title in enumerate(RATIOS, 1)),
        _both_changes(points),
        *(_by_line(points, spare) for spare in SPARES),
        _cache_sweep(points),
        _methods(points),
        _traffic(points),
        _memory(points),
    ]
    return [exhibit for exhibit in exhibits if exhibit.rows]


def at_levels(points: Iterable[Point], **levels: str) -> list[Point]:
    return points_at(points, DEFAULTS | levels)


def against_dftl(points: Iterable[Point], of: Number) -> dict[tuple[str, str], Row]:
    """Returns the mean ratio to DFTL over seeds by workload and line, and half its interval if
    anything is random. All points are at one point."""
    lines = by_line(points)
    ratios = {}
    for (trace, line), seeds in lines.items():
        dftl = {seed: of(point) for seed, point in lines.get((trace, "dftl"), {}).items()}
        if values := [of(p) / dftl[seed] for seed, p in seeds.items() if dftl.get(seed)]:
            ratios[trace, line] = mean_row(values)
    return ratios


def _ratios(points: Sequence[Point], key: str, title: str) -> Bars:
    """Returns a part of Figure 2: bars by workload, normalised to DFTL as in the paper."""
    of, stated = RATIOS[title]
    rules = [("DFTL", 1.0)]
    if stated is not None:
        rules.append(("the paper, Financial1 and synth9/10", 1 + stated))
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
            for (trace, line), row in against_dftl(at_levels(points), of).items()
            if line in SHOWN
        ],
        style=".3f",
        labels={line: LABELS[line] for line in SHOWN},
        panel=None,
        row="trace",
        rules={None: rules},
    )


def _both_changes(points: Sequence[Point]) -> Dots:
    """Draws the change in response time over the change in copies, at every point that was run."""
    groups: dict[tuple[str | None, ...], list[Point]] = {}
    for point in points:
        if point.family in (FINANCIAL1, SYNTH9):
            levels = (point.spare, point.cache, point.start, point.arrivals)
            groups.setdefault(levels, []).append(point)
    rows: list[Row] = []
    for (spare, *_), chosen in groups.items():
        times = against_dftl(chosen, lambda point: point.mean_us)
        for (trace, line), copies in against_dftl(chosen, gc_writes).items():
            if line in READINGS:
                response = times[trace, line]
                row = {"spare": f"{spare} spare space", "trace": trace, "line": line}
                row |= {"copies": copies["value"] - 1, "response": response["value"] - 1}
                halves = {"copies_half": copies["half"], "response_half": response["half"]}
                rows.append(row | halves)
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
    ratios = against_dftl(at_levels(points, spare=spare), gc_writes)
    return _line_table(
        f"gc-writes-{spare.removesuffix('%')}",
        f"GC page writes against DFTL, {spare} spare",
        "Those of the map included; 1 is as many. A cache of 1/4; 95% intervals over seeds.",
        ratios,
        ("dftl", *SHOWN),
        mean_text(lambda value: fixed(value, 3)),
    )


def _line_table(
    key: str,
    title: str,
    caption: str,
    ratios: Mapping[tuple[str, str], Row],
    lines: Sequence[str],
    text: Callable[[Row], str],
    brief: bool = True,
) -> Numbers:
    cells = {(line, trace): row for (trace, line), row in ratios.items()}
    names = {line: LABELS[line] for line in lines}
    traces = {trace: trace for trace, _ in ratios}
    return cross_table(key, title, caption, cells, names, traces, text=text, brief=brief)


def _cache_sweep(points: Sequence[Point]) -> Lines:
    rows = [
        {"trace": trace, "line": line, "share": share, **row}
        for cache, share in CACHES.items()
        for (trace, line), row in against_dftl(at_levels(points, cache=cache), gc_writes).items()
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
    ratios = against_dftl(at_levels(points), gc_writes)
    return _line_table(
        "methods",
        "GC page writes with other readings of the method",
        "Change against DFTL, with as many entries; the first takes 1,000 ages of random pages. "
        "15% spare space, a cache of 1/4; 95% intervals over seeds.",
        {at: row for at, row in ratios.items() if (at[0], "asa-log") in ratios},
        METHODS,
        _change,
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
    rows = [
        {"trace": trace, "spare": spare, "line": LABELS[line]}
        | {name: mean_row(getattr(p, name) for p in seeds.values()) for name in TRAFFIC}
        for spare in SPARES
        for (trace, line), seeds in by_line(at_levels(points, spare=spare)).items()
        if line in ("dftl", *SHOWN)
    ]
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
            *columns_of(trace="Workload", spare="Spare", line="FTL"),
            *(Column(title, name, mean_text(text)) for name, (title, text) in TRAFFIC.items()),
        ],
        brief=False,
    )


def _memory(points: Sequence[Point]) -> Numbers:
    """Returns memory use for one seed, because nothing in it is random."""
    chosen = [p for p in at_levels(points) if p.line in ("dftl", *READINGS) and p.seed == 1]
    dftl = {p.trace: p.cache_bytes + p.policy_bytes for p in chosen if p.line == "dftl"}
    rows: list[Row] = [
        {
            "trace": p.trace,
            "line": LABELS[p.line],
            "cache": p.cache_bytes,
            "policy": p.policy_bytes,
            "ratio": (p.cache_bytes + p.policy_bytes) / dftl[p.trace],
        }
        for trace in dftl
        for p in chosen
        if p.trace == trace
    ]
    return Numbers(
        key="memory",
        title="Memory of the map's cache and of the placement, in bytes",
        caption=(
            "Arithmetic of sizes that are ours: 8 bytes an entry, 16 with its age, 4 a sampled "
            "age. With as many entries the ages, 8 bytes an entry, stand beside the cache and are "
            'not in it; with "DFTL\'s map" they take 4 bytes a page of the drive. A cache of 1/4.'
        ),
        rows=rows,
        columns=[
            *columns_of(trace="Workload", line="FTL"),
            *columns_of(count, cache="cache", policy="placement"),
            Column("both, of DFTL's", "ratio", ratio),
        ],
        brief=False,
    )


SHARES = (0.01, 0.1, 0.2)


def skew(measured_of: Mapping[str, Hotness]) -> Numbers:
    rows: list[Row] = []
    for name, hotness in measured_of.items():
        tops = {top.pages_share: top.writes_share for top in hotness.skew.top}
        times = hotness.page_writes / hotness.written_pages
        row = {"trace": name, "written": hotness.written_pages, "times": times}
        row |= {"gini": hotness.skew.gini} | {f"top{share:g}": tops[share] for share in SHARES}
        rows.append(row)
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
            *columns_of(ratio, times="writes of each", gini="Gini"),
            *(Column(f"top {share:.0%}", f"top{share:g}", percent) for share in SHARES),
        ],
        brief=False,
    )


def _change(cell: Row) -> str:
    half = "" if not cell["half"] else f" ± {cell['half']:.1%}"
    return change(cell["value"] - 1) + half


COLUMNS = (
    *columns_of(trace="Workload", line="FTL", spare="Spare", cache="Cache", start="Start"),
    Column("Arrivals", "arrivals"),
    Column("Seed", "seed", str),
    *columns_of(count, data_copies="Data copies", map_copies="Map copies", erases="Erasures"),
    Column("Mean, µs", "mean_us", measured),
    Column("Data write amplification", "write_amplification", ratio),
    *columns_of(percent, hit_ratio="Map hit ratio", emergency="Emergency cleans"),
    Column("Samples, of the flash's time", "sampling", percent),
    Column("Samples, over other reads", "sample_reads", percent),
    *columns_of(count, cache_bytes="Map cache, bytes", policy_bytes="Placement, bytes"),
    *columns_of(percent, cleaning_time="Cleaning", utilization="Utilization"),
    Column("Volumes", "volumes", lambda value: fixed(value, 1)),
)
