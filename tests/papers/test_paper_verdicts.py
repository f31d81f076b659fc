"""Verdicts: when a claim holds at a point, and how it is worded where in a domain it does."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floatgate.papers.kit.paper import HOLDS
from floatgate.papers.kit.verdicts import (
    AMBIGUOUS,
    EVERYWHERE,
    FAILS_HERE,
    NOWHERE,
    Estimate,
    Named,
    Region,
    confidence_of_each,
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


def test_what_is_picked_of_many_has_the_interval_of_many() -> None:
    """Of twelve means of noise, the intervals of all hold the truth in 95 % of the draws; those of
    each alone in about half."""
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
    """Quantiles of tables, at 1 - 0.05/n of each of n: not those of 95 % in a fixed proportion."""
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
    assert Region(0.0, 1.0).case(one) == AMBIGUOUS
    assert Region(0.0, 1.0).case(Estimate.of([0.5], random=False)) == HOLDS


AXES = (
    Named("spare", "the spare space", ["7%", "15%", "25%"]),
    Named("start", "the start", ["fresh", "aged"]),
    Named("fetch", "the history", ["run", "prev"]),
)
SCATTERED = [
    *(("7%", "fresh", "run"), ("7%", "aged", "prev"), ("15%", "aged", "run")),
    *(("15%", "fresh", "prev"), ("25%", "fresh", "run")),
]
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
            (
                "holds where the spare space is 7% and the start is aged and the history is prev, "
                "or where the spare space is 25%"
            ),
        ),
        (
            lambda p: (p["start"] == "aged") == (p["fetch"] == "prev"),
            (
                "holds where the start is fresh and the history is run, "
                "or where the start is aged and the history is prev"
            ),
        ),
        (
            lambda p: tuple(p.values()) not in {("7%", "aged", "prev"), ("15%", "fresh", "run")},
            (
                "holds, but not where the spare space is 7% and the start is aged and the "
                "history is prev, nor where the spare space is 15% and the start is fresh and the "
                "history is run"
            ),
        ),
        (
            lambda p: p["spare"] == "25%" or tuple(p.values()) in SCATTERED[:3],
            "holds where the spare space is 25%, and in 3 of the 8 other points",
        ),
        (
            lambda p: tuple(p.values()) in SCATTERED,
            "holds in 5 of 12 points, 3 of them among the 6 where the start is fresh",
        ),
        (
            # As often with each choice.
            lambda p: sum(axis.choices.index(p[axis.key]) for axis in AXES) % 2 == 0,
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
    assert worded(AXES, cases) == "holds where the start is fresh; ambiguous in all 6 others"


def test_what_nobody_knows_is_told_apart_from_what_fails() -> None:
    aged = [place for place in GRID if place["start"] == "aged"]
    for unclear in range(len(aged) + 1):
        not_known = aged[:unclear]
        cases = [
            (p, HOLDS if p not in aged else AMBIGUOUS if p in not_known else FAILS_HERE)
            for p in GRID
        ]
        told = {0: "", 6: "; ambiguous in all 6 others"}
        words = told.get(unclear, f"; ambiguous in {unclear} of the 6 others")
        assert worded(AXES, cases) == f"holds where the start is fresh{words}"
    cases = [(place, AMBIGUOUS if place is GRID[-1] else HOLDS) for place in GRID]
    assert worded(AXES, cases).endswith("; ambiguous in the other")


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (HOLDS, "holds at the one point asked"),
        (FAILS_HERE, "does not hold at the one point asked"),
        (AMBIGUOUS, "ambiguous at the one point asked"),
    ],
)
def test_one_point_is_not_everywhere(case: str, verdict: str) -> None:
    assert worded(AXES, [(GRID[0], case)]) == worded((), [({}, case)]) == verdict


def _is_said(box: str, place: Mapping[str, str]) -> bool:
    """Whether the words of a box have the place."""
    sides = (side.split(" is ") for side in box.split(" and "))
    keys = {axis.text: axis.key for axis in AXES}
    return all(place[keys[text]] in choices.split(" or ") for text, choices in sides)


def _read(verdict: str, asked: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]] | None:
    """The places where the words say that it holds, if they say it of each."""
    if verdict in (EVERYWHERE, NOWHERE):
        return list(asked) if verdict == EVERYWHERE else []
    if told := re.fullmatch("holds, but not where (.*)", verdict):
        boxes = told[1].split(", nor where ")
        return [place for place in asked if not any(_is_said(box, place) for box in boxes)]
    if (told := re.fullmatch("holds where (.*)", verdict)) and "other points" not in verdict:
        boxes = told[1].split(", or where ")
        return [place for place in asked if any(_is_said(box, place) for box in boxes)]
    return None


@given(st.dictionaries(st.sampled_from(range(len(GRID))), st.booleans(), min_size=2))
@settings(max_examples=400, deadline=None)
def test_the_words_say_exactly_where_it_holds(known: dict[int, bool]) -> None:
    asked, good = [GRID[i] for i in known], [GRID[i] for i, held in known.items() if held]
    verdict = worded(AXES, [(GRID[i], HOLDS if held else FAILS_HERE) for i, held in known.items()])
    said = _read(verdict, asked)
    if said is not None:
        assert said == good
        return
    assert not _two_boxes(asked, good), "it could be said"
    if told := re.fullmatch(r"holds where (.*), and in (\d+) of the (\d+) other points", verdict):
        # Each side of a choice is a box of its own here.
        sure = [p for p in asked if any(_is_said(one, p) for one in _sides(told[1]))]
        others = [place for place in good if place not in sure]
        assert all(place in good for place in sure)
        assert (len(others), len(asked) - len(sure)) == (int(told[2]), int(told[3]))
        return
    told = re.fullmatch(
        r"holds in (\d+) of (\d+) points(?:, (\d+|all) of them among the (\d+) where (.*))?",
        verdict,
    )
    assert told is not None
    assert (int(told[1]), int(told[2])) == (len(good), len(asked))
    if told[5]:
        counts = [sum(_is_said(told[5], p) for p in places) for places in (good, asked)]
        assert counts == [len(good) if told[3] == "all" else int(told[3]), int(told[4])]
        assert counts[0] / counts[1] > len(good) / len(asked)


def _sides(told: str) -> list[str]:
    """The parts of "the start is aged or the history is prev", each with its axis."""
    texts = "|".join(axis.text for axis in AXES)
    return re.split(f" or (?=(?:{texts}) is )", told)


def _boxes_of(places: Sequence[Mapping[str, str]]) -> list[set[int]]:
    """The numbers of the places that are in each box that there is."""
    sides = [
        [set(of) for n in range(1, len(axis.choices) + 1) for of in combinations(axis.choices, n)]
        for axis in AXES
    ]
    return [
        {
            i
            for i, p in enumerate(places)
            if all(p[a.key] in s for a, s in zip(AXES, box, strict=True))
        }
        for box in product(*sides)
    ]


def _two_boxes(asked: Sequence[Mapping[str, str]], good: Sequence[Mapping[str, str]]) -> bool:
    """Whether two boxes are what is good, or what is not: by trying all."""
    wanted = {i for i, place in enumerate(asked) if place in good}
    found = {frozenset(box) for box in _boxes_of(asked)}
    return any(
        a | b == of
        for of in (wanted, set(range(len(asked))) - wanted)
        for a in found
        for b in found
        if a <= of and b <= of
    )


def test_a_set_that_takes_long_is_counted() -> None:
    """Of a domain of 4,096 points, those of a checkerboard: as many boxes as points."""
    axes = [Named(f"a{i}", f"axis {i}", [str(n) for n in range(4)]) for i in range(6)]
    cases = [
        (place, HOLDS if sum(map(int, place.values())) % 2 else FAILS_HERE)
        for place in grid({axis.key: axis.choices for axis in axes})
    ]
    assert worded(axes, cases) == "holds in 2048 of 4096 points"
