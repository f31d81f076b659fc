"""Hand-made evidence for the claims of every paper, with the case that each claim then has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.claims import AnyClaim, Claim, Filter, Measured
from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.reproduce import Findings, Lab
from floatgate.papers.kit.verdicts import AS_CLAIMED

Numbers = Mapping[Any, Mapping[str, Any]]
"""Numbers of a run, by the line on a workload."""


@dataclass(frozen=True)
class Case:
    """A claim, its case at a point, the reason for the case, and the evidence's changes from the
    stated numbers: values, and by how much they scatter."""

    claim: str
    case: str
    because: str
    numbers: Numbers = field(default_factory=dict)
    scatter: Numbers = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """A paper's experiment, and runs of it with the paper's numbers."""

    claims: Sequence[Claim[Any]]
    experiment: Experiment
    filter: Filter[Any]
    point: Callable[[Run], Any]
    """Returns a run with the stated numbers."""
    where: Callable[[Run], Sequence[Any]]
    """By which keys numbers of cases are a run's, the last one first."""
    cases: Sequence[Case]
    rejected: Mapping[str, Any]
    """Numbers of a run that the filter rejects."""
    scattering: Experiment | None = None
    """The experiment in which every run differs from seed to seed. None: the main experiment."""
    kept: tuple[str, ...] = ()
    """Axes that a case sweeps. Other axes are at their defaults."""
    never: frozenset[str] = frozenset()
    """Claims that need a trace that nobody has."""
    unchecked: Sequence[AnyClaim] = ()
    optional: frozenset[str] = frozenset()
    """Workloads that a claim does not need."""
    swept: frozenset[str] = frozenset()
    """Axes of tables next to the verdicts."""
    change: Callable[[Any, Mapping[str, Any]], Any] = lambda point, numbers: replace(
        point, **numbers
    )
    spread: Callable[[Any, str, Any, int], Any] = lambda point, name, width, seed: (
        getattr(point, name) + width * (seed - 2)
    )

    def __getitem__(self, key: str) -> Claim[Any]:
        return next(claim for claim in self.claims if claim.key == key)

    def judged(self, claim: Claim[Any], points: Mapping[Run, Any], full: bool = False) -> Measured:
        return judge(self.experiment, claim, points, full, self.filter)

    def stated(self, claim: Claim[Any], full: bool = False) -> dict[Run, Any]:
        """Returns evidence with which the claim is as claimed."""
        held = [c for c in self.cases if (c.claim, c.case) == (claim.key, AS_CLAIMED)][-1]
        return {run: self._varied(run, held) for run in runs_of(self.experiment, [claim], full)}

    def findings(
        self, points: Mapping[Run, Any], claims: Sequence[Claim[Any]] = (), full: bool = False
    ) -> Findings[Any]:
        """Returns the findings of a reproduction of the paper with these points."""
        judged = [(claim, self.judged(claim, points, full)) for claim in claims]
        lab = Lab(full, {}, Bench("classic", None))
        return Findings(lab, self.experiment, points, {}, judged)

    def at_one_point(self, case: Case) -> Measured:
        """Judges the claim with the evidence of a case."""
        experiment = self.scattering or self.experiment
        claim = replace(self[case.claim], axes=self.kept)
        points = {run: self._varied(run, case) for run in runs_of(experiment, [claim], False)}
        return judge(experiment, claim, points, False, self.filter)

    def _varied(self, run: Run, case: Case) -> Any:
        point = self.point(run)
        for key in reversed(self.where(run)):
            point = self.change(point, case.numbers.get(key, {}))
        for key in self.where(run):
            for name, width in case.scatter.get(key, {}).items():
                point = self.change(point, {name: self.spread(point, name, width, run.seed)})
        return point


def met_at(found: Measured, axis: str) -> set[str]:
    """Returns the levels on an axis with which a claim is met. The claim is met with no other
    level."""
    counted = [row for row in found.rows if not row["rejected"]]
    met = {row[axis] for row in counted if row["case"] == AS_CLAIMED}
    assert met.isdisjoint(row[axis] for row in counted if row["case"] != AS_CLAIMED)
    return met


def is_met(found: Measured) -> bool:
    """Returns whether a claim is as claimed at every point that counts. At least one point has to
    count."""
    return 0 < found.counts.points == found.counts.as_claimed
