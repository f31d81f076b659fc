"""Claims of the NCQ-aware buffer's paper, each with the open parameters over which it is tested.

The paper states per cents without a base. Per cents of hit ratios are read as points, because a
quotient would be a difference of a few hits. Per cents of bandwidth and IOPS are read as relative
changes. "Up to" is the largest gain over all sizes of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from floatgate.papers.kit.claims import (
    AnyClaim,
    At,
    Claim,
    Measure,
    Measured,
    Premise,
    Values,
    change,
    in_points,
    inferred,
    own,
    signed,
    stated,
    unchecked,
)
from floatgate.papers.kit.exhibits import Format
from floatgate.papers.kit.measures import (
    EFFECT,
    MORE,
    NEAR_ONE,
    Of,
    Test,
    difference,
    multiples,
    relative,
    times,
)
from floatgate.papers.kit.verdicts import Region

from .domain import (
    CLAIMED,
    FIRST,
    LRU,
    NCQ,
    NCQ_OTHER,
    OTHER,
    QUEUED,
    REACHES,
    SECOND,
    SMALLEST,
    WORST_SIZE,
    sized,
)
from .reduce import Point

BOTH = (FIRST, SECOND)
LOW = 0.5
"""A gain or queue is low or short up to this share of its value with the smallest buffer. The paper
gives no number."""

DRIVE = ("span", "speed", "pins", "alignment")
SIZED = (*DRIVE, "reach")

PAPER = {
    "hit_ratio": {FIRST: 0.04, SECOND: 0.02},
    "write_mb_s": {FIRST: 0.05, SECOND: 0.02},
    "iops": {FIRST: 0.04, SECOND: 0.01},
}
"""The gains that the text states, by the number of a run."""

Gain = Callable[[At[Point], str, int], float]
"""Measures the gain over LRU on a workload, with a buffer of this many MiB."""


def _gain(compare: Callable[[str, str, str], Of[Point]], number: str) -> Gain:
    return lambda at, name, mib: compare(number, sized(NCQ, mib), sized(LRU, mib))(at, name)


hit_gain = _gain(difference, "hit_ratio")
bandwidth_gain = _gain(relative, "write_mb_s")
iops_gain = _gain(relative, "iops")


def sizes(at: At[Point]) -> list[int]:
    """Returns the sizes of the buffer in MiB, up to the assumed end of the paper's figures."""
    return [mib for mib in CLAIMED if mib <= REACHES[at.levels["reach"]]]


def _at_smallest(name: str) -> Measure[Point]:
    return lambda at: {"": hit_gain(at, name, SMALLEST)}


def _up_to(gain: Gain, name: str) -> Measure[Point]:
    return lambda at: {"": max(gain(at, name, mib) for mib in sizes(at))}


def _smaller(at: At[Point]) -> list[int]:
    """Returns the sizes in MiB with which the buffer cannot hold the whole span."""
    return [mib for mib in CLAIMED if mib < int(at.levels["span"].split()[0])]


def _every_size(*gains: Gain) -> Measure[Point]:
    """Measures the smallest of the gains for each workload and size."""
    return lambda at: {
        f"{name}, {mib} MiB": min(gain(at, name, mib) for gain in gains)
        for name in BOTH
        for mib in _smaller(at)
    }


def _falls(name: str) -> Measure[Point]:
    """Measures how far the gain with the smallest buffer lies above each larger buffer's."""

    def measure(at: At[Point]) -> Values:
        first, *others = sizes(at)
        least = hit_gain(at, name, first)
        return {f"over {mib} MiB": least - hit_gain(at, name, mib) for mib in others}

    return measure


def _low(name: str) -> Measure[Point]:
    """Measures how far the gain with the largest buffer lies below half of the smallest's."""
    return lambda at: {"": LOW * hit_gain(at, name, SMALLEST) - hit_gain(at, name, sizes(at)[-1])}


def _short_queue(name: str) -> Measure[Point]:
    """Measures the commands that wait with the largest buffer, relative to the smallest buffer."""

    def measure(at: At[Point]) -> Values:
        before, after = (at(name, sized(NCQ, mib)).waiting for mib in (SMALLEST, sizes(at)[-1]))
        return {"": after / before if before else 1.0}

    return measure


def _small_buffer(at: At[Point]) -> Values:
    """Returns the gains with buffers that are smaller than the demand of a full queue."""
    return {
        f"{name}, {mib} MiB": hit_gain(at, name, mib)
        for name in BOTH
        for mib in _smaller(at)
        if mib < QUEUED[name]
    }


points = partial(in_points, digits=2)


