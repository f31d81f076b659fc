"""Sources of a run's requests: a file, a table or a generator."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
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

from .options import RunOptions

BATCH = 1 << 16
"""Requests of a generator that are turned into columns at once."""

READING = ("format", "close_gaps")
"""Options of reading, which apply to files only."""


@dataclass(frozen=True)
class Load:
    """Requests that a job replays, and notes on them for its result."""

    workload: _core.Workload
    span_bytes: int | None
    notes: list[str]
    skipped: int

    @property
    def span(self) -> int:
        """Bytes that the drive has to hold."""
        return self.workload.span_bytes if self.span_bytes is None else self.span_bytes


@dataclass
class Source:
    """A trace that was opened once, for all runs of a comparison.

    A long trace is a `Stream`, which is read while it is played. A generator that is played
    unchanged has no `trace`: it makes its requests on the fly.
    """

    name: str
    how: RunOptions
    workload: _core.Workload | None
    trace: Trace | Stream | None
    loads: dict[int | None, Load] = field(default_factory=dict)

    def load(self, capacity: int | None) -> Load:
        """Returns the workload.

        `capacity` is the bytes that addresses are wrapped onto; None wraps nothing.
        """
        if capacity not in self.loads:
            self.loads[capacity] = self._load(capacity)
        return self.loads[capacity]

    def _load(self, capacity: int | None) -> Load:
        if self.trace is None:
            assert self.workload is not None
            return Load(self.workload, None, [], 0)
        # A generator states its span. The span does not shrink if some addresses were never
        # touched.
        mode = "span" if self.workload and capacity is None else self.how.addresses
        if isinstance(self.trace, Stream):
            played: Layout | StreamLayout = self.trace.lay_out(
                mode, capacity=capacity, streams=self.how.streams
            )
        else:
            played = lay_out(self.trace, mode, capacity=capacity, streams=self.how.streams)
        if not played.requests:
            raise TraceError(
                f"{self.name}: no request is left: {'; '.join(played.notes)}; addresses span "
                "(--addresses span) keeps every trim"
            )
        span, about = played.span_bytes, _about(self.trace)
        if self.workload and capacity is None:
            span = self.workload.span_bytes
        return Load(
            self._workload(played), span, notes_of(about) + played.notes, about.unparsed_lines
        )

    def _workload(self, played: Layout | StreamLayout) -> _core.Workload:
        repeat, time_scale = self.how.repeat, self.how.time_scale
        if isinstance(played, Layout):
            return _core.Workload.recorded(self.name, played.frame, repeat, time_scale)
        return _core.Workload.streamed(
            self.name,
            played.batches,
            repeat,
            time_scale,
            requests=played.requests,
            span_bytes=played.span_bytes,
            last_ns=played.stream.last_ns,
        )

    @property
    def held(self) -> Trace | None:
        """The trace in memory; None for a generator that is played unchanged."""
        if isinstance(self.trace, Stream):
            self.trace = self.trace.hold()
        return self.trace


def notes_of(trace: Trace) -> list[str]:
    """Returns notes on a trace: guesses made in reading it, and lines that could not be read."""
    notes = [*trace.units.guessed, *trace.notes]
    if trace.unparsed_lines:
        lines = f"{trace.unparsed_lines:,} line{'s' if trace.unparsed_lines > 1 else ''}"
        notes.append(f"{lines} of the trace could not be read, the first: {trace.first_unparsed}")
    return notes


def open_source(trace: Any, how: RunOptions) -> Source:
    if isinstance(trace, str) and is_generator(trace):
        return open_generator(trace, how)
    if isinstance(trace, Trace):
        how.refuse(READING, "the trace is read already")
        return Source(trace.name, how, None, first_requests(trace, how.limit))
    if isinstance(trace, Stream):
        how.refuse((*READING, "limit"), "the trace is open already")
        return Source(trace.about.name, how, None, trace)
    read = open_trace(trace, format=how.format, limit=how.limit, close_gaps=how.close_gaps)
    return Source(_about(read).name, how, None, read)


def _about(trace: Trace | Stream) -> Trace:
    return trace.about if isinstance(trace, Stream) else trace


def first_requests(trace: Trace, limit: int | None) -> Trace:
    """Returns the trace with only its first `limit` requests."""
    if limit is None or limit >= trace.frame.height:
        return trace
    note = f"only the first {limit:,} of {trace.frame.height:,} requests"
    return replace(trace, frame=trace.frame.head(limit), notes=[*trace.notes, note])


def is_generator(text: str) -> bool:
    """Returns whether `text` is NAME:key=value,... with the name of a generator.

    Raises ConfigError for a text that looks like one, but names neither a generator nor a file.
    """
    name, colon, _ = text.partition(":")
    if name in _generators():
        return bool(colon) or not Path(text).exists()
    if re.match(r"\w+:\w+=", text) and not Path(text).exists():
        raise _core.ConfigError(
            f"trace: no file and no generator {name!r}; the generators are "
            + ", ".join(_generators())
        )
    return False


@cache
def _generators() -> tuple[str, ...]:
    return tuple(row["name"] for row in json.loads(_core.generators()))


def open_generator(text: str, how: RunOptions) -> Source:
    how.refuse(READING, f"{text} is a generator")
    workload = _core.Workload.generator(text, how.seed)
    whole = how.limit is None or how.limit >= workload.requests
    if whole and how.repeat == 1 and how.time_scale == 1 and how.addresses != "modulo":
        return Source(workload.name, how, workload, None)
    trace = _requests(workload, how.limit)
    if not whole:
        note = f"only the first {how.limit:,} of {workload.requests:,} requests"
        _about(trace).notes.append(note)
    return Source(workload.name, how, workload, trace)


def _requests(workload: _core.Workload, limit: int | None) -> Trace | Stream:
    """Returns the first requests of a generator as a trace."""
    wanted = min(workload.requests, limit or workload.requests)

    def frames() -> Iterator[pl.DataFrame]:
        missing = wanted
        batches = iter(workload.batches(BATCH))
        while missing:
            frame = pl.DataFrame(next(batches)).head(missing)
            missing -= frame.height
            yield frame

    return trace_of(frames, wanted)
