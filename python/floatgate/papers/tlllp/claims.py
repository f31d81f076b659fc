"""Claims of the TLLLP paper, each with the open parameters over which it is tested.

A number on average is the mean over the workloads, as the paper averages over its four. Financial2
is not among the traces, so claims are tested without it, and with its stand-in.
"""

from __future__ import annotations

from statistics import fmean

from floatgate.papers.kit.claims import (
    At,
    Claim,
    Measure,
    Premise,
    Values,
    change,
    in_points,
    inferred,
    own,
    signed,
    stated,
)
from floatgate.papers.kit.exhibits import Format
from floatgate.papers.kit.measures import (
    LESS,
    MORE,
    NEAR_ONE,
    Of,
    Test,
    difference,
    multiples,
    on,
    relative,
    times,
)
from floatgate.papers.kit.verdicts import TOLERANCE, Region

from .domain import (
    AXIS_OF,
    DFTL,
    EMPTY,
    FINANCIAL1,
    FINANCIAL2,
    FREE,
    MSR,
    NO_CACHE,
    READINGS,
    TLLLP,
    TRACE_AXES,
    WEBSEARCH,
)
from .reduce import Point

ALL = (FINANCIAL1, FINANCIAL2, WEBSEARCH, MSR)
BOTH = (DFTL, TLLLP)

HIGH, VERY_LOW = 0.7, 0.3
"""Minimum of a very high hit ratio, and maximum of a very low one: three misses in ten look-ups, or
three hits. The paper gives no number."""
LARGE = 1 / 3
"""Minimum of a large share of the response time: an even share, because the response time has three
components, data, map and cleaning. A reduction by this share is a great one. The paper gives no
number."""

DRIVE = ("start", "spare", "cache")
TIMED = (*DRIVE, "arrivals", "times")
AGAINST = (*TIMED, "baseline", *READINGS)
EACH = (*AGAINST, *TRACE_AXES)


def here(at: At[Point], *without: str) -> list[str]:
    """Returns the paper's workloads at a point, which may leave out Financial2."""
    absent = (FINANCIAL2,) if at.levels["financial2"] == "left out" else ()
    return [name for name in ALL if name not in (*without, *absent)]


def _each(of: Of[Point]) -> Measure[Point]:
    return lambda at: {name: of(at, name) for name in here(at)}


def _mean(of: Of[Point], *without: str) -> Measure[Point]:
    return lambda at: {"": fmean(of(at, name) for name in here(at, *without))}


def _ahead(name: str, of: Of[Point]) -> Measure[Point]:
    """Measures how far the number of a workload lies above those of the other workloads."""
    return lambda at: {f"over {other}": of(at, name) - of(at, other) for other in here(at, name)}


hit_gain: Of[Point] = difference("hit_ratio", TLLLP, DFTL)
mean_change: Of[Point] = relative("mean_us", TLLLP, DFTL)
deviation_change: Of[Point] = relative("stdev_us", TLLLP, DFTL)
_cost_of_nodes: Of[Point] = difference("hit_ratio", FREE, TLLLP)
"""The hit ratio lost to the room for nodes."""


def _dftl_hits(at: At[Point], name: str) -> float:
    return at(name, DFTL).hit_ratio


def _node_share(at: At[Point], name: str) -> float:
    return at(name, EMPTY).node_share or 0.0


def _poorest(at: At[Point]) -> str:
    """Returns the trace with the fewest entries per mapping page in the cache. Nodes and entries
    are equally large, so its nodes have the largest share."""
    return max(here(at), key=lambda name: _node_share(at, name))


def _nodes_over_others(at: At[Point]) -> Values:
    poorest = _poorest(at)
    others = fmean(_node_share(at, name) for name in here(at, poorest))
    return {"": _node_share(at, poorest) / others}


def _nodes_cost_most(at: At[Point]) -> Values:
    poorest = _poorest(at)
    others = max(_cost_of_nodes(at, name) for name in here(at, poorest))
    return {"": _cost_of_nodes(at, poorest) - others}


def _cleaning(at: At[Point], name: str) -> float:
    return at(name, TLLLP).cleaning_time


def _hits_over_time(at: At[Point], name: str) -> float:
    """Returns the points of hit ratio gained, minus the per cents of response time saved."""
    return hit_gain(at, name) + mean_change(at, name)


def _msr_high(at: At[Point]) -> Values:
    return {f"over {HIGH:.0%}": _dftl_hits(at, MSR) - HIGH, **_ahead(MSR, _dftl_hits)(at)}


