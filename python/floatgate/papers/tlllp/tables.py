"""TLLLP's tables: traffic of data and translation, what excerpts can have, numbers at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from floatgate.papers.kit.experiment import FULL_SEEDS, Experiment, Run
from floatgate.papers.kit.judging import OpenClaim, places_of
from floatgate.papers.kit.numbers import Judged, met_at_once, met_in_pairs, spread
from floatgate.papers.kit.paper import Column, Exhibit, Numbers, Row
from floatgate.papers.kit.verdict_tables import by_choice
from floatgate.papers.kit.verdicts import worded

from .claims import NUMBERS
from .figures import BARS, LABELS, place_of, values
from .runs import CACHES, WAITING, Point, backlogged

MOSTLY = 0.5
"""Of the mean response time, the wait from which most of it is one."""


def tables(
    experiment: Experiment, judged: Sequence[Judged], points: Mapping[Run, Point], full: bool
) -> list[Exhibit]:
    """All that there are runs for."""
    found = list(points.values())
    by_key = {claim.key: (claim, measured) for claim, measured in judged}
    numbers = [by_key[key] for key in NUMBERS if key in by_key]
    together: list[Exhibit] = []
    if "all-four" in by_key:
        whole = by_key["all-four"]
        together = [
            met_at_once(experiment, whole, numbers, experiment.axis("baseline")),
            met_in_pairs(whole, numbers),
        ]
    return [
        *together,
        *(by_choice(experiment, axis, judged) for axis in ASKED_BY),
        _by_queue(experiment, judged, points, full),
        _cold(found),
        _traffic(found),
    ]


ASKED_BY = ("financial2", "baseline", "start", "spare", "cache", "arrivals")
"""Axes of which each choice has its own verdicts."""


def bursts(points: Sequence[Point]) -> list[str]:
    """What the filter of backlogs leaves in: traces of whose response most is a wait, on a drive
    that is not always at work."""
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
"""Shares of the mean response time that a wait may be, from and below."""


def _by_queue(
    experiment: Experiment, judged: Sequence[Judged], points: Mapping[Run, Point], full: bool
) -> Numbers:
    """The claims on times, by the largest wait of all the runs that a point compares."""
    rows: list[Row] = []
    for claim, found in judged:
        if "arrivals" not in claim.axes or not found.rows:
            continue
        waits = dict(_waits(experiment, claim, points, full))
        axes = [experiment.axis(key).named for key in claim.axes]
        said: Row = {"claim": claim.text, "paper": claim.paper}
        for title, (low, high) in WAITS.items():
            part = [
                ({key: row[key] for key in claim.axes}, row["case"])
                for row in found.rows
                if not row["rejected"]
                and low <= waits[tuple(row[key] for key in claim.axes)] < high
            ]
            if part:
                said[title] = f"{worded(axes, part)} ({len(part)} points)"
        rows.append(said)
    return Numbers(
        key="by-wait",
        title="Verdicts by how much of the response time is waiting",
        caption="Of the run, of all that a point compares, that waits for the queue the most. What "
        "is left out of verdicts is left out here; this table was added after results were seen.",
        rows=rows,
        columns=[
            Column("claim", "claim"),
            Column("paper", "paper"),
            *(Column(t, t) for t in WAITS),
        ],
        brief=False,
    )


def _waits(
    experiment: Experiment, claim: OpenClaim[Point], points: Mapping[Run, Point], full: bool
) -> Iterator[tuple[tuple[str, ...], float]]:
    """Of each point of a claim's domain, the largest share of a response time that is waiting."""
    for place in places_of(experiment, claim, full):
        runs = (
            experiment.run_of(place, workload, line, seed)
            for workload, line, seed in product(
                claim.workloads, claim.lines, range(1, 1 + FULL_SEEDS)
            )
        )
        shares = [points[run].queue_share for run in runs if run in points]
        yield tuple(place[key] for key in claim.axes), max(shares, default=0.0)


def _cold(points: Sequence[Point]) -> Numbers:
    """What a cache that begins empty can have, beside DFTL's hits."""
    rows: list[Row] = []
    by_cache = {
        cache: values((p for p in place_of(points, cache=cache) if p.line == "dftl"), "hit_ratio")
        for cache in CACHES
    }
    most = values((p for p in place_of(points) if p.line == "dftl"), "repeated")
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
    """Data and translation apart: what a page access of the host costs the flash."""
    rows: list[Row] = []
    for start in ("fresh", "aged"):
        chosen = place_of(points, start=start)
        columns = {name: values(chosen, name) for name in TRAFFIC}
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
