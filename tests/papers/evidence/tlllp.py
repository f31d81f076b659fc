"""Claims of the TLLLP paper: evidence for each, with which it is as claimed, less or open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evidence import Case, Evidence
from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, MORE, STRADDLES
from floatgate.papers.tlllp.claims import CLAIMS
from floatgate.papers.tlllp.domain import (
    CLUSTERED,
    EXCERPTS,
    FINANCIAL1,
    FINANCIAL2,
    FITTED,
    MSR,
    READINGS,
    WEBSEARCH,
    workload_of,
)
from floatgate.papers.tlllp.paper import experiment_of
from floatgate.papers.tlllp.reduce import BACKLOG, Point

WORKLOADS = (
    *(workload_of(one, Path(one.spec)) for one in EXCERPTS),
    FITTED,
    CLUSTERED,
)
WHOLE = experiment_of(WORKLOADS)


def aged_only() -> Experiment:
    """Returns the experiment on aged drives, with workloads whose runs all differ from seed to
    seed."""
    start, *others = WHOLE.axes
    random = tuple(replace(work, random=True) for work in WORKLOADS)
    return replace(WHOLE, axes=(replace(start, levels=start.levels[1:]), *others), workloads=random)


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
"""Numbers with which every claim is as claimed: the mean falls by 12 %, the deviation by 15 %."""

LIKE = {"dftl-batch": "dftl"}


AXES = ("start", "spare", "cache", "arrivals", "times", *READINGS)


def point(run: Run, **numbers: Any) -> Point:
    """Returns a run with the paper's numbers, except these."""
    family = next(work.family for work in WORKLOADS if work.name == run.workload)
    known: dict[str, Any] = {
        "trace": run.workload,
        "family": family,
        "line": run.line,
        **{axis: run.at(axis) for axis in AXES},
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


F_DFTL, F_TLLLP = (FINANCIAL1, "dftl"), (FINANCIAL1, "tlllp")
W_DFTL, W_TLLLP, W_FREE = (WEBSEARCH, "dftl"), (WEBSEARCH, "tlllp"), (WEBSEARCH, "tlllp-free")
M_DFTL, M_TLLLP, M_FREE = (MSR, "dftl"), (MSR, "tlllp"), (MSR, "tlllp-free")
M_NONE = (MSR, "none")
F_EMPTY, M_EMPTY = (FINANCIAL1, "tlllp-empty"), (MSR, "tlllp-empty")


CASES = [
    Case("hit-ratio", LESS, "as many hits are not more", {M_TLLLP: {"hit_ratio": 0.85}}),
    Case("hit-ratio", LESS, "fewer on one of three", {M_TLLLP: {"hit_ratio": 0.80}}),
    Case("hit-ratio", STRADDLES, "5 points, by 5", {}, {M_TLLLP: {"hit_ratio": 0.05}}),
    Case("websearch-gain", LESS, "8 points, less than 10", {W_TLLLP: {"hit_ratio": 0.13}}),
    Case("websearch-gain", LESS, "as much is not most", {W_TLLLP: {"hit_ratio": 0.15}}),
    Case("websearch-gain", STRADDLES, "MSR's gain scatters", {}, {M_TLLLP: {"hit_ratio": 0.2}}),
    Case("msr-dftl", LESS, "69% is less than 70", {M_DFTL: {"hit_ratio": 0.69}}),
    Case("msr-dftl", LESS, "another is higher", {F_DFTL: {"hit_ratio": 0.86}}),
    Case("msr-dftl", STRADDLES, "85%, by 10", {}, {M_DFTL: {"hit_ratio": 0.10}}),
    Case("websearch-dftl", LESS, "31% is more than 30", {W_DFTL: {"hit_ratio": 0.31}}),
    Case("websearch-dftl", LESS, "another is lower", {F_DFTL: {"hit_ratio": 0.04}}),
    Case("websearch-dftl", STRADDLES, "another scatters", {}, {F_DFTL: {"hit_ratio": 0.5}}),
    Case("order", LESS, "as long on one", {M_TLLLP: {"mean_us": 1000.0}}),
    Case("order", LESS, "0.4% is no effect", {M_TLLLP: {"mean_us": 996.0}}),
    Case("order", STRADDLES, "7% less, by 7", {}, {M_TLLLP: {"mean_us": 70.0}}),
    Case("mean", MORE, "a drop to a fifth", {M_TLLLP: {"mean_us": 200.0}}),
    Case("mean", LESS, "a slowdown", {M_TLLLP: {"mean_us": 1500.0}}),
    Case("mean", STRADDLES, "12% less, by 10", {}, {M_TLLLP: {"mean_us": 300.0}}),
    Case("mean-financial1", LESS, "nothing saved", {F_TLLLP: {"mean_us": 2000.0}}),
    Case("mean-financial1", LESS, "as much more", {F_TLLLP: {"mean_us": 2332.8}}),
    Case("mean-financial1", MORE, "half", {F_TLLLP: {"mean_us": 1000.0}}),
    Case("mean-financial1", STRADDLES, "16.64% less, by 10", {}, {F_TLLLP: {"mean_us": 200.0}}),
    Case("deviation", LESS, "none less", {W_TLLLP: {"stdev_us": 700.0}}),
    Case("deviation", MORE, "37% on average", {W_TLLLP: {"stdev_us": 100.0}}),
    Case("deviation", STRADDLES, "15% less, by 10", {}, {M_TLLLP: {"stdev_us": 140.0}}),
    Case("deviation-financial1", LESS, "less", {F_TLLLP: {"stdev_us": 630.0}}),
    Case("deviation-financial1", LESS, "the same", {F_TLLLP: {"stdev_us": 700.0}}),
    Case("deviation-financial1", MORE, "29% more", {F_TLLLP: {"stdev_us": 900.0}}),
    Case("deviation-financial1", STRADDLES, "10%, by 10", {}, {F_TLLLP: {"stdev_us": 70.0}}),
    Case("all-four", LESS, "one has a third of it", {F_TLLLP: {"mean_us": 1890.0}}),
    Case("all-four", LESS, "one has the other sign", {F_TLLLP: {"stdev_us": 630.0}}),
    Case("all-four", MORE, "one has 1.8 times", {F_TLLLP: {"mean_us": 1400.0}}),
    Case(
        "all-four",
        LESS,
        "one is more, and one less",
        {F_TLLLP: {"mean_us": 1400.0, "stdev_us": 700.0}},
    ),
    Case("all-four", STRADDLES, "one scatters", {}, {F_TLLLP: {"stdev_us": 70.0}}),
    Case("map-financial1", LESS, "reads fall by a ninth", {F_TLLLP: {"map_reads": 0.8}}),
    Case("map-financial1", LESS, "writes rise", {F_TLLLP: {"map_programs": 0.4}}),
    Case("map-financial1", LESS, "no map was read", {F_DFTL: {"map_reads": 0.0}}),
    Case("map-financial1", STRADDLES, "it scatters", {}, {F_TLLLP: {"map_reads": 0.2}}),
    Case("no-cache", LESS, "DFTL is as slow", {M_DFTL: {"mean_us": 2000.0}}),
    Case("no-cache", LESS, "TLLLP is slower", {M_TLLLP: {"mean_us": 2500.0}}),
    Case("no-cache", STRADDLES, "twice, by as much", {}, {M_NONE: {"mean_us": 900.0}}),
    Case("gain-smaller", LESS, "a third, of 20 points", {M_TLLLP: {"mean_us": 300.0}}),
    Case("gain-smaller", STRADDLES, "it scatters", {}, {M_TLLLP: {"mean_us": 300.0}}),
    Case(
        "cleaning",
        LESS,
        "a fifth is less than a third",
        {where: {"cleaning_time": 0.2} for where in (F_TLLLP, W_TLLLP, M_TLLLP)},
    ),
    Case("cleaning", STRADDLES, "40%, by 20", {}, {M_TLLLP: {"cleaning_time": 0.4}}),
    Case("financial1-longest", LESS, "MSR is longer", {M_DFTL: {"mean_us": 2500.0}}),
    Case("financial1-longest", LESS, "MSR is as long", {M_DFTL: {"mean_us": 2000.0}}),
    Case("financial1-longest", STRADDLES, "MSR scatters", {}, {M_DFTL: {"mean_us": 900.0}}),
    Case(
        "nodes-space",
        LESS,
        "9% is 1.2 times 7.5",
        {M_EMPTY: {"node_share": 0.08}, F_EMPTY: {"node_share": 0.07}},
    ),
    Case("nodes-space", AS_CLAIMED, "MSR's take most", {M_EMPTY: {"node_share": 0.2}}),
    Case("nodes-space", STRADDLES, "MSR's scatter", {}, {M_EMPTY: {"node_share": 0.03}}),
    Case("nodes", LESS, "they cost nothing", {W_FREE: {"hit_ratio": 0.50}}),
    Case("nodes", LESS, "they cost MSR more", {M_FREE: {"hit_ratio": 0.99}}),
    Case("nodes", LESS, "MSR has fewest entries", {M_EMPTY: {"node_share": 0.2}}),
    Case("nodes", STRADDLES, "MSR's cost scatters", {}, {M_FREE: {"hit_ratio": 0.05}}),
]
CASES += [
    Case(claim, AS_CLAIMED, "it is as stated")
    for claim in dict.fromkeys(case.claim for case in CASES)
]

EVIDENCE = Evidence(
    claims=CLAIMS,
    experiment=WHOLE,
    scattering=AGED,
    kept=("start",),
    filter=BACKLOG,
    point=point,
    where=lambda run: [(point(run).family, LIKE.get(run.line, run.line))],
    cases=CASES,
    rejected={"utilization": 0.99, "queue_share": 0.5},
    optional=frozenset({FINANCIAL2}),
)
