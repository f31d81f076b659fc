"""Claims of ETI's paper on the amount of hot data in a trace, and on the number of its extents."""

from __future__ import annotations

import pytest
from evidence.eti import BY_HOT_KEY, HOT_CASES, HotCase, hotness, looked

from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, MORE


@pytest.mark.parametrize(
    "case", HOT_CASES, ids=[f"{c.claim} {c.case}: {c.because}" for c in HOT_CASES]
)
def test_a_claim_on_traces_made_by_hand(case: HotCase) -> None:
    """An analysed trace has one exact value, so no case is open."""
    found = looked(BY_HOT_KEY[case.claim], case.found)
    assert {row["case"] for row in found.rows} == {case.case}
    assert found.counts.open == 0


def test_every_claim_on_traces_meets_evidence_for_each_case() -> None:
    met = {(case.claim, case.case) for case in HOT_CASES}
    known = BY_HOT_KEY.keys() - {"once-partners"}
    wanted = {(key, case) for key in known for case in (AS_CLAIMED, LESS)}
    assert met == wanted | {("once", MORE)}


def test_a_map_of_one_extent_is_no_map() -> None:
    found = looked(BY_HOT_KEY["half"], hotness([1.0], [0.0]))
    assert not found.is_checked
    assert {row["case"] for row in found.rows} == {LESS}, "it is shown, and not counted"
