"""What a reproduction is made of: exhibits with their data, claims with verdicts, the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from floatgate.result import Result

    from .judging import OpenClaim

HOLDS = "holds"
UNCHECKED = "cannot be checked"
OURS = (
    "Ours: from the least to the largest number over the points that count. At each it is that of "
    "the worst of all that the claim compares (a workload, a line), which decides and is named "
    "before it where there are several."
)
"""How to read our numbers beside those of the paper."""

Evidence = TypeVar("Evidence")
Row = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """What we found about a claim."""

    ours: str
    verdict: str
    why: str
    number: float | None = None
    rows: Sequence[Row] = ()
    """The points of the claim's domain, each with its estimate and case, where it has a domain."""
    at_once: str | None = None
    """The verdict with intervals that are so wide that all of the domain's hold at once at 95 %;
    None where it has no domain."""


@dataclass(frozen=True)
class Claim(Generic[Evidence]):
    """One statement of the paper, and how it is measured here."""

    key: str
    text: str
    where: str
    paper: str
    """What the paper states, in short."""
    measure: Callable[[Evidence], Measured]


@dataclass(frozen=True)
class Column:
    """A column of a table of numbers."""

    title: str
    field: str
    text: Callable[[Any], str] | None = None
    """How a number is written. None: it is a text."""


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One of the paper's figures or tables, or one of ours."""

    key: str
    title: str
    caption: str
    rows: list[Row]
    """Its data, a row per point."""


@dataclass(frozen=True, kw_only=True)
class Numbers(Exhibit):
    """A table."""

    columns: Sequence[Column]
    brief: bool = True
    """Whether a terminal has it, too."""


@dataclass(frozen=True, kw_only=True)
class Chart(Exhibit):
    """Plots of one number. In a row, `line` has what tells the lines, or bars, apart."""

    metric: str
    """The column that is drawn."""
    style: str
    """How its numbers are written, a d3 format."""
    labels: Mapping[str, str]
    """The names of the lines by what the rows have in `line`, in the order of the legend."""
    panel: str | None = "trace"
    """The column of which each value has a plot. None: one plot."""


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """Lines over a parameter. A row that has None there is the same at every value."""

    x: str
    """The column with the parameter."""
    x_title: str
    x_text: Callable[[float], str]
    top: float | None = None
    """Where the vertical axis ends; else at the largest value."""
    spread: str = ""
    """The column with half of a value's interval, which is drawn over its dot."""
    rules: Sequence[tuple[str, float]] = ()
    """Values to hold the lines against, each with its name."""


@dataclass(frozen=True, kw_only=True)
class Dots(Chart):
    """A dot for each row, at `x` and the metric; what is where matters, not single values."""

    x: str
    """The column for the horizontal axis."""
    x_title: str
    axis: str = ""
    """What the vertical axis has; else the title."""
    marks: Sequence[tuple[str, float, float]] = ()
    """Places to hold the dots of each plot against, each with its name."""
    size: int = 3
    """Of a dot, in square pixels."""
    x_spread: str = ""
    """The column with half of the interval of `x`, which is drawn through the dot."""
    spread: str = ""
    """The same for the metric."""


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """Bars from zero: a band for each value of the column `row`, in it a bar for each line."""

    row: str = "line"
    groups: Mapping[str, str] = field(default_factory=dict)
    """Which lines share a colour, and its name, where not each has its own."""
    axis: str = ""
    """What the bars measure; else the title."""
    rules: Mapping[str | None, Sequence[tuple[str, float]]] = field(default_factory=dict)
    """Values to hold the bars of a plot against, by its panel, each with its name."""
    spread: str = ""
    """The column with half of a value's interval, which is drawn over the bar's end."""


@dataclass(kw_only=True)
class Outcome:
    """All that a reproduction found."""

    name: str
    title: str
    citation: str
    mode: str
    labels: Mapping[str, str]
    """Names of the lines by their key."""
    exhibits: list[Exhibit]
    claims: Sequence[tuple[Claim[Any] | OpenClaim[Any], Measured]]
    points: list[Any]
    """A dataclass per run, with `trace` and `line` among its fields."""
    results: list[Result]
    """The run behind each point."""
    columns: Sequence[Column]
    """Those of the table of all runs, of the fields of a point."""
    shown: str
    """The line of which a run per trace is shown with its whole config."""
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def document(self) -> Row:
        """The outcome as JSON: claims, the data of the exhibits, and the runs with their config."""
        claims = [
            {
                "id": claim.key,
                "claim": claim.text,
                "where": claim.where,
                "paper": claim.paper,
                "ours": found.ours,
                "number": found.number,
                "verdict": found.verdict,
                "why": found.why,
                **({"at_once": found.at_once} if found.at_once is not None else {}),
                **({"domain": list(found.rows)} if found.rows else {}),
            }
            for claim, found in self.claims
        ]
        runs = [
            vars(point) | _provenance(result)
            for point, result in zip(self.points, self.results, strict=True)
        ]
        return {
            "paper": {"name": self.name, "title": self.title, "citation": self.citation},
            "mode": self.mode,
            "claims": claims,
            "figures": {exhibit.key: exhibit.rows for exhibit in self.exhibits},
            "warnings": self.warnings,
            "notes": self.notes,
            "runs": runs,
        }


def change(value: float) -> str:
    """A relative change in percent, with its sign."""
    return f"{value:+.1%}".replace("-", "\N{MINUS SIGN}")


def _provenance(result: Result) -> Row:
    return {
        "workload": vars(result.workload),
        "seed": result.seed,
        "floatgate": result.floatgate,
        "engine": result.engine.version,
        "config": result.config,
    }
