"""How slow the slowest requests are, from excerpts of a trace with its own timing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import polars as pl

from floatgate import _core, configs, runner
from floatgate.configs import Device
from floatgate.jobs import Progress
from floatgate.report.values import count, measured, size
from floatgate.result import Result
from floatgate.run_options import RunOptions
from floatgate.traces import lay_out, read_trace
from floatgate.traces.model import WRITE, Trace

from .answers import QUESTIONS
from .calls import Calls
from .lines import Line, Number, unknown
from .sampled import UNITS, UNITS_LEAST

EXCERPTS = 3
"""From the beginning, the middle and the end."""

REQUESTS = 50_000
PAGES = 400_000
"""Requests of an excerpt, and pages of 4 KiB that they touch, at most."""

BUSY = 0.95
"""A share of the time that the dies work, from which on the drive does not keep up."""


NEXT = (
    "The drive itself, with the trace replayed at its times; for the causes all latencies of a run."
)


def latency(
    trace: Trace,
    device: Device,
    duration_s: float,
    seed: int,
    calls: Calls,
    progress: Progress | None,
) -> Line:
    """The line of p99 under the trace's own timing."""
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
    return _line(name, results, capacity, calls.timed(device))


def _drive(trace: Trace, device: Device) -> tuple[dict[str, Any] | None, int]:
    """Settings of the drive, made as small as the trace, and the bytes that it holds."""
    config = json.loads(configs.resolve(device, {}))
    if config["timing"] == "none":
        return None, 0
    span = lay_out(trace).span_bytes
    flash, levels = config["flash"], config["flash"]["program_pages"]
    row = _core.parse_size("flash.page", flash["page"]) * flash["superblock"]
    pages = max(1, round(span / UNITS / (row * levels))) * levels
    pages = min(pages, flash["pages_per_block"])
    # A smaller trace leaves a part of the drive full of data that it does not touch.
    capacity = max(span, UNITS_LEAST * pages * row)
    spare = configs.spare_factor(config)
    blocks = -(-capacity // round((1 - spare) * pages * row)) * flash["superblock"]
    erase = (_core.span_ns(flash["erase"]) or 0) * pages // flash["pages_per_block"]
    return {
        "flash.pages_per_block": pages,
        "flash.blocks": blocks + 2 * flash["superblock"],
        "flash.erase": f"{erase}ns",
        "start.fill": "random",
        "start.overwrites": 1,
    }, capacity


def _excerpts(trace: Trace) -> list[Trace]:
    """Parts of the trace, at its own times and addresses."""
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


def _line(name: str, results: list[Result], capacity: int, call: str) -> Line:
    numbers, words = [], []
    for kind in ("read", "write"):
        times = [getattr(result.latency, kind).p99_us for result in results]
        known = sorted(time for time in times if time is not None)
        if known:
            middle = known[len(known) // 2]
            ends = (known[0], known[-1]) if len(known) > 1 else (None, None)
            numbers.append(Number(f"p99 of {kind}s", middle, "us", *ends))
            span = f" ({measured(known[0])} to {measured(known[-1])})" if len(known) > 1 else ""
            words.append(f"p99 of {kind}s {measured(middle)} µs{span}")
    if not words:
        return unknown("latency", QUESTIONS["latency"], "nothing is read or written", NEXT)
    requests = sum(result.workload.requests for result in results)
    method = (
        f"Simulated with time, {len(results)} excerpt{'s' if len(results) > 1 else ''} of "
        f"{count(requests)} requests in all, on a {name} of {size(capacity)}: its dies, buses and "
        "times, blocks as much smaller as the drive is. Before each it was filled, and written "
        "once over at random. Middle, least and most of the excerpts."
    )
    doubts = ["the times are those of the system that was traced: a faster drive may be sent more"]
    busy = [result.throughput.utilization or 0.0 for result in results]
    if max(busy) > BUSY:
        doubts.append(
            f"the drive is busy {max(busy):.0%} of the time: it does not keep up, and latency is "
            "that of a queue that grows"
        )
    answer = f"On {name}: {'; '.join(words)}."
    return Line(
        "latency",
        QUESTIONS["latency"],
        answer,
        "simulated",
        method,
        tuple(doubts),
        NEXT,
        (*numbers,),
        (call,),
    )
