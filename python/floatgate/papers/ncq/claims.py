"""What the NCQ-aware buffer's paper claims, and where in what it leaves open each claim is asked.

The paper states per cents without a base. Those of hit ratios are read as points, as a quotient
would be a difference of a few hits; those of bandwidth and IOPS as changes. "Up to" is the largest
gain of all sizes of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from floatgate.papers.kit.judging import At, OpenClaim, Premise, Values
from floatgate.papers.kit.paper import UNCHECKED, Claim, Measured, change
from floatgate.papers.kit.verdicts import TOLERANCE, Region

from .runs import CLAIMED, FIRST, LRU, NCQ, QUEUED, REACHES, SECOND, SMALLEST, Point, sized

BOTH = (FIRST, SECOND)

EFFECT = 0.005
"""Half a point, or half a per cent: what is less is 0 in a paper that prints whole per cents."""
MORE = Region(low=EFFECT)

LOW = 0.5
"""Of the gain, or the queue, with the smallest buffer, up to which one is low or short; the paper
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
"""Over LRU, of a workload with a buffer of so many MiB."""


def hit_gain(at: At[Point], name: str, mib: int) -> float:
    """Difference of the hit ratios."""
    return at(name, sized(NCQ, mib)).hit_ratio - at(name, sized(LRU, mib)).hit_ratio


def bandwidth_gain(at: At[Point], name: str, mib: int) -> float:
    """Relative change of the write bandwidth."""
    return at(name, sized(NCQ, mib)).write_mb_s / at(name, sized(LRU, mib)).write_mb_s - 1


def iops_gain(at: At[Point], name: str, mib: int) -> float:
    """Relative change of the commands a second."""
    return at(name, sized(NCQ, mib)).iops / at(name, sized(LRU, mib)).iops - 1


def sizes(at: At[Point]) -> list[int]:
    """Of the buffer in MiB, as far as the paper's figures are taken to reach."""
    return [mib for mib in CLAIMED if mib <= REACHES[at.place["reach"]]]


def most(gain: Gain, at: At[Point], name: str) -> float:
    """The largest gain of all sizes."""
    return max(gain(at, name, mib) for mib in sizes(at))


def _at_smallest(name: str) -> Callable[[At[Point]], Values]:
    return lambda at: {"": hit_gain(at, name, SMALLEST)}


def _up_to(gain: Gain, name: str) -> Callable[[At[Point]], Values]:
    return lambda at: {"": most(gain, at, name)}


def _six(at: At[Point]) -> Values:
    """Each of the paper's numbers: ours over it."""
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


def _every_size(*gains: Gain) -> Callable[[At[Point]], Values]:
    """The least of the gains for each workload and size."""
    return lambda at: {
        f"{name}, {mib} MiB": min(gain(at, name, mib) for gain in gains)
        for name in BOTH
        for mib in CLAIMED
    }


def _falls(name: str) -> Callable[[At[Point]], Values]:
    """By how much the gain with the smallest buffer is above that with each larger one."""

    def measure(at: At[Point]) -> Values:
        first, *others = sizes(at)
        least = hit_gain(at, name, first)
        return {f"over {mib} MiB": least - hit_gain(at, name, mib) for mib in others}

    return measure


def _low(name: str) -> Callable[[At[Point]], Values]:
    """By how much the gain with the largest buffer is below half of that with the smallest."""
    return lambda at: {"": LOW * hit_gain(at, name, SMALLEST) - hit_gain(at, name, sizes(at)[-1])}


def _short_queue(name: str) -> Callable[[At[Point]], Values]:
    """Commands that wait with the largest buffer, of those that do with the smallest."""

    def measure(at: At[Point]) -> Values:
        before, after = (at(name, sized(NCQ, mib)).waiting for mib in (SMALLEST, sizes(at)[-1]))
        return {"": after / before if before else 1.0}

    return measure


def _small_buffer(at: At[Point]) -> Values:
    """The gains with buffers that are smaller than what a full queue asks for."""
    return {
        f"{name}, {mib} MiB": hit_gain(at, name, mib)
        for name in BOTH
        for mib in CLAIMED
        if mib < QUEUED[name]
    }


def points(gain: float) -> str:
    """A difference of shares, in points, with its sign."""
    return f"{100 * gain:+.2f} points".replace("-", "\N{MINUS SIGN}")


def times(ratio: float) -> str:
    """A quotient."""
    return f"{ratio:.2f} times".replace("-", "\N{MINUS SIGN}")


def _lines(*mib: int) -> tuple[str, ...]:
    return tuple(sized(scheme, size) for size in mib for scheme in (LRU, NCQ))


def _claim(
    key: str,
    text: str,
    where: str,
    paper: str,
    measure: Callable[[At[Point]], Values],
    region: Region,
    said: Callable[[float], str],
    *,
    axes: tuple[str, ...] = SIZED,
    workloads: tuple[str, ...] = BOTH,
    lines: tuple[str, ...] = _lines(*CLAIMED),
    premise: Premise[Point] | None = None,
) -> OpenClaim[Point]:
    """A claim; each has LRU with the smallest buffer among its lines, for the filter."""
    return OpenClaim(
        key, text, where, paper, axes, workloads, lines, measure, region, said, premise=premise
    )


