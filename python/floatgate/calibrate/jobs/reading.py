"""Dies and flash page from reads at several depths, by simulated candidates.

At depth n on D dies some reads wait for a die that serves another read. How much longer a read
takes than at depth 1 depends on D alone if reads wait for nothing but dies. Each depth
is compared with simulated drives of 1 to 256 dies; depths that disagree have another limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floatgate import api

from .device import Parameters, config
from .estimate import Estimate, unknown
from .recipe import BLOCK, DEPTHS, LARGE, LARGE_DEPTHS
from .recorded import Recording
from .times import ReadTimes, requests_per_second

COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Simulated numbers of dies."""
REQUESTS = 12_000
FEELS = 0.04
"""Least relative change of a latency for a relative change of the dies; below, noise decides."""
AGREES = 0.15
"""Largest difference of ln D between a depth and the depths before."""
NOISE = 0.005
"""Assumed relative error of a mean latency."""
SPREAD_LEAST = 0.04
"""Least half of the interval of ln D."""
FREE_SHARE = 0.85
"""Largest share of the requests without flash at which dies, and not the controller, limit."""
SPAN = "128MiB"
"""Bytes of the simulated drives, whose size does not matter for reads."""
REQUESTS_ALONE, REQUESTS_LARGE = 400, 6_000
TRANSFER_MOST = 25_000.0
"""Longest transfer of 4 KiB in nanoseconds."""
TRANSFER_NOISE = 1_000.0
"""Transfers that differ by less count as equal, in nanoseconds."""
TRANSFER_LIKELY = 0.9 * TRANSFER_MOST
"""A candidate that needs longer transfers has another flash page."""
BUSES = (300e6, 600e6, 1200e6, 2400e6, 4800e6)
"""Tried transfer rates in bytes per second, where large reads do not show the rate."""
HALVINGS = 7
HOPELESS = 0.5
"""Error of ln latency at a depth from which on a candidate is not simulated at further depths."""
ALIKE = 0.01
"""Drives whose errors differ by less explain the reads equally well."""


@dataclass(frozen=True)
class _Felt:
    """A depth: ln of the dies that its latency needs, and how strongly the latency reacts."""

    depth: int
    log_dies: float
    slope: float


def dies(jobs: Recording, times: ReadTimes, seed: int, transfer: float = 0.0) -> Estimate:
    """Estimates the number of dies that serve reads.

    `transfer` is the part of a read, in nanoseconds, in which a die with a cache register already
    reads for the next request.
    """
    name, used = "dies", "read-*"
    if not times.read.is_known:
        return unknown(name, "", used, "the time of a read is not known")
    rate = requests_per_second(jobs)
    felt = list[_Felt]()
    limit = ""
    for depth in DEPTHS[1:]:
        if jobs.reads(f"read-{depth}").per_second > FREE_SHARE * rate:
            limit = f"from depth {depth} on the controller limits reads"
            break
        one = _felt(jobs, times, rate, depth, seed, transfer)
        if one is None or one.slope < FEELS:
            continue
        if felt and abs(one.log_dies - _mean(felt)) > AGREES:
            limit = f"from depth {depth} on something else limits reads, perhaps channels"
            break
        felt.append(one)
    if not felt:
        return unknown(name, "", used, limit or "reads wait too rarely for a die at any depth")
    mean = _mean(felt)
    spread = max(abs(one.log_dies - mean) for one in felt)
    spread = max(spread, NOISE / max(one.slope for one in felt), SPREAD_LEAST)
    low, high = math.exp(mean - spread), math.exp(mean + spread)
    return Estimate(name, "", math.exp(mean), low, high, used, limit)


def _mean(felt: Sequence[_Felt]) -> float:
    weights = [one.slope**2 for one in felt]
    return sum(w * one.log_dies for w, one in zip(weights, felt, strict=True)) / sum(weights)


def _felt(
    jobs: Recording, times: ReadTimes, rate: float, depth: int, seed: int, transfer: float
) -> _Felt | None:
    """Returns the dies that a depth needs; None if even the extremes do not reach its latency."""
    usual = jobs.reads("read-1").mean_ns
    rise = jobs.reads(f"read-{depth}").mean_ns / usual
    logs = [math.log(count) for count in COUNTS]
    rises = [_rise(times, rate, count, depth, seed, transfer) for count in COUNTS]
    for at in range(1, len(logs)):
        above, below = rises[at - 1], rises[at]
        if below <= rise <= above and above > below:
            share = math.log(above / rise) / math.log(above / below)
            slope = math.log(above / below) / (logs[at] - logs[at - 1])
            return _Felt(depth, logs[at - 1] + share * (logs[at] - logs[at - 1]), slope)
    return None


