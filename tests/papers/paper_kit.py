"""A hand-made experiment: two workloads and four lines along three axes, and a claim."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.claims import Claim, Filter, inferred
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Line, Workload
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.verdicts import Region


@dataclass(frozen=True)
class KitPoint:
    value: float
    busy: bool = False


EXPERIMENT = Experiment(
    axes=(
        Axis(
            "start",
            "the start",
            (Level("fresh", {"a": "0"}), Level("aged", {"a": "1"}, random=True)),
            "either",
        ),
        Axis(
            "cache",
            "the cache",
            (
                Level("small", lambda pages: {"b": str(pages)}),
                Level("middle", lambda pages: {"b": str(2 * pages)}),
                Level("large", lambda pages: {"b": str(4 * pages)}),
            ),
            "a sweep",
            ordered=True,
        ),
        Axis(
            "reading",
            "the reading",
            (Level("one", lines={"new": "n1"}), Level("other", lines={"new": "n2"}, quick=False)),
            "both are in the text",
        ),
    ),
    workloads=(
        Workload("w", "W", Played("w"), slow=True),
        Workload("r", "R", Played("r"), ignores=frozenset({"start"})),
    ),
    lines=(
        Line("old", "Old", {"c": "old"}),
        Line("n1", "New", {"c": "new"}),
        Line("n2", "New, read otherwise", {"c": "new", "d": "1"}),
        Line("off", "Nothing", {"c": "off"}, frozenset({"cache"})),
    ),
    stands_for={"W": "w", "R": "r"},
)


def claim_of(**changed: Any) -> Claim[KitPoint]:
    claim: Claim[KitPoint] = Claim(
        "more",
        "new is more than old",
        inferred("section 1", "more"),
        ("start", "cache", "reading"),
        ("W",),
        ("new", "old"),
        lambda at: {"": at("W", "new").value - at("W", "old").value},
        Region(low=0.5),
        "{:+.2f}".format,
    )
    return replace(claim, **changed)


BUSY: Filter[KitPoint] = Filter("with a backlog", lambda point: point.busy)


def judged_of(claim: Claim[KitPoint], of: Any, full: bool = True) -> Any:
    points = {run: of(run) for run in runs_of(EXPERIMENT, [claim], full)}
    return judge(EXPERIMENT, claim, points, full, BUSY)
