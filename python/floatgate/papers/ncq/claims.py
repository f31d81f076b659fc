"""Claims of the NCQ-aware buffer's paper, each with the open parameters over which it is tested.

The paper states per cents without a base. Per cents of hit ratios are read as points, because a
quotient would be a difference of a few hits. Per cents of bandwidth and IOPS are read as relative
changes. "Up to" is the largest gain over all sizes of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable

from floatgate.papers.kit.claims import (
    AnyClaim,
    At,
    Claim,
    Measure,
    Origin,
    Premise,
    Values,
    change,
    inferred,
    signed,
    stated,
    unchecked,
)
from floatgate.papers.kit.verdicts import ABOVE, TOLERANCE, Region

from .domain import CLAIMED, FIRST, LRU, NCQ, QUEUED, REACHES, SECOND, SMALLEST, sized
from .reduce import Point

BOTH = (FIRST, SECOND)

EFFECT = 0.005
"""Half a point, or half a per cent. A smaller change is 0 in a paper that prints whole per
cents."""
MORE = Region(low=EFFECT)

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


def hit_gain(at: At[Point], name: str, mib: int) -> float:
    return at(name, sized(NCQ, mib)).hit_ratio - at(name, sized(LRU, mib)).hit_ratio


def bandwidth_gain(at: At[Point], name: str, mib: int) -> float:
    return at(name, sized(NCQ, mib)).write_mb_s / at(name, sized(LRU, mib)).write_mb_s - 1


def iops_gain(at: At[Point], name: str, mib: int) -> float:
    return at(name, sized(NCQ, mib)).iops / at(name, sized(LRU, mib)).iops - 1


def sizes(at: At[Point]) -> list[int]:
    """Returns the sizes of the buffer in MiB, up to the assumed largest size in the paper's
    figures."""
    return [mib for mib in CLAIMED if mib <= REACHES[at.place["reach"]]]


def most(gain: Gain, at: At[Point], name: str) -> float:
    return max(gain(at, name, mib) for mib in sizes(at))


def _at_smallest(name: str) -> Measure[Point]:
    return lambda at: {"": hit_gain(at, name, SMALLEST)}


def _up_to(gain: Gain, name: str) -> Measure[Point]:
    return lambda at: {"": most(gain, at, name)}


def _six(at: At[Point]) -> Values:
    """Returns our value of each of the paper's numbers, as a multiple of it."""
    ours = {
        "hit_ratio": lambda name: hit_gain(at, name, SMALLEST),
        "write_mb_s": lambda name: most(bandwidth_gain, at, name),
        "iops": lambda name: most(iops_gain, at, name),
    }
    return {
        f"{_SHORT[metric]} of {name}": ours[metric](name) / stated
        for metric, numbers in PAPER.items()
        for name, stated in numbers.items()
    }


_SHORT = {"hit_ratio": "hits", "write_mb_s": "bandwidth", "iops": "IOPS"}


def _every_size(*gains: Gain) -> Measure[Point]:
    """Measures the smallest of the gains for each workload and size."""
    return lambda at: {
        f"{name}, {mib} MiB": min(gain(at, name, mib) for gain in gains)
        for name in BOTH
        for mib in CLAIMED
    }


def _falls(name: str) -> Measure[Point]:
    """Measures how far the gain with the smallest buffer lies above the gain with each larger
    buffer."""

    def measure(at: At[Point]) -> Values:
        first, *others = sizes(at)
        least = hit_gain(at, name, first)
        return {f"over {mib} MiB": least - hit_gain(at, name, mib) for mib in others}

    return measure


def _low(name: str) -> Measure[Point]:
    """Measures how far the gain with the largest buffer lies below half of the gain with the
    smallest."""
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
        for mib in CLAIMED
        if mib < QUEUED[name]
    }


def points(gain: float) -> str:
    return signed(100 * gain, "{:+.2f} points")


def _times(ratio: float) -> str:
    return signed(ratio, "{:.2f} times")


def _lines(*mib: int) -> tuple[str, ...]:
    return tuple(sized(scheme, size) for size in mib for scheme in (LRU, NCQ))


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
WORST = (
    "In the worst case that all I/O commands arrive at NCQ prior to R are serviced from the "
    "buffer, our scheme will show the similar performance to the LRU."
)


def _claim(
    key: str,
    text: str,
    origin: Origin,
    measure: Measure[Point],
    region: Region,
    said: Callable[[float], str],
    *,
    axes: tuple[str, ...] = SIZED,
    workloads: tuple[str, ...] = BOTH,
    lines: tuple[str, ...] = _lines(*CLAIMED),
    premise: Premise[Point] | None = None,
) -> Claim[Point]:
    """Returns a claim. Each has LRU with the smallest buffer among its lines, for the filter."""
    return Claim(key, text, origin, axes, workloads, lines, measure, region, said, premise=premise)