def _lines(*mib: int) -> tuple[str, ...]:
    return tuple(sized(scheme, size) for size in mib for scheme in (LRU, NCQ))


def _test(
    measure: Measure[Point], region: Region, form: Format, workloads: tuple[str, ...] = BOTH
) -> Test[Point]:
    """Tests with every size. LRU with the smallest buffer is among the lines, for the filter."""
    return workloads, _lines(*CLAIMED), measure, region, form


UP_TO_4 = (
    "when the buffer size is 1MB, the proposed scheme performs better than LRU up to 4% and 2% for "
    "workload 1 and 2, respectively"
)
UP_TO_5 = (
    "In these results, we can see that our scheme performs better than LRU up to 5% and 2% for "
    "workload 1 and 2, respectively."
)
IOPS = "As can be seen, our scheme outperforms LRU up to 4% and 1%, respectively."
MORE_HITS = "As can be seen in Fig. 3, the proposed scheme outperforms LRU in terms of hit ratio."
LARGE = (
    "When buffer size is large, the performance gain that obtained by considering the NCQ is low "
    "because the queue length is short and thus there is little opportunity to exploit the future "
    "reference."
)
SMALL = (
    "As the buffer size is smaller, it seems that exploiting only the temporal locality like in "
    "LRU is not sufficient to effectively choose the victim buffer for replacement"
)
LIMITED = (
    "It means that our scheme would show better performance than the LRU when the buffer size is "
    "limited."
)
WORST = (
    "In the worst case that all I/O commands arrive at NCQ prior to R are serviced from the "
    "buffer, our scheme will show the similar performance to the LRU."
)


OURS: Mapping[str, tuple[str, Callable[[str], Measure[Point]]]] = {
    "hit_ratio": ("hits", _at_smallest),
    "write_mb_s": ("bandwidth", lambda name: _up_to(bandwidth_gain, name)),
    "iops": ("IOPS", lambda name: _up_to(iops_gain, name)),
}
"""Name and measure of each gain that the paper states, by the number of a run."""


def _hits(name: str) -> Claim[Point]:
    number = PAPER["hit_ratio"][name]
    return Claim(
        f"hit-{name[-1]}",
        f"With 1 MB the hit ratio of {name} is {number:.0%} above LRU's",
        stated("Figure 3, section IV", f"+{100 * number:.0f} points", UP_TO_4),
        DRIVE,
        *((name,), _lines(SMALLEST), _at_smallest(name), Region.about(number), points),
    )


def _rate(metric: str, title: str, where: str, quote: str, name: str) -> Claim[Point]:
    number, (key, measure) = PAPER[metric][name], OURS[metric]
    return Claim(
        f"{key.lower()}-{name[-1]}",
        f"The {title} of {name} is up to {number:.0%} above LRU's",
        stated(where, change(number), quote),
        SIZED,
        *_test(measure(name), Region.about(number), change, (name,)),
    )


STATED = (
    *(_hits(name) for name in BOTH),
    *(
        _rate("write_mb_s", "write bandwidth", "Figure 4, section IV", UP_TO_5, name)
        for name in BOTH
    ),
    *(_rate("iops", "IOPS", "Figure 5, section IV", IOPS, name) for name in BOTH),
)

ALL_SIX = Claim(
    "all-six",
    "All six numbers are those of one drive and one span",
    own("Figures 3 to 5, section IV", "one experiment"),
    SIZED,
    *_test(
        multiples(
            {
                f"{title} of {name}": (number, measure(name))
                for metric, (title, measure) in OURS.items()
                for name, number in PAPER[metric].items()
            }
        ),
        NEAR_ONE,
        times,
    ),
)


def _has_gain(name: str, least: float) -> Premise[Point]:
    """Returns the premise that there is a gain that can fall. A smaller gain cannot fall by the
    least amount that counts."""
    return Premise(
        f"without a gain of {100 * least:g} points with 1 MB, which could fall",
        _at_smallest(name),
        Region(low=least),
    )


def _with_large_buffers(name: str) -> tuple[Claim[Point], ...]:
    return (
        Claim(
            f"falls-{name[-1]}",
            f"The gain in hits of {name} falls as the buffer grows: with 1 MB it is the largest",
            inferred("Figure 3, section IV", "the largest", SMALL),
            SIZED,
            *_test(_falls(name), MORE, points, (name,)),
            premise=_has_gain(name, EFFECT),
        ),
        Claim(
            f"low-{name[-1]}",
            f"With a large buffer the gain in hits of {name} is low: less than half of that with "
            "1 MB",
            stated("section IV", "low", LARGE),
            SIZED,
            *_test(_low(name), MORE, points, (name,)),
            premise=_has_gain(name, EFFECT / LOW),
        ),
        Claim(
            f"short-queue-{name[-1]}",
            f"The queue of {name} is short then: at most half as many commands wait as with 1 MB",
            stated("section IV", "short", LARGE),
            SIZED,
            *_test(_short_queue(name), Region(high=LOW), times, (name,)),
        ),
    )


