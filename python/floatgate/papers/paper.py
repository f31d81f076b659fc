"""What a reproduction is made of: exhibits with their data, claims with verdicts, the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from floatgate.result import Result

    from .judging import OpenClaim

HOLDS = "holds"
PARTLY = "partly"
FAILS = "does not hold"
UNCHECKED = "cannot be checked"

FACTOR = 1.5
"""A stated number holds if ours has its sign and is within this factor of it."""

Evidence = TypeVar("Evidence")
Row = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """What we found about a claim."""

    ours: str
    verdict: str
    why: str
    number: float | None = None
    on: str = ""
    """What it was measured on, where that is not what the paper has: "stand-ins"."""
    rows: Sequence[Row] = ()
    """The points of the claim's domain, each with its estimate and case, where it has a domain."""

    @property
    def judged(self) -> str:
        """The verdict, with what it is about."""
        return f"{self.verdict}, on {self.on}" if self.on else self.verdict


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
    """The column with half of a value's interval, which is drawn through the point."""
    rules: Sequence[tuple[str, float]] = ()
    """Values to hold the lines against, each with its name."""


@dataclass(frozen=True, kw_only=True)
class Dots(Chart):
    """A dot for each row, at `x` and the metric; what is where matters, not single values."""

    x: str
    """The column for the horizontal axis."""
    x_title: str


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
                "on": found.on,
                "why": found.why,
                **({"domain": list(found.rows)} if found.rows else {}),
            }
            for claim, found in self.claims
        ]
        runs = [
            asdict(point) | _provenance(result)
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


def rows_of(points: Iterable[Any], lines: Iterable[str], metric: str, *others: str) -> list[Row]:
    """The data of a chart: of the points on these lines that have the metric, trace, line, it and
    the other columns."""
    known = set(lines)
    return [
        {name: getattr(point, name) for name in ("trace", "line", *others, metric)}
        for point in points
        if point.line in known and getattr(point, metric) is not None
    ]


def crosstab(
    points: Iterable[Any], labels: Mapping[str, str], metric: str, text: Callable[[Any], str]
) -> tuple[list[Row], list[Column]]:
    """A metric as a table: a row per line, a column per trace."""
    table: dict[str, Row] = {key: {"line": name} for key, name in labels.items()}
    traces: dict[str, None] = {}
    for point in points:
        if point.line in table:
            table[point.line][point.trace] = getattr(point, metric)
            traces[point.trace] = None
    columns = [Column("", "line"), *(Column(trace, trace, text) for trace in traces)]
    return [row for row in table.values() if len(row) > 1], columns


def stated(paper: float, ours: float) -> str:
    """The verdict on a number: holds within `FACTOR` of it, partly if only the sign is right."""
    if paper * ours <= 0:
        return FAILS
    ratio = ours / paper
    return HOLDS if 1 / FACTOR <= ratio <= FACTOR else PARTLY


def ordered(cases: Sequence[bool]) -> str:
    """The verdict on an order: holds in all cases, partly in at least half of them."""
    if not cases:
        return UNCHECKED
    right = sum(cases)
    return HOLDS if right == len(cases) else PARTLY if 2 * right >= len(cases) else FAILS


def change(value: float) -> str:
    """A relative change in percent, with its sign."""
    return f"{value:+.1%}".replace("-", "\N{MINUS SIGN}")


def absent(what: str) -> Measured:
    """Nothing was found, for want of something."""
    return Measured("not measured", UNCHECKED, f"it takes {what}")


def _provenance(result: Result) -> Row:
    document = result.to_dict()
    return {
        "workload": document["workload"],
        "seed": document["seed"],
        "floatgate": document["floatgate"],
        "engine": document["engine"]["version"],
        "config": document["config"],
    }
