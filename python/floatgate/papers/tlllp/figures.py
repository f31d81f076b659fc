"""TLLLP's figures and tables: the paper's figures, the readings of its text, and traffic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Lines, Numbers, Row, columns_of
from floatgate.papers.kit.numbers import grouped, mean_row, mean_rows, points_at, text_row
from floatgate.papers.kit.reproduce import Findings
from floatgate.papers.kit.verdict_tables import by_level, met_at_once
from floatgate.results.values import measured, percent

from .claims import NUMBERS
from .domain import AXES, CACHES, LINES
from .reduce import BACKLOG, Point

LABELS = {line.key: line.label for line in LINES}
MAIN = ("none", "dftl", "dftl-batch", "tlllp", "belady", "ideal")
BARS = ("none", "dftl", "dftl-batch", "tlllp")
STARTS = ("fresh", "aged")
BASELINES = {"dftl": "against DFTL, victim alone", "dftl-batch": "against DFTL, batches"}

SAVED: Mapping[str, tuple[str, str, Sequence[tuple[str, float]]]] = {
    "mean_us": (
        "figure-3",
        "Figure 3: mean response time saved by TLLLP",
        (("the paper, on average", 0.12), ("the paper, Financial1", 0.1664)),
    ),
    "stdev_us": (
        "figure-4",
        "Figure 4: standard deviation of response times saved by TLLLP",
        (("the paper, without Financial1", 0.15), ("the paper, Financial1", -0.10)),
    ),
}
"""Key, title and printed reductions of the paper's figures, by the drawn number."""

READ_AS: Mapping[str, Mapping[str, str]] = {
    "as built": {},
    "prefetch beside the missed": {"prefetch": "beside the missed"},
    "least recent page": {"victim": "least recent"},
    "both": {"prefetch": "beside the missed", "victim": "least recent"},
    "most visited page": {"victim": "most visited"},
    "entries leave": {"evict": "entries"},
}
"""The readings that are compared, by their names."""


def at_levels(points: Iterable[Point], **levels: str) -> list[Point]:
    return points_at(points, AXES, **levels)


def figures(points: Sequence[Point]) -> list[Exhibit]:
    return [figure_2(points), *(_saved(points, metric) for metric in SAVED), _readings(points)]


def figure_2(points: Sequence[Point]) -> Lines:
    drawn = [point for point in points if point.line in MAIN]
    return Lines(
        key="figure-2",
        title="Figure 2: hit ratio",
        caption="Share of map look-ups that the cache answers. Fresh drive, one request at a time. "
        "Whiskers: 95% intervals, where requests are random.",
        rows=[
            {"trace": row["trace"], "line": row["line"], "share": share}
            | {"hit_ratio": row["value"], "half": row["half"]}
            for cache, share in CACHES.items()
            for row in mean_rows(at_levels(drawn, cache=cache), "hit_ratio", "trace", "line")
        ],
        metric="hit_ratio",
        style=",.1%",
        labels={line: LABELS[line] for line in MAIN},
        x="share",
        x_title="Map cache, of the map of the pages that are touched",
        x_text=lambda value: {share: text for text, share in CACHES.items()}.get(value, ""),
        top=1.0,
    )


def _pairs(points: Iterable[Point], tlllp: Iterable[Point]) -> Iterable[tuple[Row, list[Row]]]:
    """Yields each trace and baseline with pairs of runs that have the same seed."""
    by_seed = {(point.trace, point.seed): point for point in tlllp if point.line == "tlllp"}
    for row, alike in grouped((p for p in points if p.line in BASELINES), "trace", "line"):
        known = [(by_seed.get((point.trace, point.seed)), point) for point in alike]
        pairs = [{"tlllp": ours, "dftl": base} for ours, base in known if ours]
        if pairs:
            yield row, pairs


def _saved(points: Sequence[Point], metric: str) -> Bars:
    """Draws the savings of TLLLP next to the paper's numbers, on both drives."""
    key, title, printed = SAVED[metric]
    return Bars(
        key=key,
        title=title,
        caption="Share of DFTL's; one request at a time, 15% spare space, a cache of 1/8. Dashed: "
        "what the paper prints. Whiskers: 95% intervals.",
        rows=[
            {"start": start, **row}
            | mean_row(1 - getattr(p["tlllp"], metric) / getattr(p["dftl"], metric) for p in pairs)
            for start in STARTS
            for alike in (at_levels(points, start=start),)
            for row, pairs in _pairs(alike, alike)
        ],
        style=",.1%",
        labels=BASELINES,
        panel="start",
        row="trace",
        rules=dict.fromkeys(STARTS, printed),
    )


