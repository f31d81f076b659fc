"""What is said beside a verdict: our numbers from the least to the largest, and why it is so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .paper import HOLDS, Row
from .verdicts import AMBIGUOUS, FAILS_HERE

if TYPE_CHECKING:
    from .judging import OpenClaim


def ours(claim: OpenClaim[Any], rows: Sequence[Row]) -> str:
    """The least and the largest of our numbers, with where the paper's lies."""
    least, most = (pick(rows, key=lambda row: row["ours"]) for pick in (min, max))
    if len(rows) == 1:
        return interval(claim, least)
    return f"{interval(claim, least)} to {interval(claim, most)}"


def interval(claim: OpenClaim[Any], row: Row) -> str:
    """Our number at a point with half of its interval, and what decides there."""
    of = f"{row['of']} " if row["of"] else ""
    if row["ci95"]:
        half = claim.said(row["ci95"]).lstrip("+")
        return f"{of}{claim.said(row['ours'])} ± {half}"
    return f"{of}{claim.said(row['ours'])}"


def told(rows: Sequence[Row]) -> str:
    """How many points there are of each case, and of how many runs each number is."""
    fixed = sum(not row["random"] for row in rows)
    seeds = sorted({row["seeds"] for row in rows if row["random"]})
    means = f"means of {' or '.join(map(str, seeds))} seeds" if seeds else ""
    exact = "nothing is random" + (f" in {fixed}" if seeds else "") if fixed else ""
    said = "; ".join(filter(None, (means, exact)))
    if len(rows) == 1:
        return f"one point ({said})"
    return f"{len(rows)} points: {counts_of(rows)} ({said})"


_WORDS = ((HOLDS, "hold"), (AMBIGUOUS, "ambiguous"), (FAILS_HERE, "fail"))


def counts_of(rows: Sequence[Row], case: str = "case") -> str:
    """How many points there are of each case: "2 hold, 1 ambiguous"; `case` is the column."""
    cases = Counter(row[case] for row in rows)
    return ", ".join(f"{cases[one]} {word}" for one, word in _WORDS if cases[one])


def against(claim: OpenClaim[Any], rows: Sequence[Row]) -> list[str]:
    """What decides where it does not hold, and where the paper's number lies."""
    found = []
    fails = Counter(row["of"] for row in rows if row["case"] != HOLDS and row["of"])
    if fails:
        found.append("decided by " + ", ".join(f"{of} in {n}" for of, n in fails.most_common()))
    stated = claim.region.stated
    if stated is not None:
        within = sum(row["paper_within"] for row in rows)
        span = [row["ours"] for row in rows]
        inside = "between" if min(span) <= stated <= max(span) else "not between"
        found.append(
            f"the paper's number is {inside} the least and the largest of ours, and in the "
            f"interval of {within}"
        )
    return found
