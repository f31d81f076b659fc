"""TLLLP's figures: the paper's three, and what it leaves open beside the numbers that it prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from floatgate.intervals import mean_and_half_width
from floatgate.report.values import measured, percent

from .paper import Bars, Column, Exhibit, Lines, Numbers, Row
from .tlllp_runs import CACHES, LINES, Point

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
"""What the paper prints of a reduction, TLLLP against DFTL."""


def exhibits(points: Sequence[Point]) -> list[Exhibit]:
    """All figures that there are runs for."""
    found = [*_over_caches(points, MAIN, ""), *_over_caches(points, OTHERS, "-others")]
    for start in ("fresh", "aged"):
        found += _by_workload(points, start)
    found += [_reductions(points, metric, title) for metric, title in _REDUCED.items()]
    return [*found, _traffic(points)]


def place_of(points: Iterable[Point], **place: str) -> list[Point]:
    """The points at the defaults, but for what is named; where it cannot matter, they are."""
    wanted = DEFAULTS | place
    return [
        point
        for point in points
        if all(getattr(point, axis) in (None, choice) for axis, choice in wanted.items())
    ]


def means(points: Iterable[Point], metric: str) -> dict[tuple[str, str], Row]:
    """By trace and line: the mean over seeds, and half its interval where anything is random."""
    values: dict[tuple[str, str], list[float]] = {}
    for point in points:
        values.setdefault((point.trace, point.line), []).append(getattr(point, metric))
    return {key: _mean(found) for key, found in values.items()}


def _mean(values: Sequence[float]) -> Row:
    mean, half = mean_and_half_width(values)
    return {"value": mean, "half": half}


def _over_caches(points: Sequence[Point], lines: Sequence[str], suffix: str) -> list[Exhibit]:
    """Figures 2, 3 and 4 on a fresh drive, one request at a time."""
    known = {point.line for point in points}
    if not known & set(lines) - {"none", "dftl", "tlllp"}:
        return []
    found: list[Exhibit] = []
    for key, title, caption, style in METRICS:
        rows = [
            {"trace": trace, "line": line, "share": share, FIELDS[key]: row["value"]}
            for cache, share in CACHES.items()
            for (trace, line), row in means(place_of(points, cache=cache), FIELDS[key]).items()
            if line in lines
        ]
        chart = Lines(
            key=f"{key}{suffix}",
            title=f"{title}{', other schemes' if suffix else ''}",
            caption=f"{caption}. Fresh drive, one request at a time; excerpts only.",
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
    """Figures 3 and 4 as the paper has them: bars by workload."""
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
            metric="value",
            style=style,
            labels={line: LABELS[line] for line in BARS},
            panel="arrivals",
            row="trace",
            spread="half",
        )
        found.append(chart)
    return found


_REDUCED = {"mean_us": "mean response time", "stdev_us": "standard deviation"}
BASELINES = {"dftl": "against DFTL, victim alone", "dftl-batch": "against DFTL, batches"}


def _reductions(points: Sequence[Point], metric: str, title: str) -> Exhibit:
    """What TLLLP saves, with what the paper prints, on both drives."""
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
                    rows.append({"start": start, "trace": trace, "line": baseline, **_mean(saved)})
    return Bars(
        key=f"saved-{metric.removesuffix('_us')}",
        title=f"Saved by TLLLP: {title}",
        caption=(
            "Share of DFTL's; one request at a time, 15% spare space, a cache of 1/8. Dashed: what "
            "the paper prints. Whiskers: 95% intervals."
        ),
        rows=rows,
        metric="value",
        style=",.1%",
        labels=BASELINES,
        panel="start",
        row="trace",
        spread="half",
        rules=dict.fromkeys(("fresh", "aged"), STATED[metric]),
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
    """Data and translation apart: what a page access of the host costs the flash."""
    rows: list[Row] = []
    for start in ("fresh", "aged"):
        chosen = place_of(points, start=start)
        columns: dict[str, dict[tuple[str, str], Row]] = {
            name: means(chosen, name) for name in TRAFFIC
        }
        for trace, line in columns["map_reads"]:
            if line in BARS:
                cells: dict[str, Any] = {
                    name: column[trace, line]["value"] for name, column in columns.items()
                }
                row = {"trace": trace, "start": start, "line": LABELS[line], **cells}
                rows.append(row)
    return Numbers(
        key="traffic",
        title="Data and translation traffic",
        caption=(
            "Flash operations per page access of the host; 15% spare space, a cache of 1/8, means "
            "over seeds."
        ),
        rows=rows,
        columns=[
            Column("Trace", "trace"),
            Column("Start", "start"),
            Column("Scheme", "line"),
            *(Column(title, name, "{:.3f}".format) for name, title in TRAFFIC.items()),
        ],
        brief=False,
    )


COLUMNS = (
    Column("Trace", "trace"),
    Column("Scheme", "line"),
    Column("Start", "start"),
    Column("Spare", "spare"),
    Column("Cache", "cache"),
    Column("Arrivals", "arrivals"),
    Column("Seed", "seed", str),
    Column("Hit ratio", "hit_ratio", percent),
    Column("Mean, µs", "mean_us", measured),
    Column("Std dev, µs", "stdev_us", measured),
    Column("Map reads", "map_reads", "{:.3f}".format),
    Column("Map programs", "map_programs", "{:.3f}".format),
    Column("Prefetched used", "prefetch_used", percent),
    Column("Cleaning", "cleaning_time", percent),
    Column("Utilization", "utilization", percent),
)
