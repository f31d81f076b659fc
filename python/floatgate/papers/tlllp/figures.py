"""TLLLP's figures and tables: the paper's figures, figures over the parameters that the paper
leaves open, traffic, limits of excerpts, and numbers met at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from floatgate.papers.kit.claims import WAITING, Claim, Counts, Judged, Measured
from floatgate.papers.kit.columns import numbers, texts
from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Lines, Numbers, Row
from floatgate.papers.kit.experiment import seeds_of
from floatgate.papers.kit.numbers import mean_row, met_at_once, met_in_pairs, points_at, spread
from floatgate.papers.kit.reproduce import Findings
from floatgate.papers.kit.seeds import cells_across, grouped, mean_rows, spread_row, values_of
from floatgate.papers.kit.verdict_tables import by_level, verdicts_by
from floatgate.results.values import measured, percent

from .claims import NUMBERS
from .domain import CACHES, LINES
from .reduce import Point, backlogged

LABELS = {line.key: line.label for line in LINES}
MAIN = ("none", "dftl", "dftl-batch", "tlllp", "tlllp-prev", "belady", "ideal")
OTHERS = ("dftl", "tlllp", "tpftl", "sftl", "cdftl", "page_cache")
BARS = ("none", "dftl", "dftl-batch", "tlllp")

DEFAULTS = {"start": "fresh", "spare": "15%", "cache": "1/8", "arrivals": "one at a time"}

METRICS = {
    "hit_ratio": ("figure-2", "Figure 2: hit ratio", ",.1%"),
    "mean_us": ("figure-3", "Figure 3: mean response time", ",.4~r"),
    "stdev_us": ("figure-4", "Figure 4: standard deviation of response time", ",.4~r"),
}
"""Key, title and format of the paper's figures, by the drawn number."""
CAPTIONS = {
    "hit_ratio": "Share of map look-ups that the cache answers",
    "mean_us": "From arrival to completion, in µs",
    "stdev_us": "Over all requests, in µs",
}

STATED: Mapping[str, Sequence[tuple[str, float]]] = {
    "mean_us": (("the paper, on average", 0.12), ("the paper, Financial1", 0.1664)),
    "stdev_us": (("the paper, without Financial1", 0.15), ("the paper, Financial1", -0.10)),
}
"""Reductions that the paper prints, TLLLP against DFTL."""


def figures(points: Sequence[Point]) -> list[Exhibit]:
    starts = ("fresh", "aged")
    times = ("mean_us", "stdev_us")
    return [
        *_over_caches(points, MAIN, ""),
        *_over_caches(points, OTHERS, "-others"),
        *(_by_workload(points, metric, start) for start in starts for metric in times),
        *(_reductions(points, metric) for metric in times),
    ]


def at_levels(points: Iterable[Point], **levels: str) -> list[Point]:
    return points_at(points, DEFAULTS | levels)


def _over_caches(points: Sequence[Point], lines: Sequence[str], suffix: str) -> list[Exhibit]:
    if not {point.line for point in points} & set(lines) - {"none", "dftl", "tlllp"}:
        return []
    drawn = [p for p in points if p.line in lines]
    return [
        Lines(
            key=f"{key}{suffix}",
            title=f"{title}{', other schemes' if suffix else ''}",
            caption=f"{CAPTIONS[metric]}. Fresh drive, one request at a time; excerpts only, "
            "whose figures the paper prints no number of. Whiskers: 95% intervals, where requests "
            "are random.",
            rows=[
                {
                    "trace": row["trace"],
                    "line": row["line"],
                    "share": share,
                    metric: row["value"],
                    "half": row["half"],
                }
                for cache, share in CACHES.items()
                for row in mean_rows(at_levels(drawn, cache=cache), metric, "trace", "line")
            ],
            metric=metric,
            style=style,
            labels={line: LABELS[line] for line in lines},
            x="share",
            x_title="Map cache, of the map of the pages that are touched",
            x_text=lambda value: {share: text for text, share in CACHES.items()}.get(value, ""),
            top=1.0 if style.endswith("%") else None,
        )
        for metric, (key, title, style) in METRICS.items()
    ]


