"""The ETI paper's table and figures, and figures over the parameters that the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from floatgate.models import alpha_from_spare_factor, fifo_mixed, greedy, oracle_greedy_same_pool
from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Numbers, Row
from floatgate.papers.kit.numbers import mean_row
from floatgate.results.values import count, fixed, percent, ratio, size

from .domain import (
    CHECKS,
    MSR_WINDOW,
    PAGES_PER_BLOCK,
    REAL_TRACES,
    SPARE,
    SRC2_0,
    SRC2_0_WHOLE,
    STAND_IN,
    SW1,
    SYNTHETIC,
)
from .lines import EVERY, FACTORS, FIGURE_4, LABELS, LARGER, MBF, MHF, READINGS, SENSITIVE
from .measures import AT_MOST, ENDS, FULL, ON_SRC2_0
from .points import PLACE, Values, by_seed, changed, of_one_size, place_of, with_interval
from .reduce import Point
from .sizes import by_size, full_size

GROUPS = (
    {line: "ETI" for line in ("eti", *SENSITIVE, *READINGS)}
    | {line: "MBF" for line in (*MBF, *LARGER)}
    | {line: "MHF" for line in MHF}
)
STATED = ("the paper, at most", ON_SRC2_0)
ELSEWHERE = ("the paper, at most on any trace", AT_MOST)


def figures(points: Sequence[Point]) -> list[Exhibit]:
    found = [
        *figure_4(points),
        by_skew(points),
        against_each(points),
        in_rounds(points),
        figure_5(points),
        figure_6(points),
        memory(points),
        sensitivity(points),
        by_size(points),
        full_size(points),
        closed_forms(points),
        every_placement(points),
    ]
    return [exhibit for exhibit in found if exhibit.rows]


def figure_4(points: Sequence[Point]) -> list[Exhibit]:
    values = by_seed(of_one_size(place_of(points)))
    rows = [
        {"trace": trace, "line": line, **mean_row(seeds.values())}
        for (trace, line), seeds in values.items()
        if line in (*FIGURE_4, *READINGS)
    ]
    traces = list(dict.fromkeys(row["trace"] for row in rows))
    table: list[Row] = [
        {"line": LABELS[line]}
        | {row["trace"]: with_interval(row, "") for row in rows if row["line"] == line}
        for line in (*FIGURE_4, *READINGS)
        if any(row["line"] == line for row in rows)
    ]
    return [
        Bars(
            key="figure-4",
            title="Figure 4: write amplification",
            axis="Write amplification",
            caption=f"Greedy cleaning over both streams. {PLACE} Dashed: where the paper's largest "
            f"change puts ETI, {change(ON_SRC2_0)} on src2_0 from either rival, elsewhere "
            f"{change(AT_MOST)} from the lower one; rivals as here, with the first pair of CRCs.",
            rows=[row for row in rows if row["line"] in FIGURE_4],
            style=".3f",
            labels={line: LABELS[line] for line in FIGURE_4},
            groups={line: GROUPS.get(line, "other") for line in FIGURE_4},
            rules={trace: _at_most(values, trace) for trace in traces},
        ),
        Numbers(
            key="write-amplification",
            title="Write amplification",
            caption=PLACE,
            rows=table,
            columns=[Column("", "line"), *(Column(trace, trace) for trace in traces)],
        ),
    ]


def _at_most(values: Values, trace: str) -> list[tuple[str, float]]:
    """Returns ETI's value on a trace if it changed by the most that the paper prints."""
    waste = {
        rival: mean_row(values[trace, line].values())["value"]
        for rival, line in (("MBF", MBF[0]), ("MHF", MHF[0]))
        if (trace, line) in values
    }
    if trace == SRC2_0:
        return [(f"{STATED[0]}: from {of}", (1 + ON_SRC2_0) * w) for of, w in waste.items()]
    if not waste:
        return []
    return [(ELSEWHERE[0], (1 + AT_MOST) * min(waste.values()))]


def by_skew(points: Sequence[Point]) -> Bars:
    rows: list[Row] = []
    for skew in dict.fromkeys(point.skew for point in points if point.skew is not None):
        known = place_of(points, skew=skew)
        whole = [point for point in known if point.trace == SRC2_0_WHOLE]
        values = by_seed(p for p in (*of_one_size(known), *whole) if p.skew is not None)
        for trace in dict.fromkeys(trace for trace, _ in values):
            for rival in (*MBF, *MHF, "single"):
                if found := changed(values, trace, rival, "eti"):
                    rows.append({"trace": trace, "skew": f"skew {skew}", "line": rival, **found})
    traces = dict.fromkeys(row["trace"] for row in rows)
    return Bars(
        key="skew",
        title="ETI against each rival, by skew",
        axis="Change of the write amplification",
        caption="Zipf's exponent of the hot data of a stand-in; cold data scattered. Whiskers: "
        f"95% intervals. Dashed: what the paper has at most, {change(ON_SRC2_0)} of src2_0 and "
        f"{change(AT_MOST)} of any trace.",
        rows=sorted(rows, key=lambda row: (row["trace"], row["skew"])),
        style="+.1%",
        labels={line: f"against {LABELS[line]}" for line in (*MBF, *MHF, "single")},
        row="skew",
        rules={t: (STATED if t in (SRC2_0, SRC2_0_WHOLE) else ELSEWHERE,) for t in traces},
    )


