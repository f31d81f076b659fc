"""The ETI paper's figures, and figures over the parameters that the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Numbers, Row, columns_of
from floatgate.papers.kit.numbers import by_line, digits, mean_row, mean_rows, points_at, text_rows
from floatgate.results.values import percent, ratio, size

from . import domain
from .lines import FIGURE_4, LABELS, MBF, MHF
from .measures import AT_MOST, ENDS, ON_SRC2_0
from .reduce import Point

GROUPS = {"eti": "ETI"} | {line: "MBF" for line in MBF} | {line: "MHF" for line in MHF}
RIVALS = (MBF[0], MHF[0])
"""A variant of each rival, with the first pair of CRCs."""
STATED = ("the paper, at most", ON_SRC2_0)
ELSEWHERE = ("the paper, at most on any trace", AT_MOST)
AXES = [axis for axis in domain.AXES if axis.key != "trace"]
"""Axes on which a point states its level. Its trace is its workload."""
PLACE = "Stand-ins: skew 0.6, cold data scattered. Whiskers: 95% intervals."
MERGES, UNITS = (
    tuple(level.key for axis in domain.AXES if axis.key == key for level in axis.levels)
    for key in ("merge", "unit")
)

Values = Mapping[tuple[str, str], Mapping[int, float]]
"""Write amplification of each run, by trace and line, and then by seed."""


def figures(points: Sequence[Point]) -> list[Exhibit]:
    values = by_seed(of_one_size(at_levels(points)))
    return [
        figure_4(values),
        by_reading(points),
        by_skew(points),
        figure_6(points),
        *search(points),
    ]


def at_levels(points: Iterable[Point], **levels: str) -> list[Point]:
    return points_at((p for p in points if p.kind != domain.LOOPED), AXES, **levels)


def of_one_size(points: Iterable[Point]) -> list[Point]:
    return [point for point in points if point.trace != domain.SRC2_0_WHOLE]


def by_seed(points: Iterable[Point]) -> Values:
    lines = by_line(points).items()
    return {at: {seed: p.write_amplification for seed, p in seeds.items()} for at, seeds in lines}


def changed(values: Values, trace: str, base: str, line: str = "eti") -> Row | None:
    """Returns the relative change from one line to another, over the seeds that both have."""
    before, after = values.get((trace, base), {}), values.get((trace, line), {})
    seeds = before.keys() & after.keys()
    return mean_row(after[seed] / before[seed] - 1 for seed in sorted(seeds)) if seeds else None


def figure_4(values: Values) -> Bars:
    shown = {at: seeds for at, seeds in values.items() if at[1] in FIGURE_4}
    return Bars(
        key="figure-4",
        title="Figure 4: write amplification",
        axis="Write amplification",
        caption="Greedy cleaning over both streams; ETI with the weighted mean and a period in "
        f"commands. {PLACE} Dashed: where the paper's largest change puts ETI, "
        f"{change(ON_SRC2_0)} on src2_0 from either rival, elsewhere {change(AT_MOST)} from the "
        "lower one; rivals as here, with the first pair of CRCs.",
        rows=[
            {"trace": trace, "line": line, **mean_row(seeds.values())}
            for (trace, line), seeds in shown.items()
        ],
        style=".3f",
        labels={line: LABELS[line] for line in FIGURE_4},
        groups={line: GROUPS.get(line, "other") for line in FIGURE_4},
        rules={trace: _at_most(values, trace) for trace, _ in shown},
    )


def _at_most(values: Values, trace: str) -> list[tuple[str, float]]:
    """Returns ETI's value on a trace if it changed by the most that the paper prints."""
    waste = {
        rival: mean_row(values[trace, line].values())["value"]
        for rival, line in zip(("MBF", "MHF"), RIVALS, strict=True)
        if (trace, line) in values
    }
    if trace == domain.SRC2_0:
        return [(f"{STATED[0]}: from {of}", (1 + ON_SRC2_0) * w) for of, w in waste.items()]
    return [(ELSEWHERE[0], (1 + AT_MOST) * min(waste.values()))] if waste else []


def _against(
    key: str,
    title: str,
    caption: str,
    values: Mapping[str, Values],
    lines: Sequence[str],
) -> Bars:
    """Draws the change from each line to ETI. `values` has the numbers of each band of bars."""
    rows: list[Row] = [
        {"trace": trace, "at": name, "line": rival, **row}
        for name, each in values.items()
        for trace in dict.fromkeys(trace for trace, _ in each)
        for rival in lines
        if (row := changed(each, trace, rival))
    ]
    src2_0 = (domain.SRC2_0, domain.SRC2_0_WHOLE)
    traces = dict.fromkeys(row["trace"] for row in rows)
    return Bars(
        key=key,
        title=title,
        axis="Change of the write amplification",
        caption=f"{caption} Whiskers: 95% intervals. Dashed: what the paper has at most, "
        f"{change(ON_SRC2_0)} of src2_0 and {change(AT_MOST)} of any trace.",
        rows=sorted(rows, key=lambda row: row["trace"]),
        style="+.1%",
        labels={line: f"against {LABELS[line]}" for line in lines},
        row="at",
        rules={trace: (STATED if trace in src2_0 else ELSEWHERE,) for trace in traces},
    )


