"""TLLLP's figures: the paper's three, and figures over the parameters that the paper leaves
open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Lines, Row
from floatgate.papers.kit.numbers import by_trace_and_line, mean_row, points_at
from floatgate.results.values import measured, percent

from .domain import CACHES, LINES
from .reduce import Point

LABELS = {line.key: line.label for line in LINES}
MAIN = ("none", "dftl", "dftl-batch", "tlllp", "tlllp-prev", "belady", "ideal")
OTHERS = ("dftl", "tlllp", "tpftl", "sftl", "cdftl", "page_cache")
BARS = ("none", "dftl", "dftl-batch", "tlllp")

DEFAULTS = {"start": "fresh", "spare": "15%", "cache": "1/8", "arrivals": "one at a time"}

METRICS = (
    ("figure-2", "Figure 2: hit ratio", "Share of map look-ups that the cache answers", ",.1%"),
    ("figure-3", "Figure 3: mean response time", "From arrival to completion, in µs", ",.4~r"),
    (
        "figure-4",
        "Figure 4: standard deviation of response time",
        "Over all requests, in µs",
        ",.4~r",
    ),
)
FIELDS = {"figure-2": "hit_ratio", "figure-3": "mean_us", "figure-4": "stdev_us"}

STATED: Mapping[str, Sequence[tuple[str, float]]] = {
    "mean_us": (("the paper, on average", 0.12), ("the paper, Financial1", 0.1664)),
    "stdev_us": (("the paper, without Financial1", 0.15), ("the paper, Financial1", -0.10)),
}
"""Reductions that the paper prints, TLLLP against DFTL."""


def figures(points: Sequence[Point]) -> list[Exhibit]:
    found = [*_over_caches(points, MAIN, ""), *_over_caches(points, OTHERS, "-others")]
    for start in ("fresh", "aged"):
        found += _by_workload(points, start)
    found += [_reductions(points, metric, title) for metric, title in _REDUCED.items()]
    return found


def place_of(points: Iterable[Point], **place: str) -> list[Point]:
    return points_at(points, DEFAULTS | place)


def means(points: Iterable[Point], metric: str) -> dict[tuple[str, str], Row]:
    return {key: mean_row(seeds) for key, seeds in by_trace_and_line(points, metric).items()}


def _over_caches(points: Sequence[Point], lines: Sequence[str], suffix: str) -> list[Exhibit]:
    known = {point.line for point in points}
    if not known & set(lines) - {"none", "dftl", "tlllp"}:
        return []
    found: list[Exhibit] = []
    for key, title, caption, style in METRICS:
        rows = [
            {
                "trace": trace,
                "line": line,
                "share": share,
                FIELDS[key]: row["value"],
                "half": row["half"],
            }
            for cache, share in CACHES.items()
            for (trace, line), row in means(place_of(points, cache=cache), FIELDS[key]).items()
            if line in lines
        ]
        chart = Lines(
            key=f"{key}{suffix}",
            title=f"{title}{', other schemes' if suffix else ''}",
            caption=f"{caption}. Fresh drive, one request at a time; excerpts only, whose figures "
            "the paper prints no number of. Whiskers: 95% intervals, where requests are random.",
            rows=rows,
            metric=FIELDS[key],
            style=style,
            labels={line: LABELS[line] for line in lines},
            x="share",
            x_title="Map cache, of the map of the pages that are touched",
            x_text=lambda value: {share: text for text, share in CACHES.items()}.get(value, ""),
            top=1.0 if style.endswith("%") else None,
        )
        found.append(chart)
    return found


def _by_workload(points: Sequence[Point], start: str) -> list[Exhibit]:
    found: list[Exhibit] = []
    for key, title, _, style in METRICS[1:]:
        rows = [
            {"arrivals": arrivals, "trace": trace, "line": line, **row}
            for arrivals in ("one at a time", "own times")
            for (trace, line), row in means(
                place_of(points, start=start, arrivals=arrivals), FIELDS[key]
            ).items()
            if line in BARS
        ]
        chart = Bars(
            key=f"{key}-{start}",
            title=f"{title}, {start} drive",
            caption="By workload, in µs; 15% spare space, a cache of 1/8. Whiskers: 95% intervals.",
            rows=rows,
            style=style,
            labels={line: LABELS[line] for line in BARS},
            panel="arrivals",
            row="trace",
        )
        found.append(chart)
    return found


_REDUCED = {"mean_us": "mean response time", "stdev_us": "standard deviation"}
BASELINES = {"dftl": "against DFTL, victim alone", "dftl-batch": "against DFTL, batches"}


def _reductions(points: Sequence[Point], metric: str, title: str) -> Exhibit:
    """Draws the savings of TLLLP next to the paper's numbers, on both drives."""
    rows: list[Row] = []
    for start in ("fresh", "aged"):
        chosen = place_of(points, start=start)
        by_seed = {(p.trace, p.line, p.seed): getattr(p, metric) for p in chosen}
        traces = list(dict.fromkeys(p.trace for p in chosen))
        for trace in traces:
            for baseline in BASELINES:
                saved = [
                    1 - by_seed[trace, "tlllp", p.seed] / getattr(p, metric)
                    for p in chosen
                    if (p.trace, p.line) == (trace, baseline)
                    and (trace, "tlllp", p.seed) in by_seed
                ]
                if saved:
                    rows.append(
                        {"start": start, "trace": trace, "line": baseline, **mean_row(saved)}
                    )
    return Bars(
        key=f"saved-{metric.removesuffix('_us')}",
        title=f"Saved by TLLLP: {title}",
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


COLUMNS = (
    Column("Trace", "trace"),
    Column("Scheme", "line"),
    Column("Start", "start"),
    Column("Spare space", "spare"),
    Column("Cache, of the map", "cache"),
    Column("Arrivals", "arrivals"),
    Column("Seed", "seed", str),
    Column("Hit ratio", "hit_ratio", percent),
    Column("Mean, µs", "mean_us", measured),
    Column("Std dev, µs", "stdev_us", measured),
    Column("Looked up before", "repeated", percent),
    Column("Map reads an access", "map_reads", "{:.3f}".format),
    Column("Map programs an access", "map_programs", "{:.3f}".format),
    Column("Prefetched used", "prefetch_used", percent),
    Column("Cleaning, of the mean", "cleaning_time", percent),
    Column("Waiting, of the mean", "queue_share", percent),
    Column("Utilization", "utilization", percent),
)
