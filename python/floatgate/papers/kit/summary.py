"""What a reproduction says in a few words and tables: plain data, which processes hand over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from floatgate.report.tables import Cell, Table

from . import verdicts
from .drawing import number_table
from .paper import HOLDS, OURS, Measured, Numbers, Outcome

EVERYWHERE, SOMEWHERE, UNCLEAR = "hold everywhere", "hold somewhere", "ambiguous"
NOWHERE, CANNOT = "hold nowhere", "cannot be checked"
KINDS = (EVERYWHERE, SOMEWHERE, UNCLEAR, NOWHERE, CANNOT)


@dataclass(frozen=True)
class Stated:
    """A claim of the paper, and what we found about it: a row of claims.csv."""

    kind: str
    id: str
    claim: str
    where: str
    paper: str
    ours: str
    verdict: str
    at_once: str
    """The verdict with intervals that hold at once, where it has any."""
    why: str


@dataclass(frozen=True)
class Brief:
    """A table that a terminal has, too."""

    caption: str
    table: Table


@dataclass(frozen=True)
class Summary:
    """All that is said of a paper outside its own page."""

    name: str
    title: str
    citation: str
    mode: str
    claims: Sequence[Stated]
    tables: Sequence[Brief]
    warnings: Sequence[str]
    notes: Sequence[str]


def summary_of(outcome: Outcome) -> Summary:
    """The outcome without its runs and figures."""
    tables = [
        Brief(exhibit.caption, number_table(exhibit.title, exhibit.columns, exhibit.rows))
        for exhibit in outcome.exhibits
        if isinstance(exhibit, Numbers) and exhibit.brief and exhibit.rows
    ]
    return Summary(
        outcome.name,
        outcome.title,
        outcome.citation,
        outcome.mode,
        stated(outcome),
        tables,
        outcome.warnings,
        outcome.notes,
    )


def stated(outcome: Outcome) -> list[Stated]:
    """The claims, in their order."""
    return [
        Stated(
            kind=kind_of(found),
            id=claim.key,
            claim=claim.text,
            where=claim.where,
            paper=claim.paper,
            ours=found.ours,
            verdict=found.verdict,
            at_once=found.at_once or found.verdict,
            why=found.why,
        )
        for claim, found in outcome.claims
    ]


def kind_of(found: Measured) -> str:
    """Where a claim holds of the points of its domain that were not left out; one that is asked at
    a single place has none."""
    if not found.rows:
        return {HOLDS: EVERYWHERE, verdicts.NOWHERE: NOWHERE}.get(found.verdict, CANNOT)
    cases = {row["case"] for row in found.rows if not row["rejected"]}
    if not cases:
        return CANNOT
    if HOLDS in cases:
        return EVERYWHERE if cases == {HOLDS} else SOMEWHERE
    return UNCLEAR if verdicts.AMBIGUOUS in cases else NOWHERE


def claims_table(claims: Sequence[Stated]) -> Table:
    """The claims beside our numbers, with verdicts and reasons."""
    rows = [
        [
            Cell(f"{claim.claim} ({claim.where})"),
            *map(Cell, (claim.paper, claim.ours, claim.verdict, claim.why)),
        ]
        for claim in claims
    ]
    titles = ["Claim", "Paper", "Ours", "Verdict", "Why"]
    return Table(f"Claims. {OURS}", titles, rows, frozenset(range(len(titles))))
