"""The WARP paper's figures: write amplification by law, isolation, and whose pages are copied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from floatgate.papers.kit.exhibits import Bars, Column, Exhibit, Lines, Numbers, Row, columns_of
from floatgate.papers.kit.numbers import mean_rows, points_at, text_rows
from floatgate.results.values import count, percent, ratio

from .claims import WASTE
from .domain import (
    AXES,
    CACHE,
    LAWS,
    LINES,
    NEIGHBOUR,
    ON_SSD_A,
    PAIRS,
    SHARES,
    SPARE,
    TWO,
    ZIPF_12,
    ZONED,
)
from .reduce import Point

LABELS = {line.key: line.label for line in LINES}
MAIN = ("fdp", "mixed", "nofdp")
ISOLATED = ("fdp", "persistent-apart", "persistent-with")
INTERVALS = "Whiskers: 95% intervals."
JOBS = {
    "copied_first": "Of the stream in order",
    "copied_second": "Of the random stream",
    "copied_third": "Of the jumper",
}
"""Fields of the shares of copied pages, by the job."""


FIRST = tuple(next(iter(shares)) for shares in (SHARES, PAIRS))


def _named(points: Iterable[Point], name: str) -> list[Point]:
    """Returns the points of a workload, with the default shares of its jobs."""
    return [p for p in points if p.trace in {f"{name}, {share}" for share in FIRST}]


def _at_defaults(points: Sequence[Point], **levels: str | None) -> list[Point]:
    return points_at(points, AXES, **levels)


def figures(points: Sequence[Point]) -> list[Exhibit]:
    return [by_law(points), two_streams(points), isolation(points), owners(points), cache(points)]


def by_law(points: Sequence[Point]) -> Bars:
    """Draws Table 2: three streams on WARP_A2 and SSD_A."""
    here = _at_defaults(points)
    names = (*LAWS, *ON_SSD_A.values())
    shown = [p for name in names for p in _named(here, name) if p.line in MAIN]
    return Bars(
        key="table-2",
        title="Three streams: write amplification by the law of the jumper",
        caption="Cumulative, fill included, at the paper's volume. The law is of the jumper's "
        f"writes; shares 60 : 20 : 20. {INTERVALS}",
        rows=mean_rows(shown, WASTE, "line", law=lambda p: p.trace.split(",")[0]),
        style=".2f",
        labels={line: LABELS[line] for line in MAIN},
        panel=None,
        row="law",
        axis="write amplification",
    )


def two_streams(points: Sequence[Point]) -> Bars:
    here = _at_defaults(points)
    shown = [p for name in TWO.values() for p in _named(here, name) if p.line in ("fdp", "nofdp")]
    return Bars(
        key="two-streams",
        title="Two streams: write amplification by the share of the space that is random",
        caption=f"One stream writes its part in order, the other at random. {INTERVALS}",
        rows=mean_rows(shown, WASTE, "line", random=lambda p: p.trace.split(",")[0]),
        style=".2f",
        labels={line: LABELS[line] for line in ("fdp", "nofdp")},
        panel=None,
        row="random",
        axis="write amplification",
    )


def isolation(points: Sequence[Point]) -> Lines:
    """Draws initial against persistent isolation over spare space, for each reclaim unit."""
    here = _at_defaults(points, spare=None, unit=None)
    rows: list[Row] = []
    for law in (ZIPF_12, ZONED):
        shown = [p for p in _named(here, law) if p.line in ISOLATED and p.added_units == 0]
        rows += [
            {**row, "trace": f"{law}, units of {row['unit']}"}
            for row in mean_rows(shown, WASTE, "line", "unit", over=lambda p: SPARE[p.spare])
        ]
    return Lines(
        key="isolation",
        title="Initial and persistent isolation over the spare space",
        caption="Three streams with a handle each; units as a share of the namespace. Points with "
        f"too little spare space for the open units are left out. {INTERVALS}",
        rows=rows,
        style=".2f",
        labels={line: LABELS[line] for line in ISOLATED},
        x="over",
        x_title="Over-provisioning, %",
        x_text="{:.0f}".format,
    )


def owners(points: Sequence[Point]) -> Numbers:
    """Shows whose pages are copied: the jobs of three streams with a handle each."""
    here = _at_defaults(points)
    shown = [p for law in LAWS for p in _named(here, law) if p.line == "fdp"]
    numbers = {WASTE: ratio, **dict.fromkeys(JOBS, percent)}
    return Numbers(
        key="owners",
        title="Whose pages are copied, with a handle each",
        caption="Share of the copied pages by the job that wrote them last; means with intervals.",
        rows=text_rows(shown, numbers, law=lambda p: p.trace.split(",")[0]),
        columns=columns_of(law="Jumper", write_amplification="Write amplification", **JOBS),
    )


def cache(points: Sequence[Point]) -> Bars:
    """Draws the write amplification of the cache's own pages, with and without a neighbour."""
    here = _at_defaults(points, spare=None)
    shown = [p for p in here if p.trace in (CACHE, NEIGHBOUR) and p.line in ISOLATED]
    return Bars(
        key="neighbour",
        title="Write amplification of the cache's pages, next to a noisy neighbour",
        caption="The cache has two handles, the neighbour a third. By over-provisioning. "
        f"{INTERVALS}",
        rows=mean_rows(shown, "cache_amplification", "trace", "line", "spare"),
        style=".2f",
        labels={line: LABELS[line] for line in ISOLATED},
        row="spare",
        axis="write amplification",
    )


COLUMNS = (
    *columns_of(trace="Workload", line="Handles"),
    *columns_of(spare="Spare", unit="Unit", victim="Victim", ahead="Cleans", relabel="Blocks"),
    Column("Seed", "seed", str),
    Column("Write amplification", WASTE, ratio),
    Column("Relabelled pages", "relabelled", count),
    Column("Units added", "added_units", count),
)
