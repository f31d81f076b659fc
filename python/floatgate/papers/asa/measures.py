"""Measures that the claims about ASA-FTL compare: changes from DFTL on the same drive and
requests."""

from __future__ import annotations

from collections.abc import Callable

from floatgate.papers.kit.claims import At, Values

from .domain import (
    AGES_FREE,
    ASA,
    DFTL,
    FEW,
    FINANCIAL1,
    KNOWN,
    MANY,
    MOVING,
    SYNTH5,
    SYNTH7,
    SYNTH9,
    WITH_AGES,
)
from .reduce import Point

PAPER_GC, PAPER_RESPONSE = -0.33, -0.09

MUCH_SMALLER = 0.5
"""A change of either sign is much smaller if it is at most this share of the gain on Financial1.
The paper gives no number; more than half is not called much smaller."""


def gc_writes(point: Point, map_too: bool = True) -> int:
    return point.data_copies + (point.map_copies if map_too else 0)


def gc_reads(point: Point, map_too: bool = True) -> int:
    return point.data_reads + (point.map_reads if map_too else 0)


def relative(ours: float, theirs: float) -> float:
    """Returns a relative change. From 0 to 0 there is no change, and from 0 to anything else the
    change is 1. If DFTL copies nothing, the filter leaves the point out."""
    if theirs == 0:
        return 1.0 if ours else 0.0
    return ours / theirs - 1


Counted = Callable[[Point, bool], int]


def counted_change(of: Counted, at: At[Point], name: str, line: str = ASA) -> float:
    """Returns the change of a count of cleaning, over the copies that the place counts."""
    map_too = at.place["copies"] == "data and map"
    return relative(of(at(name, line), map_too), of(at(name, DFTL), map_too))


def response_change(at: At[Point], name: str) -> float:
    return relative(at(name, ASA).mean_us, at(name, DFTL).mean_us)


def counted(of: Counted, name: str) -> Callable[[At[Point]], Values]:
    return lambda at: {"": counted_change(of, at, name)}


def response(name: str) -> Callable[[At[Point]], Values]:
    return lambda at: {"": response_change(at, name)}


def at_once(name: str) -> Callable[[At[Point]], Values]:
    """Measures both changes, as shares of the changes that the paper states."""
    return lambda at: {
        "GC page writes": counted_change(gc_writes, at, name) / PAPER_GC,
        "response": response_change(at, name) / PAPER_RESPONSE,
    }


Effect = Callable[[At[Point], str], float]
"""Measures the change of one number on a workload."""


def writes_change(at: At[Point], name: str) -> float:
    return counted_change(gc_writes, at, name)


def much_smaller(of: Effect, name: str) -> Callable[[At[Point]], Values]:
    """Measures half the gain on Financial1 minus the size of the change on this workload."""
    return lambda at: {"": -MUCH_SMALLER * of(at, FINANCIAL1) - abs(of(at, name))}


def adapts(at: At[Point]) -> Values:
    """Measures the gain with a moving hot range minus half of the gain with a fixed hot range."""
    return {"": MUCH_SMALLER * writes_change(at, SYNTH9) - writes_change(at, MOVING)}


def ranking(at: At[Point]) -> Values:
    gains = {load: -counted_change(gc_writes, at, load) for load in (SYNTH9, SYNTH7, SYNTH5)}
    return {
        "9/10 over 7/10": gains[SYNTH9] - gains[SYNTH7],
        "7/10 over 5/10": gains[SYNTH7] - gains[SYNTH5],
    }


def no_difference(at: At[Point]) -> Values:
    ours, theirs = at(SYNTH5, ASA), at(SYNTH5, DFTL)
    return {
        "GC page reads": counted_change(gc_reads, at, SYNTH5),
        "GC page writes": counted_change(gc_writes, at, SYNTH5),
        "erasures": relative(ours.erases, theirs.erases),
        "response": response_change(at, SYNTH5),
    }


def saved(name: str) -> Callable[[At[Point]], Values]:
    """Measures the share of cleaning's programs that knowing all lifetimes saves."""
    return lambda at: {"": -counted_change(gc_writes, at, name, KNOWN)}


def few_samples(at: At[Point]) -> Values:
    return {
        name: relative(gc_writes(at(name, FEW)), gc_writes(at(name, MANY)))
        for name in (FINANCIAL1, SYNTH9)
    }


def ages_kept(at: At[Point]) -> Values:
    """Returns the cost of keeping ages outside the map, with an equal number of cached entries."""
    found = {}
    for name in (FINANCIAL1, SYNTH9):
        ours, free = at(name, WITH_AGES), at(name, AGES_FREE)
        found[f"{name}, GC page writes"] = relative(gc_writes(ours), gc_writes(free))
        found[f"{name}, response"] = relative(ours.mean_us, free.mean_us)
    return found


def sampling(at: At[Point]) -> Values:
    """Returns the map reads for samples, relative to all other reads."""
    return {name: at(name, ASA).sample_reads for name in (FINANCIAL1, SYNTH9)}


def larger_requests(name: str) -> Callable[[At[Point]], Values]:
    def measure(at: At[Point]) -> Values:
        here, base = at(name, DFTL).write_bytes, at(FINANCIAL1, DFTL).write_bytes
        assert here is not None, "it is an excerpt"
        assert base is not None, "it is an excerpt"
        return {"": relative(here, base)}

    return measure
