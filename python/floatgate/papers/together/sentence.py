"""What all of it comes to, in a sentence whose numbers are those of the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from floatgate.papers.kit.paper import Measured, change

from .claims import by_points, wa
from .figures import at_defaults
from .runs import (
    ASA,
    BASE,
    BELADY_MAP,
    DFTL,
    ETI,
    LRU,
    NCQ,
    PAGES,
    SHRD,
    SHRD_CACHED,
    SPARE_28,
    TLLLP,
    UNIFORM,
    Point,
)


def summed_up(points: Iterable[Point], drives: Measured | None) -> str:
    """The least and the largest change over the workloads, of means over seeds; at last the verdict
    on one policy for all measured drives, if it was asked."""
    every = list(points)
    runs = at_defaults(every)
    eti, asa = changes(runs, wa, ETI, BASE), changes(runs, wa, ASA, BASE)
    better = {name: min(eti[name], asa[name]) for name in eti.keys() & asa.keys()}
    skewed = between([value for name, value in better.items() if name != UNIFORM])
    queued = at_defaults(every, arrivals="a full queue")
    looked = between(list(changes(queued, hits, NCQ, LRU, minus).values()), by_points)
    waste = {
        (one, over): between(list(changes(runs, wa, one, over).values())) for one, over in SAID
    }
    looked_up = between(list(changes(runs, traffic, SHRD_CACHED, PAGES).values()))
    said = (
        "In a sentence, on this aged drive the better of ETI and ASA placement changes what is "
        f"programmed by {skewed} where pages differ in age, and by {change(better[UNIFORM])} on "
        f"uniform writes; 28% spare space for 15% by {waste[SPARE_28, BASE]}; a map cache of an "
        f"eighth by {waste[DFTL, BASE]}, which the best victims then change by "
        f"{waste[BELADY_MAP, DFTL]} and TLLLP by {waste[TLLLP, DFTL]}; a buffer of 1/64 by "
        f"{waste[LRU, BASE]}, and its look into a full queue adds {looked} of hits; SHRD with the "
        f"whole map in memory by {waste[SHRD, BASE]}, and the traffic of a cached map by "
        f"{looked_up}"
    )
    told = f"; that one policy explains all measured drives: {drives.verdict}" if drives else ""
    return f"{said}{told}."


SAID = (
    (SPARE_28, BASE),
    (DFTL, BASE),
    (BELADY_MAP, DFTL),
    (TLLLP, DFTL),
    (LRU, BASE),
    (SHRD, BASE),
)
"""Lines, and over which their change is said."""


def changes(
    points: Sequence[Point],
    of: Callable[[Point], float],
    line: str,
    over: str,
    by: Callable[[float, float], float] = lambda ours, theirs: ours / theirs - 1,
) -> dict[str, float]:
    """By workload, from one line to another with the same seed, the mean over seeds."""
    known: Mapping[tuple[str, str, int], Point] = {(p.trace, p.line, p.seed): p for p in points}
    found: dict[str, list[float]] = {}
    for (trace, key, seed), point in known.items():
        if key == line and (other := known.get((trace, over, seed))):
            found.setdefault(trace, []).append(by(of(point), of(other)))
    return {trace: fmean(values) for trace, values in found.items()}


def minus(ours: float, theirs: float) -> float:
    return ours - theirs


def hits(point: Point) -> float:
    return point.buffer_hits or 0.0


def traffic(point: Point) -> float:
    return point.map_traffic


def between(values: Sequence[float], text: Callable[[float], str] = change) -> str:
    """The least and the largest."""
    least, most = text(min(values)), text(max(values))
    return least if least == most else f"{least} to {most}"
