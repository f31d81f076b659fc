"""Latency of the slowest requests, from excerpts of a trace with its own timing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from floatgate import _core
from floatgate.results.marks import UNITS_FEW
from floatgate.results.result import Result
from floatgate.results.tables import Unit
from floatgate.results.values import count, measured, size
from floatgate.simulation import configs, runner, scaling
from floatgate.simulation.configs import Device
from floatgate.simulation.options import RunOptions
from floatgate.simulation.scaling import UNITS
from floatgate.simulation.watching import Progress
from floatgate.traces import lay_out, read_trace
from floatgate.traces.model import WRITE, Trace

from .answers import QUESTIONS
from .calls import Calls
from .lines import Line, Number, unknown
from .tables import time_of

EXCERPTS = 3
"""Number of excerpts: from the beginning, the middle and the end."""

REQUESTS = 50_000
PAGES = 400_000
"""Maximum number of requests of an excerpt, and of pages of 4 KiB that they touch."""

BUSY = 0.95
"""Minimum busy share of the dies at which the drive does not keep up."""

FEW = 1000
"""Minimum number of requests for a sound p99: with fewer, fewer than ten are slower than p99."""

NEXT = (
    "The drive itself, with the trace replayed at its times; for causes, a run of the whole trace "
    "with all latencies."
)


def latency(
    trace: Trace,
    device: Device,
    duration_s: float,
    seed: int,
    calls: Calls,
    progress: Progress | None,
) -> Line:
    """Returns the line on p99 under the trace's own timing."""
    if duration_s == 0:
        reason = "the trace has no time stamps"
        return unknown("latency", QUESTIONS["latency"], reason, "A trace with its times.")
    name = configs.name(device)
    settings, capacity = _drive(trace, device)
    if settings is None:
        reason = f"the time of {name} is not simulated (timing = none)"
        return unknown("latency", QUESTIONS["latency"], reason, NEXT)
    drive = configs.resolve_all(device, settings, {})[0]
    how = RunOptions(seed=seed, addresses="span")
    results = [
        runner.simulate([part], [drive], [how], progress=progress)[0] for part in _excerpts(trace)
    ]
    return _line(name, results, capacity, calls.timed(device, settings))


