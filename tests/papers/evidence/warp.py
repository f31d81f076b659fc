"""Claims of the WARP paper: evidence for each, with which it is as claimed, less or open."""

from __future__ import annotations

from collections.abc import Mapping

from evidence import Case, Evidence
from floatgate.papers.kit.experiment import Run
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES
from floatgate.papers.warp.claims import CLAIMS, UNCHECKED
from floatgate.papers.warp.domain import (
    CACHE,
    EXPERIMENT,
    NEIGHBOUR,
    ON_SSD_A,
    ONE_A,
    ONE_B,
    TWO,
    TWO_IN_ORDER,
    UNIFORM,
    ZIPF_12,
    ZIPF_22,
    ZONED,
)
from floatgate.papers.warp.reduce import ROOMY, Point

Where = tuple[str, str]
"""A workload without the shares of its jobs, and a line without the reading of isolation."""

WASTE = "write_amplification"
BY_LINE: Mapping[str, Mapping[str, float]] = {
    ZIPF_22: {"fdp": 1.05, "mixed": 2.19, "nofdp": 2.48},
    ZIPF_12: {"fdp": 1.1, "mixed": 2.2, "nofdp": 2.4, "persistent": 1.05},
    ZONED: {"fdp": 1.5, "mixed": 2.0, "nofdp": 2.3, "persistent": 1.4},
    UNIFORM: {"fdp": 2.3, "mixed": 2.45, "nofdp": 2.6},
    ON_SSD_A[ZIPF_22]: {"fdp": 1.03, "mixed": 1.03, "nofdp": 1.6},
    ON_SSD_A[ZONED]: {"fdp": 1.69},
    **{name: {"fdp": 1.2, "nofdp": 1.5} for name in TWO.values()},
    TWO_IN_ORDER: {"fdp": 1.0, "nofdp": 1.4},
    NEIGHBOUR: {"fdp": 1.5, "nofdp": 2.0},
    ONE_A: {"nofdp": 2.0},
    ONE_B: {"nofdp": 3.5},
}
"""Write amplification with which every claim is as claimed."""
OF_CACHE: Mapping[Where, float] = {
    (CACHE, "fdp"): 1.1,
    (NEIGHBOUR, "fdp"): 1.2,
    (NEIGHBOUR, "persistent"): 1.15,
}
"""Write amplification of the cache with which these claims are as claimed."""


def where(run: Run) -> Where:
    return run.workload.split(",")[0], run.line.split("-")[0]


def point(run: Run) -> Point:
    """Returns a run with these numbers."""
    levels = {axis: run.at(axis) for axis in ("spare", "unit", "victim", "ahead", "relabel")}
    return Point(
        trace=run.workload,
        line=run.line,
        seed=run.seed,
        **levels,
        write_amplification=BY_LINE.get(where(run)[0], {}).get(where(run)[1], 1.5),
        cache_amplification=OF_CACHE.get(where(run), 1.0),
        copied_first=0.0,
        copied_second=1.0,
        copied_third=0.0,
        relabelled=0,
        added_units=0,
    )


def _stated(claim: str, at: Where, number: float) -> list[Case]:
    """Returns cases for a printed number. Its copies per page are met within a factor of 1.5."""
    copies = number - 1

    def of(factor: float) -> dict[Where, dict[str, float]]:
        return {at: {WASTE: 1 + factor * copies}}

    return [
        Case(claim, AS_CLAIMED, "1.4 times the copies", of(1.4)),
        Case(claim, AS_CLAIMED, "as many copies, divided by 1.4", of(1 / 1.4)),
        Case(claim, LESS, "1.6 times the copies", of(1.6)),
        Case(claim, LESS, "as many copies, divided by 1.6", of(1 / 1.6)),
        Case(claim, LESS, "no copies", of(0.0)),
        Case(claim, STRADDLES, "it scatters", {}, {at: {WASTE: copies}}),
    ]