def _stated() -> list[OpenClaim[Point]]:
    """The six numbers."""
    found = []
    for name, stated in PAPER["hit_ratio"].items():
        text = f"With 1 MB the hit ratio of {name} is {stated:.0%} above LRU's"
        found.append(
            _claim(
                f"hit-{name[-1]}",
                text,
                "Figure 3, section IV",
                f"+{100 * stated:.0f} points",
                _at_smallest(name),
                Region.about(stated),
                points,
                axes=DRIVE,
                workloads=(name,),
                lines=_lines(SMALLEST),
            )
        )
    rates: dict[str, tuple[str, str, Gain]] = {
        "write_mb_s": ("bandwidth", "Figure 4, section IV", bandwidth_gain),
        "iops": ("IOPS", "Figure 5, section IV", iops_gain),
    }
    for metric, (said, where, gain) in rates.items():
        for name, stated in PAPER[metric].items():
            found.append(
                _claim(
                    f"{said.lower()}-{name[-1]}",
                    f"The {'write ' * (said != 'IOPS')}{said} of {name} is up to {stated:.0%} "
                    "above LRU's",
                    where,
                    change(stated),
                    _up_to(gain, name),
                    Region.about(stated),
                    change,
                    workloads=(name,),
                )
            )
    return found


STATED = tuple(_stated())


ALL_SIX = _claim(
    "all-six",
    "All six numbers are those of one drive and one span",
    "Figures 3 to 5, section IV",
    "one experiment",
    _six,
    Region(1 / TOLERANCE, TOLERANCE),
    times,
)


def _has_gain(name: str, least: float) -> Premise[Point]:
    """That there is a gain that can fall: one that is less cannot fall by what counts as less."""
    return Premise(
        f"without a gain of {100 * least:g} points with 1 MB, which could fall",
        _at_smallest(name),
        Region(low=least),
    )


def _with_large_buffers(name: str) -> list[OpenClaim[Point]]:
    own = name[-1]
    return [
        _claim(
            f"falls-{own}",
            f"The gain in hits of {name} falls as the buffer grows: with 1 MB it is the largest",
            "Figure 3, section IV",
            "the largest",
            _falls(name),
            MORE,
            points,
            workloads=(name,),
            premise=_has_gain(name, EFFECT),
        ),
        _claim(
            f"low-{own}",
            f"With a large buffer the gain in hits of {name} is low: less than half of that with "
            "1 MB",
            "section IV",
            "low",
            _low(name),
            MORE,
            points,
            workloads=(name,),
            premise=_has_gain(name, EFFECT / LOW),
        ),
        _claim(
            f"short-queue-{own}",
            f"The queue of {name} is short then: at most half as many commands wait as with 1 MB",
            "section IV",
            "short",
            _short_queue(name),
            Region(high=LOW),
            times,
            workloads=(name,),
        ),
    ]


CLAIMS = (
    *STATED,
    ALL_SIX,
    _claim(
        "more-hits",
        "The scheme has more hits than LRU with every size of the buffer",
        "Figure 3, section IV",
        "more",
        _every_size(hit_gain),
        MORE,
        points,
        axes=DRIVE,
    ),
    _claim(
        "faster",
        "It has more bandwidth and IOPS than LRU with every size of the buffer",
        "Figures 4 and 5, section IV",
        "more",
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
        "section III",
        "similar in the worst case",
        _every_size(hit_gain),
        Region(low=0.0),
        points,
        axes=DRIVE,
    ),
    _claim(
        "never-slower",
        "It never has less bandwidth or IOPS than LRU",
        "section III",
        "similar in the worst case",
        _every_size(bandwidth_gain, iops_gain),
        Region(low=0.0),
        change,
        axes=DRIVE,
    ),
    _claim(
        "small-buffer",
        "It finds what queued commands use even if the buffer is smaller than what is queued",
        "section III",
        "served from the buffer",
        _small_buffer,
        MORE,
        points,
        axes=DRIVE,
    ),
)


def _unchecked(
    key: str, text: str, where: str, paper: str, why: str
) -> tuple[Claim[Any], Measured]:
    found = Measured("not measured", UNCHECKED, why)
    return Claim(key, text, where, paper, lambda _: found), found


NOT_CHECKED = (
    _unchecked(
        "lru-needs",
        "LRU serves what a queued command has in the buffer only if the buffer holds all that was "
        "queued before it",
        "section III",
        "the sum of the sizes",
        "no result says which hits were buffered already when their command was queued",
    ),
    _unchecked(
        "any-scheme",
        "The scheme can be integrated with other buffers than LRU without large modification",
        "section III",
        "trivially",
        "a statement on the work of writing it; pins are here for LRU of blocks alone",
    ),
    _unchecked(
        "complexity",
        "The algorithm has very low complexity",
        "Figure 2, section III",
        "comparisons and pointers",
        "the time that the controller's firmware takes for its lists is no part of the clock",
    ),
)
"""What no run says anything about."""
