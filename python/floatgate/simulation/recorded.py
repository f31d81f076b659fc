"""Recorded requests: traces in files, in tables, or kept from a generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from floatgate import _core
from floatgate.traces import (
    Layout,
    Stream,
    StreamLayout,
    Trace,
    TraceError,
    lay_out,
    open_trace,
    trace_of,
)

from .load import Load
from .options import READING, RunOptions

BATCH = 1 << 16
"""Requests of a generator that are turned into columns at once."""


def opened(trace: Any, how: RunOptions) -> Trace | Stream:
    """Opens the trace, unless the caller has read or opened it already.

    Raises ConfigError for an option of reading if the trace was read before.
    """
    if isinstance(trace, Trace):
        how.refuse(READING, "the trace is read already")
        return first_requests(trace, how.limit)
    if isinstance(trace, Stream):
        how.refuse((*READING, "limit"), "the trace is open already")
        return trace
    return open_trace(trace, format=how.format, limit=how.limit, close_gaps=how.close_gaps)


def about(trace: Trace | Stream) -> Trace:
    """Returns a trace in memory as it is, and a long trace as its description without requests."""
    return trace.about if isinstance(trace, Stream) else trace


def held(trace: Trace | Stream) -> Trace:
    return trace.hold() if isinstance(trace, Stream) else trace


def load(
    name: str,
    trace: Trace | Stream,
    generator: _core.Workload | None,
    how: RunOptions,
    capacity: int | None,
) -> Load:
    """Returns the requests of a trace as a workload. A `generator` may have made the trace.

    Addresses wrap around at `capacity` bytes; None wraps nothing. Raises TraceError if no request
    is left.
    """
    # The span that a generator states includes addresses that no request touches.
    is_made = generator is not None and capacity is None
    mode = "span" if is_made else how.addresses
    if isinstance(trace, Stream):
        played: Layout | StreamLayout = trace.lay_out(mode, capacity=capacity, streams=how.streams)
    else:
        played = lay_out(trace, mode, capacity=capacity, streams=how.streams)
    if not played.requests:
        raise TraceError(
            f"{name}: no request is left: {'; '.join(played.notes)}; addresses span "
            "(--addresses span) keeps every trim"
        )
    span = generator.span_bytes if generator and is_made else played.span_bytes
    known = about(trace)
    notes = notes_of(known) + played.notes
    has_handles = how.streams == "device" or "stream" in known.frame.columns
    closed = generator is not None and generator.is_closed
    return Load(
        _workload(name, played, how, closed), span, notes, known.unparsed_lines, has_handles
    )


def _workload(
    name: str, played: Layout | StreamLayout, how: RunOptions, closed: bool
) -> _core.Workload:
    if isinstance(played, Layout):
        return _core.Workload.recorded(
            name, played.frame, how.repeat, how.time_scale, closed=closed
        )
    return _core.Workload.streamed(
        name,
        played.batches,
        how.repeat,
        how.time_scale,
        closed=closed,
        requests=played.requests,
        span_bytes=played.span_bytes,
        last_ns=played.stream.last_ns,
    )


def notes_of(trace: Trace) -> list[str]:
    """Returns notes on a trace: guesses made in reading it, and lines that could not be read."""
    notes = [*trace.units.guessed, *trace.notes]
    if trace.unparsed_lines:
        lines = f"{trace.unparsed_lines:,} line{'s' if trace.unparsed_lines > 1 else ''}"
        notes.append(f"{lines} of the trace could not be read, the first: {trace.first_unparsed}")
    return notes


def first_requests(trace: Trace, limit: int | None) -> Trace:
    if limit is None or limit >= trace.frame.height:
        return trace
    note = f"only the first {limit:,} of {trace.frame.height:,} requests"
    return replace(trace, frame=trace.frame.head(limit), notes=[*trace.notes, note])


def requests_of(workload: _core.Workload, limit: int | None) -> Trace | Stream:
    wanted = min(workload.requests, limit or workload.requests)

    def frames() -> Iterator[pl.DataFrame]:
        missing = wanted
        batches = iter(workload.batches(BATCH))
        while missing:
            frame = pl.DataFrame(next(batches)).head(missing)
            missing -= frame.height
            yield frame

    return trace_of(frames, wanted)