def _lower(claim: str, at: Where, base: float) -> list[Case]:
    """Returns cases for a line that has to be below a base."""
    return [
        Case(claim, LESS, "as much as the base", {at: {WASTE: base}}),
        Case(claim, LESS, "0.4 % less is not less", {at: {WASTE: 0.996 * base}}),
        Case(claim, STRADDLES, "it scatters", {}, {at: {WASTE: base}}),
    ]


CASES = [
    *_stated("zipf-fdp", (ZIPF_22, "fdp"), 1.05),
    *_stated("zipf-mixed", (ZIPF_22, "mixed"), 2.19),
    *_stated("zipf-none", (ZIPF_22, "nofdp"), 2.48),
    *_stated("ssd-zipf-fdp", (ON_SSD_A[ZIPF_22], "fdp"), 1.03),
    *_stated("ssd-zipf-mixed", (ON_SSD_A[ZIPF_22], "mixed"), 1.03),
    *_stated("ssd-zipf-none", (ON_SSD_A[ZIPF_22], "nofdp"), 1.6),
    *_stated("ssd-8020-fdp", (ON_SSD_A[ZONED], "fdp"), 1.69),
    *_stated("one-a", (ONE_A, "nofdp"), 2.0),
    *_stated("one-b", (ONE_B, "nofdp"), 3.5),
    *_lower("handles", (UNIFORM, "fdp"), 2.6),
    *_lower("mixed-worse", (ZIPF_12, "fdp"), 2.2),
    *_lower("mixed-better", (ZONED, "mixed"), 2.3),
    *_lower("two", (TWO[50], "fdp"), 1.5),
    *_lower("isolation-8020", (ZONED, "persistent"), 1.5),
    *_lower("isolation-zipf", (ZIPF_12, "persistent"), 1.1),
    *_lower("neighbour-handle", (NEIGHBOUR, "fdp"), 2.0),
    Case("uniform-least", LESS, "80-20 gains less", {(ZONED, "fdp"): {WASTE: 2.2}}),
    Case("uniform-least", STRADDLES, "80-20 scatters", {}, {(ZONED, "fdp"): {WASTE: 0.5}}),
    Case("in-order-free", AS_CLAIMED, "2.9 % are free", {(TWO_IN_ORDER, "fdp"): {WASTE: 1.029}}),
    Case("in-order-free", LESS, "4 % are not", {(TWO_IN_ORDER, "fdp"): {WASTE: 1.04}}),
    Case("in-order-free", STRADDLES, "it scatters", {}, {(TWO_IN_ORDER, "fdp"): {WASTE: 0.1}}),
    Case("in-order-mixed", LESS, "1.19", {(TWO_IN_ORDER, "nofdp"): {WASTE: 1.19}}),
    Case("in-order-mixed", STRADDLES, "it scatters", {}, {(TWO_IN_ORDER, "nofdp"): {WASTE: 0.3}}),
    Case("neighbour-costs", LESS, "as before", {(NEIGHBOUR, "fdp"): {"cache_amplification": 1.1}}),
    Case(
        "neighbour-costs",
        STRADDLES,
        "it scatters",
        {},
        {(CACHE, "fdp"): {"cache_amplification": 0.1}},
    ),
    Case(
        "neighbour-isolated",
        LESS,
        "as many copies",
        {(NEIGHBOUR, "persistent"): {"cache_amplification": 1.2}},
    ),
    Case(
        "neighbour-isolated",
        STRADDLES,
        "it scatters",
        {},
        {(NEIGHBOUR, "persistent"): {"cache_amplification": 0.1}},
    ),
]
CASES += [
    Case(claim, AS_CLAIMED, "it is as stated")
    for claim in dict.fromkeys(case.claim for case in CASES)
]

EVIDENCE = Evidence(
    claims=CLAIMS,
    experiment=EXPERIMENT,
    filter=ROOMY,
    point=point,
    where=lambda run: [where(run)],
    cases=CASES,
    rejected={"added_units": 1},
    unchecked=UNCHECKED,
)
