"""The NCQ-aware buffer's figures and tables: the paper's figures, and the gains next to the stated
numbers, also under other conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from floatgate.papers.kit.exhibits import Column, Exhibit, Lines, Numbers, Row, columns_of
from floatgate.papers.kit.judging import judge
from floatgate.papers.kit.numbers import cells_across, digits, mean_rows, points_at
from floatgate.papers.kit.reproduce import Findings
from floatgate.results.values import count, measured, percent, ratio

from .claims import CLAIMS, OTHER_SIZES, PAPER, points
from .domain import AXES, DEPTH, MIB, OTHERS, PIN, PINNED, RECORDS, SCHEMES, SIZES, SMALLEST
from .reduce import IDLE, Point

LABELS = {key: label for key, (label, _) in (SCHEMES | PINNED).items()}
FIGURES = ("lru", "ncq", "ncq-counted", "fab", "bplru", "clc", "belady")
PINS = tuple(f"ncq{end}" for end in PIN)

INTERVALS = "Whiskers: 95% intervals over seeds."


def figures(points: Sequence[Point]) -> list[Exhibit]:
    main = at_levels(points)
    return [
        _figure("figure-3", "Figure 3: hit ratio", main, "hit_ratio", ".2%"),
        _figure("figure-4", "Figure 4: write bandwidth, MB/s", main, "write_mb_s", ".1f"),
        _figure("figure-5", "Figure 5: IOPS", main, "iops", ".1f"),
        _hit_gains(main),
        _over_spans(points),
        _waiting(points),
        _other_schemes(points),
    ]


def at_levels(points: Iterable[Point], **levels: str | None) -> list[Point]:
    return points_at(points, AXES, **levels)


def over(points: Iterable[Point], line: str = "lru") -> Callable[[Point], float | None]:
    """Returns a function for the difference in hits between a point and `line` with the same
    requests. The function returns None if `line` was not run."""
    base = {(p.trace, p.buffer_mib, p.seed): p.hit_ratio for p in points if p.line == line}

    def gain(point: Point) -> float | None:
        plain = base.get((point.trace, point.buffer_mib, point.seed))
        return None if plain is None else point.hit_ratio - plain

    return gain


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


def _hit_gains(main: Sequence[Point]) -> Lines:
    stated = [
        {"trace": name, "line": "paper", "buffer_mib": SMALLEST, "value": gain}
        for name, gain in PAPER["hit_ratio"].items()
    ]
    pinned = [p for p in main if p.line in PINS]
    return _over_sizes(
        "gain-hits",
        "Hits over LRU",
        "A difference of hit ratios, with what the paper states for 1 MB.",
        [*mean_rows(pinned, over(main), "trace", "line", "buffer_mib"), *stated],
        ".2%",
        {line: LABELS[line] for line in PINS} | {"paper": "The paper"},
    )


LAW = "1 \N{MINUS SIGN} (1 \N{MINUS SIGN} record / span) to the Q \N{MINUS SIGN} 1"


def law(name: str, span_mib: int) -> float:
    """Returns the share of commands whose record another queued command uses, too. With a full
    queue, counted pins turn this share into hits. To first order the share is
    (Q - 1) x record / span, which is too high where the queue covers much of the span."""
    return 1 - (1 - RECORDS[name] / (span_mib * MIB)) ** (DEPTH - 1)


def span_mib(point: Point) -> int:
    return int(point.span.split()[0])


def _over_spans(points: Sequence[Point]) -> Lines:
    rows: list[Row] = []
    for name in RECORDS:
        alike = [
            p for p in at_levels(points, span=None) if (p.trace, p.buffer_mib) == (name, SMALLEST)
        ]
        spans = sorted({span_mib(p) for p in alike})
        for mib, line in product(spans, ("ncq", "ncq-counted")):
            there = [p for p in alike if span_mib(p) == mib]
            chosen = [p for p in there if p.line == line]
            rows += mean_rows(chosen, over(there), "trace", "line", span_mib=span_mib)
        rows += [
            {"trace": name, "line": "law", "span_mib": mib, "value": law(name, mib)}
            for mib in spans
        ]
        stated = PAPER["hit_ratio"][name]
        rows.append({"trace": name, "line": "paper", "span_mib": None, "value": stated})
    return Lines(
        key="gain-span",
        title=f"Hits over LRU with {SMALLEST} MiB against the span",
        caption="A difference of hit ratios. The paper states no span. The law: the share of "
        f"commands for whose record another one is in a full queue. {INTERVALS}",
        rows=rows,
        style=".2%",
        labels={line: LABELS[line] for line in ("ncq", "ncq-counted")}
        | {"law": LAW, "paper": "The paper, 1 MB"},
        x="span_mib",
        x_title="Span, MiB",
        x_text="{:.0f}".format,
    )


def _waiting(points: Sequence[Point]) -> Numbers:
    there = at_levels(points, span=None)
    rows: list[Row] = []
    for name, mib in product(RECORDS, sorted({span_mib(p) for p in there})):
        chosen = [p for p in there if (p.trace, p.line, span_mib(p)) == (name, "ncq", mib)]
        cells = cells_across(chosen, "buffer_mib", "waiting", digits(1))
        rows.append({"trace": name, "span": f"{mib} MiB", **cells})
    return Numbers(
        key="waiting",
        title="Commands that wait, by the span and the size of the buffer",
        caption=f"With {LABELS['ncq']}, on average; the queue holds one more, which is served.",
        rows=rows,
        columns=[
            *columns_of(trace="Workload", span="Span"),
            *(Column(f"{mib} MiB", str(mib)) for mib in SIZES),
        ],
    )


def _other_schemes(runs: Sequence[Point]) -> Numbers:
    rows: list[Row] = []
    for name, alignment in product(RECORDS, ("records", "pages")):
        there = [p for p in at_levels(runs, alignment=alignment) if p.trace == name]
        for scheme, end in product(("lru", *OTHERS.values()), PIN):
            line = f"ncq{end}" if scheme == "lru" else f"ncq-{scheme}{end}"
            chosen = [p for p in there if p.line == line and p.buffer_mib in OTHER_SIZES]
            if cells := cells_across(chosen, "buffer_mib", over(there, scheme), points):
                levels = {"trace": name, "alignment": alignment}
                rows.append({**levels, "line": LABELS[line], **cells})
    return Numbers(
        key="other-schemes",
        title="Hits of pins in other schemes",
        caption="Over the same scheme without pins; means with 95% intervals.",
        rows=rows,
        columns=[
            *columns_of(trace="Workload", alignment="Alignment", line="Buffer"),
            *(Column(f"{mib} MiB", str(mib)) for mib in OTHER_SIZES),
        ],
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
    *columns_of(trace="Workload", line="Buffer"),
    Column("MiB", "buffer_mib", count),
    *columns_of(span="Span", speed="Speed", alignment="Alignment", arrivals="Arrivals"),
    Column("Otherwise", "otherwise"),
    Column("Seed", "seed", str),
    Column("Hit ratio", "hit_ratio", percent),
    *columns_of(measured, write_mb_s="MB/s", iops="IOPS"),
    Column("Busy", "busy", percent),
    Column("Waiting", "waiting", digits(1)),
    Column("Programs per page written", "write_amplification", ratio),
    *columns_of("{:.3f}".format, switch="Switch merges a command", partial="Partial", full="Full"),
)
