"""The paper's worked example, and an example of k-means, on the engine.

Results contain neither the age of a page nor the criteria. They only show the partition that each
write goes to. So the examples set the criteria by earlier writes, and derive ages from the
partitions of later writes. Time is counted in pages that the host has written, from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.papers.kit.exhibits import Column, Numbers, Row, columns_of
from floatgate.papers.kit.recorded import Request, play
from floatgate.results.result import Result

from .domain import DEVICE, PAGE

EVICTED, NOW, AGE = 34, 50, 16
"""Time at which page 8 is evicted, time of its next write, and its age then. Its age was 0 when it
was evicted."""
OLD_PAGE = 8
CRITERIA = (14, 15, 16, 17)
"""Ages that are still hot, near the age in the example."""

AGES = (1, 2, 3, 100, 101, 102, 1000, 1001, 1002)
MIDDLES = {"hot and warm": 51.5, "warm and cold": 551.0}
"""Midpoints between the centroids 2, 101 and 1001 of these ages."""
STEPS = 300
"""Number of tested ages: 2, 4, 6 and so on, so that both midpoints lie between two ages."""

OTHERS = 100
"""First of the pages whose writes only let time pass or create an age."""


def worked_examples() -> list[Numbers]:
    return [age_example(), criteria_example()]


def with_ages(ages: Sequence[int]) -> list[int]:
    """Returns writes that leave pages with these ages, and no other page with an age. The youngest
    age is 1. At each time it writes one page: the page that gets the age of that time, or the next
    younger one."""
    rising = sorted(ages, reverse=True)
    young = [max(age for age in rising if age <= at) for at in range(rising[0], 0, -1)]
    return [OTHERS + rising.index(age) for age in young]


def age_example() -> Numbers:
    """Writes page 8 at 34 and again at 50. The write after 34 evicts page 8, because the cache has
    room for one entry. The pages in between are written for the first time, so they are cold."""
    rows = []
    for criterion in CRITERIA:
        # Three ages form three clusters. The criterion is half-way between the younger two.
        first = with_ages((1, 2 * criterion - 1, EVICTED))
        between = range(2 * OTHERS, 2 * OTHERS + NOW - EVICTED - 1)
        played = _play([*first, OLD_PAGE, *between, OLD_PAGE], {"mapping.cache": "16B"})
        _, warm, hot = (stream.host_pages for stream in played.placement.streams)
        paper = "hot" if criterion >= AGE else "warm"
        ours = {(0, 1): "hot", (1, 0): "warm"}.get((warm, hot))
        row: Row = {"criterion": criterion, "evicted": played.mapping.evictions}
        rows.append(row | {"paper": paper, "ours": ours})
    return Numbers(
        key="age-example",
        title="The paper's worked example",
        caption=(
            f"Page {OLD_PAGE} has the age 0 as it is evicted at {EVICTED}, and is written at "
            f"{NOW}: its age is 0 + {NOW} \N{MINUS SIGN} {EVICTED} = {AGE}. On the engine, with "
            "room for one entry, that write is hot from a criterion of 16 on."
        ),
        rows=rows,
        columns=(
            *columns_of(str, criterion="Hot up to the age", evicted="Evictions"),
            *columns_of(paper="The write, with an age of 16", ours="The write, ours"),
        ),
    )


def criteria_example() -> Numbers:
    """Writes a page of each even age, and counts the hot pages and the pages that are not cold."""
    ladder = [2 * OTHERS + step for step in range(STEPS)]
    aside = 2 * OTHERS + STEPS
    writes = [*with_ages(AGES), *ladder, aside, *reversed(ladder)]
    played = _play(writes, {"asa.update_period": str(max(AGES))})
    _, warm, hot = (stream.host_pages for stream in played.placement.streams)
    criteria = zip(MIDDLES.items(), (hot, hot + warm), strict=True)
    rows = [
        {"between": between, "expected": middle, "last": 2 * count, "first": 2 * count + 2}
        for (between, middle), count in criteria
    ]
    return Numbers(
        key="criteria-example",
        title="An example of criteria",
        caption=(
            f"A sample of the ages {', '.join(map(str, AGES))} has the centroids 2, 101 and 1001. "
            "On the engine 1,000 ages are drawn of pages that are so old; then a page of each even "
            "age is written."
        ),
        rows=rows,
        columns=(
            Column("Criterion between", "between"),
            Column("Half-way", "expected", "{:g}".format),
            *columns_of(str, last="The last age below it, ours", first="The first above it, ours"),
        ),
    )


def _play(pages: Sequence[int], changed: dict[str, str]) -> Result:
    """Writes these pages one after the other on an empty drive. The criteria follow from the ages
    after `EVICTED` writes, unless `changed` sets another period."""
    settings = {
        "queue.arrivals": "closed",
        "asa.sample_source": "random_lpn",
        "asa.update_period": str(EVICTED),
    }
    writes = [Request(page, write=True) for page in pages]
    return play(writes, PAGE, DEVICE, settings | changed)