def _drive(trace: Trace, device: Device) -> tuple[dict[str, Any] | None, int]:
    """Returns settings of a drive as small as the trace, and the bytes that it holds. The settings
    are None if the device has no simulated time.
    """
    resolved = configs.resolve(device, {})
    config = resolved.table()
    if config["timing"] == "none":
        return None, 0
    span = lay_out(trace).span_bytes
    flash, levels = config["flash"], config["flash"]["program_pages"]
    row = _core.parse_size("flash.page", flash["page"]) * flash["superblock"]
    rows = max(1, round(span / UNITS / (row * levels)))
    shorter = scaling.shorter(flash, min(rows, flash["pages_per_block"] // levels))
    pages = shorter["pages_per_block"]
    # With a smaller trace, the rest of the drive is full of data that the trace does not touch.
    capacity = max(span, UNITS_FEW * pages * row)
    held = round((1 - resolved.spare_factor) * pages * row)
    blocks = -(-capacity // held) * flash["superblock"]
    return {
        **{f"flash.{key}": value for key, value in shorter.items()},
        "flash.blocks": blocks + 2 * flash["superblock"],
        "start.fill": "random",
        "start.overwrites": 1,
    }, capacity


def _excerpts(trace: Trace) -> list[Trace]:
    """Returns excerpts of the trace, with its own times and addresses."""
    frame = lay_out(trace).frame
    pages = (pl.col("length") // 4096 + 1) * (pl.col("op") <= WRITE)
    mean = float(frame.select(pages.mean()).item() or 1)
    many = max(1, min(REQUESTS, int(PAGES / max(mean, 1e-9))))
    if many * EXCERPTS >= frame.height:
        return [_part(trace, frame)]
    step = (frame.height - many) // (EXCERPTS - 1)
    return [_part(trace, frame.slice(at * step, many)) for at in range(EXCERPTS)]


def _part(trace: Trace, frame: pl.DataFrame) -> Trace:
    shifted = frame.with_columns(pl.col("at_ns") - pl.col("at_ns").min())
    return replace(read_trace(shifted), name=trace.name)


@dataclass(frozen=True)
class _Tail:
    """p99 of the reads or of the writes."""

    kind: str
    times_us: list[float]
    """p99 of each excerpt that has such requests, in ascending order."""
    fewest: int
    """Smallest number of such requests in an excerpt."""

    @property
    def middle_us(self) -> float:
        """Median of the excerpts."""
        return self.times_us[len(self.times_us) // 2]

    @property
    def ends_us(self) -> tuple[float, float] | None:
        """Smallest and largest p99 of the excerpts; None for one excerpt."""
        return (self.times_us[0], self.times_us[-1]) if len(self.times_us) > 1 else None

    def number(self) -> Number:
        """Returns p99 as a row of the document."""
        return Number(f"p99 of {self.kind}s", self.middle_us, "us", *(self.ends_us or (None, None)))

    def words(self, time: Unit) -> str:
        """Returns p99 as a clause of the answer."""
        unit, base = time
        text = f"p99 of {self.kind}s {measured(self.middle_us / base)} {unit}"
        if self.ends_us is None:
            return text
        return f"{text} ({' to '.join(measured(end / base) for end in self.ends_us)})"

    def few(self) -> str | None:
        """Returns a doubt if p99 rests on few requests; else None."""
        if self.fewest >= FEW:
            return None
        many = f"{self.fewest} {self.kind}{'s' if self.fewest > 1 else ''}"
        if len(self.times_us) > 1:
            many += " in one of the excerpts"
        slower = self.fewest // 100
        says = f"{slower} of them {'are' if slower > 1 else 'is'} slower"
        return f"p99 of {self.kind}s rests on {many}: {says if slower else 'it is the slowest'}"


def _tail(kind: str, results: list[Result]) -> _Tail | None:
    """Returns p99 of the requests of a kind; None if there are none."""
    found = [getattr(result.latency, kind) for result in results]
    known = [one for one in found if one.p99_us is not None]
    if not known:
        return None
    return _Tail(kind, sorted(one.p99_us for one in known), min(one.requests for one in known))


def _thin(tails: list[_Tail]) -> list[str]:
    """Returns doubts for a p99 that rests on few requests, or on one excerpt."""
    doubts = [doubt for tail in tails if (doubt := tail.few()) is not None]
    if alone := [f"of {tail.kind}s" for tail in tails if tail.ends_us is None]:
        doubts.append(
            f"p99 {' and '.join(alone)} is from one excerpt, and has no interval: its variation "
            "over the trace is not known"
        )
    return doubts


def _line(name: str, results: list[Result], capacity: int, call: str) -> Line:
    tails = [tail for kind in ("read", "write") if (tail := _tail(kind, results)) is not None]
    if not tails:
        return unknown("latency", QUESTIONS["latency"], "nothing is read or written", NEXT)
    requests = sum(result.workload.requests for result in results)
    method = [
        (
            f"Simulated with time: {len(results)} excerpt{'s' if len(results) > 1 else ''} of "
            f"{count(requests)} requests in all, on a {name} of {size(capacity)}."
        ),
        (
            "The drive has its own dies, buses and times, and blocks scaled down like the drive; "
            "before each excerpt it was filled, and overwritten once at random."
        ),
    ]
    if any(tail.ends_us is not None for tail in tails):
        method.append("Middle, least and most of the excerpts.")
    doubts = ["the times are from the traced system: a host may send more to a faster drive"]
    doubts += _thin(tails)
    busy = [result.throughput.utilization or 0.0 for result in results]
    if max(busy) > BUSY:
        doubts.append(
            f"the drive is busy {max(busy):.0%} of the time: it does not keep up, and latency "
            "shows a growing queue"
        )
    time = time_of(numbers := [tail.number() for tail in tails])
    answer = f"On {name}: {'; '.join(tail.words(time) for tail in tails)}."
    return Line(
        "latency",
        QUESTIONS["latency"],
        answer,
        "simulated",
        (*method,),
        tuple(doubts),
        NEXT,
        tuple(numbers),
        (call,),
    )