def _rise(
    times: ReadTimes, rate: float, count: int, depth: int, seed: int, transfer: float
) -> float:
    """Returns a simulated latency at a depth, relative to a read that waits for nothing."""
    way, command = times.way.number, 1e9 / rate
    channels = next(channels for channels in (8, 4, 2, 1) if count % channels == 0)
    bus = {"bus": f"{BLOCK / transfer * 1e9:.0f}B/s"} if transfer else {}
    drive = {
        "flash": {
            **bus,
            "cache_register": True,
            "page": "4KiB",
            "channels": channels,
            "dies": count // channels,
            "superblock": count,
            "pages_per_block": 16,
            "read": f"{round(times.read.number - transfer)}ns",
            "stripe": "channel_die_plane",
        },
        "controller": {"command": f"{round(command)}ns"},
        "link": {"latency": f"{max(0, round((way - command) / 2))}ns"},
    }
    return mean_read(drive, "4KiB", depth, seed) / (way + times.read.number)


def mean_read(
    drive: Mapping[str, Any], size: str, depth: int, seed: int, requests: int = REQUESTS
) -> float:
    """Returns the mean latency in nanoseconds of simulated random reads at a depth."""
    workload = f"uniform:span={SPAN},requests={requests},reads=1,size={size}"
    queue = {"depth": depth, "arrivals": "closed"}
    flash = {key: value for key, value in drive["flash"].items() if key != "blocks"}
    device = {**drive, "flash": flash, "queue": queue, "start": {"fill": "sequential"}}
    result = api.run(workload, device=device, seed=seed, addresses="span", full_size=True)
    mean = result.latency.read.mean_us
    assert mean is not None, "every request is a read"
    return mean * 1000


@dataclass(frozen=True)
class Shaped:
    """A candidate with the error of its reads of 16 KiB."""

    drive: Parameters
    error: float
    """Root mean square of ln(simulated / measured) over the simulated depths."""


def alike(error: float) -> float:
    """Returns below which error a drive explains the reads as well as the best one, whose error is
    given. The error of the best drive shows what the model lacks, so such a difference decides
    nothing.
    """
    return error + max(ALIKE, error)


def hides_transfer(drive: Parameters) -> bool:
    """Returns whether a large read does not depend on the transfer.

    A die without a cache register reads pages of 4 KiB one after the other, each in the time of a
    small read. A die with a cache register transfers the first page while it reads the second.
    """
    if drive.page == BLOCK and not drive.planes_first:
        return True
    return drive.register and drive.page < LARGE <= drive.row


def with_transfers(jobs: Recording, drive: Parameters, seed: int) -> list[Parameters]:
    """Returns candidates whose transfers agree with a large read at depth 1: the best one, or a
    range of them if the read does not depend on the transfer.

    Cells and the transfer of 4 KiB together keep their time. The candidates have their whole map in
    memory, as the large reads of the recipe stay in a small span.
    """
    drive = replace(drive, map_reach=None)
    together = drive.read + drive.transfer

    def candidate(transfer: float) -> Parameters:
        return replace(drive, transfer=transfer, read=together - transfer)

    if hides_transfer(drive):
        return [candidate(BLOCK / bus * 1e9) for bus in BUSES if BLOCK / bus * 1e9 < together / 3]
    low, high = 0.0, min(TRANSFER_MOST, together / 2)
    wanted = jobs.reads("large-1").mean_ns
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        mean = mean_read(config(candidate(middle)), f"{LARGE}B", 1, seed, REQUESTS_ALONE)
        low, high = (middle, high) if mean < wanted else (low, middle)
    return [candidate((low + high) / 2)]


def shaped(jobs: Recording, drive: Parameters, program: Estimate, seed: int) -> Shaped:
    """Returns a candidate with the error of its large reads, and of a program that they show."""
    logs = []
    if program.is_known:
        together = drive.program + drive.row / BLOCK * drive.transfer
        logs.append(math.log(together / program.number))
    for depth in LARGE_DEPTHS:
        requests = REQUESTS_ALONE if depth == 1 else REQUESTS_LARGE
        mean = mean_read(config(drive), f"{LARGE}B", depth, seed, requests)
        logs.append(math.log(mean / jobs.reads(f"large-{depth}").mean_ns))
        if abs(logs[-1]) > HOPELESS:
            break
    return Shaped(drive, math.sqrt(sum(log * log for log in logs) / len(logs)))
