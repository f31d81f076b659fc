"""Counts reported by Python mappings: the result has the values of their own log, or none."""

from __future__ import annotations

from typing import Any

import pytest
from guest_policies import HOTCOLD, SETS, UNTOLD, Counting, Entries, NoCache, counts, told

import floatgate as fg

SMALL = {**SETS, "mapping.cache": "2KiB", "dftl.replacement": "lru", "flash.page": "2KiB"}


def run(mapping: Any, **more: Any) -> fg.Result:
    return fg.run(f"{HOTCOLD},reads=0.3", set={**SMALL, "mapping.scheme": mapping, **more})


def test_counts_are_those_of_the_log_of_the_policy() -> None:
    mine = Counting()
    result = run(mine, **{"start.fill": "none"})
    of = mine.log.count
    found = result.mapping
    assert found.hits == of("hit") > 1000 and found.misses == of("miss") > 1000
    assert found.hit_ratio == of("hit") / (of("hit") + of("miss"))
    assert found.evictions == of("dirty") + of("clean") and of("clean") > 100
    assert found.dirty_evictions == of("dirty") > 1000
    assert (found.prefetched, found.prefetch_used, found.prefetch_unused) == (0, 0, 0)
    assert found.cache_bytes == 8 * len(mine.cached) == 2048


def test_the_fill_is_not_counted() -> None:
    mine = Counting()
    result = run(mine)
    assert counts(result) == counts(run("dftl"))
    assert result.mapping.evictions is not None
    assert 1000 < result.mapping.evictions < mine.log.count("dirty") + mine.log.count("clean")


def test_what_a_policy_does_not_tell_is_absent() -> None:
    for mine, built_in in [(Entries(), "dftl"), (NoCache(), "none")]:
        ours = run(mine)
        assert [getattr(ours.mapping, name) for name in UNTOLD] == [None] * 6
        assert told(ours) == told(run(built_in))


class Some(Entries):
    """Reports the counts that `given` computes from the log."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def counts(self) -> Any:
        return self.given(self.log)


def test_a_policy_tells_some_counts_and_may_know_better_what_a_hit_is() -> None:
    result = run(
        Some(lambda log: fg.MapCounts(hits=3 * len(log), misses=len(log), prefetched=len(log)))
    )
    assert result.mapping.hit_ratio == 0.75
    assert result.mapping.prefetched == result.mapping.misses
    assert result.mapping.hits == 3 * result.mapping.misses
    assert result.mapping.evictions is None and result.mapping.prefetch_used is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            lambda log: {"evictions": 1},
            r"counts\(\) returned {'evictions': 1}: expected a floatgate",
        ),
        (lambda log: fg.MapCounts(evictions=-1), "evictions=-1: expected an int of at least 0"),
        (lambda log: fg.MapCounts(evictions=0.5), "evictions=0.5: expected an int of at least 0"),
        (lambda log: fg.MapCounts(evictions=1 << 63), "expected an int of at least 0"),
        (lambda log: fg.MapCounts(hits=1), "expected both hits and misses, or neither of them"),
        (
            lambda log: fg.MapCounts(prefetched=10**9 - len(log)),
            r"prefetched=\d+ after \d+: expected what was counted since start\(\), which never",
        ),
        (
            lambda log: fg.MapCounts(evictions=1 if log else None),
            "evictions=1 after None: expected it each time, or never",
        ),
    ],
)
def test_counts_that_cannot_be_are_errors(given: Any, said: str) -> None:
    with pytest.raises(fg.PolicyError, match=said):
        run(Some(given), **{"start.fill": "none"})
