"""Claims on the NCQ-aware buffer: evidence for each, with which it is as claimed, less or open."""

from __future__ import annotations

from typing import Any

from evidence import Case, Evidence
from floatgate.papers.kit.experiment import Run
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, MORE, STRADDLES
from floatgate.papers.ncq.claims import CLAIMS, UNCHECKED
from floatgate.papers.ncq.domain import FIRST, OTHERS, QUICK, SECOND, experiment_of
from floatgate.papers.ncq.paper import BESIDE
from floatgate.papers.ncq.reduce import IDLE, Point

WHOLE = experiment_of(QUICK)

Where = tuple[str, str, int]
"""A workload, a buffer (with any reading of the pin "ncq", in other schemes "other"), its MiB."""

LRU = {"hit_ratio": 0.0, "write_mb_s": 100.0, "iops": 1000.0, "waiting": 31.0}
GAINS = {
    (FIRST, 1): (0.04, 0.05, 0.04, 31.0),
    (FIRST, 8): (0.015, 0.02, 0.02, 12.0),
    (FIRST, 32): (0.01, 0.01, 0.01, 10.0),
    (SECOND, 1): (0.022, 0.02, 0.01, 31.0),
    (SECOND, 8): (0.0055, 0.01, 0.008, 12.0),
    (SECOND, 32): (0.0055, 0.006, 0.006, 10.0),
}
"""Hits, bandwidth, IOPS and waiting commands with which every claim is as claimed."""