def _websearch_low(at: At[Point]) -> Values:
    hits = _dftl_hits(at, WEBSEARCH)
    below = {f"under {name}": _dftl_hits(at, name) - hits for name in here(at, WEBSEARCH)}
    return {f"under {VERY_LOW:.0%}": VERY_LOW - hits, **below}


def _slower_without(at: At[Point]) -> Values:
    return {
        f"{name}, {line}": at(name, NO_CACHE).mean_us / at(name, line).mean_us - 1
        for name in here(at)
        for line in BOTH
    }


def _financial1_longest(at: At[Point]) -> Values:
    return {
        f"{line}, over {name}": at(FINANCIAL1, line).mean_us / at(name, line).mean_us - 1
        for line in (NO_CACHE, *BOTH)
        for name in here(at, FINANCIAL1)
    }


def _map_change(at: At[Point]) -> Values:
    """Returns the relative changes on Financial1 of the cost of look-ups in translation pages."""
    ours, base = at(FINANCIAL1, TLLLP), at(FINANCIAL1, DFTL)
    pairs = {
        "reads": (ours.map_reads, base.map_reads),
        "writes": (ours.map_programs, base.map_programs),
    }
    return {kind: after / before - 1 if before else 0.0 for kind, (after, before) in pairs.items()}


NUMBERS: dict[str, tuple[float, Measure[Point]]] = {
    "mean": (-0.12, _mean(mean_change)),
    "mean-financial1": (-0.1664, on(FINANCIAL1, mean_change)),
    "deviation": (-0.15, _mean(deviation_change, FINANCIAL1)),
    "deviation-financial1": (0.10, on(FINANCIAL1, deviation_change)),
}
"""The paper's printed numbers by the key of the claim, and ours."""


def _can_have(name: str, hits: float) -> Premise[Point]:
    """Returns the premise that enough look-ups of the excerpt may hit, because an excerpt begins
    cold. With fewer, it can neither have very many hits nor show that there are few."""
    return Premise(
        f"where a cold excerpt of {name} cannot have {hits:.0%} hits",
        lambda at: {"": at(name, DFTL).repeated - hits},
        Region(low=0.0),
    )


LOWER = "it can be seen that the average response time of TLLLP is 12% lower than that of DFTL"
SPACE = (
    "when the local load is not very good, the extra space overhead caused by the introduction of "
    "the cache map page will be relatively large"
)


def _on_all(
    lines: tuple[str, ...], measure: Measure[Point], region: Region, form: Format
) -> Test[Point]:
    return ALL, lines, measure, region, form


def _number(
    key: str, text: str, where: str, quote: str, workloads: tuple[str, ...]
) -> Claim[Point]:
    number, measure = NUMBERS[key]
    axes = [axis for name, axis in AXIS_OF.items() if name in workloads]
    return Claim(
        key,
        text,
        stated(where, signed(100 * number, "{:+.4g}%"), quote),
        (*AGAINST, *axes),
        workloads,
        BOTH,
        measure,
        Region.about(number),
        change,
    )


