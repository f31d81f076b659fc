"""The paper's worked example, and one of k-means, on the engine.

No result says how old a page is, nor what the criteria are; what is seen is to which partition a
write goes. So criteria are set by what is written before, and ages read off where a write went.
Time is in pages that the host has written, from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.papers.kit.exhibits import Column, Numbers
from floatgate.papers.kit.recorded import Request, play
from floatgate.results.result import Result

from .domain import DEVICE, PAGE

EVICTED, NOW, AGE = 34, 50, 16
"""Of page 8, whose age was 0 as it was evicted."""
OLD_PAGE = 8
CRITERIA = (14, 15, 16, 17)
"""Ages that are still hot, around that of the example."""

AGES = (1, 2, 3, 100, 101, 102, 1000, 1001, 1002)
MIDDLES = (51.5, 551.0)
"""Between the centroids 2, 101 and 1001 of these ages."""
STEPS = 300
"""Ages that are asked for: 2, 4, 6 and so on, so that both middles are between two of them."""

OTHERS = 100
"""The first of the pages that are there to let time pass, or to have an age."""


def worked_examples() -> list[Numbers]:
    return [age_example(), criteria_example()]


def with_ages(ages: Sequence[int]) -> list[int]:
    """Writes after which pages have these ages, of which 1 is the least, and no other page any:
    one for each time, of the page that is to be as old, or of the next younger one."""
    rising = sorted(ages, reverse=True)
    young = [max(age for age in rising if age <= at) for at in range(rising[0], 0, -1)]
    return [OTHERS + rising.index(age) for age in young]


def age_example() -> Numbers:
    """Page 8 is written at 34 and evicted by the next write, the cache having room for one entry,
    and is written again at 50; what comes in between is written for the first time, and so cold."""
    rows = []
    for criterion in CRITERIA:
        # Three ages are three clusters: half-way between the younger two is the criterion.
        first = with_ages((1, 2 * criterion - 1, EVICTED))
        between = range(2 * OTHERS, 2 * OTHERS + NOW - EVICTED - 1)
        found = _play([*first, OLD_PAGE, *between, OLD_PAGE], {"mapping.cache": "16B"})
        _, warm, hot = (stream.host_pages for stream in found.placement.streams)
        went = {(0, 1): "hot", (1, 0): "warm"}.get((warm, hot))
        rows.append(
            {
                "criterion": criterion,
                "evicted": found.mapping.evictions,
                "paper": "hot" if criterion >= AGE else "warm",
                "ours": went,
            }
        )
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
            Column("Hot up to the age", "criterion", str),
            Column("Evictions", "evicted", str),
            Column("The write, with an age of 16", "paper"),
            Column("The write, ours", "ours"),
        ),
    )


def criteria_example() -> Numbers:
    """A page of each even age is written: how many of them are hot, and how many not cold."""
    ladder = [2 * OTHERS + step for step in range(STEPS)]
    aside = 2 * OTHERS + STEPS
    writes = [*with_ages(AGES), *ladder, aside, *reversed(ladder)]
    found = _play(writes, {"asa.update_period": str(max(AGES))})
    _, warm, hot = (stream.host_pages for stream in found.placement.streams)
    rows = [
        {"between": between, "expected": middle, "last": 2 * count, "first": 2 * count + 2}
        for between, middle, count in zip(
            ("hot and warm", "warm and cold"), MIDDLES, (hot, hot + warm), strict=True
        )
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
            Column("The last age below it, ours", "last", str),
            Column("The first above it, ours", "first", str),
        ),
    )


def _play(pages: Sequence[int], changed: dict[str, str]) -> Result:
    """These pages written one after the other on an empty drive. Criteria are those of the ages
    after `EVICTED` writes, unless it is changed."""
    settings = {
        "queue.arrivals": "closed",
        "asa.sample_source": "random_lpn",
        "asa.update_period": str(EVICTED),
    }
    writes = [Request(page, write=True) for page in pages]
    return play(writes, PAGE, DEVICE, settings | changed)
