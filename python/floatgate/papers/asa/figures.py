"""ASA-FTL's figures: the paper's Figure 2, and exhibits that explain its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from floatgate.analysis.hotness import Hotness
from floatgate.papers.kit.exhibits import Bars, Column, Dots, Exhibit, Numbers, Row, columns_of
from floatgate.papers.kit.numbers import by_line, digits, grouped, mean_row, mean_text, points_at
from floatgate.results.values import count, measured, percent, ratio

from .claims import PAPER_GC, PAPER_RESPONSE, gc_writes
from .domain import AXES, FINANCIAL1, LINES, READINGS, SPARES, SYNTH7, SYNTH9
from .reduce import Point

LABELS = {line.key: line.label for line in LINES}
SHOWN = (*READINGS, "oracle")
LABELLED = ("asa-free", "asa-free-cached", "asa-free-log", "perfect")
"""Lines of the table of labels, all with DFTL's map."""

Number = Callable[[Point], float]
RATIOS: Mapping[str, tuple[Number, float | None]] = {
    "GC page reads and writes": (gc_writes, PAPER_GC),
    "block erasures": (lambda point: point.erases, None),
    "mean response time": (lambda point: point.mean_us, PAPER_RESPONSE),
}
"""The numbers of Figure 2, each with the change that the paper prints for Financial1 and
synth9/10."""


def figures(points: Sequence[Point]) -> list[Exhibit]:
    return [
        *(_ratios(points, f"figure-2-{n}", title) for n, title in enumerate(RATIOS, 1)),
        _labels(points),
        _both_changes(points),
        _traffic(points),
    ]


def at_levels(points: Iterable[Point], **levels: str) -> list[Point]:
    return points_at(points, AXES, **levels)


def against_dftl(points: Iterable[Point], of: Number) -> dict[tuple[str, str], Row]:
    """Returns the mean ratio to DFTL over seeds by workload and line, and half its interval if
    anything is random. All runs must be at one point of the domain."""
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


SHARES_OF_LABELS = {
    "hot_as_hot": "hot zone as hot",
    "hot_as_warm": "hot zone as warm",
    "cold_as_hot": "cold zone as hot",
    "cold_as_warm": "cold zone as warm",
}


def _labels(points: Sequence[Point]) -> Numbers:
    chosen = [p for p in at_levels(points) if p.family in (SYNTH9, SYNTH7)]
    copies = against_dftl(chosen, gc_writes)
    rows: list[Row] = []
    for (trace, line), seeds in by_line(chosen).items():
        if line in LABELLED and (trace, line) in copies:
            row = {"trace": trace, "line": LABELS[line], "copies": copies[trace, line]}
            if line != "perfect":
                for name in SHARES_OF_LABELS:
                    row[name] = mean_row(getattr(point, name) for point in seeds.values())
            rows.append(row)
    return Numbers(
        key="labels",
        title="Labels of the host's writes, by zone",
        caption=(
            "The hot zone is the generator's: x/10 of the writes go to it. The rest of a zone's "
            "writes is labelled cold. The last column shows what the wrong labels cost: with the "
            "zones known no label is wrong. DFTL's map, 15% spare space, a cache of 1/4, an aged "
            "drive."
        ),
        rows=rows,
        columns=[
            *columns_of(trace="Workload", line="FTL"),
            *columns_of(mean_text(percent), **SHARES_OF_LABELS),
            Column("GC page writes, of DFTL's", "copies", mean_text(ratio)),
        ],
    )


def _both_changes(points: Sequence[Point]) -> Dots:
    """Draws the change in response time over the change in copies, at every point that was run."""
    loads = (point for point in points if point.family in (FINANCIAL1, SYNTH9))
    rows: list[Row] = []
    for levels, chosen in grouped(loads, "spare", "cache", "start", "arrivals"):
        times = against_dftl(chosen, lambda point: point.mean_us)
        for (trace, line), copies in against_dftl(chosen, gc_writes).items():
            if line in READINGS:
                response = times[trace, line]
                row = {"spare": f"{levels['spare']} spare space", "trace": trace, "line": line}
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


TRAFFIC: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "data_copies": ("data copies", count),
    "map_copies": ("map copies", count),
    "mean_us": ("mean, µs", measured),
    "cleaning_time": ("cleaning, of the mean", percent),
    "hit_ratio": ("map hit ratio", percent),
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


SHARES = (0.01, 0.1)


def skew(measured_of: Mapping[str, Hotness], write_bytes: Mapping[str, float]) -> Numbers:
    """Returns the table of skew. `write_bytes` has the mean size of a write of each excerpt."""
    rows: list[Row] = []
    for name, hotness in measured_of.items():
        tops = {top.pages_share: top.writes_share for top in hotness.skew.top}
        times = hotness.page_writes / hotness.written_pages
        row = {"trace": name, "written": hotness.written_pages, "times": times}
        row |= {"gini": hotness.skew.gini} | {f"top{share:g}": tops[share] for share in SHARES}
        rows.append(row | ({"size": write_bytes[name]} if name in write_bytes else {}))
    return Numbers(
        key="skew",
        title="How skewed and how large the writes are",
        caption=(
            "Of each workload once, in pages of 4 KiB. The paper explains its numbers by large "
            "requests and little skew, and names no measure of skew: these are the Gini "
            "coefficient of the writes per written page, and the share of the writes that the "
            "most written pages have."
        ),
        rows=rows,
        columns=[
            Column("Workload", "trace"),
            *columns_of(count, size="bytes a write", written="pages written"),
            *columns_of(ratio, times="writes of each", gini="Gini"),
            *(Column(f"top {share:.0%}", f"top{share:g}", percent) for share in SHARES),
        ],
        brief=False,
    )


COLUMNS = (
    *columns_of(trace="Workload", line="FTL", spare="Spare", cache="Cache", start="Start"),
    Column("Arrivals", "arrivals"),
    Column("Seed", "seed", str),
    *columns_of(count, data_copies="Data copies", map_copies="Map copies", erases="Erasures"),
    Column("Mean, µs", "mean_us", measured),
    *columns_of(percent, hit_ratio="Map hit ratio", emergency="Emergency cleans"),
    *columns_of(percent, hot_as_hot="Hot as hot", cold_as_hot="Cold as hot"),
    Column("Samples, over other reads", "sample_reads", percent),
    *columns_of(percent, cleaning_time="Cleaning", utilization="Utilization"),
    Column("Volumes", "volumes", digits(1)),
)
