"""The ETI paper's table and figures, and those over what it leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from floatgate.intervals import mean_and_half_width
from floatgate.models import (
    alpha_from_spare_factor,
    fifo_mixed,
    greedy,
    oracle_greedy_same_pool,
)
from floatgate.report.values import count, fixed, percent, ratio, size

from .eti_lines import EVERY, FACTORS, FIGURE_4, LABELS, LARGER, MBF, MHF, READINGS, SENSITIVE
from .eti_runs import CHECKS, PAGES_PER_BLOCK, SPARE, STAND_IN, SYNTHETIC, Point
from .paper import Bars, Column, Exhibit, Numbers, Row, change

DEFAULTS = {"skew": "0.6", "cold": "scattered", "copies": "their own", "unit": "commands"}
PLACE = "Stand-ins: skew 0.6, cold data scattered. Whiskers: 95% intervals."
GROUPS = (
    {line: "ETI" for line in ("eti", *SENSITIVE, *READINGS)}
    | {line: "MBF" for line in (*MBF, *LARGER)}
    | {line: "MHF" for line in MHF}
)
STATED = ("the paper, at most", -0.213)


def exhibits(points: Sequence[Point]) -> list[Exhibit]:
    """All of the runs that there are."""
    found = [
        *figure_4(points),
        by_skew(points),
        against_each(points),
        figure_5(points),
        figure_6(points),
        sensitivity(points),
        by_size(points),
        closed_forms(points),
        every_placement(points),
    ]
    return [exhibit for exhibit in found if exhibit.rows]


def place_of(points: Iterable[Point], **place: str) -> list[Point]:
    """The points of traces at the defaults, but for what is named; synthetic loads have none."""
    wanted = DEFAULTS | place
    return [
        point
        for point in points
        if point.kind != SYNTHETIC
        and all(getattr(point, axis) in (None, choice) for axis, choice in wanted.items())
    ]


Values = Mapping[tuple[str, str], Mapping[int, float]]


def by_seed(points: Iterable[Point], metric: str = "write_amplification") -> Values:
    """A metric by trace and line, and seed."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for point in points:
        value = getattr(point, metric)
        if value is not None:
            found.setdefault((point.trace, point.line), {})[point.seed] = value
    return found


def _mean(values: Iterable[float]) -> Row:
    mean, half = mean_and_half_width(list(values))
    return {"value": mean, "half": half}


def _changed(values: Values, trace: str, base: str, line: str) -> Row | None:
    """The relative change from a line to another, over the seeds that both have."""
    before, after = values.get((trace, base), {}), values.get((trace, line), {})
    seeds = before.keys() & after.keys()
    return _mean(after[seed] / before[seed] - 1 for seed in sorted(seeds)) if seeds else None


def _with_interval(row: Row | None, said: str) -> str | None:
    if row is None:
        return None
    if said == "change":
        half = "" if row["half"] is None else f" ± {100 * row['half']:.1f}"
        return change(row["value"]).replace("%", f"{half}%")
    return f"{row['value']:.3f}" + ("" if row["half"] is None else f" ± {row['half']:.3f}")


def figure_4(points: Sequence[Point]) -> list[Exhibit]:
    """Write amplification by scheme, as bars and as a table."""
    values = by_seed(_shown(place_of(points)))
    rows = [
        {"trace": trace, "line": line, **_mean(seeds.values())}
        for (trace, line), seeds in values.items()
        if line in (*FIGURE_4, *READINGS)
    ]
    traces = list(dict.fromkeys(row["trace"] for row in rows))
    table: list[Row] = [
        {"line": LABELS[line]}
        | {row["trace"]: _with_interval(row, "") for row in rows if row["line"] == line}
        for line in (*FIGURE_4, *READINGS)
        if any(row["line"] == line for row in rows)
    ]
    return [
        Bars(
            key="figure-4",
            title="Figure 4: write amplification",
            axis="Write amplification",
            caption=f"Greedy cleaning over both streams. {PLACE}",
            rows=[row for row in rows if row["line"] in FIGURE_4],
            metric="value",
            style=".3f",
            labels={line: LABELS[line] for line in FIGURE_4},
            groups={line: GROUPS.get(line, "other") for line in FIGURE_4},
            spread="half",
        ),
        Numbers(
            key="write-amplification",
            title="Write amplification",
            caption=PLACE,
            rows=table,
            columns=[Column("", "line"), *(Column(trace, trace) for trace in traces)],
        ),
    ]


def _shown(points: Iterable[Point]) -> list[Point]:
    """The points of traces, without models of other sizes."""
    return [point for point in points if ", " not in point.trace or point.kind != STAND_IN]


def by_skew(points: Sequence[Point]) -> Bars:
    """What ETI changes against each rival, over the skew of the hot data."""
    rows: list[Row] = []
    for skew in dict.fromkeys(point.skew for point in points if point.skew is not None):
        values = by_seed(p for p in _shown(place_of(points, skew=skew)) if p.skew is not None)
        for trace in dict.fromkeys(trace for trace, _ in values):
            for rival in (*MBF, *MHF, "single"):
                if found := _changed(values, trace, rival, "eti"):
                    rows.append({"trace": trace, "skew": f"skew {skew}", "line": rival, **found})
    traces = dict.fromkeys(row["trace"] for row in rows)
    return Bars(
        key="skew",
        title="ETI against each rival, by skew",
        axis="Change of the write amplification",
        caption="Zipf's exponent of the hot data of a stand-in; cold data scattered. Whiskers: "
        "95% intervals. Dashed: what the paper has at most, of src2_0.",
        rows=sorted(rows, key=lambda row: (row["trace"], row["skew"])),
        metric="value",
        style="+.1%",
        labels={line: f"against {LABELS[line]}" for line in (*MBF, *MHF, "single")},
        row="skew",
        spread="half",
        rules={trace: (STATED,) for trace in traces if trace == "src2_0"},
    )


