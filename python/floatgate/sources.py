"""Where the requests of a run come from: a file, a table or a generator, read once for all runs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from . import _core
from .run_options import RunOptions
from .traces import Trace, lay_out, read_trace

BATCH = 1 << 16
"""Requests of a generator that are turned into columns at once."""

READING = ("format", "close_gaps")
"""Options of reading: they are for files."""


@dataclass(frozen=True)
class Load:
    """What a job replays, and what is to be said about it in its result."""

    workload: _core.Workload
    span_bytes: int | None
    notes: list[str]
    skipped: int


@dataclass
class Source:
    """A trace that was read once, for all runs of a comparison.

    A generator that is played as it is has no `trace`: it makes its requests on the fly.
    """

    name: str
    how: RunOptions
    workload: _core.Workload | None
    trace: Trace | None
    loads: dict[int | None, Load] = field(default_factory=dict)

    def load(self, capacity: int | None) -> Load:
        """The workload; `capacity` in bytes is what addresses are wrapped onto, if they are."""
        if capacity not in self.loads:
            self.loads[capacity] = self._load(capacity)
        return self.loads[capacity]

    def _load(self, capacity: int | None) -> Load:
        if self.trace is None:
            assert self.workload is not None
            return Load(self.workload, None, [], 0)
        # A generator has said its span; it is not less because a part of it was not touched.
        mode = "span" if self.workload and capacity is None else self.how.addresses
        layout = lay_out(self.trace, mode, capacity=capacity)
        span = layout.span_bytes
        if self.workload and capacity is None:
            span = self.workload.span_bytes
        workload = _core.Workload.recorded(
            self.name, layout.frame, self.how.repeat, self.how.time_scale
        )
        return Load(workload, span, _notes(self.trace) + layout.notes, self.trace.unparsed_lines)


def _notes(trace: Trace) -> list[str]:
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
        read = first_requests(trace, how.limit)
    else:
        read = read_trace(trace, format=how.format, limit=how.limit, close_gaps=how.close_gaps)
    return Source(read.name, how, None, read)


def first_requests(trace: Trace, limit: int | None) -> Trace:
    """The trace with only so many of its requests."""
    if limit is None or limit >= trace.frame.height:
        return trace
    note = f"only the first {limit:,} of {trace.frame.height:,} requests"
    return replace(trace, frame=trace.frame.head(limit), notes=[*trace.notes, note])


def is_generator(text: str) -> bool:
    """Whether `text` is NAME:key=value,... with the name of a generator.

    Raises ConfigError for what looks like one but has another name, and is no file either.
    """
    known = [row["name"] for row in json.loads(_core.generators())]
    name, colon, _ = text.partition(":")
    if name in known:
        return bool(colon) or not Path(text).exists()
    if re.match(r"\w+:\w+=", text) and not Path(text).exists():
        raise _core.ConfigError(
            f"trace: no file and no generator {name!r}; the generators are {', '.join(known)}"
        )
    return False


def open_generator(text: str, how: RunOptions) -> Source:
    how.refuse(READING, f"{text} is a generator")
    workload = _core.Workload.generator(text, how.seed)
    whole = how.limit is None or how.limit >= workload.requests
    if whole and how.repeat == 1 and how.time_scale == 1 and how.addresses != "modulo":
        return Source(workload.name, how, workload, None)
    frames = []
    missing = workload.requests if how.limit is None else how.limit
    for batch in workload.batches(BATCH):
        frames.append(pl.DataFrame(batch).head(missing))
        missing -= frames[-1].height
        if not missing:
            break
    trace = read_trace(pl.concat(frames))
    if not whole:
        trace.notes.append(f"only the first {how.limit:,} of {workload.requests:,} requests")
    return Source(workload.name, how, workload, trace)