def against_each(points: Sequence[Point]) -> Numbers:
    values = by_seed(of_one_size(place_of(points)))
    rivals = [rival for rival in ("single", *MBF, *MHF, "direct") if _has(values, rival)]
    traces = dict.fromkeys(trace for trace, line in values if line == "eti")
    rows: list[Row] = [
        {"trace": trace}
        | {rival: with_interval(changed(values, trace, rival, "eti"), "change") for rival in rivals}
        for trace in traces
    ]
    return Numbers(
        key="rivals",
        title="ETI against each rival",
        caption=f"Change of the write amplification. {PLACE} Paper: at most -21.3%, on src2_0.",
        rows=rows,
        columns=[Column("", "trace"), *(Column(LABELS[rival], rival) for rival in rivals)],
    )


def _has(values: Values, line: str) -> bool:
    return any(known == line for _, known in values)


def in_rounds(points: Sequence[Point]) -> Numbers:
    """Returns ETI's change against each rival, on a short trace in windows and in a loop."""
    values = by_seed(point for point in points if point.kind != STAND_IN)
    rivals = (*MBF, *MHF)
    rows: list[Row] = [
        {"trace": name}
        | {rival: with_interval(changed(values, name, rival, "eti"), "change") for rival in rivals}
        for trace in REAL_TRACES
        if (trace.looped, "eti") in values
        for name in (trace.name, trace.looped)
    ]
    return Numbers(
        key="rounds",
        title="ETI against each rival, in windows and in a loop",
        caption="Change of the write amplification. In a loop every page comes back at the same "
        "distance; so far all short traces were played so. 95% intervals.",
        rows=rows,
        columns=[Column("", "trace"), *(Column(LABELS[rival], rival) for rival in rivals)],
    )


def figure_5(points: Sequence[Point]) -> Bars:
    """Returns larger filters and ETI, relative to MBF with its default filter."""
    values = by_seed(of_one_size(place_of(points)))
    lines = (*LARGER, "eti")
    rows = [
        {"trace": trace, "line": line, **found}
        for trace in dict.fromkeys(trace for trace, _ in values)
        if (trace, LARGER[0]) in values
        for line in lines
        if (found := changed(values, trace, MBF[0], line))
    ]
    names = [f"{factor} times the bits" for factor in FACTORS]
    return Bars(
        key="figure-5",
        title="Figure 5: larger Bloom filters",
        axis="Change of the write amplification",
        caption=f"Against MBF with the bits of Table 2. {PLACE} Dashed: what the paper has of "
        "ETI at most, of src2_0; of larger filters it prints no number.",
        rows=rows,
        style="+.1%",
        labels=dict(zip(lines, [*names, "ETI"], strict=True)),
        panel=None,
        row="trace",
        rules={None: (STATED,)},
    )


def figure_6(points: Sequence[Point]) -> Bars:
    chosen = [point for point in of_one_size(place_of(points)) if point.line == "eti"]
    most = [p for p in chosen if p.extents_mean]
    shares = {
        "mean": by_seed(chosen, "extents_table"),
        "most": {
            (p.trace, "eti"): {
                q.seed: (q.extents_most or 0) * (q.extents_table or 0.0) / (q.extents_mean or 1.0)
                for q in most
                if q.trace == p.trace
            }
            for p in most
        },
    }
    rows = [
        {"trace": trace, "line": line, **mean_row(seeds.values())}
        for line, values in shares.items()
        for (trace, _), seeds in values.items()
    ]
    return Bars(
        key="figure-6",
        title="Figure 6: extents in use",
        axis="Share of the table",
        caption="Of the extents that there can be (2,048 and, in a model, 64), over the write "
        f"commands. {PLACE}{_not_filled(chosen)}{_not_apart(chosen)}",
        rows=rows,
        style=".1%",
        labels={"mean": "mean", "most": "most"},
        panel=None,
        row="trace",
    )


def _not_filled(points: Iterable[Point]) -> str:
    """Returns a note on traces that cannot fill the table."""
    ends = next((point.ends for point in points if point.trace == MSR_WINDOW), None)
    if ends is None or ends >= ENDS:
        return ""
    return (
        f" The writes of the {MSR_WINDOW} have at most {ends:,} different ends in a period: it "
        f"cannot keep a table of {ENDS + 1:,} full, whatever ETI does."
    )


