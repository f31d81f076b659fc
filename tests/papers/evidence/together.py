"""The questions about all five on one drive: evidence for each, with which it holds, fails or is
open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evidence import Case, Evidence
from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Run, Workload
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES
from floatgate.papers.together.claims import claims_of
from floatgate.papers.together.domain import (
    ASA,
    BELADY_MAP,
    DFTL,
    ETI,
    LRU,
    NCQ,
    ORACLE,
    RECORDED,
    SHRD_CACHED,
    SPARE_28,
    SYNTHETIC,
    TLLLP,
    experiment_of,
)
from floatgate.papers.together.reduce import BACKLOG, Point

WORK, TRACE = "load", "trace"
WHOLE = experiment_of(
    (
        Workload(WORK, SYNTHETIC, Played("uniform:span=1MiB"), random=True),
        Workload(TRACE, RECORDED, Played("trace"), random=True),
    )
)
CLAIMS = {claim.key: claim for claim in claims_of([SYNTHETIC, RECORDED], full=True)}


def point(run: Run, **changed: Any) -> Point:
    """Returns a run with neutral numbers, except for `changed`."""
    known = Point(
        trace=run.workload,
        family=WHOLE.workload(run.workload).family,
        line=run.line,
        spare=run.at("spare"),
        arrivals=run.at("arrivals"),
        seed=run.seed,
        write_amplification=2.0,
        later_write_amplification=2.0,
        read_mean_us=100.0,
        read_p99_us=1000.0,
        write_mean_us=10.0,
        write_p99_us=20.0,
        map_bytes=1000,
        placement_bytes=0,
        buffer_bytes=0,
        host_bytes=0,
        map_hits=0.5,
        buffer_hits=0.5,
        map_traffic=1.0,
        utilization=0.5,
        queue_share=0.0,
    )
    return replace(known, **changed)


WA, READ, HITS, BUFFERED, TRAFFIC = (
    *("write_amplification", "read_mean_us"),
    *("map_hits", "buffer_hits", "map_traffic"),
)
CASES: dict[str, tuple[str, str, tuple[float, float, tuple[float, float]]]] = {
    # Question: line, number, and its values for which the answer holds, fails, or differs by seed.
    "eti": (ETI, WA, (1.9, 1.91, (1.85, 1.95))),
    "asa": (ASA, WA, (1.9, 1.91, (1.85, 1.95))),
    "oracle": (ORACLE, WA, (1.59, 1.61, (1.5, 1.7))),
    "spare": (SPARE_28, WA, (1.98, 2.0, (1.9, 2.1))),
    "buffer": (LRU, WA, (1.98, 2.0, (1.9, 2.1))),
    "cached-map": (DFTL, WA, (2.19, 2.21, (2.1, 2.3))),
    "map-bound": (BELADY_MAP, WA, (1.9, 1.91, (1.85, 1.95))),
    "tlllp-hits": (TLLLP, HITS, (0.5, 0.49, (0.48, 0.52))),
    "tlllp-reads": (TLLLP, READ, (100.0, 101.0, (90.0, 110.0))),
    "ncq-writes": (NCQ, WA, (2.0, 2.02, (1.9, 2.1))),
    "ncq-hits": (NCQ, BUFFERED, (0.52, 0.505, (0.45, 0.6))),
    "shrd-map": (SHRD_CACHED, TRAFFIC, (0.5, 0.51, (0.4, 0.6))),
    "shrd-reads": (SHRD_CACHED, READ, (109.0, 111.0, (100.0, 120.0))),
    "sum": ("eti+ncq", WA, (2.09, 2.11, (2.0, 2.2))),
}


EVIDENCE = Evidence(
    claims=list(CLAIMS.values()),
    experiment=WHOLE,
    filter=BACKLOG,
    point=point,
    where=lambda run: [run.line.partition(",")[0]],
    cases=[
        case
        for key, (line, name, (good, bad, (low, high))) in CASES.items()
        for claim in (f"{key}-{SYNTHETIC}", f"{key}-{RECORDED}")
        for case in (
            Case(claim, AS_CLAIMED, "it is", {line: {name: good}}),
            Case(claim, LESS, "it is not", {line: {name: bad}}),
            Case(
                claim,
                STRADDLES,
                "it scatters",
                {line: {name: (low + high) / 2}},
                {line: {name: (high - low) / 2}},
            ),
        )
    ],
    rejected={"utilization": 1.0, "queue_share": 0.5, "arrivals": "own times"},
    swept=frozenset({"drive"}),
)
