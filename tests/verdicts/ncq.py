"""The claims of the paper on the NCQ-aware buffer."""

from __future__ import annotations

from typing import Any

from floatgate.papers.ncq_runs import FASTER, FIRST, MAIN, SECOND, SIZES, Point
from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED

from . import Case, about, altered, without

GAINS = {FIRST: (0.04, 0.05, 0.04), SECOND: (0.02, 0.02, 0.01)}
"""Of hit ratio, bandwidth and IOPS with 1 MB, as the paper states them."""


def point(trace: str, line: str, size: int, **numbers: Any) -> Point:
    known: dict[str, Any] = {
        "trace": trace,
        "line": line,
        "setup": MAIN.key,
        "buffer_mib": size,
        "hit_ratio": 0.05,
        "write_mb_s": 160.0,
        "iops": 600.0,
        "hit_gain": 0.0,
        "bandwidth_gain": 0.0,
        "iops_gain": 0.0,
        "busy": 0.9,
        "waiting": 31.0,
        "write_amplification": 1.0,
        "switch": 100,
        "partial": 0,
        "full": 0,
    }
    return Point(**(known | numbers))


def as_stated() -> list[Point]:
    """Points of which every claim holds: gains that are halved with each size, and end at 0."""
    points = []
    for trace, (hits, bandwidth, iops) in GAINS.items():
        for i, size in enumerate(SIZES):
            part = 0.5**i if size < SIZES[-1] else 0.0
            gains = {
                "hit_gain": hits * part,
                "bandwidth_gain": bandwidth * part,
                "iops_gain": iops * part,
            }
            points.append(point(trace, "lru", size))
            points.append(point(trace, "ncq-move", size))
            points.append(point(trace, "ncq", size, **gains, waiting=31.0 * part))
    return points


def with_pins(trace: str, *sizes: int, **numbers: Any) -> list[Point]:
    """Other numbers of the scheme on a workload with these sizes; all sizes if none is named."""
    points = as_stated()
    for size in sizes or SIZES:
        where = {"trace": trace, "line": "ncq", "buffer_mib": size}
        points = altered(points, where, **numbers)
    return points


def _only(*sizes: int) -> list[Point]:
    return [each for each in as_stated() if each.buffer_mib in sizes]


def _rising(points: list[Point], trace: str, metric: str) -> list[Point]:
    """A gain that doubles with each size."""
    for i, size in enumerate(SIZES):
        where = {"trace": trace, "line": "ncq", "buffer_mib": size}
        points = altered(points, where, **{metric: 0.01 * 2**i})
    return points


def _rising_both(*metrics: str) -> list[Point]:
    points = as_stated()
    for metric in metrics:
        for trace in (FIRST, SECOND):
            points = _rising(points, trace, metric)
    return points


def _both(*sizes: int, **numbers: Any) -> list[Point]:
    """Other numbers on both workloads."""
    points = with_pins(FIRST, *sizes, **numbers)
    changed = with_pins(SECOND, *sizes, **numbers)
    return [*without(points, trace=SECOND), *without(changed, trace=FIRST)]


def _stated() -> list[Case]:
    """ "Up to 4% and 2%" of hits, "up to 5% and 2%" of bandwidth, "up to 4% and 1%" of IOPS."""
    cases = []
    for trace, number in ((FIRST, "1"), (SECOND, "2")):
        for metric, paper in zip(("hit", "bandwidth", "iops"), GAINS[trace], strict=True):
            claim, column = f"{metric}-{number}", f"{metric}_gain"
            for case in about(
                claim,
                paper,
                lambda ours, trace=trace, column=column: with_pins(trace, 1, **{column: ours}),
            ):
                cases.append(case)
            cases += [
                Case(claim, UNCHECKED, "no buffer of 1 MiB", _only(2, 32)),
                Case(claim, UNCHECKED, "it is missing", without(as_stated(), trace=trace)),
                Case(
                    claim,
                    UNCHECKED,
                    "only another drive was run",
                    altered(as_stated(), {}, setup=FASTER.key),
                ),
            ]
    return cases


