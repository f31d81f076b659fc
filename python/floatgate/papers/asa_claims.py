"""What the ASA-FTL paper claims, and where in what it leaves open each claim is asked.

All changes are against DFTL on the same drive with the same requests. What both have is CAT.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .asa_runs import (
    AGES_FREE,
    ASA,
    CAMBRIDGE,
    DFTL,
    FEW,
    FINANCIAL1,
    KNOWN,
    MANY,
    SYNTH5,
    SYNTH7,
    SYNTH9,
    TPCC,
    WITH_AGES,
    Point,
)
from .judging import At, OpenClaim, Values
from .paper import UNCHECKED, Claim, Measured, change
from .verdicts import TOLERANCE, Region

BOTH = (DFTL, ASA)

EFFECT = 0.005
"""Half a per cent: what is less is 0 in a paper that prints whole per cents."""

SAME = 0.01
"""What is no difference: a per cent, the least that the paper prints."""

MUCH_SMALLER = 0.5
"""Of the gain on Financial1, up to which a change, of either sign, is much smaller: the paper gives
no number, and what is more than half of something is not called much smaller."""

NEAR = 0.10
"""Of cleaning's programs, what knowing all lifetimes may save for cleaning to be close to optimal:
a third of what the paper calls significant. The paper gives no number."""

MINIMAL = 0.05
"""What an overhead may add to be minimal: half of what is close. The paper gives no number."""

DRIVE = ("spare", "cache", "start")
READ = (*DRIVE, "equal")
COUNTED = (*READ, "copies")
TIMED = (*READ, "arrivals")

PAPER_GC, PAPER_RESPONSE = -0.33, -0.09


def gc_writes(point: Point, map_too: bool = True) -> int:
    """Pages that cleaning programs."""
    return point.data_copies + (point.map_copies if map_too else 0)


def gc_reads(point: Point, map_too: bool = True) -> int:
    """Pages that cleaning reads."""
    return point.data_reads + (point.map_reads if map_too else 0)


def relative(ours: float, theirs: float) -> float:
    """A relative change, of something: a drive that was written ten times over was cleaned."""
    return ours / theirs - 1


Counted = Callable[[Point, bool], int]


def counted_change(of: Counted, at: At[Point], name: str, line: str = ASA) -> float:
    """Change of a count of cleaning, of what the place counts as copies."""
    map_too = at.place["copies"] == "data and map"
    return relative(of(at(name, line), map_too), of(at(name, DFTL), map_too))


def response_change(at: At[Point], name: str) -> float:
    """Change of the mean response time."""
    return relative(at(name, ASA).mean_us, at(name, DFTL).mean_us)


def _counted(of: Counted, name: str) -> Callable[[At[Point]], Values]:
    return lambda at: {"": counted_change(of, at, name)}


def _response(name: str) -> Callable[[At[Point]], Values]:
    return lambda at: {"": response_change(at, name)}


def _at_once(name: str) -> Callable[[At[Point]], Values]:
    """Both changes, as shares of what the paper states."""
    return lambda at: {
        "GC page writes": counted_change(gc_writes, at, name) / PAPER_GC,
        "response": response_change(at, name) / PAPER_RESPONSE,
    }


def _much_smaller(name: str) -> Callable[[At[Point]], Values]:
    """What is left of half the gain on Financial1 above the change here, of whatever sign. A gain
    that is none has nothing left."""

    def measure(at: At[Point]) -> Values:
        gains = {
            "GC page writes": [-counted_change(gc_writes, at, of) for of in (FINANCIAL1, name)],
            "response": [-response_change(at, of) for of in (FINANCIAL1, name)],
        }
        return {key: MUCH_SMALLER * base - abs(here) for key, (base, here) in gains.items()}

    return measure


def _ranking(at: At[Point]) -> Values:
    gains = {load: -counted_change(gc_writes, at, load) for load in (SYNTH9, SYNTH7, SYNTH5)}
    return {
        "9/10 over 7/10": gains[SYNTH9] - gains[SYNTH7],
        "7/10 over 5/10": gains[SYNTH7] - gains[SYNTH5],
    }


def _no_difference(at: At[Point]) -> Values:
    """All four numbers of Figure 2."""
    ours, theirs = at(SYNTH5, ASA), at(SYNTH5, DFTL)
    return {
        "GC page reads": counted_change(gc_reads, at, SYNTH5),
        "GC page writes": counted_change(gc_writes, at, SYNTH5),
        "erasures": relative(ours.erases, theirs.erases),
        "response": response_change(at, SYNTH5),
    }


def _saved(name: str) -> Callable[[At[Point]], Values]:
    """Of cleaning's programs, what knowing all lifetimes saves."""
    return lambda at: {"": -counted_change(gc_writes, at, name, KNOWN)}


