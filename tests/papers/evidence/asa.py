"""Claims of the ASA-FTL paper: evidence for each, with which it is as claimed, less or open.

In the stated evidence, DFTL has 1,000 copies, a third of them of the map, and responds in 1,000 us.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evidence import Case, Evidence
from floatgate.papers.asa.claims import CLAIMS, UNCHECKED
from floatgate.papers.asa.domain import (
    CAMBRIDGE,
    EXCERPTS,
    FINANCIAL1,
    FINANCIAL1_LOOP,
    MOVING,
    SYNTH5,
    SYNTH7,
    SYNTH9,
    TPCC,
    synthetic,
)
from floatgate.papers.asa.paper import experiment_of
from floatgate.papers.asa.reduce import LEFT_OUT, Point
from floatgate.papers.kit.batch import WINDOWS, Played
from floatgate.papers.kit.experiment import Run, Workload
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, MORE, STRADDLES

WORKLOADS = (
    *(
        Workload(
            excerpt.name,
            excerpt.family,
            Played(excerpt.spec, windows=0 if excerpt.name == FINANCIAL1_LOOP else WINDOWS),
            random=excerpt.name != FINANCIAL1_LOOP,
        )
        for excerpt in EXCERPTS
    ),
    *synthetic(full=True),
)
WHOLE = experiment_of(WORKLOADS)


ASA, KNOWN = "asa", "oracle"
SIZES = {FINANCIAL1: 5000.0, CAMBRIDGE: 6400.0, TPCC: 9000.0}
GINI = {FINANCIAL1: 0.6, CAMBRIDGE: 0.4, TPCC: 0.1}

STATED: Mapping[tuple[str, str], tuple[float, float]] = {
    (FINANCIAL1, ASA): (0.67, 0.91),
    (SYNTH9, ASA): (0.67, 0.91),
    (MOVING, ASA): (0.70, 0.92),
    (SYNTH7, ASA): (0.80, 0.95),
    (SYNTH5, ASA): (1.0, 1.0),
    (CAMBRIDGE, ASA): (0.95, 0.99),
    (TPCC, ASA): (0.96, 0.98),
    (CAMBRIDGE, KNOWN): (0.93, 0.98),
    (TPCC, KNOWN): (0.94, 0.98),
}
"""Copies and response relative to DFTL. With them every claim is as claimed, for every reading of
ASA-FTL."""

LIKE = {"asa-bytes": ASA}


def point(run: Run, **numbers: Any) -> Point:
    """Returns a run with the paper's numbers, except these."""
    family = next(work.family for work in WORKLOADS if work.name == run.workload)
    kind = ASA if run.line.startswith(ASA) else run.line
    copies, time = STATED.get((family, kind), (1.0, 1.0))
    known: dict[str, Any] = {
        "trace": run.workload,
        "family": family,
        "line": run.line,
        **{axis: run.at(axis) for axis in ("spare", "cache", "start", "arrivals")},
        "seed": run.seed,
        "data_copies": 2000 * copies,
        "map_copies": 1000 * copies,
        "erases": 50 * copies,
        "mean_us": 1000.0 * time,
        "hit_ratio": 0.5,
        "emergency": 0.0,
        "utilization": 0.5,
        "queue_share": 0.0,
        "cleaning_time": 0.3,
        "sample_reads": 0.02,
        "volumes": 10.0,
        "hot_as_hot": 0.9,
        "hot_as_warm": 0.07,
        "cold_as_hot": 0.05,
        "cold_as_warm": 0.2,
        "write_bytes": SIZES.get(family),
        "gini": GINI.get(family),
        "overwrites": 3.0 if family in SIZES else None,
    }
    return Point(**(known | numbers))


COUNTS = ("data_copies", "map_copies")


def _multiplied(stated: Point, times: Mapping[str, float]) -> Point:
    changed = {
        name: getattr(stated, name) * factor
        for key, factor in times.items()
        for name in (COUNTS if key == "copies" else (key,))
    }
    return replace(stated, **changed)