CASES = [
    *_stated(),
    # "As the buffer size is smaller [...] exploiting more future reference pattern [...] is more
    # helpful": the gains of hits and of bandwidth of both workloads, four in all, never rise by
    # more than 0.1 points, and are lower in the end.
    Case("falls", HOLDS, "halved with each size", as_stated()),
    Case("falls", HOLDS, "0.09 points more are no rise", with_pins(FIRST, 2, hit_gain=0.0409)),
    Case("falls", PARTLY, "0.11 points more are one", with_pins(FIRST, 2, hit_gain=0.0411)),
    Case("falls", PARTLY, "two of four never change", _both(hit_gain=0.02)),
    Case("falls", PARTLY, "the hits of both rise", _rising_both("hit_gain")),
    Case("falls", FAILS, "all four never change", _both(hit_gain=0.02, bandwidth_gain=0.02)),
    Case("falls", FAILS, "all four rise", _rising_both("hit_gain", "bandwidth_gain")),
    Case(
        "falls",
        FAILS,
        "three of four rise",
        _rising(_rising_both("hit_gain"), FIRST, "bandwidth_gain"),
    ),
    Case("falls", HOLDS, "two sizes are enough", _only(1, 32)),
    Case("falls", UNCHECKED, "one size", _only(1)),
    Case("falls", UNCHECKED, "the largest is missing", _only(1, 2, 4, 8, 16)),
    Case("falls", UNCHECKED, "the smallest is missing", _only(2, 4, 8, 16, 32)),
    # "When buffer size is large, the performance gain [...] is low": at most half of that with
    # 1 MB.
    Case("low", HOLDS, "nothing is left", as_stated()),
    Case("low", HOLDS, "half of it is left", with_pins(FIRST, 32, hit_gain=0.02)),
    Case("low", PARTLY, "more than half of one of four", with_pins(FIRST, 32, hit_gain=0.0201)),
    Case("low", PARTLY, "all of two of four", _both(hit_gain=0.02)),
    Case("low", FAILS, "all of all four", _both(hit_gain=0.02, bandwidth_gain=0.02)),
    Case(
        "low",
        FAILS,
        "there was no gain with 1 MB that it could be half of",
        [
            *altered(
                _both(1, hit_gain=0.0, bandwidth_gain=-0.01),
                {"line": "ncq", "buffer_mib": 32},
                hit_gain=0.01,
                bandwidth_gain=0.01,
            )
        ],
    ),
    Case("low", UNCHECKED, "the largest is missing", _only(1, 2, 4, 8, 16)),
    Case("low", UNCHECKED, "the smallest is missing", _only(2, 4, 8, 16, 32)),
    # "Because the queue length is short": at most half as many commands wait.
    Case("short-queue", HOLDS, "none waits", as_stated()),
    Case("short-queue", HOLDS, "half of them wait", _both(32, waiting=15.5)),
    Case(
        "short-queue", PARTLY, "more than half on one of two", with_pins(SECOND, 32, waiting=15.6)
    ),
    Case("short-queue", FAILS, "more than half on both", _both(32, waiting=15.6)),
    Case("short-queue", UNCHECKED, "the largest is missing", _only(1, 2, 4, 8, 16)),
    # "In the worst case [...] our scheme will show the similar performance to the LRU": in none of
    # the runs, on whatever drive, are there fewer hits.
    Case("never-below", HOLDS, "as many at worst", as_stated()),
    Case("never-below", PARTLY, "fewer in one of 12", with_pins(SECOND, 32, hit_gain=-0.0001)),
    Case(
        "never-below",
        PARTLY,
        "fewer on another drive",
        [*as_stated(), point(FIRST, "ncq", 4, setup="fast", hit_gain=-0.01)],
    ),
    Case(
        "never-below",
        FAILS,
        "fewer in 7 of 12",
        altered(
            with_pins(FIRST, hit_gain=-0.01),
            {"trace": SECOND, "line": "ncq", "buffer_mib": 1},
            hit_gain=-0.01,
        ),
    ),
    Case(
        "never-below",
        HOLDS,
        "other buffers do not count",
        altered(as_stated(), {"line": "ncq-move"}, hit_gain=-0.1),
    ),
    Case("never-below", UNCHECKED, "the scheme was not run", without(as_stated(), line="ncq")),
    # "Even though the buffer size is smaller than [what the queue asks for], the data [...] can be
    # serviced from the buffer": a queue of 32 asks for 8 and 32 MiB, so that eight runs count, and
    # a gain is more than 0.1 points.
    Case("small-buffer", HOLDS, "0.125 points at least", as_stated()),
    Case("small-buffer", HOLDS, "8 MiB hold a queue", with_pins(FIRST, 8, 16, 32, hit_gain=0.0)),
    Case("small-buffer", HOLDS, "32 MiB hold a queue", with_pins(SECOND, 32, hit_gain=-0.1)),
    Case("small-buffer", PARTLY, "nothing with 4 MiB", with_pins(FIRST, 4, hit_gain=0.001)),
    Case("small-buffer", PARTLY, "nothing with 16 MiB", with_pins(SECOND, 16, hit_gain=0.001)),
    Case("small-buffer", FAILS, "nothing in five of eight", with_pins(SECOND, hit_gain=0.001)),
    Case("small-buffer", UNCHECKED, "all buffers hold a queue", _only(32)),
]

NO_MIDDLE: frozenset[str] = frozenset()
NEVER: frozenset[str] = frozenset()
