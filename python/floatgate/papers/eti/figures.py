"""The ETI paper's figures, and figures over the parameters that the paper leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from floatgate.models import alpha_from_spare_factor, fifo_mixed, greedy, oracle_greedy_same_pool
from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Numbers, Row, columns_of
from floatgate.papers.kit.numbers import LINE, by_line, cross_table, mean_row, points_at, spread
from floatgate.results.values import count, fixed, percent, ratio, size

from . import domain
from .lines import EVERY, FACTORS, FIGURE_4, LABELS, LARGER, MBF, MHF, READINGS, SENSITIVE
from .measures import AT_MOST, ENDS, FULL, ON_SRC2_0
from .reduce import Point

GROUPS = (
    {line: "ETI" for line in ("eti", *SENSITIVE, *READINGS)}
    | {line: "MBF" for line in (*MBF, *LARGER)}
    | {line: "MHF" for line in MHF}
)
RIVALS = (MBF[0], MHF[0])
"""A variant of each rival, with the first pair of CRCs."""
STATED = ("the paper, at most", ON_SRC2_0)
ELSEWHERE = ("the paper, at most on any trace", AT_MOST)
DEFAULTS = {
    "skew": "0.6",
    "cold": "scattered",
    "drift": "nothing",
    "copies": "their own",
    "unit": "commands",
    "mbf": "round robin",
    "mhf": "plain",
}
PLACE = "Stand-ins: skew 0.6, cold data scattered. Whiskers: 95% intervals."

Values = Mapping[tuple[str, str], Mapping[int, float]]
"""A number of each run, by trace and line, and then by seed."""


def figures(points: Sequence[Point]) -> list[Exhibit]:
    middle = of_one_size(at_levels(points))
    values = by_seed(middle)
    exhibits = [
        *figure_4(values),
        by_skew(points),
        against_each(values),
        in_rounds(points),
        figure_5(values),
        figure_6(middle),
        memory(points),
        sensitivity(values),
        by_size(points),
        full_size(points),
        closed_forms(points),
        every_placement(values),
    ]
    return [exhibit for exhibit in exhibits if exhibit.rows]


def at_levels(points: Iterable[Point], **levels: str) -> list[Point]:
    traces = [point for point in points if point.kind not in (domain.SYNTHETIC, domain.LOOPED)]
    return points_at(traces, DEFAULTS | levels)


def of_one_size(points: Iterable[Point]) -> list[Point]:
    return [point for point in points if ", " not in point.trace or point.kind != domain.STAND_IN]


def by_seed(points: Iterable[Point], metric: str = "write_amplification") -> Values:
    lines = by_line(point for point in points if getattr(point, metric) is not None)
    return {at: {seed: getattr(p, metric) for seed, p in of.items()} for at, of in lines.items()}


def changed(values: Values, trace: str, base: str, line: str) -> Row | None:
    """Returns the relative change from one line to another, over the seeds that both have."""
    before, after = values.get((trace, base), {}), values.get((trace, line), {})
    seeds = before.keys() & after.keys()
    return mean_row(after[seed] / before[seed] - 1 for seed in sorted(seeds)) if seeds else None


def change_text(values: Values, trace: str, base: str, line: str = "eti") -> str | None:
    """Formats the relative change from one line to another: "+1.3 ± 0.4%"."""
    if (row := changed(values, trace, base, line)) is None:
        return None
    half = f" ± {100 * row['half']:.1f}" if row["half"] else ""
    return change(row["value"]).replace("%", f"{half}%")


def waste_text(seeds: Mapping[int, float]) -> str:
    return spread(list(seeds.values()), "{:.3f}".format)


def _traces(values: Values, of: Callable[[str], bool]) -> dict[str, str]:
    """Returns the traces with a line for which `of` is true, as columns of a table."""
    return {trace: trace for trace, line in values if of(line)}


def _names(lines: Iterable[str]) -> dict[str, str]:
    return {line: LABELS[line] for line in lines}


def _waste_cells(values: Values) -> dict[tuple[str, str], str]:
    return {(line, trace): waste_text(seeds) for (trace, line), seeds in values.items()}


def figure_4(values: Values) -> list[Exhibit]:
    shown = {at: seeds for at, seeds in values.items() if at[1] in (*FIGURE_4, *READINGS)}
    traces = {trace: trace for trace, _ in shown}
    bars = Bars(
        key="figure-4",
        title="Figure 4: write amplification",
        axis="Write amplification",
        caption=f"Greedy cleaning over both streams. {PLACE} Dashed: where the paper's largest "
        f"change puts ETI, {change(ON_SRC2_0)} on src2_0 from either rival, elsewhere "
        f"{change(AT_MOST)} from the lower one; rivals as here, with the first pair of CRCs.",
        rows=_mean_rows({at: seeds for at, seeds in shown.items() if at[1] in FIGURE_4}),
        style=".3f",
        labels=_names(FIGURE_4),
        groups={line: GROUPS.get(line, "other") for line in FIGURE_4},
        rules={trace: _at_most(values, trace) for trace in traces},
    )
    cells, lines = _waste_cells(shown), _names((*FIGURE_4, *READINGS))
    table = cross_table("write-amplification", "Write amplification", PLACE, cells, lines, traces)
    return [bars, table]


def _mean_rows(values: Values) -> list[Row]:
    return [
        {"trace": trace, "line": line, **mean_row(seeds.values())}
        for (trace, line), seeds in values.items()
    ]


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


def by_skew(points: Sequence[Point]) -> Bars:
    rows: list[Row] = []
    for skew in dict.fromkeys(point.skew for point in points if point.skew is not None):
        chosen = at_levels(points, skew=skew)
        whole = [point for point in chosen if point.trace == domain.SRC2_0_WHOLE]
        values = by_seed(p for p in (*of_one_size(chosen), *whole) if p.skew is not None)
        rows += [
            {"trace": trace, "skew": f"skew {skew}", "line": rival, **row}
            for trace in dict.fromkeys(trace for trace, _ in values)
            for rival in (*MBF, *MHF, "single")
            if (row := changed(values, trace, rival, "eti"))
        ]
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
        rules={
            t: (STATED if t in (domain.SRC2_0, domain.SRC2_0_WHOLE) else ELSEWHERE,) for t in traces
        },
    )


def against_each(values: Values) -> Numbers:
    lines = {line for _, line in values}
    rivals = [rival for rival in ("single", *MBF, *MHF, "direct") if rival in lines]
    return _rival_table(
        "rivals",
        "ETI against each rival",
        f"Change of the write amplification. {PLACE} Paper: at most -21.3%, on src2_0.",
        values,
        _traces(values, "eti".__eq__),
        rivals,
    )


def in_rounds(points: Sequence[Point]) -> Numbers:
    values = by_seed(point for point in points if point.kind != domain.STAND_IN)
    looped = [trace for trace in domain.REAL_TRACES if (trace.looped, "eti") in values]
    return _rival_table(
        "rounds",
        "ETI against each rival, in windows and in a loop",
        "Change of the write amplification. In a loop every page comes back at the same "
        "distance; so far all short traces were played so. 95% intervals.",
        values,
        [name for trace in looped for name in (trace.name, trace.looped)],
        (*MBF, *MHF),
    )


def _rival_table(
    key: str, title: str, caption: str, values: Values, traces: Iterable[str], rivals: Sequence[str]
) -> Numbers:
    names = {trace: trace for trace in traces}
    cells = {(t, rival): change_text(values, t, rival) for t in names for rival in rivals}
    return cross_table(key, title, caption, cells, names, _names(rivals), Column("", "trace"))


def figure_5(values: Values) -> Bars:
    lines = (*LARGER, "eti")
    names = [f"{factor} times the bits" for factor in FACTORS]
    return Bars(
        key="figure-5",
        title="Figure 5: larger Bloom filters",
        axis="Change of the write amplification",
        caption=f"Against MBF with the bits of Table 2. {PLACE} Dashed: what the paper has of "
        "ETI at most, of src2_0; of larger filters it prints no number.",
        rows=[
            {"trace": trace, "line": line, **row}
            for trace in dict.fromkeys(trace for trace, _ in values)
            if (trace, LARGER[0]) in values
            for line in lines
            if (row := changed(values, trace, MBF[0], line))
        ],
        style="+.1%",
        labels=dict(zip(lines, [*names, "ETI"], strict=True)),
        panel=None,
        row="trace",
        rules={None: (STATED,)},
    )


def figure_6(points: Sequence[Point]) -> Bars:
    chosen = [point for point in points if point.line == "eti"]
    means = by_seed(chosen, "extents_table")
    most = by_line(point for point in chosen if point.extents_mean)
    shares = {
        "mean": [(trace, list(seeds.values())) for (trace, _), seeds in means.items()],
        "most": [(t, list(map(_most_share, of.values()))) for (t, _), of in most.items()],
    }
    return Bars(
        key="figure-6",
        title="Figure 6: extents in use",
        axis="Share of the table",
        caption="Of the extents that there can be (2,048 and, in a model, 64), over the write "
        f"commands. {PLACE}{_not_filled(chosen)}{_not_apart(chosen)}",
        rows=[
            {"trace": trace, "line": line, **mean_row(seeds)}
            for line, traces in shares.items()
            for trace, seeds in traces
        ],
        style=".1%",
        labels={"mean": "mean", "most": "most"},
        panel=None,
        row="trace",
    )


def _most_share(point: Point) -> float:
    """Returns the largest number of extents, as a share of the table."""
    return (point.extents_most or 0) * (point.extents_table or 0.0) / (point.extents_mean or 1.0)


def _not_filled(points: Iterable[Point]) -> str:
    """Returns a note on traces that cannot fill the table."""
    ends = next((point.ends for point in points if point.trace == domain.MSR_WINDOW), None)
    if ends is None or ends >= ENDS:
        return ""
    return (
        f" The writes of the {domain.MSR_WINDOW} have at most {ends:,} different ends in a "
        f"period: it cannot keep a table of {ENDS + 1:,} full, whatever ETI does."
    )


def _not_apart(points: Iterable[Point]) -> str:
    """Returns a note on stand-ins that fill the table regardless of their trace."""
    shares = [p.extents_table or 0.0 for p in points if p.trace == domain.SW1]
    if not shares or mean_row(shares)["value"] < FULL:
        return ""
    return (
        f" The stand-in of {domain.SW1} fills the table as those of MSR do: it tells nothing apart."
    )


def memory(points: Sequence[Point]) -> Numbers:
    """Returns the memory of the tables in Table 2. Models have smaller tables."""
    labels = {"eti": "ETI", MBF[0]: "MBF", MHF[0]: "MHF"}
    sizes = {p.line: p.memory_bytes for p in points if p.kind != domain.STAND_IN}
    return Numbers(
        key="memory",
        title="Memory",
        caption="Bytes at the sizes of Table 2, by construction: 2,048 extents of 4.5 bytes, four "
        "filters of 2,048 bits, 2,048 counters of 4 bits. Paper: ETI roughly 10 KB.",
        rows=[{"line": name, "bytes": sizes[key]} for key, name in labels.items() if key in sizes],
        columns=[LINE, Column("bytes", "bytes", count)],
    )


def sensitivity(values: Values) -> Numbers:
    traces = _traces(values, SENSITIVE.__contains__)
    return cross_table(
        "sensitivity",
        "Sensitivity to alpha and beta",
        "Change of the write amplification against alpha 100% and beta 4. Paper: less than 2%. "
        f"{PLACE}",
        {(line, t): change_text(values, t, "eti", line) for t in traces for line in SENSITIVE},
        _names(SENSITIVE),
        traces,
    )


def by_size(points: Sequence[Point]) -> Numbers:
    """Returns src2_0 at 1/32, at 1/8 and at the size of the paper's drive."""
    models = [p for p in at_levels(points) if p.kind == domain.STAND_IN]
    values, hot = by_seed(models), by_seed(models, "hot_share")
    names = {domain.SRC2_0: f"{domain.SRC2_0}, 1/{domain.SIZES_SHOWN[0]}"}
    names |= {
        name: name
        for name in (f"{domain.SRC2_0}, {domain.SIZE_NAMES[s]}" for s in domain.SIZES_SHOWN[1:])
    }
    rows: list[Row] = [
        {"size": name}
        | {line: waste_text(values[t, line]) for line in ("single", "eti") if (t, line) in values}
        | {"hot": percent(mean_row(hot[t, "eti"].values())["value"])}
        | {f"to {rival}": change_text(values, t, rival) for rival in RIVALS}
        for t, name in names.items()
        if (t, "eti") in values
    ]
    return Numbers(
        key="sizes",
        title="What the size of a model changes",
        caption=f"ETI against its rivals. {PLACE}",
        rows=rows if len(rows) > 1 else [],
        columns=[
            Column("", "size"),
            *(Column(LABELS[line], line) for line in ("single", "eti")),
            Column("writes hot to ETI", "hot"),
            *(Column(f"against {LABELS[rival]}", f"to {rival}") for rival in RIVALS),
        ],
    )


