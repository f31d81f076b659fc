"""Claims: a statement of a paper, its origin, and the rule that decides whether it is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from .exhibits import Row
from .experiment import Experiment, Levels, Run
from .verdicts import AS_CLAIMED, LESS, MORE, STRADDLES, Region

Point = TypeVar("Point")
"""A run, reduced to the numbers that claims and figures use."""

UNCHECKED = "not checked"
OURS = (
    "Ours: the least to the largest of our numbers over the points that count. At each point it is "
    "the number of the workload or line that is farthest from what is claimed, whose name stands "
    "before it where the claim compares several."
)
JUDGED = (
    "A point is as claimed if the whole 95% interval of our number (Student's t over seeds; none "
    "where nothing is random) is where the claim says, more or less if none of it is, and open if "
    "a part is. A stated number is met within a factor of 1.5."
)

BUSY, WAITING = 0.95, 0.01
"""Minimum utilization of a drive with a backlog, and minimum share of waiting in its mean response
time."""


def is_backlogged(point: Any) -> bool:
    """Returns whether requests come faster than the drive serves them, so that response times grow
    with the length of the trace. The point has `utilization` and `queue_share`, both 0 to 1."""
    return bool(point.utilization >= BUSY and point.queue_share >= WAITING)


STATED, INFERRED, OWN = "stated", "inferred", "ours"
BASES = (STATED, INFERRED, OWN)


class Origin(NamedTuple):
    where: str
    paper: str
    """The paper's statement, in short."""
    basis: str
    """Stated by the paper, inferred from its text, or a question of ours."""
    quote: str


def stated(where: str, paper: str, quote: str) -> Origin:
    return Origin(where, paper, STATED, quote)


def inferred(where: str, paper: str, quote: str = "") -> Origin:
    return Origin(where, paper, INFERRED, quote)


def own(where: str, paper: str) -> Origin:
    return Origin(where, paper, OWN, "")


def change(value: float) -> str:
    """Formats a relative change in percent, with its sign."""
    return signed(value, "{:+.1%}")


def in_points(value: float, digits: int = 1) -> str:
    """Formats a difference of shares (0 to 1) in points, with its sign."""
    return signed(100 * value, f"{{:+.{digits}f}} points")


def signed(value: Any, form: str) -> str:
    """Formats a number with a minus sign that is as wide as a plus."""
    return form.format(value).replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class At(Generic[Point]):
    """Measurements at one point of a domain, with one seed."""

    experiment: Experiment
    points: Mapping[Run, Point]
    levels: Levels
    seed: int

    def __call__(self, workload: str, line: str) -> Point:
        """Returns the run of a paper's line on its workload. Raises KeyError without such a run."""
        return self.points[self.experiment.run_of(self.levels, workload, line, self.seed)]


Values = dict[str, float]
"""Values that a claim compares, by name. Each value has to be in the claim's region."""
Measure = Callable[[At[Point]], Values]


@dataclass(frozen=True)
class Premise(Generic[Point]):
    """Assumption of a claim. A point counts only if the premise's whole interval is in its
    region."""

    text: str
    """Describes the points left out: "without a gain on Financial1"."""
    measure: Measure[Point]
    """Measures the premise on the lines and workloads of the claim."""
    region: Region


@dataclass(frozen=True)
class Filter(Generic[Point]):
    """Rule for runs that give no information, fixed before any run, for all claims."""

    text: str
    """Describes the points left out: "points with a backlog"."""
    rejects: Callable[[Point], bool]


NOTHING: Filter[Any] = Filter("", lambda _: False)
"""Leaves no run out."""


@dataclass(frozen=True)
class Statement:
    key: str
    text: str
    origin: Origin


@dataclass(frozen=True)
class Claim(Statement, Generic[Point]):
    """A statement with a domain: the points at which it is tested, and the claimed region."""

    axes: tuple[str, ...]
    """Axes of the experiment that the claim sweeps: parameters that the statement leaves open."""
    workloads: tuple[str, ...]
    lines: tuple[str, ...]
    measure: Measure[Point]
    region: Region
    said: Callable[[float], str] = change
    full_axes: frozenset[str] = frozenset()
    """Axes of the claim that a quick reproduction leaves at their defaults."""
    premise: Premise[Point] | None = None
    of_each: Callable[[str], str] | None = None
    """Returns the group of a value from its name. The best value of each group is enough ("in some
    cases")."""
    cases: int = 1
    """Number of values from which the best is picked. A larger number widens all intervals."""


@dataclass(frozen=True)
class Counts:
    """Number of points of a domain, by the case of our number at the point."""

    as_claimed: int = 0
    more: int = 0
    less: int = 0
    open: int = 0
    left_out: int = 0

    @classmethod
    def of(cls, rows: Sequence[Row], case: str = "case") -> Counts:
        """Counts rows of a domain; `case` names the column."""
        cases = Counter(row[case] for row in rows if not row["rejected"])
        left_out = sum(bool(row["rejected"]) for row in rows)
        return cls(cases[AS_CLAIMED], cases[MORE], cases[LESS], cases[STRADDLES], left_out)

    @property
    def points(self) -> int:
        return self.as_claimed + self.more + self.less + self.open

    def __str__(self) -> str:
        """ "27 of 210 as claimed, 160 more, 20 less, 3 open"."""
        parts = [f"{self.as_claimed} of {self.points} as claimed"] if self.points else []
        parts += [
            f"{number} {name}"
            for number, name in (
                *((self.more, MORE), (self.less, LESS), (self.open, STRADDLES)),
                (self.left_out, "left out"),
            )
            if number
        ]
        return ", ".join(parts)


@dataclass(frozen=True)
class Measured:
    """Measurements for a statement. Without rows, no run gives any information about it."""

    ours: str = "not measured"
    why: str = ""
    """Reason why the statement is not checked, or the points left out of a checked statement."""
    number: float | None = None
    """Our number with every axis at its default."""
    rows: Sequence[Row] = ()
    """The points of the claim's domain, each with its estimate and case."""
    middle: str = ""
    """`number` as a text, with its interval."""

    @property
    def counts(self) -> Counts:
        return Counts.of(self.rows)

    @property
    def at_once(self) -> Counts:
        """Counts with wider intervals, which hold simultaneously at all points at 95 %."""
        return Counts.of(self.rows, "case_at_once")

    @property
    def is_checked(self) -> bool:
        return self.counts.points > 0

    @property
    def verdict(self) -> str:
        if self.is_checked:
            return str(self.counts)
        return f"{UNCHECKED}, {self.counts}" if self.rows else UNCHECKED


Judged = tuple[Claim[Point], Measured]
AnyClaim = tuple[Statement, Measured]


def unchecked(key: str, text: str, origin: Origin, why: str) -> AnyClaim:
    return Statement(key, text, origin), Measured(why=why)
