"""Claims of the ASA-FTL paper, each with the open parameters over which it is tested.

All changes are relative to DFTL on the same drive with the same requests. Both clean with CAT.
"""

from __future__ import annotations

from collections.abc import Callable

from floatgate.papers.kit.claims import (
    AnyClaim,
    Claim,
    Measure,
    Origin,
    Premise,
    change,
    in_points,
    inferred,
    signed,
    stated,
    unchecked,
)
from floatgate.papers.kit.verdicts import ABOVE, TOLERANCE, Region

from . import measures
from .domain import (
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
)
from .reduce import Point

BOTH = (DFTL, ASA)

JOURNAL = "Parallel Computing 61, 2017, abstract"

EFFECT = 0.005
"""Half a per cent. A smaller change is 0 in a paper that prints whole per cents."""

SAME = 0.01
"""Largest change that counts as no difference: a per cent, the smallest that the paper prints."""

NEAR = 0.10
"""Cleaning is close to optimal if knowing all lifetimes saves at most this share of its programs.
It is a third of the change that the paper calls significant. The paper gives no number."""

MINIMAL = 0.05
"""Largest overhead that counts as minimal: half of the limit for close. The paper gives no
number."""

DRIVE = ("spare", "cache", "start")
READ = (*DRIVE, "equal")
COUNTED = (*READ, "copies")
TIMED = (*READ, "arrivals")


LESS, GAIN = Region(high=-EFFECT), Region(low=EFFECT)
MINUS_33, MINUS_9 = signed(measures.PAPER_GC, "{:.0%}"), signed(measures.PAPER_RESPONSE, "{:.0%}")

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
FIGURE_2 = "Figure 2, section III"


def _on(
    key: str,
    text: str,
    origin: Origin,
    axes: tuple[str, ...],
    name: str,
    measure: Measure[Point],
    region: Region,
    said: Callable[[float], str] = change,
) -> Claim[Point]:
    """Returns a claim on one workload, relative to DFTL."""
    return Claim(key, text, origin, axes, (name,), BOTH, measure, region, said)


def _numbers(key: str, name: str, axis: str) -> tuple[Claim[Point], ...]:
    """Returns the claims on the numbers that the paper states for one of its two workloads."""
    copies, times = (*COUNTED, axis), (*TIMED, axis)
    where = "abstract, section III"
    return (
        _on(
            f"gc-lower-{key}",
            f"GC page writes on {name} are lower",
            stated(where, f"up to {MINUS_33}", UP_TO),
            copies,
            name,
            measures.counted(measures.gc_writes, name),
            LESS,
        ),
        _on(
            f"response-lower-{key}",
            f"Mean response time on {name} is lower",
            stated(where, MINUS_9, UP_TO),
            times,
            name,
            measures.response(name),
            LESS,
        ),
        _on(
            f"gc-writes-{key}",
            f"GC page writes on {name} are fewer by 33%",
            stated(FIGURE_2, MINUS_33, REDUCES),
            copies,
            name,
            measures.counted(measures.gc_writes, name),
            Region.about(measures.PAPER_GC),
        ),
        _on(
            f"response-{key}",
            f"Mean response time on {name} is lower by 9%",
            stated(FIGURE_2, MINUS_9, REDUCES),
            times,
            name,
            measures.response(name),
            Region.about(measures.PAPER_RESPONSE),
        ),
        _on(
            f"at-once-{key}",
            f"Both at once on {name}: GC page writes by 33%, mean response time by 9%; ours as "
            "a multiple of the paper's",
            inferred(FIGURE_2, f"{MINUS_33} and {MINUS_9}", REDUCES),
            times,
            name,
            measures.at_once(name),
            Region(1 / TOLERANCE, TOLERANCE, 1.0, ABOVE),
            lambda value: signed(value, "{:+.2f}"),
        ),
    )


def _gain(of: measures.Effect, name: str) -> Premise[Point]:
    """Returns the premise that a workload has a gain. Without one, there is nothing to compare."""
    return Premise(f"without a sure gain on {name}", lambda at: {"": -of(at, name)}, GAIN)


def _smaller(name: str, key: str, timed: tuple[str, ...], *axes: str) -> list[Claim[Point]]:
    """Returns the claims for both numbers, each where it can be evaluated."""
    numbers: tuple[tuple[str, str, tuple[str, ...], measures.Effect], ...] = (
        ("gc", "GC page writes", COUNTED, measures.writes_change),
        ("response", "mean response time", timed, measures.response_change),
    )
    return [
        Claim(
            f"smaller-{kind}-{key}",
            f"{title.capitalize().replace('Gc', 'GC')}: {name} changes by half of Financial1's "
            "gain at most; ours is that half less the change",
            stated("section III", "much smaller", SMALLER),
            (*swept, "financial1", *axes),
            (FINANCIAL1, name),
            BOTH,
            measures.much_smaller(of, name),
            Region(low=0.0),
            in_points,
            premise=_gain(of, FINANCIAL1),
        )
        for kind, title, swept, of in numbers
    ]


