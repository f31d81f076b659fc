"""Closed forms for the times of reads: the way to the drive, the cells, the transfer.

A read of data that is still in the controller's memory takes the time of the way: host, link and
controller. A read of flash takes that time, the time of the cells and the transfer of 4 KiB.
"""

from __future__ import annotations

from dataclasses import dataclass

from .estimate import Estimate, known, unknown
from .recipe import BLOCK, DEPTHS, LARGE, LARGE_DEPTHS
from .recorded import Recording

HIT_MOST = 0.7
"""A read counts as served from memory if it takes at most this share of a read of flash."""
BIN_SPREAD = 0.008
"""Half of the relative width of fio's bins."""
READ_SPREAD = 0.02
"""Relative error of a read. It may wait in the controller where a read without flash does not."""
LINK_LEAST = 500.0
"""Shortest time of 12 KiB on a link in nanoseconds, some 25 GB/s."""


@dataclass(frozen=True)
class ReadTimes:
    """Times of one request in nanoseconds."""

    way: Estimate
    """A request without flash."""
    read: Estimate
    """Cells, and the transfer of 4 KiB."""
    link: float
    """Data per second to or from the host, from reads of 4 and 16 KiB without flash."""


def read_times(jobs: Recording) -> ReadTimes:
    """Estimates the times of a read at depth 1 on a drive that does nothing else."""
    flash = jobs.reads("read-1").mean_ns
    way = _way(jobs, flash)
    used = "read-1, cached"
    if not way.is_known:
        why = f"the way to the drive is not known; a whole read takes {flash / 1e3:.1f} us"
        return ReadTimes(way, unknown("read", "ns", used, why), _link(jobs))
    low, high = way.low or 0.0, way.high or 0.0
    value, why = flash - way.number, "cells and the transfer of 4 KiB"
    low, high = (flash - high) * (1 - READ_SPREAD), (flash - low) * (1 + READ_SPREAD)
    read = Estimate("read", "ns", value, low, high, used, why)
    return ReadTimes(way, read, _link(jobs))


def _link(jobs: Recording) -> float:
    """Returns the speed of the link: at least the speed of the fastest large reads, because the
    reads of data just written may miss the drive's memory.
    """
    fastest = max(jobs.reads(f"large-{depth}").bytes_per_second for depth in LARGE_DEPTHS)
    small, large = (jobs.reads(name).quantile(0.5) for name in ("cached", "cached-large"))
    return max(fastest, (LARGE - BLOCK) / max(large - small, LINK_LEAST) * 1e9)


def _way(jobs: Recording, flash: float) -> Estimate:
    """Estimates the time of a request that needs no flash, from reads and writes."""
    cached = jobs.jobs["cached"]
    for times, kind in ((cached.reads, "reads"), (cached.writes, "writes")):
        median = times.quantile(0.5)
        if median <= HIT_MOST * flash:
            return known("way", "ns", [median], "cached", f"median of its {kind}", BIN_SPREAD)
    why = "neither a read of new data nor a write is faster than a read of flash"
    return unknown("way", "ns", "cached", why)


def requests_per_second(jobs: Recording) -> float:
    """Returns the requests per second without flash, which bound reads at any depth.

    A drive that programs every page at once reads most of the new data from flash. Then the fastest
    reads at depth show more requests.
    """
    deep = jobs.jobs["cached-deep"]
    fastest = max(jobs.reads(f"read-{depth}").per_second for depth in DEPTHS)
    return max(fastest, deep.reads.per_second + deep.writes.per_second)
