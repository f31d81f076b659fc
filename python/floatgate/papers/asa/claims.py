"""Claims of the ASA-FTL paper, each with the open parameters over which it is tested.

All changes are relative to DFTL on the same drive with the same requests. Both clean with CAT.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from floatgate.papers.kit.claims import (
    AnyClaim,
    At,
    Claim,
    Origin,
    Premise,
    Values,
    in_points,
    inferred,
    signed,
    stated,
    unchecked,
)
from floatgate.papers.kit.measures import EFFECT
from floatgate.papers.kit.verdicts import ABOVE, TOLERANCE, Region

from . import domain
from .reduce import Point

BOTH = (domain.DFTL, domain.ASA)
PAPER_GC, PAPER_RESPONSE = -0.33, -0.09
MINUS_33, MINUS_9 = signed(PAPER_GC, "{:.0%}"), signed(PAPER_RESPONSE, "{:.0%}")

SAME = 0.01
"""Largest change that counts as no difference: a per cent, the smallest that the paper prints."""
MUCH_SMALLER = 0.5
"""A change of either sign is much smaller if it is at most this share of the gain on Financial1.
The paper gives no number; more than half is not called much smaller."""
NEAR = 0.10
"""Cleaning is close to optimal if knowing all lifetimes saves at most this share of its programs.
It is a third of the change that the paper calls significant. The paper gives no number."""
MINIMAL = 0.05
"""Largest overhead that counts as minimal: half of the limit for close. The paper gives no
number."""
LESS, GAIN = Region(high=-EFFECT), Region(low=EFFECT)

DRIVE = ("spare", "cache", "start")
READ = (*DRIVE, "equal")
COUNTED = (*READ, "copies")
TIMED = (*READ, "arrivals")

REDUCES = (
    "the ASA-FTL significantly reduces the garbage collection overhead (GC page read/write) by 33% "
    "and overall performance (average response time) by 9% of the Financial1 and synth9/10 workload"
)
UP_TO = (
    "the proposed ASA-FTL reduce the GC overhead by up to 33% and improve the overall response "
    "time by 9% against the most advanced existing FTL in both real workloads and synthetic "
    "workloads"
)
SMALLER = (
    "The effect of the ASA-FTL on the Cambridge and TPCC workload traces is much smaller due to "
    "their large request size and small skewness."
)
SMALL_REQUESTS = "This is due to their small request size and high degree of skewness."
OPTIMAL = (
    "Their garbage collection overhead is already close to optimal with the CAT policy, which is "
    "used in DFTL [4]."
)
MINIMAL_OVERHEAD = (
    "a method that accurately and naturally identifies and separates hot/cold data while only "
    "incurs minimal overhead"
)
SAMPLED = (
    "Only a small part of the Age values are sampled to save the on-device RAM space and the "
    "computing powered required by the K-means algorithm."
)
JOURNAL = "Parallel Computing 61, 2017, abstract"
FIGURE_2 = "Figure 2, section III"


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


Effect = Callable[[At[Point], str], float]


def writes_change(
    at: At[Point], name: str, line: str = domain.ASA, of: Callable[[Point, bool], int] = gc_writes
) -> float:
    map_too = at.levels["copies"] == "data and map"
    return relative(of(at(name, line), map_too), of(at(name, domain.DFTL), map_too))


def response_change(at: At[Point], name: str) -> float:
    return relative(at(name, domain.ASA).mean_us, at(name, domain.DFTL).mean_us)


def _ranking(at: At[Point]) -> Values:
    gains = {
        load: -writes_change(at, load) for load in (domain.SYNTH9, domain.SYNTH7, domain.SYNTH5)
    }
    return {
        "9/10 over 7/10": gains[domain.SYNTH9] - gains[domain.SYNTH7],
        "7/10 over 5/10": gains[domain.SYNTH7] - gains[domain.SYNTH5],
    }


def _no_difference(at: At[Point]) -> Values:
    return {
        "GC page reads": writes_change(at, domain.SYNTH5, of=gc_reads),
        "GC page writes": writes_change(at, domain.SYNTH5),
        "erasures": relative(
            at(domain.SYNTH5, domain.ASA).erases, at(domain.SYNTH5, domain.DFTL).erases
        ),
        "response": response_change(at, domain.SYNTH5),
    }


def _few_samples(at: At[Point]) -> Values:
    return {
        name: relative(gc_writes(at(name, domain.FEW)), gc_writes(at(name, domain.MANY)))
        for name in (domain.FINANCIAL1, domain.SYNTH9)
    }


def _ages_kept(at: At[Point]) -> Values:
    """Returns the cost of keeping ages outside the map, with an equal number of cached entries."""
    costs = {}
    for name in (domain.FINANCIAL1, domain.SYNTH9):
        ours, free = at(name, domain.WITH_AGES), at(name, domain.AGES_FREE)
        costs[f"{name}, GC page writes"] = relative(gc_writes(ours), gc_writes(free))
        costs[f"{name}, response"] = relative(ours.mean_us, free.mean_us)
    return costs


def _sampling(at: At[Point]) -> Values:
    """Returns the map reads for samples, relative to all other reads."""
    return {name: at(name, domain.ASA).sample_reads for name in (domain.FINANCIAL1, domain.SYNTH9)}


@dataclass(frozen=True)
class Number:
    """A number of which the paper states the change."""

    key: str
    title: str
    change: Effect
    region: Region
    axes: tuple[str, ...]

    def on(self, name: str) -> Callable[[At[Point]], Values]:
        return lambda at: {"": self.change(at, name)}


WRITES = Number("gc", "GC page writes", writes_change, Region.about(PAPER_GC), COUNTED)
RESPONSE = Number(
    "response", "Mean response time", response_change, Region.about(PAPER_RESPONSE), TIMED
)


def _numbers(key: str, name: str, axis: str) -> tuple[Claim[Point], ...]:
    lower = "abstract, section III"

    def claim(of: Number, kind: str, text: str, origin: Origin, region: Region) -> Claim[Point]:
        text, axes = f"{of.title} on {name} {text}", (*of.axes, axis)
        return Claim(f"{kind}-{key}", text, origin, axes, (name,), BOTH, of.on(name), region)

    gc_lower, faster = stated(lower, f"up to {MINUS_33}", UP_TO), stated(lower, MINUS_9, UP_TO)
    by_33, by_9 = stated(FIGURE_2, MINUS_33, REDUCES), stated(FIGURE_2, MINUS_9, REDUCES)
    return (
        claim(WRITES, "gc-lower", "are lower", gc_lower, LESS),
        claim(RESPONSE, "response-lower", "is lower", faster, LESS),
        claim(WRITES, "gc-writes", "are fewer by 33%", by_33, WRITES.region),
        claim(RESPONSE, "response", "is lower by 9%", by_9, RESPONSE.region),
        Claim(
            f"at-once-{key}",
            f"Both at once on {name}: GC page writes by 33%, mean response time by 9%; ours as "
            "a multiple of the paper's",
            inferred(FIGURE_2, f"{MINUS_33} and {MINUS_9}", REDUCES),
            (*TIMED, axis),
            (name,),
            BOTH,
            lambda at: {
                "GC page writes": writes_change(at, name) / PAPER_GC,
                "response": response_change(at, name) / PAPER_RESPONSE,
            },
            Region(1 / TOLERANCE, TOLERANCE, 1.0, ABOVE),
            lambda value: signed(value, "{:+.2f}"),
        ),
    )


def _gain(of: Number, name: str) -> Premise[Point]:
    """Returns the premise that a workload has a gain. Without one, there is nothing to compare."""
    return Premise(f"without a sure gain on {name}", lambda at: {"": -of.change(at, name)}, GAIN)


def _smaller(of: Number, name: str, key: str, axes: tuple[str, ...]) -> Claim[Point]:
    """Returns the claim that a workload changes by half the gain on Financial1 at most."""
    return Claim(
        f"smaller-{of.key}-{key}",
        f"{of.title}: {name} changes by half of Financial1's gain at most; ours is that half less "
        "the change",
        stated("section III", "much smaller", SMALLER),
        axes,
        (domain.FINANCIAL1, name),
        BOTH,
        lambda at: {
            "": -MUCH_SMALLER * of.change(at, domain.FINANCIAL1) - abs(of.change(at, name))
        },
        Region(low=0.0),
        in_points,
        premise=_gain(of, domain.FINANCIAL1),
    )


def _larger(key: str, name: str, *axes: str) -> Claim[Point]:
    def measure(at: At[Point]) -> Values:
        large, small = (
            at(name, domain.DFTL).write_bytes,
            at(domain.FINANCIAL1, domain.DFTL).write_bytes,
        )
        assert large is not None, "it is an excerpt"
        assert small is not None, "it is an excerpt"
        return {"": relative(large, small)}

    return Claim(
        f"larger-{key}",
        f"Financial1's requests are small, those of {name} large: its writes are larger",
        stated("section III", "large", SMALLER),
        axes,
        (domain.FINANCIAL1, name),
        (domain.DFTL,),
        measure,
        GAIN,
    )


def _near_optimal(name: str, key: str, *axes: str) -> Claim[Point]:
    return Claim(
        f"optimal-{key}",
        f"Cleaning of {name} is already close to optimal with CAT: knowing lifetimes saves 10% at "
        "most",
        stated("section III", "close to optimal", OPTIMAL),
        (*DRIVE, "copies", *axes),
        (name,),
        (domain.DFTL, domain.KNOWN),
        lambda at: {"": -writes_change(at, name, domain.KNOWN)},
        Region(high=NEAR),
        "{:.1%}".format,
    )


def _overhead(
    key: str,
    text: str,
    origin: Origin,
    axes: tuple[str, ...],
    lines: tuple[str, ...],
    measure: Callable[[At[Point]], Values],
    most: float,
) -> Claim[Point]:
    swept, region = (*axes, "financial1", "synth"), Region(high=most)
    return Claim(
        key, text, origin, swept, (domain.FINANCIAL1, domain.SYNTH9), lines, measure, region
    )


CLAIMS: tuple[Claim[Point], ...] = (
    *_numbers("financial1", domain.FINANCIAL1, "financial1"),
    *_numbers("synth", domain.SYNTH9, "synth"),
    _smaller(WRITES, domain.CAMBRIDGE, "cambridge", (*COUNTED, "financial1", "cambridge")),
    _smaller(RESPONSE, domain.CAMBRIDGE, "cambridge", (*TIMED, "financial1", "cambridge")),
    _smaller(WRITES, domain.TPCC, "tpcc", (*COUNTED, "financial1")),
    # Its 7,000 requests come within 0.14 s. No drive of this kind serves them at their own times.
    _smaller(RESPONSE, domain.TPCC, "tpcc", (*READ, "financial1")),
    _larger("cambridge", domain.CAMBRIDGE, "financial1", "cambridge"),
    _larger("tpcc", domain.TPCC, "financial1"),
    Claim(
        "ranking",
        "The benefit shrinks with the skew: 9/10, 7/10, 5/10",
        stated(
            FIGURE_2,
            "9/10 > 7/10 > 5/10",
            "By comparing the simulation results of the synth9/10, synth7/10 and synth5/10, it can "
            "be seen that the benefit of the ASA-FTL decreases as the skewness of the workload "
            "reduces.",
        ),
        (*COUNTED, "synth"),
        (domain.SYNTH9, domain.SYNTH7, domain.SYNTH5),
        BOTH,
        _ranking,
        GAIN,
        in_points,
    ),
    Claim(
        "uniform",
        "There is no difference on synth5/10",
        stated(
            FIGURE_2,
            "none",
            "the result of the trace with uniform traffic, which no difference is observed between "
            "ASA-FTL and DFTL",
        ),
        (*COUNTED, "synth"),
        (domain.SYNTH5,),
        BOTH,
        _no_difference,
        Region(-SAME, SAME),
    ),
    _near_optimal(domain.CAMBRIDGE, "cambridge", "cambridge"),
    _near_optimal(domain.TPCC, "tpcc"),
    Claim(
        "journal-adapts",
        "With the hot tenth elsewhere in each volume it keeps half of synth9/10's gain in GC page "
        "writes",
        inferred(JOURNAL, "adapts"),
        COUNTED,
        (domain.SYNTH9, domain.MOVING),
        BOTH,
        lambda at: {
            "": MUCH_SMALLER * writes_change(at, domain.SYNTH9) - writes_change(at, domain.MOVING)
        },
        Region(low=0.0),
        in_points,
        premise=_gain(WRITES, domain.SYNTH9),
    ),
    _overhead(
        "samples",
        "A small part of the ages is enough: 100 samples clean as little as 10,000",
        inferred("section II; the journal version", "small samples suffice", SAMPLED),
        DRIVE,
        (domain.FEW, domain.MANY),
        _few_samples,
        SAME,
    ),
    _overhead(
        "overhead",
        "The overhead of ages in the map on flash is minimal: they add 5% at most",
        stated("abstract, section I", "minimal", MINIMAL_OVERHEAD),
        DRIVE,
        (domain.WITH_AGES, domain.AGES_FREE),
        _ages_kept,
        MINIMAL,
    ),
    _overhead(
        "sampling",
        "The overhead of sampling is minimal: its reads of the map add 5% at most to all that the "
        "flash reads else",
        stated("abstract, section I", "minimal", MINIMAL_OVERHEAD),
        READ,
        (domain.ASA,),
        _sampling,
        MINIMAL,
    ),
)

READS = {
    f"gc-writes-{key}": (f"gc-reads-{key}", f"GC page reads on {name} are fewer by 33%")
    for key, name in (("financial1", domain.FINANCIAL1), ("synth", domain.SYNTH9))
}
"""Statements that the paper repeats, by the claim that judges each. Cleaning reads each page that
it writes, once."""

_ABSTRACT = "of the journal version we have its abstract, which does not name the workloads"

UNCHECKED: tuple[AnyClaim, ...] = (
    unchecked(
        "memory",
        "It requires minimal on-device RAM",
        stated(
            "abstract, section II",
            "minimal",
            "The proposed method only requires minimal on-device RAM space.",
        ),
        "the paper gives no sizes; a verdict would be of our own arithmetic, in the table of "
        "memory",
    ),
    unchecked(
        "computing",
        "K-means over a sample takes little computing power",
        stated("section II", "saved", SAMPLED),
        "the drive's controller takes no time for it here; the reads of samples are counted",
    ),
    unchecked(
        "skew",
        "Financial1 and synth9/10 are highly skewed, Cambridge and TPCC little",
        stated("section III", "small skewness", SMALL_REQUESTS),
        "the paper names neither a measure nor Cambridge's volumes; the table of skew has some "
        "measures",
    ),
    unchecked(
        "journal-gc",
        "GC overhead is lower by up to 28%",
        inferred(JOURNAL, f"up to {signed(-0.28, '{:.0%}')}"),
        _ABSTRACT,
    ),
    unchecked(
        "journal-response",
        "Response time is lower by up to 15%",
        inferred(JOURNAL, f"up to {signed(-0.15, '{:.0%}')}"),
        _ABSTRACT,
    ),
)