def point(run: Run, **numbers: Any) -> Point:
    """Returns a run with the paper's numbers, except these."""
    scheme, size = run.line.split(", ")
    mib = int(size.removesuffix(" MiB"))
    known: dict[str, Any] = dict(LRU)
    if scheme.startswith("ncq") and (run.workload, mib) in GAINS:  # Pins in other schemes, too.
        hits, bandwidth, iops, waiting = GAINS[run.workload, mib]
        known = {
            "hit_ratio": hits,
            "write_mb_s": 100.0 * (1 + bandwidth),
            "iops": 1000.0 * (1 + iops),
            "waiting": waiting,
        }
    levels = {axis: run.at(axis) for axis in ("span", "speed", "arrivals")}
    return Point(
        **{
            "trace": run.workload,
            "line": scheme,
            "buffer_mib": mib,
            **levels,
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
    """Returns the paper's line for a run."""
    known = point(run)
    is_other = any(known.line.startswith(f"ncq-{scheme}") for scheme in OTHERS.values())
    return known.trace, "other" if is_other else known.line.split("-")[0], known.buffer_mib


W1, W2 = (FIRST, "ncq", 1), (SECOND, "ncq", 1)
OTHER = (FIRST, "other", 1)
W1_8, W2_8 = (FIRST, "ncq", 8), (SECOND, "ncq", 8)


def _stated(claim: str, where: Where, metric: str, base: float, gain: float) -> list[Case]:
    """Returns cases for a gain, which is met within a factor of 1.5. If the gain is the largest of
    several sizes, the other sizes have less."""

    def of(gain: float) -> dict[Where, dict[str, float]]:
        return {where: {metric: base + (base or 1.0) * gain}}

    return [
        Case(claim, AS_CLAIMED, "1.4 times the number", of(1.4 * gain)),
        Case(claim, MORE, "1.6 times the number", of(1.6 * gain)),
        Case(claim, AS_CLAIMED, "the number is 1.4 times ours", of(gain / 1.4)),
        Case(claim, LESS, "as much less than LRU", of(-gain) | _flat(where, metric, base)),
        Case(claim, LESS, "no gain at all", of(0.0) | _flat(where, metric, base)),
        Case(
            claim, STRADDLES, "the number, by itself", {}, {where: {metric: (base or 1.0) * gain}}
        ),
    ]


def _flat(where: Where, metric: str, base: float) -> dict[Where, dict[str, float]]:
    """Returns evidence without a gain for the larger sizes, which "up to" covers, too."""
    return {(where[0], "ncq", mib): {metric: base} for mib in (8, 32)}


CASES = [
    *_stated("hit-1", W1, "hit_ratio", 0.0, 0.04),
    *_stated("hit-2", W2, "hit_ratio", 0.0, 0.02),
    *_stated("bandwidth-1", W1, "write_mb_s", 100.0, 0.05),
    *_stated("bandwidth-2", W2, "write_mb_s", 100.0, 0.02),
    *_stated("iops-1", W1, "iops", 1000.0, 0.04),
    *_stated("iops-2", W2, "iops", 1000.0, 0.01),
    Case(
        "bandwidth-1",
        AS_CLAIMED,
        "8 MiB has it",
        {W1: {"write_mb_s": 99.0}, W1_8: {"write_mb_s": 105}},
    ),
    Case("all-six", AS_CLAIMED, "all are as stated"),
    Case("all-six", MORE, "five of six", {W2: {"iops": 1020.0}}),
    Case("all-six", MORE, "hits of workload 1 are too many", {W1: {"hit_ratio": 0.07}}),
    Case("all-six", LESS, "hits of workload 1 are too few", {W1: {"hit_ratio": 0.02}}),
    Case(
        "all-six",
        LESS,
        "one is more, and one less",
        {W1: {"hit_ratio": 0.07}, W2: {"hit_ratio": 0.002}},
    ),
    Case("all-six", STRADDLES, "one of six scatters", {}, {W2: {"write_mb_s": 1.0}}),
    Case("more-hits", LESS, "none more with 8 MiB", {W1_8: {"hit_ratio": 0.0}}),
    Case("more-hits", LESS, "0.4 points are none", {W2_8: {"hit_ratio": 0.004}}),
    Case("more-hits", STRADDLES, "it scatters", {}, {W1: {"hit_ratio": 0.03}}),
    Case("faster", LESS, "no more IOPS", {W2_8: {"iops": 1000.0}}),
    Case("faster", LESS, "less bandwidth", {(FIRST, "ncq", 32): {"write_mb_s": 99.0}}),
    Case("faster", STRADDLES, "it scatters", {}, {W1: {"iops": 30.0}}),
    Case("falls-1", LESS, "it rises", {W1_8: {"hit_ratio": 0.05}}),
    Case("falls-1", LESS, "it stays", {W1_8: {"hit_ratio": 0.04}}),
    Case("falls-1", STRADDLES, "8 MiB scatter", {}, {W1_8: {"hit_ratio": 0.02}}),
    Case("falls-2", LESS, "it rises", {W2_8: {"hit_ratio": 0.09}}),
    Case("falls-2", STRADDLES, "8 MiB scatter", {}, {W2_8: {"hit_ratio": 0.02}}),
    Case("low-1", LESS, "half is left", {W1_8: {"hit_ratio": 0.02}}),
    Case("low-1", STRADDLES, "it scatters", {}, {W1_8: {"hit_ratio": 0.01}}),
    Case("low-2", LESS, "all is left", {W2_8: {"hit_ratio": 0.022}}),
    Case("low-2", STRADDLES, "it scatters", {}, {W2_8: {"hit_ratio": 0.01}}),
    Case("short-queue-1", LESS, "it stays full", {W1_8: {"waiting": 31.0}}),
    Case("short-queue-1", LESS, "there never was one", {W1: {"waiting": 0.0}}),
    Case("short-queue-1", STRADDLES, "it scatters", {}, {W1_8: {"waiting": 5.0}}),
    Case("short-queue-2", LESS, "two thirds wait", {W2_8: {"waiting": 21.0}}),
    Case("short-queue-2", STRADDLES, "it scatters", {}, {W2_8: {"waiting": 5.0}}),
    Case("never-below", AS_CLAIMED, "as many at worst", {W1_8: {"hit_ratio": 0.0}}),
    Case("never-below", LESS, "a hit less in 10,000", {W1_8: {"hit_ratio": -0.0001}}),
    Case(
        "never-below",
        STRADDLES,
        "it scatters",
        {W1_8: {"hit_ratio": 0.0}},
        {W1_8: {"hit_ratio": 0.01}},
    ),
    Case("never-slower", LESS, "a fraction slower", {W1_8: {"write_mb_s": 99.9}}),
    Case("never-slower", LESS, "fewer IOPS alone", {W2_8: {"iops": 999.0}}),
    Case("never-slower", STRADDLES, "it scatters", {}, {W2_8: {"iops": 30.0}}),
    Case(
        "small-buffer", AS_CLAIMED, "8 MiB hold a queue of workload 1", {W1_8: {"hit_ratio": 0.0}}
    ),
    Case("small-buffer", LESS, "not one of workload 2", {W2_8: {"hit_ratio": 0.0}}),
    Case("small-buffer", STRADDLES, "it scatters", {}, {W1: {"hit_ratio": 0.03}}),
    Case("any-scheme", LESS, "no more hits with 1 MiB", {OTHER: {"hit_ratio": 0.0}}),
    Case("any-scheme", STRADDLES, "it scatters", {}, {OTHER: {"hit_ratio": 0.03}}),
]
CASES += [
    Case(claim, AS_CLAIMED, "it is as stated")
    for claim in dict.fromkeys(case.claim for case in CASES)
]

EVIDENCE = Evidence(
    claims=CLAIMS,
    experiment=WHOLE,
    filter=IDLE,
    point=point,
    where=lambda run: [where(run)],
    cases=CASES,
    rejected={"busy": 0.94},
    unchecked=UNCHECKED,
    swept=frozenset(axis for _, axes in BESIDE.values() for axis in axes),
)
