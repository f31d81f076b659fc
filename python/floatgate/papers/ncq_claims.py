"""What the NCQ-aware buffer's paper claims, each as a measure over the points of the runs.

The paper states percentages without a base. Of hit ratios they are read as points, of bandwidth and
IOPS as changes. Claims are judged on the preset's setup; only "never below" is held against all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .ncq_runs import DEPTH, FASTER, FIRST, MAIN, MIB, SECOND, SIZES, WORKLOADS, Point
from .paper import HOLDS, Claim, Measured, absent, change, ordered, stated

NCQ, MOVE = "ncq", "ncq-move"
BOTH = (FIRST, SECOND)
SMALLEST, LARGEST = SIZES[0], SIZES[-1]

METRICS = {"hit_gain": "hit ratio", "bandwidth_gain": "write bandwidth", "iops_gain": "IOPS"}

SAME = 0.001
"""What is no difference of two gains: some commands of a run, found or not."""

LOW = 0.5
"""Of the gain with the smallest buffer, up to which one is low; the paper gives no number."""

QUEUED_MIB = {work.name: DEPTH * work.record / MIB for work in WORKLOADS}
"""What a full queue asks for."""

Points = Sequence[Point]


def _text(metric: str, gain: float, unit: str = " points") -> str:
    if metric != "hit_gain":
        return change(gain)
    return f"{gain * 100:+.2f}{unit}".replace("-", "\N{MINUS SIGN}")


def _main(points: Points, trace: str, line: str = NCQ, setup: str = MAIN.key) -> dict[int, Point]:
    """The runs with a line by size of the buffer, on the preset if nothing else is said."""
    return {
        point.buffer_mib: point
        for point in points
        if (point.setup, point.trace, point.line) == (setup, trace, line)
    }


def _on_faster(points: Points) -> str:
    """What a drive does that nearly keeps up."""
    found = _main(points, FIRST, setup=FASTER.key)
    if SMALLEST not in found or LARGEST not in found:
        return ""
    gains = ", ".join(_text("hit_gain", found[size].hit_gain, "") for size in sorted(found))
    waiting = f"{found[SMALLEST].waiting:.1f} to {found[LARGEST].waiting:.1f}"
    return (
        f"; with {FASTER.label}, which nearly keep up with {FIRST}, its gains are {gains} points "
        f"and {waiting} commands wait"
    )


def _gain(metric: str, trace: str, paper: float) -> Callable[[Points], Measured]:
    """A gain that the paper states for a buffer of 1 MB."""

    def measure(points: Points) -> Measured:
        point = _main(points, trace).get(SMALLEST)
        if point is None:
            return absent(f"runs of {trace} with {SMALLEST} MiB")
        ours = getattr(point, metric)
        verdict = stated(paper, ours)
        why = "" if verdict == HOLDS else _why_gain(points, trace, metric, point)
        return Measured(_text(metric, ours), verdict, why, ours)

    return measure


def _why_gain(points: Points, trace: str, metric: str, point: Point) -> str:
    base = _main(points, trace, "lru").get(point.buffer_mib)
    if metric == "hit_gain" or base is None:
        return f"{trace}: the hit ratio is {point.hit_ratio:.2%} with pins"
    return (
        f"{trace}: hit ratios of {base.hit_ratio:.2%} and {point.hit_ratio:.2%} leave "
        f"{change((1 - base.hit_ratio) / (1 - point.hit_ratio) - 1)} for a drive that is always "
        "at work; with records of one size bandwidth and IOPS change alike, and the paper's do not"
    )


BOTH_ENDS = f"runs with {SMALLEST} and {LARGEST} MiB"


def _both_ends(points: Points) -> dict[str, dict[int, Point]]:
    """The runs by size, of the workloads that have the smallest and the largest buffer."""
    found = {trace: _main(points, trace) for trace in BOTH}
    ends = {SMALLEST, LARGEST}
    return {trace: by_size for trace, by_size in found.items() if ends <= by_size.keys()}


def _gains(points: Points, metric: str) -> dict[str, list[float]]:
    """The gains of each workload by size, smallest buffer first."""
    return {
        trace: [getattr(by_size[size], metric) for size in sorted(by_size)]
        for trace, by_size in _both_ends(points).items()
    }


def _all_gains(points: Points) -> dict[str, list[float]]:
    """Those of hit ratio and of bandwidth, by name; that of IOPS is the same."""
    return {
        f"{METRICS[metric]} of {trace}": gains
        for metric in ("hit_gain", "bandwidth_gain")
        for trace, gains in _gains(points, metric).items()
    }


def _in_points(points: Points) -> str:
    return "; ".join(
        f"{trace} {', '.join(_text('hit_gain', gain, '') for gain in gains)} points of hit ratio"
        for trace, gains in _gains(points, "hit_gain").items()
    )


def _falls(points: Points) -> Measured:
    gains = _all_gains(points)
    if not gains:
        return absent(BOTH_ENDS)
    cases = [
        all(after <= before + SAME for before, after in pairwise(one)) and one[-1] < one[0] - SAME
        for one in gains.values()
    ]
    verdict = ordered(cases)
    why = (
        ""
        if verdict == HOLDS
        else f"a buffer of {SMALLEST} MiB holds one record of {SECOND}, and the command that is "
        "served needs that room, so that there is little to keep" + _on_faster(points)
    )
    return Measured(_in_points(points), verdict, why)


def _low(points: Points) -> Measured:
    gains = _all_gains(points)
    if not gains:
        return absent(BOTH_ENDS)
    verdict = ordered([one[-1] <= LOW * max(one[0], 0.0) for one in gains.values()])
    left = {name: one[-1] / one[0] for name, one in gains.items() if one[0] > 0}
    text = [f"{left[name]:.2f} ({name})" if name in left else f"none ({name})" for name in gains]
    why = "low is taken to be at most half, and the queue is still full" + _on_faster(points)
    ours = f"gains with {LARGEST} MiB over those with {SMALLEST} MiB: {', '.join(text)}"
    return Measured(
        ours, verdict, "" if verdict == HOLDS else why, max(left.values(), default=None)
    )


def _short_queue(points: Points) -> Measured:
    known = _both_ends(points)
    if not known:
        return absent(BOTH_ENDS)
    waiting = {t: (one[SMALLEST].waiting, one[LARGEST].waiting) for t, one in known.items()}
    cases = [after <= LOW * before for before, after in waiting.values()]
    parts = [f"{trace} {before:.1f} to {after:.1f}" for trace, (before, after) in waiting.items()]
    busy = min(one[LARGEST].busy for one in known.values())
    verdict = ordered(cases)
    why = (
        ""
        if verdict == HOLDS
        else f"with {LARGEST} MiB the drive still serves commands {busy:.0%} of the time, as it is "
        "slower than what is offered, so the queue stays full" + _on_faster(points)
    )
    ours = f"commands that wait: {', '.join(parts)} ({SMALLEST} to {LARGEST} MiB)"
    return Measured(ours, verdict, why, max(after for _, after in waiting.values()))


def _never_below(points: Points) -> Measured:
    ours = [point for point in points if point.line == NCQ]
    if not ours:
        return absent("runs")
    cases = [point.hit_gain >= 0 for point in ours]
    worst = min(ours, key=lambda point: point.hit_gain)
    slowest = min(ours, key=lambda point: point.bandwidth_gain)
    text = (
        f"{sum(cases)} of {len(cases)} runs; at worst {_text('hit_gain', worst.hit_gain)} of hit "
        f"ratio and {_text('bandwidth_gain', slowest.bandwidth_gain)} of bandwidth"
    )
    verdict = ordered(cases)
    why = "" if verdict == HOLDS else f"{worst.trace}, {worst.buffer_mib} MiB, {worst.setup}"
    return Measured(text, verdict, why, worst.hit_gain)


def _small_buffer(points: Points) -> Measured:
    def small(line: str) -> list[Point]:
        found = {trace: _main(points, trace, line) for trace in BOTH}
        return [p for t, one in found.items() for p in one.values() if p.buffer_mib < QUEUED_MIB[t]]

    ours, moves = small(NCQ), small(MOVE)
    if not ours:
        return absent("runs with small buffers")
    least = min(point.hit_gain for point in ours)
    text = f"at least {_text('hit_gain', least)} over LRU"
    if moves:
        most = max(abs(point.hit_gain) for point in moves)
        text += f" with pins, at most {most * 100:.2f} points either way with moves alone"
    cases = [point.hit_gain > SAME for point in ours]
    verdict = ordered(cases)
    return Measured(text, verdict, "" if verdict == HOLDS else "there is no gain", least)


def _stated_claims() -> list[Claim[Points]]:
    papers = {"hit_gain": (0.04, 0.02), "bandwidth_gain": (0.05, 0.02), "iops_gain": (0.04, 0.01)}
    claims: list[Claim[Points]] = []
    for figure, (metric, numbers) in enumerate(papers.items(), 3):
        for trace, paper in zip(BOTH, numbers, strict=True):
            claims.append(
                Claim(
                    f"{metric.removesuffix('_gain')}-{trace[-1]}",
                    f"The {METRICS[metric]} of {trace} is higher by {paper:.0%} with 1 MB",
                    f"Figure {figure}, section IV",
                    _text(metric, paper),
                    _gain(metric, trace, paper),
                )
            )
    return claims


CLAIMS: tuple[Claim[Points], ...] = (
    *_stated_claims(),
    Claim("falls", "The gain falls as the buffer grows", "section IV", "falls", _falls),
    Claim("low", "With a large buffer the gain is low", "section IV", "low", _low),
    Claim(
        "short-queue",
        "It falls because the queue is short with a large buffer",
        "section IV",
        "a short queue",
        _short_queue,
    ),
    Claim(
        "never-below",
        "The scheme is never worse than LRU",
        "section III",
        "similar in the worst case",
        _never_below,
    ),
    Claim(
        "small-buffer",
        "It finds data even if the buffer is smaller than what the queue asks for",
        "section III",
        "served from the buffer",
        _small_buffer,
    ),
)


def judge(points: Points) -> list[tuple[Claim[Any], Measured]]:
    """Every claim with what we found."""
    return [(claim, claim.measure(points)) for claim in CLAIMS]
