"""A trace that is too long for memory: it is read from its file whenever it is played.

The file is surveyed once beforehand, for facts that need all requests: their number, the time of
the last request, the devices and the regions that they touch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from . import gaps
from .build import (
    check_span,
    in_schema,
    no_requests,
    number_devices,
    refuse_garbage,
    said_units,
    since,
    to_bytes,
)
from .layout import Footprint, Placing, told
from .model import IS_REQUEST, SCHEMA, TRIM, Parsed, Trace, Units, plural


@dataclass(frozen=True)
class Room:
    """Limits on the part of a trace that is in memory at a time."""

    requests: int = 1 << 23
    """Maximum number of requests of a trace in memory: some 300 MB."""
    piece: int = 1 << 23
    """Bytes of a file that are read at a time; text needs some ten times as much meanwhile."""
    batch: int = 1 << 18
    """Rows of a Parquet file that are decoded at a time."""


ROOM = Room()
"""The default."""


class UnsortedError(Exception):
    """Raised if a time is earlier than its predecessor: sorting needs the whole trace."""


@dataclass(frozen=True)
class Stream:
    """A long trace: facts about all its requests, and a function that reads them."""

    about: Trace
    """The trace without its requests: its frame is empty."""
    requests: int
    last_ns: int
    footprint: Footprint
    batches: Callable[[], Iterator[pl.DataFrame]]
    """Yields frames with the columns of `Trace.frame`, in order, from the first request on."""
    gaps: list[str]
    """Notes of `about` on long gaps."""

    def lay_out(
        self, mode: str = "fold", *, capacity: int | None = None, streams: str = "trace"
    ) -> StreamLayout:
        """Lays out the trace as `layout.lay_out` does.

        Reads the trace once more if requests may change: any request with `modulo`, and otherwise
        trims that reach into regions without reads and writes.
        """
        placing = self.footprint.place(self.about.name, mode, capacity).with_streams(streams)
        requests, tally = self.requests, Counter[str]()
        if placing.wraps or (placing.runs is not None and self.footprint.has_trims):
            for frame in self.batches():
                altered = frame if placing.wraps else frame.filter(pl.col("op") == TRIM)
                requests += placing.apply(altered, tally).height - altered.height
        return StreamLayout(self, placing, requests, told(tally))

    def unread(self) -> Trace:
        """Returns `about` without the notes that a reader of its requests produces again."""
        notes = [note for note in self.about.notes if note not in self.gaps]
        return replace(self.about, notes=notes)

    def hold(self) -> Trace:
        return replace(self.about, frame=pl.concat(self.batches()))


@dataclass(frozen=True)
class StreamLayout:
    """Requests of a long trace in one address space, as `Layout` for a trace in memory."""

    stream: Stream
    placing: Placing
    requests: int
    notes: list[str]

    @property
    def span_bytes(self) -> int:
        """Size of the address space in bytes."""
        return self.placing.span_bytes

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yields frames with `at_ns`, `op`, `offset`, `length`, and `stream` if it has handles."""
        for frame in self.stream.batches():
            yield self.placing.apply(frame, Counter())


def survey(
    parsed: Parsed,
    rows: Callable[[], Iterator[pl.DataFrame]],
    name: str,
    form: str,
    close_gaps: int | None,
    limit: int | None = None,
    units: Mapping[str, str] | None = None,
) -> Stream:
    """Surveys a trace; each call of `rows` yields its frames, as in `Parsed`.

    `rows` yields the first `limit` requests if `limit` is given; `parsed.rows` counts all requests.
    `parsed` has everything except the frame; `units` overrides units. Raises `UnsortedError`, and
    `TraceError` as `build` does.
    """
    refuse_garbage(parsed, name, form)
    said = said_units(parsed, units or {})
    timed, footprint = _Timed(said, close_gaps, name), Footprint()
    long_gaps, keys = gaps.Gaps(), dict[Any, int]()
    requests = last_ns = 0
    empty = pl.DataFrame(schema=SCHEMA)
    for frame in rows():
        frame = timed.take(frame)
        if frame.is_empty():
            continue
        for key in frame["device"].unique():
            keys.setdefault(key, len(keys))
        shaped = in_schema(frame, keys)
        footprint.add(shaped)
        empty = shaped.clear()
        long_gaps.add(frame["at_ns"])
        requests, last_ns = requests + frame.height, int(frame["at_ns"][-1])
    if not requests:
        raise no_requests(name, form, [*parsed.notes, *timed.told_of_empty()])
    numbers, devices = number_devices(pl.Series([*keys]), parsed.devices)
    about = Trace(name, form, empty, said, devices=devices)
    about.unparsed_lines, about.first_unparsed = parsed.unparsed, parsed.first_unparsed
    about.checked = parsed.checked and limit is None
    about.notes = [*parsed.notes, *timed.told_of_empty()]
    if limit == requests < parsed.rows:
        about.notes.append(f"only the first {requests:,} of {parsed.rows:,} requests")
    found = long_gaps.told() if timed.closing is None else []
    about.notes += found if timed.closing is None else [timed.closing.told()]

    def batches() -> Iterator[pl.DataFrame]:
        again = _Timed(said, close_gaps, name)
        for frame in rows():
            yield in_schema(again.take(frame), numbers)

    numbered = footprint.numbered({keys[key]: number for key, number in numbers.items()})
    return Stream(about, requests, last_ns, numbered, batches, found)


class _Timed:
    """Converts frames of `Parsed` in their order to requests in bytes with `at_ns`."""

    def __init__(self, units: Units, close_gaps: int | None, name: str) -> None:
        self.empty = 0
        self.closing = None if close_gaps is None else gaps.Closing(close_gaps)
        self._units = units
        self._name = name
        self._first: Any = None
        self._last: Any = None

    def take(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Converts a frame. Raises `UnsortedError` if a time is earlier than its predecessor."""
        kept = to_bytes(frame, self._units).filter(IS_REQUEST)
        self.empty += frame.height - kept.height
        time = kept["time"]
        if time.is_empty():
            return kept.with_columns(at_ns=pl.lit(0, pl.UInt64))
        if self._first is None:
            self._first = self._last = time[0]
        if time[0] < self._last or not time.is_sorted():
            raise UnsortedError
        self._last = time[-1]
        check_span(self._first, self._last, self._units.time, self._name)
        kept = kept.with_columns(since(self._first, time.dtype, self._units.time))
        return (
            kept if self.closing is None else kept.with_columns(self.closing.close(kept["at_ns"]))
        )

    def told_of_empty(self) -> list[str]:
        """Returns the note about dropped requests of length 0, or an empty list."""
        return [f"{plural(self.empty, 'request')} of length 0 dropped"] if self.empty else []
