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
    own,
    signed,
    stated,
    unchecked,
)
from floatgate.papers.kit.measures import LESS, MORE, Of
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
"""Cleaning is close to optimal if knowing all lifetimes saves at most this share of its programs,
and labels are accurate if at most this share is wrong. The limit is a third of the change that the
paper calls significant. The paper gives no number."""
MINIMAL = 0.05
"""Largest overhead that counts as minimal: half of `NEAR`. The paper gives no number."""

DRIVE = ("spare", "cache", "start")
READ = (*DRIVE, "equal", "sample", "moved")
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
OPTIMAL = (
    "Their garbage collection overhead is already close to optimal with the CAT policy, which is "
    "used in DFTL [4]."
)
ACCURATE = (
    "a method that accurately and naturally identifies and separates hot/cold data while only "
    "incurs minimal overhead"
)
SAMPLED = (
    "Only a small part of the Age values are sampled to save the on-device RAM space and the "
    "computing powered required by the K-means algorithm."
)
FIGURE_2 = "Figure 2, section III"


def gc_writes(point: Point, map_too: bool = True) -> int:
    """Pages that cleaning wrote. Cleaning reads each of them once, so these are its reads, too."""
    return point.data_copies + (point.map_copies if map_too else 0)


def relative(ours: float, theirs: float) -> float:
    """Returns a relative change. From 0 to 0 there is no change, and from 0 to anything else the
    change is 1. If DFTL copies nothing, the filter leaves the point out."""
    if theirs == 0:
        return 1.0 if ours else 0.0
    return ours / theirs - 1


def writes_change(at: At[Point], name: str, line: str = domain.ASA) -> float:
    map_too = at.levels["copies"] == "data and map"
    return relative(gc_writes(at(name, line), map_too), gc_writes(at(name, domain.DFTL), map_too))


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
        "GC page writes": writes_change(at, domain.SYNTH5),
        "erasures": relative(
            at(domain.SYNTH5, domain.ASA).erases, at(domain.SYNTH5, domain.DFTL).erases
        ),
        "response": response_change(at, domain.SYNTH5),
    }


def _wrong_labels(at: At[Point]) -> Values:
    """Returns the shares of hot writes labelled cold, and of cold writes labelled hot. Warm, the
    label between hot and cold, counts as right."""
    errors: Values = {}
    for load in (domain.SYNTH9, domain.SYNTH7):
        labels = at(load, domain.ASA)
        hot, warm, cold_as_hot = labels.hot_as_hot, labels.hot_as_warm, labels.cold_as_hot
        assert hot is not None and warm is not None and cold_as_hot is not None, "it has zones"
        errors |= {f"{load}, hot as cold": 1 - hot - warm, f"{load}, cold as hot": cold_as_hot}
    return errors


def _few_samples(at: At[Point]) -> Values:
    return {
        name: relative(gc_writes(at(name, domain.FEW)), gc_writes(at(name, domain.MANY)))
        for name in (domain.FINANCIAL1, domain.SYNTH9)
    }


def _sampling(at: At[Point]) -> Values:
    """Returns the map reads for samples, relative to all other reads."""
    return {name: at(name, domain.ASA).sample_reads for name in (domain.FINANCIAL1, domain.SYNTH9)}


@dataclass(frozen=True)
class Number:
    """A number whose change the paper states."""

    key: str
    title: str
    change: Of[Point]
    region: Region
    axes: tuple[str, ...]

    def on(self, name: str) -> Callable[[At[Point]], Values]:
        return lambda at: {"": self.change(at, name)}


WRITES = Number("gc", "GC page reads and writes", writes_change, Region.about(PAPER_GC), COUNTED)
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
        claim(WRITES, "gc-lower", "are fewer", gc_lower, LESS),
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


def _is_like_the_papers(name: str) -> Premise[Point]:
    """Returns the premise of the sentences on Cambridge and TPCC: larger requests and less skew
    than Financial1 has. The paper uses these traces; ours are other excerpts."""

    def measure(at: At[Point]) -> Values:
        ours, small = at(name, domain.DFTL), at(domain.FINANCIAL1, domain.DFTL)
        assert ours.write_bytes and small.write_bytes, "they are excerpts"
        assert ours.gini is not None and small.gini is not None, "they are excerpts"
        return {
            "larger writes": relative(ours.write_bytes, small.write_bytes),
            "less skew": small.gini - ours.gini,
        }

    text = f"where {name} has no larger or no less skewed writes"
    return Premise(text, measure, MORE)


GAINS = Premise[Point](
    f"without a sure gain on {domain.SYNTH9}",
    lambda at: {"": -writes_change(at, domain.SYNTH9)},
    MORE,
)
"""Without a gain, there is nothing to compare."""