def against_each(points: Sequence[Point]) -> Numbers:
    """What ETI changes against each rival, in per cent."""
    values = by_seed(_shown(place_of(points)))
    rivals = ("single", *MBF, *MHF, "direct")
    traces = dict.fromkeys(trace for trace, line in values if line == "eti")
    rows: list[Row] = [
        {"trace": trace}
        | {
            rival: _with_interval(_changed(values, trace, rival, "eti"), "change")
            for rival in rivals
        }
        for trace in traces
    ]
    return Numbers(
        key="rivals",
        title="ETI against each rival",
        caption=f"Change of the write amplification. {PLACE} Paper: at most -21.3%, on src2_0.",
        rows=rows,
        columns=[Column("", "trace"), *(Column(LABELS[rival], rival) for rival in rivals)],
    )


def figure_5(points: Sequence[Point]) -> Bars:
    """Larger filters and ETI, against MBF as it is."""
    values = by_seed(_shown(place_of(points)))
    lines = (*LARGER, "eti")
    rows = [
        {"trace": trace, "line": line, **found}
        for trace in dict.fromkeys(trace for trace, _ in values)
        if (trace, LARGER[0]) in values
        for line in lines
        if (found := _changed(values, trace, MBF[0], line))
    ]
    names = [f"{factor} times the bits" for factor in FACTORS]
    return Bars(
        key="figure-5",
        title="Figure 5: larger Bloom filters",
        axis="Change of the write amplification",
        caption=f"Against MBF with the bits of Table 2. {PLACE}",
        rows=rows,
        metric="value",
        style="+.1%",
        labels=dict(zip(lines, [*names, "ETI"], strict=True)),
        panel=None,
        row="trace",
        spread="half",
    )


def figure_6(points: Sequence[Point]) -> Bars:
    """Extents in use."""
    chosen = [point for point in _shown(place_of(points)) if point.line == "eti"]
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
        {"trace": trace, "line": line, **_mean(seeds.values())}
        for line, values in shares.items()
        for (trace, _), seeds in values.items()
    ]
    return Bars(
        key="figure-6",
        title="Figure 6: extents in use",
        axis="Share of the table",
        caption="Of the extents that there can be (2,048 and, in a model, 64), over the write "
        f"commands. {PLACE}",
        rows=rows,
        metric="value",
        style=".1%",
        labels={"mean": "mean", "most": "most"},
        panel=None,
        row="trace",
        spread="half",
    )


def sensitivity(points: Sequence[Point]) -> Numbers:
    """Change of the write amplification by ETI's parameters."""
    values = by_seed(_shown(place_of(points)))
    traces = dict.fromkeys(trace for trace, line in values if line in SENSITIVE)
    rows: list[Row] = [
        {"line": LABELS[line]}
        | {
            trace: _with_interval(_changed(values, trace, "eti", line), "change")
            for trace in traces
        }
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


def by_size(points: Sequence[Point]) -> Numbers:
    """What the size of a model changes."""
    values = by_seed(p for p in place_of(points) if p.kind == STAND_IN)
    names = [trace for trace, line in values if line == "eti" and ", " in trace]
    rows: list[Row] = [
        {"trace": trace, "single": _with_interval(_mean(values[trace, "single"].values()), "")}
        | {
            rival: _with_interval(_changed(values, trace, rival, "eti"), "change")
            for rival in (MBF[0], MHF[0], "single")
            if (trace, rival) in values and rival != "single"
        }
        for trace in ([names[0].partition(",")[0], *names] if names else [])
    ]
    return Numbers(
        key="sizes",
        title="What the size of a model changes",
        caption=f"ETI against its rivals. {PLACE}",
        rows=rows,
        columns=[
            Column("", "trace"),
            Column("no separation", "single"),
            *(Column(f"against {LABELS[rival]}", rival) for rival in (MBF[0], MHF[0])),
        ],
    )


def closed_forms(points: Sequence[Point]) -> Bars:
    """The synthetic loads, with what formulas say as rules."""
    values = by_seed(point for point in points if point.kind == SYNTHETIC)
    return Bars(
        key="closed-forms",
        title="Check against closed forms",
        axis="Write amplification",
        caption="ETI, MBF and MHF as in the paper. Greedy cleaning of many blocks in a steady "
        "state; hot/cold loads come near to it slowly. Whiskers: 95% intervals.",
        rows=[
            {"trace": trace, "line": line, **_mean(seeds.values())}
            for (trace, line), seeds in values.items()
        ],
        metric="value",
        style=".3f",
        labels=LABELS,
        rules={trace: _rules(mix) for trace, mix in CHECKS.items()},
        spread="half",
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
    """Write amplification of every placement with two victim policies."""
    values = by_seed(_shown(place_of(points)))
    traces = dict.fromkeys(trace for trace, line in values if line.endswith("-cb"))
    rows: list[Row] = [
        {"line": LABELS[line]}
        | {
            trace: _with_interval(_mean(values[trace, line].values()), "")
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
