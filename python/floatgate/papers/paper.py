"""What a reproduction is made of: points, claims with their verdicts, and the whole outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floatgate.result import Result

HOLDS = "holds"
PARTLY = "partly"
FAILS = "does not hold"
UNCHECKED = "cannot be checked"

FACTOR = 1.5
"""A stated number holds if ours has its sign and is within this factor of it."""


@dataclass(frozen=True)
class Point:
    """One run, reduced to what figures and claims are about. Shares and ratios are 0 to 1."""

    trace: str
    family: str
    """Which of the paper's traces it stands for."""
    line: str
    """Key of the scheme with its parameters, e.g. "dftl"."""
    arrivals: str
    cache_bytes: int | None
    """None where the scheme has no cache."""
    hit_ratio: float | None
    mean_us: float
    stdev_us: float
    utilization: float
    queue_share: float
    """Of the mean response time, what was waiting for room in the command queue."""
    map_reads: float
    """Translation pages read for the host, per page access."""
    map_programs: float
    prefetch_used: float | None
    """Of the entries loaded ahead, the share that was asked for."""
    map_share: float
    """Of the flash's busy time, what the map of the host took."""
    cleaning_share: float
    """The same for cleaning: moves, map updates and erases."""


@dataclass(frozen=True)
class Measured:
    """What we found about a claim."""

    ours: str
    verdict: str
    why: str
    number: float | None = None


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, and how it is measured here."""

    key: str
    text: str
    where: str
    paper: str
    """What the paper states, in short."""
    measure: Callable[[Sequence[Point]], Measured]


@dataclass(frozen=True)
class Chart:
    """One of the paper's figures: which number of the points is drawn, and for which lines."""

    key: str
    title: str
    caption: str
    metric: str
    lines: tuple[str, ...]
    arrivals: str = "open"


@dataclass
class Outcome:
    """All that a reproduction found."""

    name: str
    title: str
    citation: str
    mode: str
    labels: dict[str, str]
    """Names of the lines by their key."""
    charts: list[Chart]
    claims: list[tuple[Claim, Measured]]
    points: list[Point]
    results: list[Result]
    """The run behind each point."""
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The outcome as JSON: claims, the data of the figures, and the runs with their config."""
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
            "figures": {chart.key: series(self, chart) for chart in self.charts},
            "warnings": self.warnings,
            "notes": self.notes,
            "runs": runs,
        }


def series(outcome: Outcome, chart: Chart) -> list[dict[str, Any]]:
    """The data of a figure, a row per point, in the order of its traces and lines."""
    rows = []
    for point in outcome.points:
        value = getattr(point, chart.metric)
        if point.line in chart.lines and point.arrivals == chart.arrivals and value is not None:
            rows.append(
                {
                    "trace": point.trace,
                    "line": point.line,
                    "cache_bytes": point.cache_bytes,
                    chart.metric: value,
                }
            )
    return rows


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


def _provenance(result: Result) -> dict[str, Any]:
    document = result.to_dict()
    return {
        "workload": document["workload"],
        "seed": document["seed"],
        "floatgate": document["floatgate"],
        "engine": document["engine"]["version"],
        "config": document["config"],
    }