def _copies(factor: float) -> dict[str, float]:
    return {"copies": factor}


def _time(factor: float) -> dict[str, float]:
    return {"mean_us": factor}


F, S9, S7, S5 = (FINANCIAL1, ASA), (SYNTH9, ASA), (SYNTH7, ASA), (SYNTH5, ASA)
C, T = (CAMBRIDGE, ASA), (TPCC, ASA)


def _stated(key: str, where: tuple[str, str]) -> list[Case]:
    """Returns cases for 33 % of copies and 9 % of the response, on one of two workloads."""
    half, none, most = _copies(0.5 / 0.67), _copies(1 / 0.67), _copies(0.3 / 0.67)
    worse = _copies(1.33 / 0.67) | _time(1.09 / 0.91)
    return [
        Case(f"gc-writes-{key}", MORE, "half of them, more than 1.5 times", {where: half}),
        Case(f"gc-writes-{key}", LESS, "as many as DFTL", {where: none}),
        Case(f"gc-writes-{key}", MORE, "fewer by 70%", {where: most}),
        Case(f"gc-writes-{key}", STRADDLES, "33%, by 13", {}, {where: _copies(0.2)}),
        Case(f"response-{key}", LESS, "no faster", {where: _time(1 / 0.91)}),
        Case(f"response-{key}", LESS, "as much slower", {where: _time(1.09 / 0.91)}),
        Case(f"response-{key}", MORE, "a third faster", {where: _time(0.67 / 0.91)}),
        Case(f"response-{key}", STRADDLES, "9%, by 9", {}, {where: _time(0.1)}),
        Case(f"at-once-{key}", MORE, "one is as stated, and one more", {where: _time(0.67 / 0.91)}),
        Case(f"at-once-{key}", LESS, "response alone", {where: none}),
        Case(f"at-once-{key}", LESS, "the other sign of both", {where: worse}),
        Case(f"at-once-{key}", STRADDLES, "9%, by 9", {}, {where: _time(0.1)}),
    ]


def _lower(key: str, where: tuple[str, str]) -> list[Case]:
    gc, time = f"gc-lower-{key}", f"response-lower-{key}"
    return [
        Case(gc, LESS, "as many", {where: _copies(1 / 0.67)}),
        Case(gc, LESS, "0.4% are no order", {where: _copies(0.996 / 0.67)}),
        Case(gc, AS_CLAIMED, "a tenth, of whatever size", {where: _copies(0.9 / 0.67)}),
        Case(gc, AS_CLAIMED, "70%, of whatever size", {where: _copies(0.3 / 0.67)}),
        Case(gc, STRADDLES, "33%, by 40", {}, {where: _copies(0.4)}),
        Case(time, LESS, "as long, with a third of the copies", {where: _time(1 / 0.91)}),
        Case(time, LESS, "longer", {where: _time(1.09 / 0.91)}),
        Case(time, AS_CLAIMED, "a third, of whatever size", {where: _time(0.67 / 0.91)}),
        Case(time, STRADDLES, "9%, by 9", {}, {where: _time(0.1)}),
    ]


def _smaller(key: str, where: tuple[str, str]) -> list[Case]:
    gc, time = f"smaller-gc-{key}", f"smaller-response-{key}"
    return [
        Case(gc, LESS, "20% of copies are more than half of 33", {where: _copies(0.83)}),
        Case(gc, LESS, "20% more are as far off", {where: _copies(1.25)}),
        Case(gc, STRADDLES, "5%, by 15", {}, {where: _copies(0.15)}),
        Case(time, LESS, "6% of response are more than half of 9", {where: _time(0.95)}),
        Case(time, LESS, "8% longer are as far off", {where: _time(1.09)}),
        Case(time, STRADDLES, "1%, by 8", {}, {where: _time(0.04)}),
    ]


