"""The claims about the NCQ-aware buffer: evidence for which each claim holds, fails or is
ambiguous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.judging import OpenClaim, judge, runs_of
from floatgate.papers.kit.paper import HOLDS, Measured
from floatgate.papers.kit.verdicts import AMBIGUOUS, FAILS_HERE
from floatgate.papers.ncq.runs import (
    FIRST,
    IDLE,
    QUICK,
    SECOND,
    Point,
    experiment_of,
)

WHOLE = experiment_of(QUICK)

Where = tuple[str, str, int]
"""A workload, a buffer ("ncq" for every interpretation of the scheme), and its size in MiB."""

LRU = {"hit_ratio": 0.0, "write_mb_s": 100.0, "iops": 1000.0, "waiting": 31.0}
GAINS = {
    (FIRST, 1): (0.04, 0.05, 0.04, 31.0),
    (FIRST, 8): (0.015, 0.02, 0.02, 12.0),
    (FIRST, 32): (0.01, 0.01, 0.01, 10.0),
    (SECOND, 1): (0.022, 0.02, 0.01, 31.0),
    (SECOND, 8): (0.0055, 0.01, 0.008, 12.0),
    (SECOND, 32): (0.0055, 0.006, 0.006, 10.0),
}
"""Gains in hit ratio, bandwidth and IOPS, and the number of waiting commands. With these numbers
every claim holds."""


def point(run: Run, **numbers: Any) -> Point:
    """Returns a run with the numbers that the paper states, except for `numbers`."""
    scheme, size = run.line.split(", ")
    mib = int(size.removesuffix(" MiB"))
    known: dict[str, Any] = dict(LRU)
    if scheme.startswith("ncq") and (run.workload, mib) in GAINS:
        hits, bandwidth, iops, waiting = GAINS[run.workload, mib]
        known = {
            "hit_ratio": hits,
            "write_mb_s": 100.0 * (1 + bandwidth),
            "iops": 1000.0 * (1 + iops),
            "waiting": waiting,
        }
    place = {axis: run.at(axis) for axis in ("span", "speed", "arrivals")}
    return Point(
        **{
            "trace": run.workload,
            "line": scheme,
            "buffer_mib": mib,
            **place,
            "alignment": run.at("alignment") or "records",
            "otherwise": run.at("otherwise") or "as assumed",
            "seed": run.seed,
            "busy": 1.0,
            "write_amplification": 1.0,
            "switch": 2.0,
            "partial": 0.0,
            "full": 0.0,
            **known,
            **numbers,
        }
    )


def where(run: Run) -> Where:
    """Returns the paper's line to which a run belongs."""
    known = point(run)
    return known.trace, known.line.split("-")[0], known.buffer_mib


@dataclass(frozen=True)
class Case:
    """Evidence for a claim: the expected case, the reason, and the differences from the stated
    numbers by line. `scatter` is the spread of a number over the seeds."""

    claim: str
    case: str
    because: str
    numbers: Mapping[Where, Mapping[str, float]] = field(default_factory=dict)
    scatter: Mapping[Where, Mapping[str, float]] = field(default_factory=dict)

    def points(self, experiment: Experiment, claim: OpenClaim[Point]) -> dict[Run, Point]:
        """Returns the evidence of every run that the claim needs."""
        return {run: self._point(run) for run in runs_of(experiment, [claim], full=False)}

    def _point(self, run: Run) -> Point:
        stated = point(run)
        numbers = dict(self.numbers.get(where(run), {}))
        for name, width in self.scatter.get(where(run), {}).items():
            numbers[name] = numbers.get(name, getattr(stated, name)) + width * (run.seed - 2)
        return replace(stated, **numbers)


def judged(experiment: Experiment, claim: OpenClaim[Point], points: dict[Run, Point]) -> Measured:
    return judge(experiment, claim, points, False, IDLE)


W1, W2 = (FIRST, "ncq", 1), (SECOND, "ncq", 1)
W1_8, W2_8 = (FIRST, "ncq", 8), (SECOND, "ncq", 8)


def _stated(claim: str, where: Where, metric: str, base: float, gain: float) -> list[Case]:
    """Cases for a stated gain, which must be met within a factor of 1.5. If the claim covers
    several sizes, the other sizes gain less."""

    def of(gain: float) -> dict[Where, dict[str, float]]:
        return {where: {metric: base + (base or 1.0) * gain}}

    return [
        Case(claim, HOLDS, "1.4 times the number", of(1.4 * gain)),
        Case(claim, FAILS_HERE, "1.6 times the number", of(1.6 * gain)),
        Case(claim, HOLDS, "the number is 1.4 times ours", of(gain / 1.4)),
        Case(claim, FAILS_HERE, "as much less than LRU", of(-gain) | _flat(where, metric, base)),
        Case(claim, FAILS_HERE, "no gain at all", of(0.0) | _flat(where, metric, base)),
        Case(
            claim, AMBIGUOUS, "the number, by itself", {}, {where: {metric: (base or 1.0) * gain}}
        ),
    ]


