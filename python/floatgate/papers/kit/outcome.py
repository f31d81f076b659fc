"""Outcome of a reproduction: its measurements, verdicts and figures. Its summary is plain data that
passes between processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from floatgate.results.tables import Cell, Part, Table

from .claims import STATED, AnyClaim, Counts, Measured
from .drawing import number_table
from .exhibits import Column, Exhibit, Numbers, Row
from .judging import decided_by

if TYPE_CHECKING:
    from floatgate.papers import Listed
    from floatgate.results.result import Result


@dataclass(kw_only=True)
class Outcome:
    listed: Listed
    mode: str
    labels: Mapping[str, str]
    exhibits: list[Exhibit]
    claims: Sequence[AnyClaim]
    points: list[Any]
    """Dataclass for each run, with `trace` and `line` among its fields."""
    results: list[Result]
    columns: Sequence[Column]
    """Columns of the table of all runs, by the fields of a point."""
    shown: str
    """Line for which one run per trace is shown with its whole config."""
    coverage: str = ""
    """The points that a quick run covers, and its differences from the recorded full run."""
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def document(self) -> Row:
        """Returns the outcome as JSON: claims, the data of the exhibits, and the runs with their
        config."""
        claims = [
            {
                "id": claim.key,
                "claim": claim.text,
                **claim.origin._asdict(),
                "ours": measured.ours,
                "number": measured.number,
                "verdict": measured.verdict,
                "why": measured.why,
                **(_counted(measured) if measured.rows else {}),
            }
            for claim, measured in self.claims
        ]
        runs = [
            vars(point) | _provenance(result)
            for point, result in zip(self.points, self.results, strict=True)
        ]
        return {
            "paper": vars(self.listed),
            "mode": self.mode,
            "coverage": self.coverage,
            "claims": claims,
            "figures": {exhibit.key: exhibit.rows for exhibit in self.exhibits},
            "warnings": self.warnings,
            "notes": self.notes,
            "runs": runs,
        }


def _counted(measured: Measured) -> Row:
    return {
        "points": vars(measured.counts),
        "points_at_once": vars(measured.at_once),
        "domain": list(measured.rows),
    }


def _provenance(result: Result) -> Row:
    return {
        "workload": vars(result.workload),
        "seed": result.seed,
        "floatgate": result.floatgate,
        "engine": result.engine.version,
        "config": result.config,
    }


EVERYWHERE, SOMEWHERE, UNCLEAR = "as claimed or more", "in part", "open"
NOWHERE, CANNOT = "less", "not checked"
KINDS = (EVERYWHERE, SOMEWHERE, UNCLEAR, NOWHERE, CANNOT)
WORDS = {
    EVERYWHERE: ("holds", "hold", "at every point"),
    SOMEWHERE: ("holds", "hold", "in part"),
    UNCLEAR: ("is", "are", "open"),
    NOWHERE: ("holds", "hold", "nowhere"),
    CANNOT: ("is", "are", "not checked"),
}
"""Verdicts in a sentence: the verb for one claim and for several, and the rest."""


@dataclass(frozen=True)
class Finding:
    """A claim and its measurements: a row of claims.csv."""

    kind: str
    basis: str
    id: str
    claim: str
    where: str
    quote: str
    paper: str
    ours: str
    middle: str
    """Our number with every axis at its default, with its interval."""
    verdict: str
    points: int
    as_claimed: int
    more: int
    less: int
    open: int
    left_out: int
    at_once: str
    """The verdict with intervals that hold simultaneously. Empty without points."""
    decided_by: str
    why: str

    @property
    def counts(self) -> Counts:
        return Counts(self.as_claimed, self.more, self.less, self.open, self.left_out)


@dataclass(frozen=True)
class Summary:
    listed: Listed
    mode: str
    coverage: str
    claims: Sequence[Finding]
    tables: Sequence[Table]
    """Tables for a terminal. Their titles have the captions, too."""
    warnings: Sequence[str]
    notes: Sequence[str]

    def kinds(self) -> dict[str, int]:
        return stated_kinds(self.claims)


def summary_of(outcome: Outcome) -> Summary:
    """Returns the outcome without its runs and figures."""
    tables = [
        number_table(f"{exhibit.title}. {exhibit.caption}", exhibit.columns, exhibit.rows)
        for exhibit in outcome.exhibits
        if isinstance(exhibit, Numbers) and exhibit.brief and exhibit.rows
    ]
    return Summary(
        outcome.listed,
        outcome.mode,
        outcome.coverage,
        findings(outcome),
        tables,
        outcome.warnings,
        outcome.notes,
    )


def findings(outcome: Outcome) -> list[Finding]:
    return [
        Finding(
            kind=kind_of(measured.counts),
            basis=claim.origin.basis,
            id=claim.key,
            claim=claim.text,
            where=claim.origin.where,
            quote=claim.origin.quote,
            paper=claim.origin.paper,
            ours=measured.ours,
            middle=measured.middle,
            verdict=measured.verdict,
            points=measured.counts.points,
            **vars(measured.counts),
            at_once=str(measured.at_once) if measured.is_checked else "",
            decided_by=decided_by(measured),
            why=measured.why,
        )
        for claim, measured in outcome.claims
    ]


def kind_of(counts: Counts) -> str:
    """Returns the kind of a verdict, by how many of the points that count meet the claim."""
    met = counts.as_claimed + counts.more
    if not counts.points:
        return CANNOT
    if met:
        return EVERYWHERE if met == counts.points else SOMEWHERE
    return UNCLEAR if counts.open else NOWHERE


def claims_table(claims: Sequence[Finding]) -> Table:
    rows = [
        [
            Cell(f"{claim.claim} ({claim.where})"),
            *map(Cell, (claim.basis, claim.paper, claim.ours)),
            Cell(claim.verdict, parts=share_bar(claim.counts)),
            Cell(_reason(claim)),
        ]
        for claim in claims
    ]
    titles = ["Claim", "Basis", "Paper", "Ours", "Verdict", "Why"]
    return Table("Claims", titles, rows, frozenset(range(len(titles))))


def _reason(claim: Finding) -> str:
    decides = f"decided by {claim.decided_by}" if claim.decided_by else ""
    return "; ".join(filter(None, (decides, claim.why)))


def share_bar(counts: Counts) -> tuple[Part, ...]:
    """Returns the parts of a bar: each case with its number of points and its share of them."""
    return shares(
        {
            "as claimed": counts.as_claimed,
            "more": counts.more,
            "open": counts.open,
            "less": counts.less,
        }
    )


def shares(numbers: Mapping[str, int]) -> tuple[Part, ...]:
    """Returns the parts of a bar that are not empty."""
    whole = sum(numbers.values())
    return tuple(Part(name, n, 100 * n / whole) for name, n in numbers.items() if n)


def stated_kinds(claims: Sequence[Finding]) -> dict[str, int]:
    """Returns the number of stated claims by the kind of their verdict."""
    kinds = [claim.kind for claim in claims if claim.basis == STATED]
    return {kind: kinds.count(kind) for kind in KINDS}


def headline(claims: Sequence[Finding], by: str = "the paper states") -> str:
    """Returns the verdicts of the stated claims in one sentence; empty without such claims."""
    kinds = {kind: many for kind, many in stated_kinds(claims).items() if many}
    if not kinds:
        return ""
    words = [
        f"{many} {one if many == 1 else several} {rest}"
        for kind, many in kinds.items()
        for one, several, rest in [WORDS[kind]]
    ]
    listed = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    return f"Of {sum(kinds.values())} claims that {by}, {listed}."
