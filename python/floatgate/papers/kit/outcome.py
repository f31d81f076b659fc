"""Outcome of a reproduction: its measurements, verdicts and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .claims import AnyClaim, Measured
from .exhibits import Column, Exhibit, Row

if TYPE_CHECKING:
    from floatgate.results.result import Result


@dataclass(kw_only=True)
class Outcome:
    name: str
    title: str
    citation: str
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
    """Of a quick run: what it covers, and where it differs from the recorded full run."""
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
            "paper": {"name": self.name, "title": self.title, "citation": self.citation},
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