def _by_workload(points: Sequence[Point], metric: str, start: str) -> Bars:
    key, title, style = METRICS[metric]
    drawn = [p for p in points if p.line in BARS]
    return Bars(
        key=f"{key}-{start}",
        title=f"{title}, {start} drive",
        caption="By workload, in µs; 15% spare space, a cache of 1/8. Whiskers: 95% intervals.",
        rows=[
            {"arrivals": arrivals, **row}
            for arrivals in ("one at a time", "own times")
            for row in mean_rows(
                at_levels(drawn, start=start, arrivals=arrivals), metric, "trace", "line"
            )
        ],
        style=style,
        labels={line: LABELS[line] for line in BARS},
        panel="arrivals",
        row="trace",
    )


REDUCED = {"mean_us": "mean response time", "stdev_us": "standard deviation"}
BASELINES = {"dftl": "against DFTL, victim alone", "dftl-batch": "against DFTL, batches"}


def _reductions(points: Sequence[Point], metric: str) -> Bars:
    """Draws the savings of TLLLP next to the paper's numbers, on both drives."""
    rows: list[Row] = []
    for start in ("fresh", "aged"):
        for row, alike in grouped(at_levels(points, start=start), "trace"):
            tlllp = {p.seed: getattr(p, metric) for p in alike if p.line == "tlllp"}
            for baseline in BASELINES:
                dftl = [p for p in alike if p.line == baseline and p.seed in tlllp]
                saved = [1 - tlllp[p.seed] / getattr(p, metric) for p in dftl]
                if saved:
                    rows.append({"start": start, **row, "line": baseline, **mean_row(saved)})
    return Bars(
        key=f"saved-{metric.removesuffix('_us')}",
        title=f"Saved by TLLLP: {REDUCED[metric]}",
        caption=(
            "Share of DFTL's; one request at a time, 15% spare space, a cache of 1/8. Dashed: what "
            "the paper prints. Whiskers: 95% intervals."
        ),
        rows=rows,
        style=",.1%",
        labels=BASELINES,
        panel="start",
        row="trace",
        rules=dict.fromkeys(("fresh", "aged"), STATED[metric]),
    )


MOSTLY = 0.5
"""Share of the mean response time from which waiting counts as most of it."""


def tables(findings: Findings[Point]) -> list[Exhibit]:
    axes, numbers = findings.experiment, findings.of(*NUMBERS)
    together = [
        table
        for whole in findings.of("all-four")
        for table in (
            met_at_once(axes, whole, numbers, axes.axis("baseline")),
            met_in_pairs(whole, numbers),
        )
    ]
    by_axis = ("financial2", "baseline", "start", "spare", "cache", "arrivals")
    return [
        *together,
        *(by_level(axes, axis, findings.judged) for axis in by_axis),
        _by_wait(findings),
        _cold(findings.every),
        _traffic(findings.every),
    ]


def saturated(points: Sequence[Point]) -> list[str]:
    """Names traces whose requests come faster than the device can serve them, with some scheme."""
    return [
        f"{point.trace} comes faster than the device serves it: up to {point.queue_share:.0%} of "
        "the mean response time is waiting in a backlog, whose length grows with the trace."
        for point in _longest_waits(filter(backlogged, points))
    ]


def bursts(points: Sequence[Point]) -> list[str]:
    """Names traces that the filter of backlogs keeps although most of their response is waiting, on
    a drive that is not always at work."""
    waiting = (p for p in points if p.queue_share >= MOSTLY and not backlogged(p))
    return [
        f"{point.trace} comes in bursts: on a drive that is used {point.utilization:.0%} of the "
        f"time, up to {point.queue_share:.0%} of the mean response time is waiting for the queue. "
        "This is no backlog, and such points count; the table of verdicts by wait has them apart."
        for point in _longest_waits(waiting)
    ]


def _longest_waits(points: Iterable[Point]) -> list[Point]:
    """Returns the point of each trace that waits most."""
    return [max(alike, key=lambda p: p.queue_share) for _, alike in grouped(points, "trace")]