def _readings(points: Sequence[Point]) -> Bars:
    """Draws the hits that TLLLP gains on a fresh drive, by how its text is read."""
    base = [point for point in at_levels(points) if point.line == "dftl"]
    return Bars(
        key="readings",
        title="Points of hit ratio over DFTL, by how the text is read",
        caption="Fresh drive, 15% spare space, a cache of 1/8. Whiskers: 95% intervals.",
        rows=[
            {"trace": row["trace"], "line": name}
            | mean_row(100 * (p["tlllp"].hit_ratio - p["dftl"].hit_ratio) for p in pairs)
            for name, levels in READ_AS.items()
            for row, pairs in _pairs(base, at_levels(points, **levels))
        ],
        style=",.1f",
        labels={name: name for name in READ_AS},
        panel=None,
        row="trace",
    )


def tables(findings: Findings[Point]) -> list[Exhibit]:
    axes, parts = findings.experiment, findings.of(*NUMBERS)
    together = findings.of("all-four")
    columns = axes.axis("baseline")
    return [
        *(met_at_once(axes, whole, parts, columns) for whole in together),
        *(by_level(axes, axis.key, findings.judged) for axis in axes.axes),
        _traffic(findings.every),
    ]


def waits(points: Sequence[Point]) -> list[str]:
    """Names the longest backlog of each trace, and its longest wait in bursts, which the filter of
    backlogs keeps."""
    kinds = {
        True: "{trace} comes faster than the device serves it: up to {share:.0%} of the mean "
        "response time is waiting in a backlog, whose length grows with the trace.",
        False: "{trace} comes in bursts: on a drive that is used {used:.0%} of the time, up to "
        "{share:.0%} of the mean response time is waiting for the queue. Such points count.",
    }
    found = []
    for is_backlog, text in kinds.items():
        waiting = (p for p in points if BACKLOG.rejects(p) == is_backlog)
        for row, alike in grouped(waiting, "trace"):
            most = max(alike, key=lambda point: point.queue_share)
            if is_backlog or most.queue_share >= MOSTLY:
                found.append(text.format(**row, share=most.queue_share, used=most.utilization))
    return found


MOSTLY = 0.5
"""Minimum share of waiting that counts as most of the mean response time."""

TRAFFIC = {
    "data_reads": "data reads",
    "data_programs": "data programs",
    "data_copies": "data copies",
    "map_reads": "map reads",
    "map_programs": "map programs",
    "map_copies": "map copies",
}


def _traffic(points: Sequence[Point]) -> Numbers:
    """Returns flash operations per page access of the host, for data and translation separately."""
    formats = dict.fromkeys(TRAFFIC, "{:.3f}".format)
    return Numbers(
        key="traffic",
        title="Data and translation traffic",
        caption="Flash operations per page access of the host; 15% spare space, a cache of 1/8; "
        "means with 95% intervals where anything is random.",
        rows=[
            {"trace": row["trace"], "start": start, "line": LABELS[row["line"]]}
            | text_row(alike, formats)
            for start in STARTS
            for row, alike in grouped(at_levels(points, start=start), "trace", "line")
            if row["line"] in BARS
        ],
        columns=[
            *columns_of(trace="Trace", start="Start", line="Scheme"),
            *(Column(title, name) for name, title in TRAFFIC.items()),
        ],
        brief=False,
    )


COLUMNS = (
    *columns_of(trace="Trace", line="Scheme", start="Start", spare="Spare space"),
    *columns_of(cache="Cache, of the map", arrivals="Arrivals", times="Flash times"),
    *columns_of(fetch="History", prefetch="Prefetch", victim="Victim", evict="What leaves"),
    Column("Seed", "seed", str),
    Column("Hit ratio", "hit_ratio", percent),
    *columns_of(measured, mean_us="Mean, µs", stdev_us="Std dev, µs"),
    Column("Looked up before", "repeated", percent),
    *columns_of("{:.3f}".format, map_reads="Map reads an access", map_programs="Map programs"),
    *columns_of(percent, prefetch_used="Prefetched used", cleaning_time="Cleaning, of the mean"),
    *columns_of(percent, queue_share="Waiting, of the mean", utilization="Utilization"),
)