def _stated() -> list[Claim[Point]]:
    claims = []
    for name, number in PAPER["hit_ratio"].items():
        claims.append(
            _claim(
                f"hit-{name[-1]}",
                f"With 1 MB the hit ratio of {name} is {number:.0%} above LRU's",
                stated("Figure 3, section IV", f"+{100 * number:.0f} points", UP_TO_4),
                _at_smallest(name),
                Region.about(number),
                points,
                axes=DRIVE,
                workloads=(name,),
                lines=_lines(SMALLEST),
            )
        )
    rates: dict[str, tuple[str, str, str, Gain]] = {
        "write_mb_s": ("bandwidth", "Figure 4, section IV", UP_TO_5, bandwidth_gain),
        "iops": ("IOPS", "Figure 5, section IV", IOPS, iops_gain),
    }
    for metric, (title, where, quote, gain) in rates.items():
        for name, number in PAPER[metric].items():
            claims.append(
                _claim(
                    f"{title.lower()}-{name[-1]}",
                    f"The {'write ' * (title != 'IOPS')}{title} of {name} is up to {number:.0%} "
                    "above LRU's",
                    stated(where, change(number), quote),
                    _up_to(gain, name),
                    Region.about(number),
                    change,
                    workloads=(name,),
                )
            )
    return claims


STATED = tuple(_stated())


ALL_SIX = _claim(
    "all-six",
    "All six numbers are those of one drive and one span",
    inferred("Figures 3 to 5, section IV", "one experiment"),
    _six,
    Region(1 / TOLERANCE, TOLERANCE, beyond=ABOVE),
    _times,
)


def _has_gain(name: str, least: float) -> Premise[Point]:
    """Returns the premise that there is a gain that can fall. A smaller gain cannot fall by the
    least amount that counts."""
    return Premise(
        f"without a gain of {100 * least:g} points with 1 MB, which could fall",
        _at_smallest(name),
        Region(low=least),
    )


def _with_large_buffers(name: str) -> list[Claim[Point]]:
    digit = name[-1]
    return [
        _claim(
            f"falls-{digit}",
            f"The gain in hits of {name} falls as the buffer grows: with 1 MB it is the largest",
            inferred("Figure 3, section IV", "the largest", SMALL),
            _falls(name),
            MORE,
            points,
            workloads=(name,),
            premise=_has_gain(name, EFFECT),
        ),
        _claim(
            f"low-{digit}",
            f"With a large buffer the gain in hits of {name} is low: less than half of that with "
            "1 MB",
            stated("section IV", "low", LARGE),
            _low(name),
            MORE,
            points,
            workloads=(name,),
            premise=_has_gain(name, EFFECT / LOW),
        ),
        _claim(
            f"short-queue-{digit}",
            f"The queue of {name} is short then: at most half as many commands wait as with 1 MB",
            stated("section IV", "short", LARGE),
            _short_queue(name),
            Region(high=LOW),
            _times,
            workloads=(name,),
        ),
    ]


CLAIMS = (
    *STATED,
    ALL_SIX,
    _claim(
        "more-hits",
        "The scheme has more hits than LRU with every size of the buffer",
        stated("Figure 3, section IV", "more", MORE_HITS),
        _every_size(hit_gain),
        MORE,
        points,
        axes=DRIVE,
    ),
    _claim(
        "faster",
        "It has more bandwidth and IOPS than LRU with every size of the buffer",
        inferred("Figures 4 and 5, section IV", "more", UP_TO_5),
        _every_size(bandwidth_gain, iops_gain),
        MORE,
        change,
        axes=DRIVE,
    ),
    *_with_large_buffers(FIRST),
    *_with_large_buffers(SECOND),
    _claim(
        "never-below",
        "It never has fewer hits than LRU",
        inferred("section III", "similar in the worst case", WORST),
        _every_size(hit_gain),
        Region(low=0.0),
        points,
        axes=DRIVE,
    ),
    _claim(
        "never-slower",
        "It never has less bandwidth or IOPS than LRU",
        inferred("section III", "similar in the worst case", WORST),
        _every_size(bandwidth_gain, iops_gain),
        Region(low=0.0),
        change,
        axes=DRIVE,
    ),
    _claim(
        "small-buffer",
        "It finds what queued commands use even if the buffer is smaller than what is queued",
        stated(
            "section III",
            "served from the buffer",
            "It means that our scheme would show better performance than the LRU when the buffer "
            "size is limited.",
        ),
        _small_buffer,
        MORE,
        points,
        axes=DRIVE,
    ),
)


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
        "no result says which hits were buffered already when their command was queued",
    ),
    unchecked(
        "any-scheme",
        "The scheme can be integrated with other buffers than LRU without large modification",
        stated(
            "section III",
            "trivially",
            "the proposed scheme can be integrated with other existing write buffer management "
            "schemes without large modification",
        ),
        "a statement on the work of writing it; pins are here for LRU of blocks alone",
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
"""Statements for which no run gives information."""