def _by_wait(findings: Findings[Point]) -> Numbers:
    """Returns the claims on times, by the largest wait of all the runs that a point compares."""

    def waiting(low: float, high: float) -> Callable[[Measured], Counts]:
        return lambda measured: Counts.of(
            [row for row in measured.rows if not row["rejected"] and low <= row["wait"] < high]
        )

    return verdicts_by(
        "by-wait",
        "Verdicts by how much of the response time is waiting",
        "Of the run, of all that a point compares, that waits for the queue the most. What "
        "is left out of verdicts is left out here; this table was added after results were seen.",
        [_with_waits(findings, *pair) for pair in findings.judged if "arrivals" in pair[0].axes],
        {
            f"under {WAITING:.0%}": waiting(0.0, WAITING),
            f"{WAITING:.0%} to {MOSTLY:.0%}": waiting(WAITING, MOSTLY),
            f"{MOSTLY:.0%} or more": waiting(MOSTLY, math.inf),
        },
    )


def _with_waits(
    findings: Findings[Point], claim: Claim[Point], measured: Measured
) -> Judged[Point]:
    """Adds the largest share of waiting in a mean response time to each point of a claim."""

    def wait(row: Row) -> float:
        levels = {axis.key: row.get(axis.key, axis.default) for axis in findings.experiment.axes}
        runs = (
            findings.experiment.run_of(levels, workload, line, seed)
            for workload, line, seed in product(claim.workloads, claim.lines, seeds_of(True))
        )
        return max(findings.points[run].queue_share for run in runs if run in findings.points)

    return claim, replace(measured, rows=[row | {"wait": wait(row)} for row in measured.rows])


def _cold(points: Sequence[Point]) -> Numbers:
    """Returns the possible hits of a cache that begins empty, next to DFTL's hits."""
    percent = "{:.1%}".format
    by_cache = [p for cache in CACHES for p in at_levels(points, cache=cache) if p.line == "dftl"]
    hits = {
        row["trace"]: cells_across(alike, "cache", "hit_ratio", percent)
        for row, alike in grouped(by_cache, "trace")
    }
    return Numbers(
        key="cold",
        title="What a cold excerpt can have",
        caption="Look-ups of pages that were looked up before: without a prefetch, a cache that "
        "begins empty has no more hits. Beside them DFTL's by size of the cache; fresh drive, 15% "
        "spare space. What filling the drive has left in a large cache comes on top.",
        rows=[
            {**row, "most": spread(values_of(alike, "repeated"), percent), **hits[row["trace"]]}
            for row, alike in grouped((p for p in at_levels(points) if p.line == "dftl"), "trace")
        ],
        columns=[
            *texts(trace="Trace", most="Looked up before"),
            *(Column(f"DFTL, {cache} of the map", cache) for cache in CACHES),
        ],
    )


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
    numbers = dict.fromkeys(TRAFFIC, "{:.3f}".format)
    return Numbers(
        key="traffic",
        title="Data and translation traffic",
        caption=(
            "Flash operations per page access of the host; 15% spare space, a cache of 1/8; means "
            "with 95% intervals where anything is random."
        ),
        rows=[
            {"trace": row["trace"], "start": start, "line": LABELS[row["line"]]}
            | spread_row(alike, numbers)
            for start in ("fresh", "aged")
            for row, alike in grouped(at_levels(points, start=start), "trace", "line")
            if row["line"] in BARS
        ],
        columns=[
            *texts(trace="Trace", start="Start", line="Scheme"),
            *(Column(title, name) for name, title in TRAFFIC.items()),
        ],
        brief=False,
    )


COLUMNS = (
    *texts(trace="Trace", line="Scheme", start="Start", spare="Spare space"),
    *texts(cache="Cache, of the map", arrivals="Arrivals"),
    Column("Seed", "seed", str),
    Column("Hit ratio", "hit_ratio", percent),
    *numbers(measured, mean_us="Mean, µs", stdev_us="Std dev, µs"),
    Column("Looked up before", "repeated", percent),
    Column("Map reads an access", "map_reads", "{:.3f}".format),
    Column("Map programs an access", "map_programs", "{:.3f}".format),
    *numbers(percent, prefetch_used="Prefetched used", cleaning_time="Cleaning, of the mean"),
    *numbers(percent, queue_share="Waiting, of the mean", utilization="Utilization"),
)