def full_size(points: Sequence[Point]) -> Numbers:
    """Returns the paper's size next to the size of all other stand-ins, at every skew."""
    lines, rows = ("eti", *RIVALS), []
    for skew in dict.fromkeys(p.skew for p in points if p.trace == domain.SRC2_0_WHOLE):
        values = by_seed(at_levels(points, skew=str(skew)))
        row: Row = {"skew": skew}
        for rival in RIVALS:
            row[f"to {rival}"] = change_text(values, domain.SRC2_0_WHOLE, rival)
        for line in lines:
            if seeds := values.get((domain.SRC2_0_WHOLE, line)):
                row[line] = waste_text(seeds)
        for rival in RIVALS:
            row[f"to {rival}, small"] = change_text(values, domain.SRC2_0, rival)
        rows.append(row)
    return Numbers(
        key="full-size",
        title="src2_0 at the paper's size, by skew",
        caption="Write amplification, and what ETI changes against each rival, beside the same in "
        f"the models that all else is of. Cold data scattered, 95% intervals. Paper: "
        f"{change(ON_SRC2_0)} at most.",
        rows=sorted(rows, key=lambda row: float(row["skew"])),
        columns=[
            Column("skew", "skew"),
            *(Column(LABELS[line], line) for line in lines),
            *(
                Column(f"against {LABELS[rival]}{of}", f"to {rival}{key}")
                for rival in RIVALS
                for of, key in (("", ""), (f", 1/{domain.SIZES_SHOWN[0]}", ", small"))
            ),
        ],
    )