def _optimal(key: str, name: str) -> list[Case]:
    claim, where = f"optimal-{key}", (name, KNOWN)
    return [
        Case(claim, LESS, "a quarter could be saved", {where: _copies(0.8)}),
        Case(claim, STRADDLES, "7%, by 10", {}, {where: _copies(0.1)}),
    ]


CASES = [
    *_lower("financial1", F),
    *_lower("synth", S9),
    *_stated("financial1", F),
    *_stated("synth", S9),
    *_smaller("cambridge", C),
    *_smaller("tpcc", T),
    Case("accurate", LESS, "11% of the cold writes are hot", {S7: {"cold_as_hot": 2.2}}),
    Case("accurate", LESS, "12% of the hot writes are cold", {S9: {"hot_as_hot": 0.9}}),
    Case("accurate", AS_CLAIMED, "warm is not wrong", {S9: {"hot_as_hot": 0.1, "hot_as_warm": 12}}),
    Case("accurate", STRADDLES, "5%, by 5", {}, {S9: {"cold_as_hot": 1.0}}),
    Case("ranking", LESS, "7/10 gains as much as 9/10", {S7: _copies(0.67 / 0.8)}),
    Case("ranking", LESS, "5/10 gains more than 7/10", {S5: _copies(0.7)}),
    Case("ranking", LESS, "0.4 points are no order", {S7: _copies(0.674 / 0.8)}),
    Case("ranking", STRADDLES, "20 points, by 20", {}, {S7: _copies(0.2)}),
    Case("journal-adapts", LESS, "nothing", {(MOVING, ASA): _copies(1 / 0.7)}),
    Case("journal-adapts", LESS, "14% of 33", {(MOVING, ASA): _copies(0.86 / 0.7)}),
    Case("journal-adapts", AS_CLAIMED, "18% of 33", {(MOVING, ASA): _copies(0.82 / 0.7)}),
    Case("journal-adapts", STRADDLES, "30%, by 25", {}, {(MOVING, ASA): _copies(0.15)}),
    Case("uniform", LESS, "2% more copies", {S5: _copies(1.02)}),
    Case("uniform", LESS, "2% fewer are a difference, too", {S5: _copies(0.98)}),
    Case("uniform", LESS, "as many copies, but 2% slower", {S5: _time(1.02)}),
    Case("uniform", LESS, "5% more erasures", {S5: {"erases": 1.05}}),
    Case("uniform", STRADDLES, "none, by 1%", {}, {S5: _time(0.01)}),
    *_optimal("cambridge", CAMBRIDGE),
    *_optimal("tpcc", TPCC),
    Case("samples", LESS, "3% more with few", {(SYNTH9, "asa-few"): _copies(1.03)}),
    Case("samples", STRADDLES, "as many, by 3%", {}, {(FINANCIAL1, "asa-few"): _copies(0.03)}),
    Case("sampling", LESS, "a fifth more reads", {S9: {"sample_reads": 10.0}}),
    Case("sampling", LESS, "6% on one of two", {F: {"sample_reads": 3.0}}),
    Case("sampling", STRADDLES, "4%, by 4", {F: {"sample_reads": 2.0}}, {F: {"sample_reads": 0.4}}),
]
CASES += [
    Case(claim, AS_CLAIMED, "it is as stated")
    for claim in dict.fromkeys(case.claim for case in CASES)
]

EVIDENCE = Evidence(
    claims=CLAIMS,
    experiment=WHOLE,
    filter=LEFT_OUT,
    point=point,
    where=lambda run: [(point(run).family, LIKE.get(run.line, run.line))],
    cases=CASES,
    rejected={"utilization": 0.95, "queue_share": 0.01},
    unchecked=UNCHECKED,
    change=_multiplied,
    spread=lambda point, name, width, seed: 1 + width * (seed - 2),
)