CLAIMS = (
    Claim(
        "hit-ratio",
        "TLLLP's hit ratio is above DFTL's at every cache size in every trace",
        stated(
            "Figure 2, section 3.2.1",
            "above",
            "From Figure 2, we can see that the hit rate of TLLLP is higher than that of DFTL in "
            "the case of the size of the mapping table cache changing.",
        ),
        (*DRIVE, *READINGS, *TRACE_AXES),
        *_on_all(BOTH, _each(hit_gain), MORE, in_points),
    ),
    Claim(
        "websearch-gain",
        "WebSearch gains most in hit ratio",
        stated(
            "section 3.2.1", "most", "The Websearch has the most significant increase in hit rate."
        ),
        (*DRIVE, *READINGS, *TRACE_AXES),
        *_on_all(BOTH, _ahead(WEBSEARCH, hit_gain), MORE, in_points),
    ),
    Claim(
        "msr-dftl",
        "DFTL's hit ratio on MSR is already very high: the highest, and 70% or more",
        stated("section 3.2.1", "very high", "The hit rate of DFTL is very high when using MSR"),
        (*DRIVE, *TRACE_AXES),
        *_on_all((DFTL,), _msr_high, Region(low=0.0), in_points),
        premise=_can_have(MSR, HIGH),
    ),
    Claim(
        "websearch-dftl",
        "DFTL's hit ratio on WebSearch is very low: the lowest, and 30% or less",
        stated(
            "section 3.2.1",
            "very low",
            "For the cache algorithm only considering temporal locality of the workload as DFTL, "
            "the hit rate is very low.",
        ),
        (*DRIVE, *TRACE_AXES),
        *_on_all((DFTL,), _websearch_low, Region(low=0.0), in_points),
        premise=_can_have(WEBSEARCH, VERY_LOW),
    ),
    _number("mean", "It is 12% below DFTL's on average", "Figure 3, section 3.2.2", LOWER, ALL),
    _number(
        "mean-financial1",
        "It is 16.64% below DFTL's on Financial1",
        "Figure 3, section 3.2.2",
        "The response time of TLLLP is the shortest, which can be reduced by 16.64% compared to "
        "that of DFTL.",
        (FINANCIAL1,),
    ),
    _number(
        "deviation",
        "The deviation of response times is 15% below DFTL's, on average without Financial1",
        "Figure 4, section 3.2.2",
        "The response time standard deviation of SSD in TLLLP has been reduced by an average of "
        "15% compared to that of DFTL, except in the workload of Financial 1.",
        (FINANCIAL2, WEBSEARCH, MSR),
    ),
    _number(
        "deviation-financial1",
        "On Financial1 it is 10% above DFTL's",
        "Figure 4, section 3.2.2",
        "its standard response time is greater than that of DFTL by 10%",
        (FINANCIAL1,),
    ),
    Claim(
        "map-financial1",
        "On Financial1 the host's accesses read and write the map far less than with DFTL: by a "
        "third or more",
        stated(
            "section 3.2.2",
            "greatly reduced",
            "the mapping table cache will create a large number of dirty entries in the small "
            "write workload, and TLLLP has greatly reduced the read and write mapping",
        ),
        (*DRIVE, "baseline", *READINGS, "financial1"),
        *((FINANCIAL1,), BOTH, _map_change, Region(high=-LARGE), change),
    ),
    Claim(
        "gain-smaller",
        "The mean response time gains less, in per cent, than the hit ratio, in points",
        stated(
            "section 3.2.2",
            "less",
            "It shows that the algorithm improving the average response time of SSD is no good as "
            "improving hit rate.",
        ),
        EACH,
        *_on_all(BOTH, _mean(_hits_over_time), MORE, in_points),
    ),
    Claim(
        "cleaning",
        "Cleaning is a large share of the response time: a third or more, on average",
        stated(
            "section 3.2.2",
            "large",
            "the time in garbage is a large proportion of the response time of the SSD",
        ),
        (*TIMED, *READINGS, *TRACE_AXES),
        *_on_all((TLLLP,), _mean(_cleaning), Region(low=LARGE), "{:.1%}".format),
    ),
    Claim(
        "financial1-longest",
        "Of the workloads, Financial1 has the longest mean response time with every scheme",
        stated(
            "Figure 3, section 3.2.2",
            "longest",
            "In these four workloads, the average response time of the Financial 1 is the longest.",
        ),
        EACH,
        *_on_all((NO_CACHE, *BOTH), _financial1_longest, MORE, change),
    ),
    Claim(
        "nodes-space",
        "With the fewest entries a mapping page, nodes take 1.5 times the share of other traces",
        inferred("section 5", "relatively large", SPACE),
        ("cache", *READINGS, *TRACE_AXES),
        *_on_all((EMPTY,), _nodes_over_others, Region(low=TOLERANCE), times),
        full_axes=frozenset(READINGS),
    ),
    Claim(
        "all-four",
        "All four numbers are those of one drive and one DFTL",
        own("Figures 3 and 4, section 3.2.2", "one experiment"),
        EACH,
        *_on_all(BOTH, multiples(NUMBERS), NEAR_ONE, times),
    ),
    Claim(
        "order",
        "TLLLP's mean response time is below DFTL's on every trace",
        own("Figure 3", "below"),
        EACH,
        *_on_all(BOTH, _each(mean_change), LESS, change),
    ),
    Claim(
        "no-cache",
        "Without a cache the mean response time is worst on every trace",
        own("Figure 3", "worst"),
        EACH,
        *_on_all((NO_CACHE, *BOTH), _slower_without, MORE, change),
    ),
    Claim(
        "nodes",
        "The trace with the fewest entries a mapping page loses most hits to the room of its nodes",
        own("section 5", "most"),
        ("cache", *READINGS, *TRACE_AXES),
        *_on_all((TLLLP, FREE, EMPTY), _nodes_cost_most, MORE, in_points),
        full_axes=frozenset(READINGS),
    ),
)
