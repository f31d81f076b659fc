"""What the ASA-FTL paper claims, and where in what it leaves open each claim is asked.

All changes are against DFTL on the same drive with the same requests. What both have is CAT.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floatgate.papers.kit.judging import OpenClaim, Premise
from floatgate.papers.kit.paper import UNCHECKED, Claim, Measured, change
from floatgate.papers.kit.verdicts import TOLERANCE, Region

from .measures import (
    PAPER_GC,
    PAPER_RESPONSE,
    Effect,
    adapts,
    ages_kept,
    at_once,
    counted,
    few_samples,
    gc_writes,
    larger_requests,
    much_smaller,
    no_difference,
    ranking,
    response,
    response_change,
    sampling,
    saved,
    writes_change,
)
from .runs import (
    AGES_FREE,
    ASA,
    CAMBRIDGE,
    DFTL,
    FEW,
    FINANCIAL1,
    KNOWN,
    MANY,
    MOVING,
    SYNTH5,
    SYNTH7,
    SYNTH9,
    TPCC,
    WITH_AGES,
    Point,
)

BOTH = (DFTL, ASA)

JOURNAL = "Parallel Computing 61, 2017, abstract"

EFFECT = 0.005
"""Half a per cent: what is less is 0 in a paper that prints whole per cents."""

SAME = 0.01
"""What is no difference: a per cent, the least that the paper prints."""

NEAR = 0.10
"""Of cleaning's programs, what knowing all lifetimes may save for cleaning to be close to optimal:
a third of what the paper calls significant. The paper gives no number."""

MINIMAL = 0.05
"""What an overhead may add to be minimal: half of what is close. The paper gives no number."""

DRIVE = ("spare", "cache", "start")
READ = (*DRIVE, "equal")
COUNTED = (*READ, "copies")
TIMED = (*READ, "arrivals")


def _stated(key: str, name: str, axis: str) -> tuple[OpenClaim[Point], ...]:
    """The numbers that the paper states, on one of the two workloads that it states them of."""
    minus = "\N{MINUS SIGN}"
    gc, time = Region.about(PAPER_GC), Region.about(PAPER_RESPONSE)
    where = "Figure 2, section III"
    return (
        *_lower(key, name, axis),
        OpenClaim(
            f"gc-writes-{key}",
            f"GC page writes on {name} are fewer by 33%",
            where,
            f"{minus}33%",
            (*COUNTED, axis),
            (name,),
            BOTH,
            counted(gc_writes, name),
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
            response(name),
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
            at_once(name),
            Region(1 / TOLERANCE, TOLERANCE, 1.0),
            _multiple,
        ),
    )


def _lower(key: str, name: str, axis: str) -> tuple[OpenClaim[Point], ...]:
    """What the paper says of both numbers whatever their size."""
    minus = "\N{MINUS SIGN}"
    return (
        OpenClaim(
            f"gc-lower-{key}",
            f"GC page writes on {name} are lower",
            "abstract, section III",
            f"up to {minus}33%",
            (*COUNTED, axis),
            (name,),
            BOTH,
            counted(gc_writes, name),
            Region(high=-EFFECT),
            change,
        ),
        OpenClaim(
            f"response-lower-{key}",
            f"Mean response time on {name} is lower",
            "abstract, section III",
            f"{minus}9%",
            (*TIMED, axis),
            (name,),
            BOTH,
            response(name),
            Region(high=-EFFECT),
            change,
        ),
    )


def _gain(of: Effect, name: str) -> Premise[Point]:
    """Where a workload gains nothing, there is nothing to hold another gain against."""
    return Premise(
        f"without a sure gain on {name}",
        lambda at: {"": -of(at, name)},
        Region(low=EFFECT),
    )


def _smaller(name: str, key: str, timed: tuple[str, ...], *axes: str) -> list[OpenClaim[Point]]:
    """Of both numbers, where each can be asked."""
    numbers: tuple[tuple[str, str, tuple[str, ...], Effect], ...] = (
        ("gc", "GC page writes", COUNTED, writes_change),
        ("response", "mean response time", timed, response_change),
    )
    return [
        OpenClaim(
            f"smaller-{kind}-{key}",
            f"The effect on {title} of {name} is much smaller than of Financial1: half of that "
            "gain at most; ours is half of that gain less the change here",
            "section III",
            "much smaller",
            (*swept, "financial1", *axes),
            (FINANCIAL1, name),
            BOTH,
            much_smaller(of, name),
            Region(low=0.0),
            _points,
            premise=_gain(of, FINANCIAL1),
        )
        for kind, title, swept, of in numbers
    ]


def _near_optimal(name: str, key: str, axes: tuple[str, ...]) -> OpenClaim[Point]:
    return OpenClaim(
        f"optimal-{key}",
        f"Cleaning of {name} is already close to optimal with CAT: knowing lifetimes saves 10% at "
        "most",
        "section III",
        "close to optimal",
        axes,
        (name,),
        (DFTL, KNOWN),
        saved(name),
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
    *_smaller(CAMBRIDGE, "cambridge", TIMED, "cambridge"),
    # Its 7,000 requests come within 0.14 s: no drive of this kind serves them at their own times.
    *_smaller(TPCC, "tpcc", READ),
    OpenClaim(
        "larger-cambridge",
        "Financial1's requests are small, those of Cambridge large: its writes are larger",
        "section III",
        "large",
        ("financial1", "cambridge"),
        (FINANCIAL1, CAMBRIDGE),
        (DFTL,),
        larger_requests(CAMBRIDGE),
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
        larger_requests(TPCC),
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
        ranking,
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
        no_difference,
        Region(-SAME, SAME),
        change,
    ),
    _near_optimal(CAMBRIDGE, "cambridge", (*DRIVE, "copies", "cambridge")),
    _near_optimal(TPCC, "tpcc", (*DRIVE, "copies")),
    OpenClaim(
        "journal-adapts",
        "It adapts to a workload that changes: with synth9/10's hot tenth elsewhere in each volume "
        "it gains at least half of the GC page writes that it gains with one that stays; ours is "
        "the gain less that half",
        JOURNAL,
        "adapts",
        COUNTED,
        (SYNTH9, MOVING),
        BOTH,
        adapts,
        Region(low=0.0),
        _points,
        premise=_gain(writes_change, SYNTH9),
    ),
    OpenClaim(
        "samples",
        "A small part of the ages is enough: 100 samples clean as little as 10,000",
        "section II; the journal version",
        "small samples suffice",
        (*DRIVE, "financial1", "synth"),
        (FINANCIAL1, SYNTH9),
        (FEW, MANY),
        few_samples,
        Region(high=SAME),
        change,
    ),
    OpenClaim(
        "overhead",
        "The overhead of ages in the map on flash is minimal: they add 5% at most",
        "abstract, section I",
        "minimal",
        (*DRIVE, "financial1", "synth"),
        (FINANCIAL1, SYNTH9),
        (WITH_AGES, AGES_FREE),
        ages_kept,
        Region(high=MINIMAL),
        change,
    ),
    OpenClaim(
        "sampling",
        "The overhead of sampling is minimal: its reads of the map add 5% at most to all that the "
        "flash reads else",
        "abstract, section I",
        "minimal",
        (*READ, "financial1", "synth"),
        (FINANCIAL1, SYNTH9),
        (ASA,),
        sampling,
        Region(high=MINIMAL),
        change,
    ),
)


def _with_writes(key: str, name: str) -> Claim[Measured]:
    """The other half of a copy, told with what was found of the first."""

    def measure(writes: Measured) -> Measured:
        why = (
            "no finding of its own: cleaning reads each page that it writes, once, so that this is "
            f"gc-writes-{key} again, of which the verdict is: {writes.verdict}"
        )
        return Measured(writes.ours, UNCHECKED, why, writes.number)

    text = f"GC page reads on {name} are fewer by 33%"
    return Claim(f"gc-reads-{key}", text, "Figure 2, section III", "\N{MINUS SIGN}33%", measure)


READS = {
    f"gc-writes-{key}": _with_writes(key, name)
    for key, name in (("financial1", FINANCIAL1), ("synth", SYNTH9))
}
"""What is said again, by the claim with which it is judged."""

_ABSTRACT = "of the journal version we have what its abstract says: its workloads are not known"

UNKNOWN_CLAIMS: tuple[Claim[Any], ...] = (
    Claim(
        "memory",
        "It requires minimal on-device RAM",
        "abstract, section II",
        "minimal",
        _unknown(
            "the paper gives no sizes: a verdict would be of the arithmetic of our own, which is "
            "in the table of memory"
        ),
    ),
    Claim(
        "computing",
        "K-means over a sample takes little computing power",
        "section II",
        "saved",
        _unknown("the drive's controller takes no time for it here; what samples read is counted"),
    ),
    Claim(
        "skew",
        "Financial1 and synth9/10 are highly skewed, Cambridge and TPCC little",
        "section III",
        "small skewness",
        _unknown(
            "the paper does not say by which measure, nor of which volumes of Cambridge; the table "
            "of skew has some"
        ),
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
)
