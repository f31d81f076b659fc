"""Evidence made by hand for every claim of every paper, with the verdict that its sentence has.

A module per paper. In each: `as_stated()`, evidence of which all that can be checked holds;
`CASES`; `NO_MIDDLE`, the claims that hold or do not; and `NEVER`, those that no run can say
anything about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from floatgate.papers.paper import FAILS, HOLDS, PARTLY, Measured


@dataclass(frozen=True)
class Case:
    """Evidence, the claim that it is about, what the verdict is, and why it has to be that."""

    claim: str
    verdict: str
    because: str
    evidence: Any


def altered(points: Iterable[Any], where: dict[str, Any], **numbers: Any) -> list[Any]:
    """The points, with other numbers in those that are so."""
    return [replace(point, **numbers) if _is(point, where) else point for point in points]


def without(points: Iterable[Any], **where: Any) -> list[Any]:
    """The points but for those that are so."""
    return [point for point in points if not _is(point, where)]


def _is(point: Any, where: dict[str, Any]) -> bool:
    return all(getattr(point, name) == value for name, value in where.items())


def about(
    claim: str, paper: float, evidence: Callable[[float], Any], *, signed: bool = True
) -> list[Case]:
    """A number that the paper states: within a factor of 1.5 it holds, and partly if it is further
    off and has the right sign. Sizes and factors, which have no other sign, can only be nothing.
    """
    cases = [
        (HOLDS, "it is the number", paper),
        (HOLDS, "it is less than 1.5 times the number", 1.49 * paper),
        (PARTLY, "it is more than 1.5 times the number", 1.51 * paper),
        (HOLDS, "the number is less than 1.5 times ours", paper / 1.49),
        (PARTLY, "the number is more than 1.5 times ours", paper / 1.51),
        (FAILS, "there is nothing", 0.0),
        *([(FAILS, "it has the other sign", -paper)] if signed else []),
    ]
    return [Case(claim, verdict, why, evidence(ours)) for verdict, why, ours in cases]


def measured(paper: str, evidence: Any) -> dict[str, Measured]:
    """What is found about every claim of a paper."""
    claims = import_module(f"floatgate.papers.{paper}_claims")
    return {claim.key: found for claim, found in claims.judge(evidence)}


def minus(text: str) -> str:
    """As it is printed: hyphens stand for signs here."""
    return text.replace("-", "\N{MINUS SIGN}")
