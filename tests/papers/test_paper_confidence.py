"""Verdicts with intervals that hold one by one, and with intervals that hold simultaneously."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from evidence import is_met
from paper_kit import BUSY, EXPERIMENT, KitPoint, claim_of, judged_of
from scipy.stats import t as student

from floatgate.papers.kit.claims import Counts
from floatgate.papers.kit.experiment import Run
from floatgate.papers.kit.judging import judge
from floatgate.papers.kit.verdicts import AS_CLAIMED, STRADDLES, Region


def _gains(spread: float, start: str) -> Any:
    """The new line is 1 more than the old on average, with this spread over seeds, on drives of one
    start. On other drives it is exactly 1 more."""

    def of(run: Run) -> KitPoint:
        gain = 0.0 if run.line == "old" else 1.0
        apart = spread * (run.seed - 3) if gain and run.at("start") == start else 0.0
        return KitPoint(gain + apart)

    return of


def test_a_point_that_holds_alone_may_not_hold_among_many() -> None:
    """A mean of 1 over five seeds is 3.2 standard errors above 0.55. A single 95 % interval has
    2.8."""
    claim = claim_of(region=Region(low=0.55))
    found = judged_of(claim, _gains(0.2, "aged"))
    aged = [row for row in found.rows if row["start"] == "aged"]
    error = 0.2 * math.sqrt(2.5) / math.sqrt(5)
    assert [row["ci95"] for row in aged] == [pytest.approx(2.776 * error, rel=1e-3)] * 6
    # Six intervals, each of 99.17 %: 4.851 standard errors with four degrees of freedom.
    assert 1 - 2.776 * error > 0.55 > 1 - 4.851 * error
    assert {(row["case"], row["case_at_once"]) for row in aged} == {(AS_CLAIMED, STRADDLES)}
    assert str(found.counts) == "12 of 12 as claimed"
    assert str(found.at_once) == "6 of 12 as claimed, 6 open"


@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_seeds_that_agree_hold_one_by_one_and_at_once(spread: float) -> None:
    claim = claim_of()
    found = judged_of(claim, _gains(spread, "aged"))
    assert is_met(found) and found.at_once == found.counts


def test_what_fails_alone_may_be_open_among_many() -> None:
    """A point that counts alone has one interval, so both verdicts are equal."""
    lost = claim_of(region=Region(low=1.4))
    found = judged_of(lost, _gains(0.2, "aged"))
    assert (found.counts, found.at_once) == (Counts(less=12), Counts(less=6, open=6))
    alone = judged_of(replace(lost, axes=()), _gains(0.2, "fresh"))
    assert alone.at_once == alone.counts


def test_what_is_not_random_keeps_its_case_and_is_no_interval() -> None:
    exact = claim_of(axes=("cache", "reading"))
    found = judged_of(exact, _gains(0.2, "aged"))
    assert is_met(found) and found.at_once == found.counts
    assert judge(EXPERIMENT, exact, {}, True, BUSY).at_once == Counts()


def _small_is_busy(run: Run) -> KitPoint:
    """Rejects aged drives with a small cache, so 4 of 6 remain."""
    busy = run.at("cache") == "small" and run.at("start") == "aged"
    return replace(_gains(0.2, "aged")(run), busy=busy)


@pytest.mark.parametrize(("cases", "intervals"), [(1, 4), (3, 12)])
def test_intervals_at_once_are_those_that_count_times_the_cases(cases: int, intervals: int) -> None:
    """Points that are left out do not count, and a level among cases widens the intervals."""
    error = 0.2 * math.sqrt(2.5) / math.sqrt(5)
    end = 1 - error * student.ppf(1 - 0.025 / intervals, 4)
    for low, case in ((end - 0.01, AS_CLAIMED), (end + 0.01, STRADDLES)):
        claim = claim_of(region=Region(low=low), cases=cases)
        found = judged_of(claim, _small_is_busy)
        aged = [row for row in found.rows if row["start"] == "aged" and not row["rejected"]]
        assert [row["case_at_once"] for row in aged] == [case] * 4