def _not_apart(points: Iterable[Point]) -> str:
    """Returns a note on stand-ins that fill the table regardless of their trace."""
    own = [p.extents_table or 0.0 for p in points if p.trace == SW1]
    if not own or mean_row(own)["value"] < FULL:
        return ""
    return f" The stand-in of {SW1} fills the table as those of MSR do: it tells nothing apart."


def memory(points: Sequence[Point]) -> Numbers:
    """Returns the memory of the tables in Table 2."""
    lines = ("eti", MBF[0], MHF[0])
    # Models have smaller tables.
    found = {p.line: p.memory_bytes for p in points if p.kind != STAND_IN and p.line in lines}
    labels = {"eti": "ETI", MBF[0]: "MBF", MHF[0]: "MHF"}
    return Numbers(
        key="memory",
        title="Memory",
        caption="Bytes at the sizes of Table 2, by construction: 2,048 extents of 4.5 bytes, four "
        "filters of 2,048 bits, 2,048 counters of 4 bits. Paper: ETI roughly 10 KB.",
        rows=[{"line": labels[line], "bytes": found[line]} for line in lines if line in found],
        columns=[Column("", "line"), Column("bytes", "bytes", count)],
    )


def sensitivity(points: Sequence[Point]) -> Numbers:
    values = by_seed(of_one_size(place_of(points)))
    traces = dict.fromkeys(trace for trace, line in values if line in SENSITIVE)
    rows: list[Row] = [
        {"line": LABELS[line]}
        | {trace: with_interval(changed(values, trace, "eti", line), "change") for trace in traces}
        for line in SENSITIVE
        if traces
    ]
    return Numbers(
        key="sensitivity",
        title="Sensitivity to alpha and beta",
        caption="Change of the write amplification against alpha 100% and beta 4. Paper: less than "
        f"2%. {PLACE}",
        rows=rows,
        columns=[Column("", "line"), *(Column(trace, trace) for trace in traces)],
    )


def closed_forms(points: Sequence[Point]) -> Bars:
    """Returns the synthetic loads, with the values of closed forms as rules."""
    values = by_seed(point for point in points if point.kind == SYNTHETIC)
    return Bars(
        key="closed-forms",
        title="Check against closed forms",
        axis="Write amplification",
        caption="ETI, MBF and MHF as in the paper. Greedy cleaning of many blocks in a steady "
        "state; hot/cold loads come near to it slowly. Whiskers: 95% intervals.",
        rows=[
            {"trace": trace, "line": line, **mean_row(seeds.values())}
            for (trace, line), seeds in values.items()
        ],
        style=".3f",
        labels=LABELS,
        rules={trace: _rules(mix) for trace, mix in CHECKS.items()},
    )


def _rules(mix: tuple[float, float] | None) -> list[tuple[str, float]]:
    alpha = alpha_from_spare_factor(SPARE)
    uniform = greedy(alpha, PAGES_PER_BLOCK).write_amplification
    if mix is None:
        return [("greedy", uniform)]
    split = oracle_greedy_same_pool(alpha, PAGES_PER_BLOCK, *mix, "cold")
    return [
        ("no error, greedy", split.write_amplification),
        ("uniform greedy", uniform),
        ("FIFO, mixed", fifo_mixed(alpha, *mix)),
    ]


def every_placement(points: Sequence[Point]) -> Numbers:
    values = by_seed(of_one_size(place_of(points)))
    traces = dict.fromkeys(trace for trace, line in values if line.endswith("-cb"))
    rows: list[Row] = [
        {"line": LABELS[line]}
        | {
            trace: with_interval(mean_row(values[trace, line].values()), "")
            for trace in traces
            if (trace, line) in values
        }
        for line in EVERY
        if traces
    ]
    return Numbers(
        key="every-placement",
        title="Every placement",
        caption=f"Write amplification with greedy and cost-benefit cleaning. {PLACE}",
        rows=rows,
        columns=[Column("", "line"), *(Column(trace, trace) for trace in traces)],
        brief=False,
    )


COLUMNS = (
    Column("Trace", "trace"),
    Column("Kind", "kind"),
    Column("Scheme", "line"),
    Column("Skew", "skew"),
    Column("Cold data", "cold"),
    Column("Moves", "drift"),
    Column("Copies", "copies"),
    Column("Period in", "unit"),
    Column("Seed", "seed", str),
    Column("Write amplification", "write_amplification", ratio),
    Column("Hot", "hot_share", percent),
    Column("Valid in a victim", "victim_valid", percent),
    Column("Memory", "memory_bytes", size),
    Column("Extents, mean", "extents_mean", lambda value: fixed(value, 1)),
    Column("Extents, most", "extents_most", count),
    Column("Volumes", "volumes", lambda value: fixed(value, 2)),
)
