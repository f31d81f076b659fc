"""Verdicts: when a claim holds at a point, and how it is worded where in a domain it does."""

from __future__ import annotations

import math
from typing import Any

import pytest

from floatgate.papers.paper import HOLDS
from floatgate.papers.verdicts import (
    AMBIGUOUS,
    EVERYWHERE,
    FAILS_HERE,
    NOWHERE,
    Estimate,
    Named,
    Region,
    grid,
    worded,
)


def _of(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, (high - low) / 2, 3, True)


@pytest.mark.parametrize(
    ("low", "high", "case"),
    [
        (0.25, 0.5, HOLDS),
        (0.0, 1.0, HOLDS),
        (0.5, 1.25, AMBIGUOUS),
        (-0.25, 0.5, AMBIGUOUS),
        (-1.0, 2.0, AMBIGUOUS),
        (1.25, 2.0, FAILS_HERE),
        (-2.0, -0.25, FAILS_HERE),
    ],
)
def test_a_case_is_where_the_whole_interval_lies(low: float, high: float, case: str) -> None:
    assert Region(0.0, 1.0).case(_of(low, high)) == case


def test_an_open_region_has_one_end() -> None:
    assert Region(low=0.5).case(_of(0.5, 99.0)) == HOLDS
    assert Region(high=-0.5).case(_of(-0.75, -0.25)) == AMBIGUOUS
    assert Region(high=-0.5).case(_of(0.0, 0.0)) == FAILS_HERE, "nothing at all is no effect"


@pytest.mark.parametrize("stated", [-0.12, 0.10])
def test_a_stated_number_has_a_factor_on_both_sides(stated: float) -> None:
    region = Region.about(stated)
    factors = {1.0: HOLDS, 1.49: HOLDS, 1 / 1.49: HOLDS, 1.51: FAILS_HERE, 1 / 1.51: FAILS_HERE}
    for factor, case in ({**factors, 0.0: FAILS_HERE, -1.0: FAILS_HERE}).items():
        assert region.case(Estimate(stated * factor, 0.0, 1, False)) == case


def test_the_interval_is_students_over_the_seeds() -> None:
    known = Estimate.of([1.0, 2.0, 3.0], random=True)
    # 4.303 standard errors of 1 / sqrt(3).
    assert (known.mean, known.half) == (2.0, pytest.approx(4.3027 / math.sqrt(3), rel=1e-4))
    assert (known.low, known.high) == (2.0 - known.half, 2.0 + known.half)


def test_one_run_of_something_random_decides_nothing() -> None:
    one = Estimate.of([0.5], random=True)
    assert Region(0.0, 1.0).case(one) == AMBIGUOUS
    assert Region(0.0, 1.0).case(Estimate.of([0.5], random=False)) == HOLDS


AXES = (
    Named("spare", "the spare space", ["7%", "15%", "25%"]),
    Named("start", "the start", ["fresh", "aged"]),
    Named("fetch", "the history", ["run", "prev"]),
)
GRID = grid({axis.key: axis.choices for axis in AXES})


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        (lambda p: True, EVERYWHERE),
        (lambda p: False, NOWHERE),
        (lambda p: p["start"] == "aged", "holds where the start is aged"),
        (
            lambda p: p["start"] == "aged" and p["spare"] != "7%",
            "holds where the spare space is 15% or 25% and the start is aged",
        ),
        (
            lambda p: p["start"] == "fresh" or p["spare"] == "25%",
            "holds, but not where the spare space is 7% or 15% and the start is aged",
        ),
        (
            lambda p: p["spare"] == "25%" or tuple(p.values()) == ("7%", "aged", "prev"),
            "holds where the spare space is 25%, and in 1 of the 8 other points",
        ),
        (
            lambda p: (p["start"] == "aged") == (p["fetch"] == "prev"),
            "holds in 6 of 12 points",
        ),
    ],
)
def test_where_it_holds_is_worded(holds: Any, verdict: str) -> None:
    cases = [(place, HOLDS if holds(place) else FAILS_HERE) for place in GRID]
    assert worded(AXES, cases) == verdict


def test_ambiguous_is_not_holding_and_is_told() -> None:
    cases = [(p, AMBIGUOUS if p["start"] == "aged" else FAILS_HERE) for p in GRID]
    assert worded(AXES, cases) == f"{NOWHERE}, ambiguous in 6 of 12 points"
    cases = [(p, AMBIGUOUS if p["start"] == "aged" else HOLDS) for p in GRID]
    assert worded(AXES, cases) == "holds where the start is fresh"
