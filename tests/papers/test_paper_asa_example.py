"""ASA-FTL's worked example, and an example of k-means, on the engine.

Results contain neither the age of a page nor the criteria. They only show the partition that each
write goes to. So the examples set the criteria by earlier writes, and derive ages from the
partitions of later writes. Time is counted in pages that the host has written, from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from floatgate.papers.asa.domain import DEVICE, PAGE
from floatgate.papers.kit.recorded import Request, play
from floatgate.results.result import Result

EVICTED, NOW, AGE = 34, 50, 16
"""Time at which page 8 is evicted, time of its next write, and its age then. Its age was 0 when it
was evicted."""
OLD_PAGE = 8

AGES = (1, 2, 3, 100, 101, 102, 1000, 1001, 1002)
STEPS = 300
"""Number of tested ages: 2, 4, 6 and so on, so that both criteria lie between two ages."""

OTHERS = 100
"""First of the pages whose writes only let time pass or create an age."""


def with_ages(ages: Sequence[int]) -> list[int]:
    """Returns writes that leave pages with these ages, and no other page with an age. The youngest
    age is 1. At each time it writes one page: the page that gets the age of that time, or the next
    younger one."""
    rising = sorted(ages, reverse=True)
    young = [max(age for age in rising if age <= at) for at in range(rising[0], 0, -1)]
    return [OTHERS + rising.index(age) for age in young]


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


@pytest.mark.parametrize("criterion", [14, 15, 16, 17])
def test_the_papers_page_is_hot_from_a_criterion_of_its_age_on(criterion: int) -> None:
    """Page 8 has the age 0 as it is evicted at 34, and is written at 50: its age is 0 + 50 - 34.
    The write after 34 evicts it, because the cache has room for one entry. The pages in between are
    written for the first time, so they are cold."""
    # Three ages form three clusters. The criterion is half-way between the younger two.
    first = with_ages((1, 2 * criterion - 1, EVICTED))
    between = range(2 * OTHERS, 2 * OTHERS + NOW - EVICTED - 1)
    played = _play([*first, OLD_PAGE, *between, OLD_PAGE], {"mapping.cache": "16B"})
    _, warm, hot = (stream.host_pages for stream in played.placement.streams)
    assert (warm, hot) == ((0, 1) if criterion >= AGE else (1, 0))
    assert played.mapping.evictions, "page 8 is not cached as it is written again"


def test_criteria_lie_half_way_between_the_centroids() -> None:
    """The sample's ages have the centroids 2, 101 and 1001, so the criteria are 51.5 and 551."""
    ladder = [2 * OTHERS + step for step in range(STEPS)]
    writes = [*with_ages(AGES), *ladder, 2 * OTHERS + STEPS, *reversed(ladder)]
    played = _play(writes, {"asa.update_period": str(max(AGES))})
    _, warm, hot = (stream.host_pages for stream in played.placement.streams)
    assert (2 * hot, 2 * (hot + warm)) == (50, 550), "the last even ages below the criteria"


def test_pages_of_an_example_are_as_old_as_they_should_be() -> None:
    written = with_ages([1, 2, 5])
    last = {page: at for at, page in enumerate(written)}
    assert sorted(len(written) - at for at in last.values()) == [1, 2, 5]