def by_reading(points: Sequence[Point]) -> Bars:
    """Returns the readings of merged counters and of the period's unit, on every trace."""
    readings = {
        f"{merge}, {unit}": by_seed(of_one_size(at_levels(points, merge=merge, unit=unit)))
        for unit, merge in product(UNITS, MERGES)
    }
    return _against(
        "readings",
        "ETI against each rival, by the counter of merged extents and the period's unit",
        "Skew 0.6, cold data scattered, first pair of CRCs.",
        readings,
        RIVALS,
    )


def by_skew(points: Sequence[Point]) -> Bars:
    points = [point for point in points if point.trace in (*domain.MSR, domain.SRC2_0_WHOLE)]
    skews = sorted({point.skew for point in points if point.skew is not None}, key=float)
    values = {
        f"skew {skew}, {merge}": by_seed(at_levels(points, skew=skew, merge=merge))
        for skew, merge in product(skews, MERGES[:2])
    }
    return _against(
        "skew",
        "ETI against each rival, by skew",
        "Zipf's exponent of the hot data of a stand-in, and the counter of merged cold extents; "
        "cold data scattered.",
        values,
        (*MBF, *MHF),
    )


def figure_6(points: Sequence[Point]) -> Bars:
    rows: list[Row] = []
    for unit in UNITS:
        chosen = [p for p in of_one_size(at_levels(points, unit=unit)) if p.line == "eti"]
        rows += [{**row, "line": unit} for row in mean_rows(chosen, "extents_table", "trace")]
    return Bars(
        key="figure-6",
        title="Figure 6: extents in use",
        axis="Mean share of the table",
        caption="Of the extents that there can be (2,048 and, in a model, 64), over the write "
        f"commands, by the unit of ETI's period. {PLACE}{_not_filled(points)}",
        rows=sorted(rows, key=lambda row: row["trace"]),
        style=".1%",
        labels={unit: f"period in {unit}" for unit in UNITS},
        panel=None,
        row="trace",
    )


def _not_filled(points: Iterable[Point]) -> str:
    """Returns a note on traces that cannot fill the table."""
    ends = next((point.ends for point in points if point.trace == domain.MSR_WINDOW), None)
    if ends is None or ends >= ENDS:
        return ""
    return (
        f" The writes of the {domain.MSR_WINDOW} have at most {ends:,} different ends in a "
        f"period: it cannot keep a table of {ENDS + 1:,} full, whatever ETI does."
    )


SEARCHES = {"walk": "a walk along the extents", "halving": "halving"}


def search(points: Sequence[Point]) -> list[Exhibit]:
    """Returns the steps of both kinds of search, as bars and as a table."""
    chosen = [p for p in of_one_size(at_levels(points)) if p.line == "eti"]
    caption = (
        "Steps of the search for the extent in which a write command begins, one extent a step: "
        "from the beginning, and from the extent found last (Algorithm 1). A walk goes along the "
        "extents; halving is a binary search, and from the extent found last a search by doubled "
        f"distances. {PLACE}"
    )
    rows = [
        {"search": title, "line": line, **row}
        for kind, title in SEARCHES.items()
        for line, metric in (("anew", kind), ("last", f"{kind}_from_last"))
        for row in mean_rows(chosen, metric, "trace")
    ]
    bars = Bars(
        key="search",
        title="Algorithm 1: steps of a search",
        axis="Steps per write command",
        caption=caption,
        rows=sorted(rows, key=lambda row: (row["search"] != SEARCHES["walk"], row["trace"])),
        style=".1f",
        labels={"anew": "begun anew", "last": "begun at the extent found last"},
        panel="search",
        row="trace",
    )
    steps = {f"{kind}{end}": digits(1) for kind in SEARCHES for end in ("", "_from_last")}
    searched = [point for point in chosen if point.in_last is not None]
    table = Numbers(
        key="search-steps",
        title="Algorithm 1: commands that begin in the extent found last",
        caption=caption,
        rows=text_rows(searched, {"in_last": percent, **steps}, "trace"),
        columns=[
            *columns_of(trace="", in_last="begin in the extent found last"),
            *columns_of(walk="walk", walk_from_last="walk from the last"),
            *columns_of(halving="halving", halving_from_last="halving from the last"),
        ],
    )
    return [bars, table]


COLUMNS = (
    *columns_of(
        trace="Trace", kind="Kind", line="Scheme", skew="Skew", cold="Cold data", drift="Moves"
    ),
    *columns_of(copies="Copies", unit="Period in", merge="Merged extents"),
    Column("Seed", "seed", str),
    Column("Write amplification", "write_amplification", ratio),
    *columns_of(percent, hot_share="Hot", victim_valid="Valid in a victim"),
    Column("Memory", "memory_bytes", size),
    *columns_of(percent, extents_table="Extents in use", in_last="Begin in the extent found last"),
)