def _few_samples(at: At[Point]) -> Values:
    return {
        name: relative(gc_writes(at(name, FEW)), gc_writes(at(name, MANY)))
        for name in (FINANCIAL1, SYNTH9)
    }


def _ages_kept(at: At[Point]) -> Values:
    """What it adds to keep ages beside the map, with as many entries cached."""
    found = {}
    for name in (FINANCIAL1, SYNTH9):
        ours, free = at(name, WITH_AGES), at(name, AGES_FREE)
        found[f"{name}, GC page writes"] = relative(gc_writes(ours), gc_writes(free))
        found[f"{name}, response"] = relative(ours.mean_us, free.mean_us)
    return found


def _larger_requests(name: str) -> Callable[[At[Point]], Values]:
    def measure(at: At[Point]) -> Values:
        here, base = at(name, DFTL).write_bytes, at(FINANCIAL1, DFTL).write_bytes
        assert here is not None, "it is an excerpt"
        assert base is not None, "it is an excerpt"
        return {"": relative(here, base)}

    return measure


def _stated(key: str, name: str, axis: str) -> tuple[OpenClaim[Point], ...]:
    """The numbers that the paper states, on one of the two workloads that it states them of."""
    minus = "\N{MINUS SIGN}"
    gc, time = Region.about(PAPER_GC), Region.about(PAPER_RESPONSE)
    where = "Figure 2, section III"
    return (
        OpenClaim(
            f"gc-writes-{key}",
            f"GC page writes on {name} are fewer by 33%",
            where,
            f"{minus}33%",
            (*COUNTED, axis),
            (name,),
            BOTH,
            _counted(gc_writes, name),
            gc,
            change,
        ),
        OpenClaim(
            f"gc-reads-{key}",
            f"GC page reads on {name} are fewer by 33%",
            where,
            f"{minus}33%",
            (*COUNTED, axis),
            (name,),
            BOTH,
            _counted(gc_reads, name),
            gc,
            change,
        ),
        OpenClaim(
            f"response-{key}",
            f"Mean response time on {name} is lower by 9%",
            where,
            f"{minus}9%",
            (*TIMED, axis),
            (name,),
            BOTH,
            _response(name),
            time,
            change,
        ),
        OpenClaim(
            f"at-once-{key}",
            f"Both at once on {name}: GC page writes by 33%, mean response time by 9%; ours as "
            "a multiple of the paper's",
            where,
            f"{minus}33% and {minus}9%",
            (*TIMED, axis),
            (name,),
            BOTH,
            _at_once(name),
            Region(1 / TOLERANCE, TOLERANCE, 1.0),
            _multiple,
        ),
    )


def _smaller(name: str, key: str, axes: tuple[str, ...]) -> OpenClaim[Point]:
    return OpenClaim(
        f"smaller-{key}",
        f"The effect on {name} is much smaller than on Financial1: half of it at most",
        "section III",
        "much smaller",
        axes,
        (FINANCIAL1, name),
        BOTH,
        _much_smaller(name),
        Region(low=0.0),
        _points,
    )


def _near_optimal(name: str, key: str, axes: tuple[str, ...]) -> OpenClaim[Point]:
    return OpenClaim(
        f"optimal-{key}",
        f"Cleaning of {name} is already close to optimal with CAT: knowing lifetimes saves 10%",
        "section III",
        "close to optimal",
        axes,
        (name,),
        (DFTL, KNOWN),
        _saved(name),
        Region(high=NEAR),
        "{:.1%}".format,
    )


