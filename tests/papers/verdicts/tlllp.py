"""The claims of the TLLLP paper: evidence for which each claim holds, fails or is ambiguous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Experiment, Run, Workload
from floatgate.papers.kit.judging import OpenClaim, judge, runs_of
from floatgate.papers.kit.paper import HOLDS, Measured
from floatgate.papers.kit.verdicts import AMBIGUOUS, FAILS_HERE
from floatgate.papers.tlllp.runs import (
    BACKLOG,
    EXCERPTS,
    FINANCIAL1,
    FINANCIAL2,
    FITTED,
    MSR,
    WEBSEARCH,
    Point,
    experiment_of,
)

WORKLOADS = (
    *(Workload(e.source.name, e.source.family, Played(e.source.spec), e.ignores) for e in EXCERPTS),
    FITTED,
)
WHOLE = experiment_of(WORKLOADS)


def aged_only() -> Experiment:
    """Returns the experiment on aged drives, with workloads whose runs all differ between seeds."""
    start, *others = WHOLE.axes
    random = tuple(replace(work, random=True) for work in WORKLOADS)
    return replace(
        WHOLE, axes=(replace(start, choices=start.choices[1:]), *others), workloads=random
    )


AGED = aged_only()

STATED: Mapping[tuple[str, str], Mapping[str, float]] = {
    (FINANCIAL1, "none"): {"mean_us": 4000.0},
    (FINANCIAL1, "dftl"): {
        "hit_ratio": 0.60,
        "mean_us": 2000.0,
        "stdev_us": 700.0,
        "map_reads": 0.9,
        "map_programs": 0.3,
    },
    (FINANCIAL1, "tlllp"): {
        "hit_ratio": 0.70,
        "mean_us": 2000 * (1 - 0.1664),
        "stdev_us": 770.0,
    },
    (FINANCIAL1, "tlllp-free"): {"hit_ratio": 0.71},
    (FINANCIAL1, "tlllp-empty"): {"node_share": 0.03},
    (FINANCIAL2, "none"): {"mean_us": 2000.0},
    (FINANCIAL2, "dftl"): {"hit_ratio": 0.45, "mean_us": 1000.0, "stdev_us": 700.0},
    (FINANCIAL2, "tlllp"): {"hit_ratio": 0.60, "mean_us": 1000 * (1 - 0.12), "stdev_us": 595.0},
    (FINANCIAL2, "tlllp-free"): {"hit_ratio": 0.61},
    (FINANCIAL2, "tlllp-empty"): {"node_share": 0.04},
    (WEBSEARCH, "none"): {"mean_us": 2000.0},
    (WEBSEARCH, "dftl"): {"hit_ratio": 0.05, "mean_us": 1000.0, "stdev_us": 700.0},
    (WEBSEARCH, "tlllp"): {"hit_ratio": 0.50, "mean_us": 1000 * (1 - 0.1236), "stdev_us": 560.0},
    (WEBSEARCH, "tlllp-free"): {"hit_ratio": 0.55},
    (WEBSEARCH, "tlllp-empty"): {"node_share": 0.09},
    (MSR, "none"): {"mean_us": 2000.0},
    (MSR, "dftl"): {"hit_ratio": 0.85, "mean_us": 1000.0, "stdev_us": 700.0},
    (MSR, "tlllp"): {"hit_ratio": 0.90, "mean_us": 1000 * (1 - 0.07), "stdev_us": 630.0},
    (MSR, "tlllp-free"): {"hit_ratio": 0.91},
    (MSR, "tlllp-empty"): {"node_share": 0.05},
}
"""Numbers for which every claim holds: the mean falls by 12 %, the deviation by 15 %."""

LIKE = {"dftl-batch": "dftl", "tlllp-prev": "tlllp"}


def point(run: Run, **numbers: Any) -> Point:
    """Returns a run with the numbers that the paper states, except for `numbers`."""
    family = next(work.family for work in WORKLOADS if work.name == run.workload)
    known: dict[str, Any] = {
        "trace": run.workload,
        "family": family,
        "line": run.line,
        **{axis: run.at(axis) for axis in ("start", "spare", "cache", "arrivals")},
        "seed": run.seed,
        "hit_ratio": 0.0,
        "repeated": 0.9,
        "mean_us": 1000.0,
        "stdev_us": 700.0,
        "utilization": 0.5,
        "queue_share": 0.0,
        "cleaning_time": 0.4,
        "data_reads": 0.6,
        "data_programs": 0.4,
        "map_reads": 0.3,
        "map_programs": 0.1,
        "data_copies": 0.05,
        "map_copies": 0.02,
        "prefetch_used": None,
        "node_share": None,
    }
    return Point(**(known | dict(STATED[family, LIKE.get(run.line, run.line)]) | numbers))


@dataclass(frozen=True)
class Case:
    """Evidence for a claim: the expected case at every point, the reason, and the differences from
    the stated numbers by line on a workload. `scatter` is the spread of a number over the seeds."""

    claim: str
    case: str
    because: str
    numbers: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    scatter: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)

    def points(self, experiment: Experiment, claim: OpenClaim[Point]) -> dict[Run, Point]:
        """Returns the evidence of every run that the claim needs."""
        return {run: self._point(run) for run in runs_of(experiment, [claim], full=False)}

    def _point(self, run: Run) -> Point:
        stated = point(run)
        where = stated.family, LIKE.get(run.line, run.line)
        numbers = dict(self.numbers.get(where, {}))
        for name, width in self.scatter.get(where, {}).items():
            numbers[name] = numbers.get(name, getattr(stated, name)) + width * (run.seed - 2)
        return replace(stated, **numbers)


def judged(experiment: Experiment, claim: OpenClaim[Point], points: dict[Run, Point]) -> Measured:
    return judge(experiment, claim, points, False, BACKLOG)


F_DFTL, F_TLLLP = (FINANCIAL1, "dftl"), (FINANCIAL1, "tlllp")
W_DFTL, W_TLLLP, W_FREE = (WEBSEARCH, "dftl"), (WEBSEARCH, "tlllp"), (WEBSEARCH, "tlllp-free")
M_DFTL, M_TLLLP, M_FREE = (MSR, "dftl"), (MSR, "tlllp"), (MSR, "tlllp-free")
M_NONE = (MSR, "none")
W_EMPTY, M_EMPTY = (WEBSEARCH, "tlllp-empty"), (MSR, "tlllp-empty")


CASES = [
    Case("hit-ratio", FAILS_HERE, "as many hits are not more", {M_TLLLP: {"hit_ratio": 0.85}}),
    Case("hit-ratio", FAILS_HERE, "fewer on one of three", {M_TLLLP: {"hit_ratio": 0.80}}),
    Case("hit-ratio", AMBIGUOUS, "5 points, by 5", {}, {M_TLLLP: {"hit_ratio": 0.05}}),
    Case("websearch-gain", FAILS_HERE, "8 points, less than 10", {W_TLLLP: {"hit_ratio": 0.13}}),
    Case("websearch-gain", FAILS_HERE, "as much is not most", {W_TLLLP: {"hit_ratio": 0.15}}),
    Case("websearch-gain", AMBIGUOUS, "MSR's gain scatters", {}, {M_TLLLP: {"hit_ratio": 0.2}}),
    Case("msr-dftl", FAILS_HERE, "69% is less than 70", {M_DFTL: {"hit_ratio": 0.69}}),
    Case("msr-dftl", FAILS_HERE, "another is higher", {F_DFTL: {"hit_ratio": 0.86}}),
    Case("msr-dftl", AMBIGUOUS, "85%, by 10", {}, {M_DFTL: {"hit_ratio": 0.10}}),
    Case("websearch-dftl", FAILS_HERE, "31% is more than 30", {W_DFTL: {"hit_ratio": 0.31}}),
    Case("websearch-dftl", FAILS_HERE, "another is lower", {F_DFTL: {"hit_ratio": 0.04}}),
    Case("websearch-dftl", AMBIGUOUS, "another scatters", {}, {F_DFTL: {"hit_ratio": 0.5}}),
    Case("order", FAILS_HERE, "as long on one", {M_TLLLP: {"mean_us": 1000.0}}),
    Case("order", FAILS_HERE, "0.4% is no effect", {M_TLLLP: {"mean_us": 996.0}}),
    Case("order", AMBIGUOUS, "7% less, by 7", {}, {M_TLLLP: {"mean_us": 70.0}}),
    Case("mean", FAILS_HERE, "a drop to a fifth", {M_TLLLP: {"mean_us": 200.0}}),
    Case("mean", FAILS_HERE, "a slowdown", {M_TLLLP: {"mean_us": 1500.0}}),
    Case("mean", AMBIGUOUS, "12% less, by 10", {}, {M_TLLLP: {"mean_us": 300.0}}),
    Case("mean-financial1", FAILS_HERE, "nothing saved", {F_TLLLP: {"mean_us": 2000.0}}),
    Case("mean-financial1", FAILS_HERE, "as much more", {F_TLLLP: {"mean_us": 2332.8}}),
    Case("mean-financial1", AMBIGUOUS, "16.64% less, by 10", {}, {F_TLLLP: {"mean_us": 200.0}}),
    Case("deviation", FAILS_HERE, "none less", {W_TLLLP: {"stdev_us": 700.0}}),
    Case("deviation", AMBIGUOUS, "15% less, by 10", {}, {M_TLLLP: {"stdev_us": 140.0}}),
    Case("deviation-financial1", FAILS_HERE, "less", {F_TLLLP: {"stdev_us": 630.0}}),
    Case("deviation-financial1", FAILS_HERE, "the same", {F_TLLLP: {"stdev_us": 700.0}}),
    Case("deviation-financial1", AMBIGUOUS, "10%, by 10", {}, {F_TLLLP: {"stdev_us": 70.0}}),
    Case("all-four", FAILS_HERE, "one has a third of it", {F_TLLLP: {"mean_us": 1890.0}}),
    Case("all-four", FAILS_HERE, "one has the other sign", {F_TLLLP: {"stdev_us": 630.0}}),
    Case("all-four", AMBIGUOUS, "one scatters", {}, {F_TLLLP: {"stdev_us": 70.0}}),
    Case("map-financial1", FAILS_HERE, "reads fall by a ninth", {F_TLLLP: {"map_reads": 0.8}}),
    Case("map-financial1", FAILS_HERE, "writes rise", {F_TLLLP: {"map_programs": 0.4}}),
    Case("map-financial1", FAILS_HERE, "no map was read", {F_DFTL: {"map_reads": 0.0}}),
    Case("map-financial1", AMBIGUOUS, "it scatters", {}, {F_TLLLP: {"map_reads": 0.2}}),
    Case("no-cache", FAILS_HERE, "DFTL is as slow", {M_DFTL: {"mean_us": 2000.0}}),
    Case("no-cache", FAILS_HERE, "TLLLP is slower", {M_TLLLP: {"mean_us": 2500.0}}),
    Case("no-cache", AMBIGUOUS, "twice, by as much", {}, {M_NONE: {"mean_us": 900.0}}),
    Case("gain-smaller", FAILS_HERE, "a third, of 20 points", {M_TLLLP: {"mean_us": 300.0}}),
    Case("gain-smaller", AMBIGUOUS, "it scatters", {}, {M_TLLLP: {"mean_us": 300.0}}),
    Case(
        "cleaning",
        FAILS_HERE,
        "a fifth is less than a third",
        {where: {"cleaning_time": 0.2} for where in (F_TLLLP, W_TLLLP, M_TLLLP)},
    ),
    Case("cleaning", AMBIGUOUS, "40%, by 20", {}, {M_TLLLP: {"cleaning_time": 0.4}}),
    Case("financial1-longest", FAILS_HERE, "MSR is longer", {M_DFTL: {"mean_us": 2500.0}}),
    Case("financial1-longest", FAILS_HERE, "MSR is as long", {M_DFTL: {"mean_us": 2000.0}}),
    Case("financial1-longest", AMBIGUOUS, "MSR scatters", {}, {M_DFTL: {"mean_us": 900.0}}),
    Case("nodes-space", FAILS_HERE, "MSR's take as much", {M_EMPTY: {"node_share": 0.09}}),
    Case("nodes-space", FAILS_HERE, "Financial1's take 3%", {W_EMPTY: {"node_share": 0.03}}),
    Case("nodes-space", AMBIGUOUS, "MSR's scatter", {}, {M_EMPTY: {"node_share": 0.03}}),
    Case("nodes", FAILS_HERE, "they cost nothing", {W_FREE: {"hit_ratio": 0.50}}),
    Case("nodes", FAILS_HERE, "they cost MSR more", {M_FREE: {"hit_ratio": 0.99}}),
    Case("nodes", AMBIGUOUS, "MSR's cost scatters", {}, {M_FREE: {"hit_ratio": 0.05}}),
]
CASES += [
    Case(claim, HOLDS, "it is as stated") for claim in dict.fromkeys(case.claim for case in CASES)
]
