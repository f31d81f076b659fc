"""Where the requests of a run come from: a file, a table or a generator, read once for all runs."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from . import _core
from .traces import Trace, lay_out, read_trace
from .traces.gaps import parse_duration
from .traces.layout import MODES

BATCH = 1 << 16
"""Requests of a generator that are turned into columns at once."""


@dataclass(frozen=True)
class RunOptions:
    """The options of a run that are no part of the config."""

    repeat: int = 1
    """How often the trace is played."""
    limit: int | None = None
    """Only the first so many requests."""
    seed: int = 1
    """Behind all that is random."""
    addresses: str = "fold"
    """How the devices of a trace become one address space: a key of `layout.MODES`."""
    time_scale: float = 1.0
    """Multiplies the time between requests."""
    verify: bool = False
    """Keeps and checks the content of every page."""
    format: str | None = None
    """The format of the trace, instead of recognising it."""
    close_gaps: str | None = None
    """Shortens longer gaps between two requests to this duration."""

    def __post_init__(self) -> None:
        def expect(holds: bool, name: str, expected: str) -> None:
            if not holds:
                given = getattr(self, name)
                raise _core.ConfigError(f"{name}: {given!r} given; expected {expected}")

        expect(self.repeat >= 1, "repeat", "at least 1")
        expect(self.limit is None or self.limit >= 1, "limit", "at least 1 request")
        expect(0 <= self.seed < 1 << 64, "seed", "0 to 2^64 - 1")
        expect(self.addresses in MODES, "addresses", " or ".join(MODES))
        scale = self.time_scale
        expect(math.isfinite(scale) and scale > 0, "time_scale", "a number above 0")
        if self.close_gaps is not None:
            parse_duration(self.close_gaps)


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
        _refuse_reading(how, "the trace is read already")
        read = first_requests(trace, how.limit)
    else:
        read = read_trace(trace, format=how.format, limit=how.limit, close_gaps=how.close_gaps)
    return Source(read.name, how, None, read)


def _refuse_reading(how: RunOptions, why: str) -> None:
    """Raises ConfigError for options of reading where nothing is read."""
    for name in ("format", "close_gaps"):
        if (given := getattr(how, name)) is not None:
            raise _core.ConfigError(f"{name}: {given!r} given, but {why}")


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
    _refuse_reading(how, f"{text} is a generator")
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
