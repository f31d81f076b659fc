"""TLLLP's tables: traffic of data and translation, limits of excerpts, and numbers met at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from floatgate.papers.kit.claims import WAITING, Claim, Counts
from floatgate.papers.kit.exhibits import Column, Exhibit, Numbers, Row
from floatgate.papers.kit.experiment import seeds_of
from floatgate.papers.kit.judging import places_of
from floatgate.papers.kit.numbers import by_trace_and_line, met_at_once, met_in_pairs, spread
from floatgate.papers.kit.reproduce import Findings
from floatgate.papers.kit.verdict_tables import by_choice

from .claims import NUMBERS
from .domain import CACHES
from .figures import BARS, LABELS, place_of
from .reduce import Point, backlogged

MOSTLY = 0.5
"""Share of the mean response time from which waiting counts as most of it."""


def tables(found: Findings[Point]) -> list[Exhibit]:
    axes, points = found.experiment, found.every
    together: list[Exhibit] = []
    for whole in found.of("all-four"):
        numbers = found.of(*NUMBERS)
        together = [
            met_at_once(axes, whole, numbers, axes.axis("baseline")),
            met_in_pairs(whole, numbers),
        ]
    return [
        *together,
        *(by_choice(axes, axis, found.judged) for axis in ASKED_BY),
        _by_wait(found),
        _cold(points),
        _traffic(points),
    ]


ASKED_BY = ("financial2", "baseline", "start", "spare", "cache", "arrivals")
"""Axes with a separate verdict for each choice."""


def bursts(points: Sequence[Point]) -> list[str]:
    """Names traces that the filter of backlogs keeps although most of their response is waiting, on
    a drive that is not always at work."""
    worst: dict[str, Point] = {}
    for point in points:
        if point.queue_share >= MOSTLY and not backlogged(point):
            known = worst.setdefault(point.trace, point)
            worst[point.trace] = max(known, point, key=lambda point: point.queue_share)
    return [
        f"{name} comes in bursts: on a drive that is used {point.utilization:.0%} of the time, up "
        f"to {point.queue_share:.0%} of the mean response time is waiting for the queue. This is "
        "no backlog, and such points count; the table of verdicts by wait has them apart."
        for name, point in worst.items()
    ]


WAITS = {
    f"under {WAITING:.0%}": (0.0, WAITING),
    f"{WAITING:.0%} to {MOSTLY:.0%}": (WAITING, MOSTLY),
    f"{MOSTLY:.0%} or more": (MOSTLY, float("inf")),
}
"""Ranges for the share of waiting in the mean response time: from, and below."""


def _by_wait(found: Findings[Point]) -> Numbers:
    """Returns the claims on times, by the largest wait of all the runs that a point compares."""
    rows: list[Row] = []
    for claim, measured in found.judged:
        if "arrivals" not in claim.axes or not measured.rows:
            continue
        waits = dict(_waits(found, claim))
        row: Row = {"claim": claim.text, "paper": claim.origin.paper}
        counted = [one for one in measured.rows if not one["rejected"]]
        for title, (low, high) in WAITS.items():
            part = [r for r in counted if low <= waits[tuple(r[key] for key in claim.axes)] < high]
            if part:
                row[title] = str(Counts.of(part))
        rows.append(row)
    return Numbers(
        key="by-wait",
        title="Verdicts by how much of the response time is waiting",
        caption="Of the run, of all that a point compares, that waits for the queue the most. What "
        "is left out of verdicts is left out here; this table was added after results were seen.",
        rows=rows,
        columns=[Column(title, title) for title in ("claim", "paper", *WAITS)],
        brief=False,
    )


def _waits(found: Findings[Point], claim: Claim[Point]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yields the largest share of waiting in a response time, for each point of a claim's
    domain."""
    for place in places_of(found.experiment, claim, found.lab.full):
        runs = (
            found.experiment.run_of(place, workload, line, seed)
            for workload, line, seed in product(claim.workloads, claim.lines, seeds_of(True))
        )
        shares = [found.points[run].queue_share for run in runs if run in found.points]
        yield tuple(place[key] for key in claim.axes), max(shares, default=0.0)


def _cold(points: Sequence[Point]) -> Numbers:
    """Returns the possible hits of a cache that begins empty, next to DFTL's hits."""
    rows: list[Row] = []
    by_cache = {
        cache: by_trace_and_line(
            (p for p in place_of(points, cache=cache) if p.line == "dftl"), "hit_ratio"
        )
        for cache in CACHES
    }
    most = by_trace_and_line((p for p in place_of(points) if p.line == "dftl"), "repeated")
    for (trace, line), bound in most.items():
        cells = {
            cache: spread(known[trace, line], "{:.1%}".format)
            for cache, known in by_cache.items()
            if (trace, line) in known
        }
        rows.append({"trace": trace, "most": spread(bound, "{:.1%}".format), **cells})
    return Numbers(
        key="cold",
        title="What a cold excerpt can have",
        caption="Look-ups of pages that were looked up before: without a prefetch, a cache that "
        "begins empty has no more hits. Beside them DFTL's by size of the cache; fresh drive, 15% "
        "spare space. What filling the drive has left in a large cache comes on top.",
        rows=rows,
        columns=[
            Column("Trace", "trace"),
            Column("Looked up before", "most"),
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
    rows: list[Row] = []
    for start in ("fresh", "aged"):
        chosen = place_of(points, start=start)
        columns = {name: by_trace_and_line(chosen, name) for name in TRAFFIC}
        for trace, line in columns["map_reads"]:
            if line in BARS:
                cells = {
                    name: spread(column[trace, line], "{:.3f}".format)
                    for name, column in columns.items()
                }
                rows.append({"trace": trace, "start": start, "line": LABELS[line], **cells})
    return Numbers(
        key="traffic",
        title="Data and translation traffic",
        caption=(
            "Flash operations per page access of the host; 15% spare space, a cache of 1/8; means "
            "with 95% intervals where anything is random."
        ),
        rows=rows,
        columns=[
            Column("Trace", "trace"),
            Column("Start", "start"),
            Column("Scheme", "line"),
            *(Column(title, name) for name, title in TRAFFIC.items()),
        ],
        brief=False,
    )
