"""Extra runs of the NCQ-aware buffer outside the domain of its claims. One set has finer speeds of
the drive where its numbers are met at once. The other set is the case in which the buffer should be
no better than LRU."""

from __future__ import annotations

from dataclasses import replace

from floatgate.papers.kit.claims import At, Claim, Measured, Values, signed, stated
from floatgate.papers.kit.experiment import Axis, Choice, Experiment, Line
from floatgate.papers.kit.verdicts import Region

from .claims import BOTH, EFFECT, WORST, bandwidth_gain, hit_gain
from .domain import LRU, NCQ, READINGS, SCHEMES, WAYS, as_fast_as, sized
from .reduce import Point

FINER = (21, 22)
"""Ways between 20, with which a drive writes 200 MB/s, and 24, with which it writes 238 MB/s. The
swept speeds skip the 209 MB/s that workload 2 demands."""
FINER_SPAN = "192 MiB"
"""Span for which the law has the paper's 4 points."""


def finer(experiment: Experiment) -> Experiment:
    """Returns the experiment at these speeds, on one span, with counted pins and with records."""
    speeds = tuple(Choice(f"{ways} ways", as_fast_as(ways)) for ways in FINER)
    one = {"span": FINER_SPAN, "pins": "counted", "alignment": "records"}
    axes = [
        replace(axis, choices=(axis.choice(one[axis.key]),)) if axis.key in one else axis
        for axis in experiment.axes
    ]
    axes = [replace(axis, choices=speeds) if axis.key == "speed" else axis for axis in axes]
    return replace(experiment, axes=tuple(axes))


def all_speeds(experiment: Experiment) -> Axis:
    choices = [Choice(f"{ways} ways") for ways in sorted((*WAYS, *FINER))]
    return replace(experiment.axis("speed"), choices=tuple(choices))


ENOUGH = 1024
"""MiB of a buffer that holds every span."""
SIZE = 8
"""MiB of the buffer in the claim: the demand of a full queue of workload 1. The filter looks at the
smallest buffer, so it leaves no point of the claim out."""

WORST_CASE = Axis(
    "worst",
    "the worst case",
    (
        Choice("an empty queue", {"queue.depth": "1"}),
        Choice(
            "all are served from the buffer",
            lines={
                sized(key, SIZE): sized(scheme, ENOUGH)
                for key, scheme in {LRU: "lru", **{key: key for key in READINGS.values()}}.items()
            },
        ),
    ),
    "A command is served as soon as it arrives, so that there are none before it; or the buffer "
    "holds the whole span, so that nothing leaves. The scheme has nothing to choose then: it is "
    "checked that it does not.",
    paper="all are served from the buffer",
)


def worst(experiment: Experiment) -> Experiment:
    """Returns the experiment where the scheme should be no better than LRU."""
    large = [
        Line(sized(key, ENOUGH), label, {**settings, "buffer.capacity": f"{ENOUGH}MiB"})
        for key, (label, settings) in SCHEMES.items()
        if key in ("lru", *READINGS.values())
    ]
    return replace(
        experiment, axes=(*experiment.axes, WORST_CASE), lines=(*experiment.lines, *large)
    )


def _differences(at: At[Point]) -> Values:
    """Returns gains over LRU: of hits as a difference, of bandwidth as a relative change."""
    return {
        f"{what} of {name}": gain(at, name, SIZE)
        for name in BOTH
        for what, gain in (("hits", hit_gain), ("bandwidth", bandwidth_gain))
    }


def _either(gain: float) -> str:
    return signed(100 * gain, "{:+.2f} points or %")


WORST_CLAIMS = (
    Claim(
        "as-lru",
        "With no command before, or if all before are served from the buffer, it is as good as LRU",
        stated("section III", "similar", WORST),
        ("pins", "alignment", "worst"),
        BOTH,
        (sized(LRU, SIZE), sized(NCQ, SIZE)),
        _differences,
        Region(-EFFECT, EFFECT),
        _either,
    ),
)


def by_construction(measured: Measured) -> Measured:
    """Returns our number without a verdict. It checks the scheme and could hardly end otherwise."""
    why = (
        "by construction: nothing is queued, or nothing leaves, so that there is nothing to choose"
    )
    return replace(measured, rows=(), why=why if measured.rows else measured.why)
