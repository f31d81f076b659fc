"""Closed forms for the write buffer and the map cache."""

from __future__ import annotations

from collections.abc import Sequence

from .estimate import Estimate, unknown
from .recipe import BURST, BURST_BLOCK, span_sizes
from .recorded import Recording

LATE = (0.4, 0.9)
"""Range of a burst, as shares of its bytes, in which the dies limit its speed."""
SLOWER = 20
"""Least ratio of the last to the first latency of a burst that fills the buffer."""
FULL_SHARE = 0.9
"""A burst that is acknowledged before this share of it waits does not fill the buffer."""
SLACK = 0.25
"""Half of the relative interval of a buffer; on 12 random drives the error was at most 21 %."""
SAME = 0.03
"""Smallest relative rise of the latency of reads that counts as misses of the map cache."""
EXPLAINS = 0.015
"""Reaches that explain the latencies to this relative error count as equally good."""
SPREAD = 0.02
"""By how much the interval of a reach is wider than these reaches, on both sides."""
STEPS = 400


def write_buffer(jobs: Recording, is_paced: bool) -> Estimate:
    """Estimates the bytes of the write buffer from bursts after a pause.

    At time t after the start of a burst the drive has acknowledged the smaller of the bytes that
    the link has delivered and of buffer + speed t. `speed` is the speed of the dies: the last part
    of the burst shows it. The buffer is the largest difference between acknowledged bytes and
    speed t.
    """
    name, used = "write buffer", "burst"
    if not is_paced:
        return unknown(name, "B", used, "writes do not wait for room in the order of arrival")
    times = jobs.writes("burst")
    bursts, most = times.count / BURST, BURST * BURST_BLOCK
    acknowledged, curve = 0.0, list[tuple[float, float]]()
    for ns, count in times.bins:
        acknowledged += count / bursts * BURST_BLOCK
        curve.append((ns / 1e9, acknowledged))
    late = [point for point in curve if LATE[0] * most < point[1] < LATE[1] * most]
    if len(late) < 2 or late[-1][0] < SLOWER * curve[0][0]:
        return unknown(name, "B", used, f"a burst of {most >> 20} MiB does not fill it")
    speed = (late[-1][1] - late[0][1]) / (late[-1][0] - late[0][0])
    excess, at = max((bytes - speed * seconds, bytes) for seconds, bytes in curve)
    if at > FULL_SHARE * most:
        why = f"a burst of {most >> 20} MiB fills it at its end, or not at all"
        return unknown(name, "B", used, why)
    return Estimate(name, "B", excess, excess * (1 - SLACK), excess * (1 + SLACK), used)


def map_reach(jobs: Recording) -> Estimate:
    """Estimates the bytes whose map entries fit into the map cache.

    Of evenly spread reads of a span S, the share 1 - reach / S misses, for any replacement. So the
    mean latency is a + b max(0, 1 - reach / S).
    """
    spans = span_sizes(jobs.made_for)
    means = [jobs.reads(f"span-{step}").mean_ns for step in range(len(spans))]
    if means[-1] < (1 + SAME) * min(means):
        why = "reads of the whole drive take as long as reads of a small span: no misses"
        return unknown("map cache reach", "B", "span-*", why)
    grid = [spans[0] / 2 * (spans[-1] * 2 / spans[0]) ** (at / STEPS) for at in range(STEPS)]
    errors = [_error(spans, means, reach) for reach in grid]
    best = min(errors)
    value = grid[errors.index(best)]
    if value < spans[0]:
        why = f"even reads of {spans[0] >> 20} MiB miss"
        return unknown("map cache reach", "B", "span-*", why)
    good = [one for one, error in zip(grid, errors, strict=True) if error < best + EXPLAINS]
    low, high = good[0] * (1 - SPREAD), good[-1] * (1 + SPREAD)
    return Estimate("map cache reach", "B", value, low, high, "span-*")


def _error(spans: Sequence[int], means: Sequence[float], reach: float) -> float:
    """Returns the largest relative error of the best line in the share of misses."""
    misses = [max(0.0, 1 - reach / span) for span in spans]
    mean_x, mean_y = sum(misses) / len(misses), sum(means) / len(means)
    spread = sum((x - mean_x) ** 2 for x in misses)
    if not spread:
        return float("inf")
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(misses, means, strict=True)) / spread
    line = [mean_y + slope * (x - mean_x) for x in misses]
    return max(abs(y / at - 1) for y, at in zip(means, line, strict=True))