OTHER_SIZES = (SMALLEST, WORST_SIZE)


def _over_other(at: At[Point]) -> Values:
    """Returns the gain in hits of another scheme with pins over that scheme without pins."""
    gains: dict[int, Of[Point]] = {
        mib: difference("hit_ratio", sized(NCQ_OTHER, mib), sized(OTHER, mib))
        for mib in OTHER_SIZES
    }
    return {f"{name}, {mib} MiB": of(at, name) for name in BOTH for mib, of in gains.items()}


ANY_SCHEME = Claim(
    "any-scheme",
    "In FAB, BPLRU and CLC the pins find more hits, too",
    inferred(
        "section III",
        "trivially",
        "We believe that our scheme can be trivially adjusted with any other existing schemes.",
    ),
    ("scheme", "pins", "alignment"),
    BOTH,
    (
        sized(LRU, SMALLEST),
        *(sized(scheme, mib) for mib in OTHER_SIZES for scheme in (OTHER, NCQ_OTHER)),
    ),
    _over_other,
    MORE,
    points,
)

CLAIMS = (
    *STATED,
    ALL_SIX,
    Claim(
        "more-hits",
        "The scheme has more hits than LRU with every size of the buffer",
        stated("Figure 3, section IV", "more", MORE_HITS),
        DRIVE,
        *_test(_every_size(hit_gain), MORE, points),
    ),
    Claim(
        "faster",
        "It has more bandwidth and IOPS than LRU with every size of the buffer",
        own("Figures 4 and 5, section IV", "more"),
        DRIVE,
        *_test(_every_size(bandwidth_gain, iops_gain), MORE, change),
    ),
    *_with_large_buffers(FIRST),
    *_with_large_buffers(SECOND),
    Claim(
        "never-below",
        "It never has fewer hits than LRU",
        own("section III", "not less"),
        DRIVE,
        *_test(_every_size(hit_gain), Region(low=0.0), points),
    ),
    Claim(
        "never-slower",
        "It never has less bandwidth or IOPS than LRU",
        own("section III", "not less"),
        DRIVE,
        *_test(_every_size(bandwidth_gain, iops_gain), Region(low=0.0), change),
    ),
    Claim(
        "small-buffer",
        "It finds what queued commands use even if the buffer is smaller than what is queued",
        stated("section III", "served from the buffer", LIMITED),
        DRIVE,
        *_test(_small_buffer, MORE, points),
    ),
    ANY_SCHEME,
)


def _differences(at: At[Point]) -> Values:
    """Returns gains over LRU: of hits as a difference, of bandwidth as a relative change."""
    return {
        f"{what} of {name}": gain(at, name, WORST_SIZE)
        for name in BOTH
        for what, gain in (("hits", hit_gain), ("bandwidth", bandwidth_gain))
    }


AS_LRU = Claim(
    "as-lru",
    "With no command before, or if all before are served from the buffer, it is as good as LRU",
    stated("section III", "similar", WORST),
    ("pins", "alignment", "worst"),
    *(BOTH, _lines(WORST_SIZE), _differences, Region(-EFFECT, EFFECT)),
    lambda gain: signed(100 * gain, "{:+.2f} points or %"),
)
"""The claim of the experiment of the worst case."""


def by_construction(measured: Measured) -> Measured:
    """Returns our number without a verdict. It checks the scheme and could hardly end otherwise."""
    why = (
        "by construction: nothing is queued, or nothing leaves, so that there is nothing to choose"
    )
    return replace(measured, rows=(), why=why if measured.rows else measured.why)


UNCHECKED: tuple[AnyClaim, ...] = (
    unchecked(
        "lru-needs",
        "LRU serves what a queued command has in the buffer only if the buffer holds all that was "
        "queued before it",
        stated(
            "section III",
            "the sum of the sizes",
            "In LRU scheme, in order to service the data from the buffer when R is dispatched "
            "later, the buffer size should be larger than or equal to",
        ),
        "no result says which hits were buffered when their command was queued; by hand it is so",
    ),
    unchecked(
        "complexity",
        "The algorithm has very low complexity",
        stated(
            "Figure 2, section III",
            "comparisons and pointers",
            "This algorithm has very low complexity because it performs only the comparison "
            "operation and the pointer changes.",
        ),
        "the time that the controller's firmware takes for its lists is no part of the clock",
    ),
)
