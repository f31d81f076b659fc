"""Closed forms for the program of a row: its time, its bytes, and the speed of all dies.

Writes in order keep all dies programming, so their speed is dies x bytes of a row / time of a
program. The time alone appears in two places. A flush waits for a program, on a drive without
protected memory. A read that finds its die programming waits for the rest of the program, at most
for all of it, unless the drive suspends programs for reads. Then the longest wait is shorter than
any program, or the row that would follow from it is smaller than a flash page.
"""

from __future__ import annotations

from collections.abc import Iterable

from .device import Parameters
from .estimate import Estimate, known, unknown
from .recipe import KIB
from .recorded import Recording, Times
from .times import ReadTimes

PART = "cells and the transfer of the row"
FLUSH_LEAST = 3.0
"""A flush counts as a wait for a program if it takes at least this many times the way."""
FLUSH_SPREAD = 0.02
"""Relative error of a flush."""
DELAYED_LEAST = 200
"""Fewest delayed reads of an estimate."""
THRESHOLD = 0.25
"""A read counts as delayed if it takes longer than usual by this share."""
BELOW, ABOVE = 0.85, 1.18
"""Ranges below and above the longest wait, relative to it, whose counts show it."""
EDGE = 0.4
"""Least count of the longest wait, relative to the count of the most frequent one."""
EDGE_ITSELF = 0.95
"""Least count of the longest wait, relative to the largest one near it."""
TAIL_SPREAD = 0.05
"""Half of the relative interval of a program from the longest wait; over 49 random drives it was up
to 2 % off."""
PROGRAM_LEAST = 75_000.0
"""Shortest time of a program in nanoseconds. Single-level cells of low latency need so long."""
ROW_LEAST = 6 * KIB
"""Smallest row in bytes that a drive can have, with the error of its estimate."""


def program_time(jobs: Recording, times: ReadTimes, dies: Estimate) -> Estimate:
    """Estimates the time of a program with the transfer of its data, in nanoseconds."""
    from_flush = _from_flush(jobs, times)
    if from_flush.is_known:
        return from_flush
    from_tail = _from_tail(jobs, dies)
    if from_tail.is_known:
        return from_tail
    return unknown("program", "ns", "flush, tail", f"{from_flush.why}; {from_tail.why}")


def of_drives(program: Estimate, drives: Iterable[Parameters]) -> Estimate:
    """Returns a program that is unknown if it is the longest wait of reads and one of the drives
    programs page by page. Such reads may wait for several programs.
    """
    if program.jobs != "tail" or not any(drive.is_by_page for drive in drives):
        return program
    why = "reads may wait for several programs, of a page of 4 KiB each"
    return unknown(program.name, program.unit, program.jobs, why)


def _from_flush(jobs: Recording, times: ReadTimes) -> Estimate:
    writes = jobs.writes("flush")
    flush = 1e9 / writes.per_second - writes.mean_ns
    way = times.way.value or writes.mean_ns
    if flush < FLUSH_LEAST * way:
        return unknown("program", "ns", "flush", "a flush does not wait for a program")
    # A drive that programs page by page begins with the write, about a way before the flush.
    low, high = (flush - way) * (1 - FLUSH_SPREAD), flush * (1 + FLUSH_SPREAD)
    return Estimate("program", "ns", flush - way, low, high, "flush", PART)


def _from_tail(jobs: Recording, dies: Estimate) -> Estimate:
    usual = jobs.reads("read-1").quantile(0.5)
    delays = _delays(jobs.reads("tail"), usual)
    total = sum(count for _, count in delays)
    name, used = "program", "tail"
    if total < DELAYED_LEAST:
        return unknown(name, "ns", used, f"only {total} reads wait for a program")
    edges = {delay: _edge(delays, delay) for delay, _ in delays}
    last = max(delay for delay, edge in edges.items() if edge >= EDGE * max(edges.values()))
    # Up to 1 / BELOW beyond the longest wait of many reads, a longer wait of one still shows them.
    near = {delay: edge for delay, edge in edges.items() if BELOW * last <= delay <= last}
    longest = min(delay for delay, edge in near.items() if edge >= EDGE_ITSELF * max(near.values()))
    row = write_speed(jobs).number * longest / 1e9 / (dies.value or 1)
    if row < ROW_LEAST or longest < PROGRAM_LEAST:
        why = f"reads wait at most {longest / 1e3:.0f} us, as if programs yield to them"
        return unknown(name, "ns", used, why)
    return known(name, "ns", [longest], used, PART, TAIL_SPREAD)


def _edge(delays: list[tuple[float, int]], longest: float) -> int:
    """Returns how many more reads wait a little shorter than `longest` than a little longer."""
    below = sum(count for delay, count in delays if BELOW * longest < delay <= longest)
    return below - sum(count for delay, count in delays if longest < delay <= ABOVE * longest)


def _delays(times: Times, usual: float) -> list[tuple[float, int]]:
    """Returns the times by which delayed reads exceed a usual one, with their number."""
    late = ((ns - usual, count) for ns, count in times.bins)
    return [(delay, count) for delay, count in late if delay > THRESHOLD * usual]


def write_speed(jobs: Recording) -> Estimate:
    """Returns the speed of writes in order in bytes per second, from whole passes."""
    speed = jobs.writes("rewrite").bytes_per_second
    return known("speed of writes in order", "B/s", [speed], "rewrite", spread=0.01)