def _larger(key: str, name: str, *axes: str) -> Claim[Point]:
    return Claim(
        f"larger-{key}",
        f"Financial1's requests are small, those of {name} large: its writes are larger",
        stated("section III", "large", SMALLER),
        axes,
        (FINANCIAL1, name),
        (DFTL,),
        measures.larger_requests(name),
        GAIN,
        change,
    )


def _near_optimal(name: str, key: str, axes: tuple[str, ...]) -> Claim[Point]:
    return Claim(
        f"optimal-{key}",
        f"Cleaning of {name} is already close to optimal with CAT: knowing lifetimes saves 10% at "
        "most",
        stated("section III", "close to optimal", OPTIMAL),
        axes,
        (name,),
        (DFTL, KNOWN),
        measures.saved(name),
        Region(high=NEAR),
        "{:.1%}".format,
    )


def _overhead(
    key: str,
    text: str,
    origin: Origin,
    axes: tuple[str, ...],
    lines: tuple[str, ...],
    measure: Measure[Point],
    most: float,
) -> Claim[Point]:
    """Returns a claim on a cost, on the two workloads that gain."""
    swept, region = (*axes, "financial1", "synth"), Region(high=most)
    return Claim(key, text, origin, swept, (FINANCIAL1, SYNTH9), lines, measure, region, change)


CLAIMS: tuple[Claim[Point], ...] = (
    *_numbers("financial1", FINANCIAL1, "financial1"),
    *_numbers("synth", SYNTH9, "synth"),
    *_smaller(CAMBRIDGE, "cambridge", TIMED, "cambridge"),
    # Its 7,000 requests come within 0.14 s. No drive of this kind serves them at their own times.
    *_smaller(TPCC, "tpcc", READ),
    _larger("cambridge", CAMBRIDGE, "financial1", "cambridge"),
    _larger("tpcc", TPCC, "financial1"),
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
        (SYNTH9, SYNTH7, SYNTH5),
        BOTH,
        measures.ranking,
        GAIN,
        in_points,
    ),
    _on(
        "uniform",
        "There is no difference on synth5/10",
        stated(
            FIGURE_2,
            "none",
            "the result of the trace with uniform traffic, which no difference is observed between "
            "ASA-FTL and DFTL",
        ),
        (*COUNTED, "synth"),
        SYNTH5,
        measures.no_difference,
        Region(-SAME, SAME),
    ),
    _near_optimal(CAMBRIDGE, "cambridge", (*DRIVE, "copies", "cambridge")),
    _near_optimal(TPCC, "tpcc", (*DRIVE, "copies")),
    Claim(
        "journal-adapts",
        "With the hot tenth elsewhere in each volume it keeps half of synth9/10's gain in GC page "
        "writes",
        inferred(JOURNAL, "adapts"),
        COUNTED,
        (SYNTH9, MOVING),
        BOTH,
        measures.adapts,
        Region(low=0.0),
        in_points,
        premise=_gain(measures.writes_change, SYNTH9),
    ),
    _overhead(
        "samples",
        "A small part of the ages is enough: 100 samples clean as little as 10,000",
        inferred(
            "section II; the journal version",
            "small samples suffice",
            "Only a small part of the Age values are sampled to save the on-device RAM space and "
            "the computing powered required by the K-means algorithm.",
        ),
        DRIVE,
        (FEW, MANY),
        measures.few_samples,
        SAME,
    ),
    _overhead(
        "overhead",
        "The overhead of ages in the map on flash is minimal: they add 5% at most",
        stated("abstract, section I", "minimal", MINIMAL_OVERHEAD),
        DRIVE,
        (WITH_AGES, AGES_FREE),
        measures.ages_kept,
        MINIMAL,
    ),
    _overhead(
        "sampling",
        "The overhead of sampling is minimal: its reads of the map add 5% at most to all that the "
        "flash reads else",
        stated("abstract, section I", "minimal", MINIMAL_OVERHEAD),
        READ,
        (ASA,),
        measures.sampling,
        MINIMAL,
    ),
)

READS = {
    f"gc-writes-{key}": (f"gc-reads-{key}", f"GC page reads on {name} are fewer by 33%")
    for key, name in (("financial1", FINANCIAL1), ("synth", SYNTH9))
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
        stated(
            "section II",
            "saved",
            "Only a small part of the Age values are sampled to save the on-device RAM space and "
            "the computing powered required by the K-means algorithm.",
        ),
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