def _unlike_financial1(key: str, name: str, *axis: str) -> tuple[Claim[Point], ...]:
    """Returns the claims on a workload with large requests and little skew. They are evaluated at
    the middle alone, as long as no excerpt meets their premise."""

    def claim(
        kind: str, text: str, origin: Origin, line: str, measure: Of[Point], region: Region
    ) -> Claim[Point]:
        return Claim(
            f"{kind}-{key}",
            text,
            origin,
            ("financial1", *axis),
            (domain.FINANCIAL1, name),
            (domain.DFTL, line),
            lambda at: {"": measure(at, name)},
            region,
            in_points,
            premise=_is_like_the_papers(name),
        )

    def smaller(of: Number) -> Claim[Point]:
        return claim(
            f"smaller-{of.key}",
            f"{of.title}: {name} changes by half of Financial1's gain at most; ours is that half "
            "less the change",
            stated("section III", "much smaller", SMALLER),
            domain.ASA,
            lambda at, name: (
                -MUCH_SMALLER * of.change(at, domain.FINANCIAL1) - abs(of.change(at, name))
            ),
            Region(low=0.0),
        )

    return (
        smaller(WRITES),
        smaller(RESPONSE),
        claim(
            "optimal",
            f"Cleaning of {name} is already close to optimal with CAT: knowing lifetimes saves "
            "10% at most",
            stated("section III", "close to optimal", OPTIMAL),
            domain.KNOWN,
            lambda at, name: -writes_change(at, name, domain.KNOWN),
            Region(high=NEAR),
        ),
    )


CLAIMS: tuple[Claim[Point], ...] = (
    Claim(
        "accurate",
        "Hot and cold data are identified: of each, 10% at most get the other's label",
        stated("abstract", "accurately", ACCURATE),
        ("start", "sample", "synth"),
        (domain.SYNTH9, domain.SYNTH7),
        (domain.ASA,),
        _wrong_labels,
        Region(high=NEAR),
        "{:.1%}".format,
    ),
    *_numbers("financial1", domain.FINANCIAL1, "financial1"),
    *_numbers("synth", domain.SYNTH9, "synth"),
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
        MORE,
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
    *_unlike_financial1("cambridge", domain.CAMBRIDGE, "cambridge"),
    *_unlike_financial1("tpcc", domain.TPCC),
    Claim(
        "journal-adapts",
        "With the hot tenth elsewhere in each volume it keeps half of synth9/10's gain in GC page "
        "writes",
        own("title; the journal version", "adaptive"),
        COUNTED,
        (domain.SYNTH9, domain.MOVING),
        BOTH,
        lambda at: {
            "": MUCH_SMALLER * writes_change(at, domain.SYNTH9) - writes_change(at, domain.MOVING)
        },
        Region(low=0.0),
        in_points,
        premise=GAINS,
    ),
    Claim(
        "samples",
        "A small part of the ages is enough: 100 samples clean as little as 10,000",
        own("section II", "a small part"),
        (*DRIVE, "financial1", "synth"),
        (domain.FINANCIAL1, domain.SYNTH9),
        (domain.FEW, domain.MANY),
        _few_samples,
        Region(high=SAME),
    ),
    Claim(
        "sampling",
        "The overhead of sampling is minimal: its reads of the map add 5% at most to all that the "
        "flash reads else",
        inferred("abstract, section I", "minimal", ACCURATE),
        (*DRIVE, "equal", "sample", "financial1", "synth"),
        (domain.FINANCIAL1, domain.SYNTH9),
        (domain.ASA,),
        _sampling,
        Region(high=MINIMAL),
    ),
)

UNCHECKED: tuple[AnyClaim, ...] = (
    unchecked(
        "overhead",
        "The overhead of ages in the map on flash is minimal",
        stated("abstract, section I", "minimal", ACCURATE),
        "the paper gives no size of an entry, so a verdict would be of our own 8 bytes",
    ),
    unchecked(
        "memory",
        "It requires minimal on-device RAM",
        stated(
            "abstract, section II",
            "minimal",
            "The proposed method only requires minimal on-device RAM space.",
        ),
        "the paper gives no sizes, so a verdict would be of our own arithmetic",
    ),
    unchecked(
        "computing",
        "K-means over a sample takes little computing power",
        stated("section II", "saved", SAMPLED),
        "the drive's controller takes no time for it here; the reads of samples are counted",
    ),
    unchecked(
        "skew",
        "Requests of Financial1 are small and skewed, those of Cambridge and TPCC large, with "
        "little skew",
        stated("section III", "large requests, small skewness", SMALLER),
        "our excerpts are others than the paper's; their numbers are in the table of skew",
    ),
)
