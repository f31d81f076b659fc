"""A quick run states what it covers of the recorded full run, and where both differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from paper_site import found, site, two_papers

from floatgate.papers.kit import coverage
from floatgate.papers.kit.claims import AnyClaim, Measured, Statement, stated
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES

__all__ = ["site", "two_papers"]


def quick(key: str, *cases: str, left_out: tuple[str, ...] = ()) -> AnyClaim:
    measured = found(*cases, left_out=left_out) if cases or left_out else Measured()
    return Statement(key, f"text of {key}", stated("Table 1", "30x", "so")), measured


def full(key: str, kind: str, points: int, left_out: int = 0, **changed: str) -> dict[str, Any]:
    row = {"claim": f"text of {key}", "where": "Table 1", "paper": "30x"} | changed
    return {key: row | {"kind": kind, "points": str(points), "left_out": str(left_out)}}


def test_points_count_with_those_left_out_and_kinds_are_compared() -> None:
    """Open points at which a quick run has too few seeds change the kind, so they are named."""
    recorded = {
        **full("a", "as claimed or more", 1000, 30),
        **full("b", "in part", 20),
        **full("c", "less", 4),
        **full("d", "less", 6),
    }
    claims = [
        quick("a", AS_CLAIMED, AS_CLAIMED, left_out=(LESS,)),
        quick("b", AS_CLAIMED, AS_CLAIMED),
        quick("c", LESS, STRADDLES),
    ]
    assert coverage.coverage_of(claims, recorded) == (
        "covers 7 of 1,060 points; agrees with the full run in 1 of 4 claims; "
        "differs: b (quick: as claimed or more, full: in part), c (quick: open, full: less), "
        "d (quick: not run, full: less)"
    )


@pytest.mark.parametrize("changed", [{"claim": "other"}, {"where": "Table 2"}, {"paper": "31x"}])
def test_a_claim_that_was_reworded_has_no_full_verdict(changed: dict[str, str]) -> None:
    recorded = full("a", "in part", 2) | full("b", "in part", 2, **changed)
    claims = [quick("a", AS_CLAIMED, LESS), quick("b", LESS), quick("new", LESS)]
    assert coverage.coverage_of(claims, recorded) == (
        "covers 2 of 2 points; agrees with the full run in 1 of 1 claims; "
        "has no recorded full verdict of b, new"
    )
    assert coverage.coverage_of(claims[2:], {}) == "has no recorded full verdict of new"


def test_only_full_rows_are_recorded(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    """The recorded file has the form of a site's claims.csv."""
    written = (site / "claims.csv").read_text("utf-8")
    (site / "mixed.csv").write_text(written.replace("one,quick", "one,full"), "utf-8")
    monkeypatch.setattr(coverage, "RECORDED", site / "mixed.csv")
    assert [row["kind"] for row in coverage.recorded_claims("one").values()] == [
        *("as claimed or more", "in part", "not checked"),
    ]
    assert coverage.recorded_claims("two") == {}
