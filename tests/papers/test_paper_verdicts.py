"""Verdicts: the case of our number at a point, and the counts of a domain's points."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floatgate.papers.kit.claims import Counts, Measured
from floatgate.papers.kit.verdicts import (
    AS_CLAIMED,
    LESS,
    MORE,
    STRADDLES,
    Estimate,
    Region,
    confidence_of_each,
    farthest,
)


def _of(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, (high - low) / 2, 3, True)


@pytest.mark.parametrize(
    ("low", "high", "case"),
    [
        (0.25, 0.5, AS_CLAIMED),
        (0.0, 1.0, AS_CLAIMED),
        (0.5, 1.25, STRADDLES),
        (-0.25, 0.5, STRADDLES),
        (-1.0, 2.0, STRADDLES),
        (1.25, 2.0, LESS),
        (-2.0, -0.25, LESS),
    ],
)
def test_a_case_is_where_the_whole_interval_lies(low: float, high: float, case: str) -> None:
    assert Region(0.0, 1.0).case(_of(low, high)) == case


def test_an_open_region_has_one_end() -> None:
    assert Region(low=0.5).case(_of(0.5, 99.0)) == AS_CLAIMED
    assert Region(high=-0.5).case(_of(-0.75, -0.25)) == STRADDLES
    assert Region(high=-0.5).case(_of(0.0, 0.0)) == LESS, "nothing at all is no effect"


@pytest.mark.parametrize("stated", [-0.12, 0.10])
def test_a_stated_number_has_a_factor_on_both_sides(stated: float) -> None:
    region = Region.about(stated)
    factors = {1.0: AS_CLAIMED, 1.49: AS_CLAIMED, 1 / 1.49: AS_CLAIMED, 1.51: MORE, 1 / 1.51: LESS}
    for factor, case in ({**factors, 0.0: LESS, -1.0: LESS}).items():
        assert region.case(Estimate(stated * factor, 0.0, 1, False)) == case


def test_the_interval_is_students_over_the_seeds() -> None:
    known = Estimate.of([1.0, 2.0, 3.0], random=True)
    # 4.303 standard errors of 1 / sqrt(3).
    assert (known.mean, known.half) == (2.0, pytest.approx(4.3027 / math.sqrt(3), rel=1e-4))
    assert (known.low, known.high) == (2.0 - known.half, 2.0 + known.half)


def test_what_is_picked_of_many_has_the_interval_of_many() -> None:
    """The intervals of twelve means of noise all hold the truth in 95 % of the draws. Without the
    correction they do so in about half."""
    draw, tries = Random(7), 1000
    alone = together = 0
    for _ in range(tries):
        found = [Estimate.of([draw.gauss(0, 1) for _ in range(5)], True) for _ in range(12)]
        alone += all(one.low <= 0 <= one.high for one in found)
        together += all(
            one.low <= 0 <= one.high for one in (e.at(confidence_of_each(12)) for e in found)
        )
    assert 0.5 < alone / tries < 0.6, "0.95 to the power of 12 is 0.54"
    assert 0.94 < together / tries < 0.97
    one = Estimate.of([1.0, 2.0, 3.0], random=True)
    assert one.at(confidence_of_each(1)) == one


@pytest.mark.parametrize(
    ("intervals", "runs", "errors"), [(1, 3, 4.3027), (10, 3, 14.089), (10, 5, 5.5976)]
)
def test_intervals_that_hold_at_once_are_wider_by_students_t(
    intervals: int, runs: int, errors: float
) -> None:
    """The widths are quantiles from tables, at 1 - 0.05/n for each of n intervals. They are no
    fixed multiple of the 95 % width."""
    known = Estimate.of([float(value) for value in range(runs)], random=True)
    error = math.sqrt(runs * (runs + 1) / 12) / math.sqrt(runs)
    wider = known.at(confidence_of_each(intervals))
    assert (wider.mean, wider.runs) == (known.mean, runs)
    assert wider.half == pytest.approx(errors * error, rel=1e-4)


def test_an_interval_of_nothing_or_of_everything_stays() -> None:
    exact = Estimate.of([0.5], random=False)
    assert exact.at(0.999) == exact
    assert Estimate.of([0.5, 0.5, 0.5], random=True).at(0.999).half == 0.0
    assert Estimate.of([0.5], random=True).at(0.999).half == math.inf


def test_one_run_of_something_random_decides_nothing() -> None:
    one = Estimate.of([0.5], random=True)
    assert Region(0.0, 1.0).case(one) == STRADDLES
    assert Region(0.0, 1.0).case(Estimate.of([0.5], random=False)) == AS_CLAIMED


@pytest.mark.parametrize(
    ("stated", "below", "above"), [(-0.12, MORE, LESS), (0.10, LESS, MORE)], ids=["fall", "rise"]
)
def test_farther_from_nothing_than_a_stated_number_is_more(
    stated: float, below: str, above: str
) -> None:
    """The cases are right with other factors than the claims' factor, too. If neither side is
    better, both are less."""
    region = Region.about(stated)
    for one in (region, region.within(2.0)):
        assert one is not None
        assert one.case(_of(-9.0, -8.0)) == below
        assert one.case(_of(8.0, 9.0)) == above
    both = Region(-0.01, 0.01)
    assert {both.case(_of(-9.0, -8.0)), both.case(_of(8.0, 9.0))} == {LESS}


@pytest.mark.parametrize(
    ("cases", "case"),
    [
        ([AS_CLAIMED, AS_CLAIMED], AS_CLAIMED),
        ([AS_CLAIMED, STRADDLES], STRADDLES),
        ([STRADDLES, MORE, AS_CLAIMED], MORE),
        ([MORE, LESS, STRADDLES], LESS),
    ],
)
def test_of_several_values_one_that_is_less_decides(cases: list[str], case: str) -> None:
    assert farthest(cases) == farthest(reversed(cases)) == case


def _rows(**numbers: int) -> list[dict[str, Any]]:
    named = {"as_claimed": AS_CLAIMED, "more": MORE, "less": LESS, "open": STRADDLES}
    rows = [
        {"case": case, "rejected": None}
        for key, case in named.items()
        for _ in range(numbers.get(key, 0))
    ]
    return rows + [{"case": AS_CLAIMED, "rejected": "busy"}] * numbers.get("left_out", 0)


@given(
    st.fixed_dictionaries(
        {name: st.integers(0, 300) for name in ("as_claimed", "more", "less", "open", "left_out")}
    )
)
def test_a_verdict_has_every_point_once(numbers: dict[str, int]) -> None:
    counts = Counts.of(_rows(**numbers))
    assert vars(counts) == numbers
    assert counts.points == sum(numbers.values()) - numbers["left_out"]
    said = {
        name: int(number)
        for number, name in re.findall(r"(\d+) (more|less|open|left out)", str(counts))
    }
    assert said == {
        name.replace("_", " "): number
        for name, number in numbers.items()
        if number and name != "as_claimed"
    }
    assert str(counts).startswith(f"{numbers['as_claimed']} of {counts.points} as claimed") == (
        counts.points > 0
    )


def test_a_verdict_in_words() -> None:
    counts = Counts(as_claimed=27, more=160, less=20, open=3)
    assert str(counts) == "27 of 210 as claimed, 160 more, 20 less, 3 open"
    assert str(replace(counts, left_out=6)).endswith(", 3 open, 6 left out")
    assert Measured().verdict == "not checked"
    assert Measured(rows=_rows(left_out=2)).verdict == "not checked, 2 left out"
    assert not Measured(rows=_rows(left_out=2)).is_checked
    assert Measured(rows=_rows(open=1)).verdict == "0 of 1 as claimed, 1 open"