def _flat(where: Where, metric: str, base: float) -> dict[Where, dict[str, float]]:
    """Returns numbers without a gain at the larger sizes, because a claim of "up to" covers them,
    too."""
    return {(where[0], "ncq", mib): {metric: base} for mib in (8, 32)}


CASES = [
    *_stated("hit-1", W1, "hit_ratio", 0.0, 0.04),
    *_stated("hit-2", W2, "hit_ratio", 0.0, 0.02),
    *_stated("bandwidth-1", W1, "write_mb_s", 100.0, 0.05),
    *_stated("bandwidth-2", W2, "write_mb_s", 100.0, 0.02),
    *_stated("iops-1", W1, "iops", 1000.0, 0.04),
    *_stated("iops-2", W2, "iops", 1000.0, 0.01),
    Case(
        "bandwidth-1", HOLDS, "8 MiB has it", {W1: {"write_mb_s": 99.0}, W1_8: {"write_mb_s": 105}}
    ),
    Case("all-six", HOLDS, "all are as stated"),
    Case("all-six", FAILS_HERE, "five of six", {W2: {"iops": 1020.0}}),
    Case("all-six", FAILS_HERE, "hits of workload 1 are too many", {W1: {"hit_ratio": 0.07}}),
    Case("all-six", AMBIGUOUS, "one of six scatters", {}, {W2: {"write_mb_s": 1.0}}),
    Case("more-hits", FAILS_HERE, "none more with 8 MiB", {W1_8: {"hit_ratio": 0.0}}),
    Case("more-hits", FAILS_HERE, "0.4 points are none", {W2_8: {"hit_ratio": 0.004}}),
    Case("more-hits", AMBIGUOUS, "it scatters", {}, {W1: {"hit_ratio": 0.03}}),
    Case("faster", FAILS_HERE, "no more IOPS", {W2_8: {"iops": 1000.0}}),
    Case("faster", FAILS_HERE, "less bandwidth", {(FIRST, "ncq", 32): {"write_mb_s": 99.0}}),
    Case("faster", AMBIGUOUS, "it scatters", {}, {W1: {"iops": 30.0}}),
    Case("falls-1", FAILS_HERE, "it rises", {W1_8: {"hit_ratio": 0.05}}),
    Case("falls-1", FAILS_HERE, "it stays", {W1_8: {"hit_ratio": 0.04}}),
    Case("falls-1", AMBIGUOUS, "8 MiB scatter", {}, {W1_8: {"hit_ratio": 0.02}}),
    Case("falls-2", FAILS_HERE, "it rises", {W2_8: {"hit_ratio": 0.09}}),
    Case("falls-2", AMBIGUOUS, "8 MiB scatter", {}, {W2_8: {"hit_ratio": 0.02}}),
    Case("low-1", FAILS_HERE, "half is left", {W1_8: {"hit_ratio": 0.02}}),
    Case("low-1", AMBIGUOUS, "it scatters", {}, {W1_8: {"hit_ratio": 0.01}}),
    Case("low-2", FAILS_HERE, "all is left", {W2_8: {"hit_ratio": 0.022}}),
    Case("low-2", AMBIGUOUS, "it scatters", {}, {W2_8: {"hit_ratio": 0.01}}),
    Case("short-queue-1", FAILS_HERE, "it stays full", {W1_8: {"waiting": 31.0}}),
    Case("short-queue-1", FAILS_HERE, "there never was one", {W1: {"waiting": 0.0}}),
    Case("short-queue-1", AMBIGUOUS, "it scatters", {}, {W1_8: {"waiting": 5.0}}),
    Case("short-queue-2", FAILS_HERE, "two thirds wait", {W2_8: {"waiting": 21.0}}),
    Case("short-queue-2", AMBIGUOUS, "it scatters", {}, {W2_8: {"waiting": 5.0}}),
    Case("never-below", HOLDS, "as many at worst", {W1_8: {"hit_ratio": 0.0}}),
    Case("never-below", FAILS_HERE, "a hit less in 10,000", {W1_8: {"hit_ratio": -0.0001}}),
    Case(
        "never-below",
        AMBIGUOUS,
        "it scatters",
        {W1_8: {"hit_ratio": 0.0}},
        {W1_8: {"hit_ratio": 0.01}},
    ),
    Case("never-slower", FAILS_HERE, "a fraction slower", {W1_8: {"write_mb_s": 99.9}}),
    Case("never-slower", FAILS_HERE, "fewer IOPS alone", {W2_8: {"iops": 999.0}}),
    Case("never-slower", AMBIGUOUS, "it scatters", {}, {W2_8: {"iops": 30.0}}),
    Case("small-buffer", HOLDS, "8 MiB hold a queue of workload 1", {W1_8: {"hit_ratio": 0.0}}),
    Case("small-buffer", FAILS_HERE, "not one of workload 2", {W2_8: {"hit_ratio": 0.0}}),
    Case("small-buffer", AMBIGUOUS, "it scatters", {}, {W1: {"hit_ratio": 0.03}}),
]
CASES += [
    Case(claim, HOLDS, "it is as stated") for claim in dict.fromkeys(case.claim for case in CASES)
]