def _points(value: float) -> str:
    return f"{100 * value:+.1f} points".replace("-", "\N{MINUS SIGN}")


def _multiple(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def _unknown(reason: str) -> Callable[[Any], Measured]:
    return lambda _: Measured("not measured", UNCHECKED, reason)


OPEN_CLAIMS: tuple[OpenClaim[Point], ...] = (
    *_stated("financial1", FINANCIAL1, "financial1"),
    *_stated("synth", SYNTH9, "synth"),
    _smaller(CAMBRIDGE, "cambridge", (*TIMED, "financial1", "cambridge")),
    # Its 7,000 requests come within 0.14 s: no drive of this kind serves them at their own times.
    _smaller(TPCC, "tpcc", (*READ, "financial1")),
    OpenClaim(
        "larger-cambridge",
        "Financial1's requests are small, those of Cambridge large: its writes are larger",
        "section III",
        "large",
        ("financial1", "cambridge"),
        (FINANCIAL1, CAMBRIDGE),
        (DFTL,),
        _larger_requests(CAMBRIDGE),
        Region(low=EFFECT),
        change,
    ),
    OpenClaim(
        "larger-tpcc",
        "Financial1's requests are small, those of TPCC large: its writes are larger",
        "section III",
        "large",
        ("financial1",),
        (FINANCIAL1, TPCC),
        (DFTL,),
        _larger_requests(TPCC),
        Region(low=EFFECT),
        change,
    ),
    OpenClaim(
        "ranking",
        "The benefit shrinks with the skew: 9/10, 7/10, 5/10",
        "Figure 2, section III",
        "9/10 > 7/10 > 5/10",
        (*COUNTED, "synth"),
        (SYNTH9, SYNTH7, SYNTH5),
        BOTH,
        _ranking,
        Region(low=EFFECT),
        _points,
    ),
    OpenClaim(
        "uniform",
        "There is no difference on synth5/10",
        "Figure 2, section III",
        "none",
        (*COUNTED, "synth"),
        (SYNTH5,),
        BOTH,
        _no_difference,
        Region(-SAME, SAME),
        change,
    ),
    _near_optimal(CAMBRIDGE, "cambridge", (*DRIVE, "copies", "cambridge")),
    _near_optimal(TPCC, "tpcc", (*DRIVE, "copies")),
    OpenClaim(
        "samples",
        "A small part of the ages is enough: 100 samples clean as little as 10,000",
        "section II; the journal version",
        "small samples suffice",
        (*DRIVE, "financial1", "synth"),
        (FINANCIAL1, SYNTH9),
        (FEW, MANY),
        _few_samples,
        Region(high=SAME),
        change,
    ),
    OpenClaim(
        "overhead",
        "The overhead of keeping ages is minimal: it adds 5% at most",
        "abstract, section I",
        "minimal",
        (*DRIVE, "financial1", "synth"),
        (FINANCIAL1, SYNTH9),
        (WITH_AGES, AGES_FREE),
        _ages_kept,
        Region(high=MINIMAL),
        change,
    ),
)

JOURNAL = "Parallel Computing 61, 2017, abstract"
_ABSTRACT = "of the journal version we have what its abstract says: its workloads are not known"

UNKNOWN_CLAIMS: tuple[Claim[Any], ...] = (
    Claim(
        "skew",
        "Financial1 and synth9/10 are highly skewed, Cambridge and TPCC little",
        "section III",
        "small skewness",
        _unknown("the paper does not say by which measure, nor of which volumes of Cambridge"),
    ),
    Claim(
        "journal-gc",
        "GC overhead is lower by up to 28%",
        JOURNAL,
        "up to \N{MINUS SIGN}28%",
        _unknown(_ABSTRACT),
    ),
    Claim(
        "journal-response",
        "Response time is lower by up to 15%",
        JOURNAL,
        "up to \N{MINUS SIGN}15%",
        _unknown(_ABSTRACT),
    ),
    Claim(
        "journal-adapts",
        "It adapts to a workload that changes",
        JOURNAL,
        "adapts",
        _unknown(f"{_ABSTRACT}, nor what changed in them"),
    ),
)