def closed_forms(points: Sequence[Point]) -> Bars:
    """Returns the synthetic loads, with the values of closed forms as rules."""
    return Bars(
        key="closed-forms",
        title="Check against closed forms",
        axis="Write amplification",
        caption="ETI, MBF and MHF as in the paper. Greedy cleaning of many blocks in a steady "
        "state; hot/cold loads come near to it slowly. Whiskers: 95% intervals.",
        rows=_mean_rows(by_seed(point for point in points if point.kind == domain.SYNTHETIC)),
        style=".3f",
        labels=LABELS,
        rules={trace: _rules(mix) for trace, mix in domain.CHECKS.items()},
    )


def _rules(mix: tuple[float, float] | None) -> list[tuple[str, float]]:
    alpha = alpha_from_spare_factor(domain.SPARE)
    uniform = greedy(alpha, domain.PAGES_PER_BLOCK).write_amplification
    if mix is None:
        return [("greedy", uniform)]
    split = oracle_greedy_same_pool(alpha, domain.PAGES_PER_BLOCK, *mix, "cold")
    return [
        ("no error, greedy", split.write_amplification),
        ("uniform greedy", uniform),
        ("FIFO, mixed", fifo_mixed(alpha, *mix)),
    ]


def every_placement(values: Values) -> Numbers:
    return cross_table(
        "every-placement",
        "Every placement",
        f"Write amplification with greedy and cost-benefit cleaning. {PLACE}",
        _waste_cells(values),
        _names(EVERY),
        _traces(values, lambda line: line.endswith("-cb")),
        brief=False,
    )


COLUMNS = (
    *columns_of(
        trace="Trace", kind="Kind", line="Scheme", skew="Skew", cold="Cold data", drift="Moves"
    ),
    *columns_of(copies="Copies", unit="Period in"),
    Column("Seed", "seed", str),
    Column("Write amplification", "write_amplification", ratio),
    *columns_of(percent, hot_share="Hot", victim_valid="Valid in a victim"),
    Column("Memory", "memory_bytes", size),
    Column("Extents, mean", "extents_mean", lambda value: fixed(value, 1)),
    Column("Extents, most", "extents_most", count),
    Column("Volumes", "volumes", lambda value: fixed(value, 2)),
)
