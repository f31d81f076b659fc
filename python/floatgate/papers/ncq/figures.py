"""The NCQ-aware buffer's figures and tables: the paper's figures, its gains next to the stated
numbers, and the parameters that change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean

from floatgate.papers.kit.claims import change
from floatgate.papers.kit.columns import Format, digits, numbers, texts
from floatgate.papers.kit.exhibits import Column, Exhibit, Lines, Numbers, Row
from floatgate.papers.kit.judging import judge
from floatgate.papers.kit.numbers import mean_row, points_at
from floatgate.papers.kit.reproduce import Findings
from floatgate.papers.kit.seeds import Key, cells_across, grouped, mean_rows, spread_row, values_of
from floatgate.results.values import count, measured, percent, ratio

from .claims import CLAIMS, PAPER, points
from .domain import AXES, CLAIMED, DEPTH, GAPS, MIB, READINGS, RECORDS, SCHEMES, SIZES, SMALLEST
from .reduce import IDLE, Point

LABELS = {key: label for key, (label, _) in SCHEMES.items()}
FIGURES = ("lru", "ncq", "fab", "bplru", "clc", "belady")
PINS = tuple(READINGS.values())

PLACE = ("span", "speed", "alignment", "arrivals", "otherwise")
DEFAULTS = {axis.key: axis.default for axis in AXES if axis.key in PLACE}

INTERVALS = "Whiskers: 95% intervals over seeds."


def figures(points: Sequence[Point]) -> list[Exhibit]:
    main = at_levels(points)
    return [
        _figure("figure-3", "Figure 3: hit ratio", main, "hit_ratio", ".2%"),
        _figure("figure-4", "Figure 4: write bandwidth, MB/s", main, "write_mb_s", ".1f"),
        _figure("figure-5", "Figure 5: IOPS", main, "iops", ".1f"),
        _hit_gains(main),
        _rate_gains(main),
        _over_spans(points),
    ]


def at_levels(points: Iterable[Point], **levels: str) -> list[Point]:
    return points_at(points, DEFAULTS | levels)


def over_lru(points: Sequence[Point], metric: str) -> Callable[[Point], float | None]:
    """Returns the function that gives a point's number relative to LRU with the same requests, if
    LRU was run: a difference for hits, otherwise a relative change."""
    base = {(p.trace, p.buffer_mib, p.seed): getattr(p, metric) for p in points if p.line == "lru"}

    def gain(point: Point) -> float | None:
        ours, lru = getattr(point, metric), base.get((point.trace, point.buffer_mib, point.seed))
        if lru is None:
            return None
        return float(ours - lru if metric == "hit_ratio" else ours / lru - 1)

    return gain


def pinned(points: Iterable[Point]) -> list[Point]:
    return [p for p in points if p.line in PINS]


def _over_sizes(
    key: str, title: str, caption: str, rows: list[Row], style: str, labels: Mapping[str, str]
) -> Lines:
    return Lines(
        key=key,
        title=title,
        caption=f"{caption} {INTERVALS}",
        rows=rows,
        style=style,
        labels=labels,
        x="buffer_mib",
        x_title="Buffer, MiB",
        x_text="{:.0f}".format,
    )


def _figure(key: str, title: str, main: Sequence[Point], metric: str, style: str) -> Lines:
    drawn = [p for p in main if p.line in FIGURES]
    return _over_sizes(
        key,
        title,
        "The bound is Belady's on blocks, which here are always whole.",
        mean_rows(drawn, metric, "trace", "line", "buffer_mib"),
        style,
        {line: LABELS[line] for line in FIGURES},
    )


def _gain_rows(main: Sequence[Point], metric: str) -> list[Row]:
    return mean_rows(pinned(main), over_lru(main, metric), "trace", "line", "buffer_mib")


def _hit_gains(main: Sequence[Point]) -> Lines:
    stated = [
        {"trace": name, "line": "paper", "buffer_mib": SMALLEST, "value": gain}
        for name, gain in PAPER["hit_ratio"].items()
    ]
    return _over_sizes(
        "gain-hits",
        "Hits over LRU",
        "A difference of hit ratios, with what the paper states for 1 MB.",
        [*_gain_rows(main, "hit_ratio"), *stated],
        ".2%",
        {line: LABELS[line] for line in PINS} | {"paper": "The paper"},
    )


def _rate_gains(main: Sequence[Point]) -> Lines:
    named = {"write_mb_s": "The paper, bandwidth, up to", "iops": "The paper, IOPS, up to"}
    stated = [
        {"trace": name, "line": metric, "buffer_mib": None, "value": gain}
        for metric in named
        for name, gain in PAPER[metric].items()
    ]
    return _over_sizes(
        "gain-bandwidth",
        "Bandwidth over LRU",
        "A relative change; that of IOPS is the same, as all records are of one size.",
        [*_gain_rows(main, "write_mb_s"), *stated],
        ".2%",
        {line: LABELS[line] for line in PINS} | named,
    )


LAW = "1 \N{MINUS SIGN} (1 \N{MINUS SIGN} record / span) to the Q \N{MINUS SIGN} 1"


def law(name: str, span_mib: int) -> float:
    """Returns the share of commands for whose record another command is in the queue, if the queue
    is full and the record stays until then. Pins find this share. To first order it is (Q - 1) x
    record / span, which is too high where the queue covers much of the span."""
    return 1 - (1 - RECORDS[name] / (span_mib * MIB)) ** (DEPTH - 1)


def _over_spans(points: Sequence[Point]) -> Lines:
    rows: list[Row] = []
    for name, span in product(RECORDS, dict.fromkeys(p.span for p in points)):
        levels = [p for p in at_levels(points, span=span) if p.trace == name]
        gain, mib = over_lru(levels, "hit_ratio"), int(span.split()[0])
        seeds = {
            (row["line"], row["buffer_mib"]): gains
            for row, alike in grouped(pinned(levels), "line", "buffer_mib")
            if (gains := values_of(alike, gain))
        }
        sizes = [seeds["ncq", size] for size in CLAIMED if ("ncq", size) in seeds]
        drawn = {line: seeds.get((line, SMALLEST)) for line in ("ncq", "ncq-arrival")}
        drawn["most"] = max(sizes, key=fmean, default=None)
        rows += [
            {"trace": name, "line": line, "span_mib": mib, **mean_row(gains)}
            for line, gains in drawn.items()
            if gains
        ]
        rows.append({"trace": name, "line": "law", "span_mib": mib, "value": law(name, mib)})
    for name, stated in PAPER["hit_ratio"].items():
        rows.append({"trace": name, "line": "paper", "span_mib": None, "value": stated})
    return Lines(
        key="gain-span",
        title="Hits over LRU against the span",
        caption="A difference of hit ratios. The paper states no span. The law: the share of "
        f"commands for whose record another one is in a full queue. {INTERVALS}",
        rows=sorted(rows, key=lambda row: list(RECORDS).index(row["trace"])),
        style=".2%",
        labels={
            "ncq": f"NCQ-aware LRU, {SMALLEST} MiB",
            "most": f"NCQ-aware LRU, the most of {SMALLEST} to {CLAIMED[-1]} MiB",
            "ncq-arrival": f"{LABELS['ncq-arrival']}, {SMALLEST} MiB",
            "law": LAW,
            "paper": "The paper, 1 MB",
        },
        x="span_mib",
        x_title="Span, MiB",
        x_text="{:.0f}".format,
    )


def tables(runs: Sequence[Point]) -> list[Exhibit]:
    """Returns the parameters that change the gains, the speeds of the drives, and the merges."""
    return [
        _by_size(
            runs,
            ("hits", "Hits over LRU, in points", OVER),
            lambda at: over_lru(at, "hit_ratio"),
            lambda gain: points(gain).removesuffix(" points"),
        ),
        _by_size(
            runs,
            ("bandwidth", "Bandwidth over LRU", OVER),
            lambda at: over_lru(at, "write_mb_s"),
            change,
        ),
        _by_size(
            runs,
            ("waiting", "Commands that wait", WAITING),
            lambda _: lambda run: run.waiting,
            digits(1),
        ),
        _speeds(runs),
        _merges(runs),
    ]


OVER = "Over LRU with the same drive, requests and size; means with 95% intervals."
WAITING = "On average; the queue holds one more, which is served. What waits outside is left out."
SETUPS = {"span": "span of {}", "alignment": "aligned to {}", "arrivals": "{} gaps"}
"""Name of a level on an axis, if it needs more than its key."""


def _by_size(
    runs: Sequence[Point],
    named: tuple[str, str, str],
    number_at: Callable[[Sequence[Point]], Key],
    form: Format,
) -> Numbers:
    """Returns a number by size of the buffer, with one parameter changed at a time. `named` are
    key, title and caption. `number_at` returns the number of a run among the runs of a setup."""
    setups: list[tuple[str, str, dict[str, str]]] = [
        (line, "as assumed" if line == "ncq" else LABELS[line], {}) for line in PINS
    ]
    setups += [
        ("ncq", SETUPS.get(axis.key, "{}").format(level.key), {axis.key: level.key})
        for axis in AXES
        if axis.key in PLACE
        for level in axis.levels
        if level.key != axis.default
    ]
    rows: list[Row] = []
    for name, (line, label, levels) in product(RECORDS, setups):
        setup = sorted(at_levels(runs, **levels), key=lambda p: p.buffer_mib)
        chosen = [p for p in setup if (p.trace, p.line) == (name, line)]
        if cells := cells_across(chosen, "buffer_mib", number_at(setup), form):
            rows.append({"trace": name, "setup": label, **cells})
    key, title, caption = named
    columns = [Column(f"{mib} MiB", str(mib)) for mib in SIZES]
    return Numbers(
        key=key,
        title=title,
        caption=caption,
        rows=rows,
        columns=[Column("Workload", "trace"), Column("Setup", "setup"), *columns],
    )


def offered(name: str) -> float:
    """Returns the MB/s that a workload demands."""
    return RECORDS[name] / 1e6 / (float(GAPS[name].removesuffix("ms")) / 1e3)


def _alike(runs: Sequence[Point], name: str, line: str, mib: int, **levels: str) -> list[Point]:
    """Returns the runs of one buffer on one workload, which differ in their seeds alone."""
    of = (name, line, mib)
    return [p for p in at_levels(runs, **levels) if (p.trace, p.line, p.buffer_mib) == of]


def _speeds(runs: Sequence[Point]) -> Numbers:
    """Compares the speed of the drives with the demand of the workloads."""
    formats: dict[str, Format] = {
        "write_mb_s": "{:.1f}".format,
        "busy": percent,
        "waiting": "{:.1f}".format,
        "write_amplification": ratio,
    }
    speeds = [level.key for axis in AXES if axis.key == "speed" for level in axis.levels]
    rows: list[Row] = []
    for name, alignment, speed in product(RECORDS, ("records", "pages"), speeds):
        lru = _alike(runs, name, "lru", SMALLEST, speed=speed, alignment=alignment)
        if cells := spread_row(lru, formats):
            levels = {"trace": name, "alignment": alignment, "speed": speed}
            rows.append({**levels, "offered": offered(name), **cells})
    return Numbers(
        key="speeds",
        title="How fast the drives are",
        caption=f"With LRU, {SMALLEST} MiB and a span of {DEFAULTS['span']}; means with 95% "
        "intervals.",
        rows=rows,
        columns=[
            *texts(trace="Workload", alignment="Alignment", speed="Speed"),
            Column("Offered, MB/s", "offered", measured),
            *texts(write_mb_s="Written, MB/s", busy="Busy, of the time"),
            *texts(waiting="Commands that wait", write_amplification="Programs per page written"),
        ],
        brief=False,
    )


def _merges(runs: Sequence[Point]) -> Numbers:
    formats: dict[str, Format] = dict.fromkeys(("switch", "partial", "full"), "{:.3f}".format)
    formats["write_amplification"] = ratio
    sides = (RECORDS, ("records", "pages"), ("as assumed", "FAST"))
    rows: list[Row] = []
    for name, alignment, ftl, line, mib in product(
        *sides, ("lru", "ncq"), (CLAIMED[0], CLAIMED[-1])
    ):
        alike = _alike(runs, name, line, mib, alignment=alignment, otherwise=ftl)
        if cells := spread_row(alike, formats):
            label = "BAST" if ftl == "as assumed" else ftl
            levels = {"trace": name, "alignment": alignment, "ftl": label, "mib": mib}
            rows.append({**levels, "line": LABELS[line], **cells})
    return Numbers(
        key="merges",
        title="Merges a command",
        caption=f"A span of {DEFAULTS['span']}, {DEFAULTS['speed']}; means with 95% intervals.",
        rows=rows,
        columns=[
            *texts(trace="Workload", alignment="Alignment", ftl="FTL", line="Buffer"),
            Column("MiB", "mib", count),
            *texts(switch="Switch", partial="Partial", full="Full"),
            Column("Programs per page written", "write_amplification"),
        ],
        brief=False,
    )


def asked_with(findings: Findings[Point], key: str, title: str, *axes: str) -> Numbers:
    """Returns every claim at the middle of its domain with other levels on these axes."""
    rows: list[Row] = []
    points: dict[str, None] = {}
    for claim in CLAIMS:
        other = replace(claim, axes=axes)
        cases = {
            ", ".join(row[axis] for axis in axes): row["case"]
            + (" (left out)" if row["rejected"] else "")
            for row in judge(
                findings.experiment, other, findings.points, findings.lab.full, IDLE
            ).rows
        }
        points |= dict.fromkeys(cases)
        rows.append({"claim": claim.text, **cases})
    return Numbers(
        key=key,
        title=title,
        caption="At the middle of what else is left open; what the filter leaves out is marked.",
        rows=rows if len(points) > 1 else [],
        columns=[Column("Claim", "claim"), *(Column(levels, levels) for levels in points)],
        brief=False,
    )


COLUMNS = (
    *texts(trace="Workload", line="Buffer"),
    Column("MiB", "buffer_mib", count),
    *texts(span="Span", speed="Speed", alignment="Alignment", arrivals="Arrivals"),
    Column("Otherwise", "otherwise"),
    Column("Seed", "seed", str),
    Column("Hit ratio", "hit_ratio", percent),
    *numbers(measured, write_mb_s="MB/s", iops="IOPS"),
    Column("Busy", "busy", percent),
    Column("Waiting", "waiting", digits(1)),
    Column("Programs per page written", "write_amplification", ratio),
    *numbers("{:.3f}".format, switch="Switch merges a command", partial="Partial", full="Full"),
)
