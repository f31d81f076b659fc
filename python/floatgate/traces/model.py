"""Shared definitions of the trace package: the error, the units, the trace itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

READ, WRITE, TRIM, FLUSH = 0, 1, 2, 3

#: Nanoseconds in one tick of each time unit.
TIME_UNITS = {"ns": 1, "100ns": 100, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}

#: Bytes in one address or length unit.
SPACE_UNITS = {"bytes": 1, "sectors": 512, "pages": 4096, "KiB": 1 << 10, "MiB": 1 << 20}

#: Reason for a guessed unit that neither the format nor the file states.
UNSTATED = "nothing says their unit"

#: Columns of `Trace.frame`, in this order.
SCHEMA = {
    "at_ns": pl.UInt64,
    "op": pl.UInt8,
    "device": pl.UInt32,
    "offset": pl.UInt64,
    "length": pl.UInt64,
}

#: An optional column of a frame: the placement handle of each request.
STREAM = {"stream": pl.UInt16}

#: Limit of addresses and lengths in their own unit: 1 PiB even if a unit is one byte. A larger
#: number comes from a misread line. Below the limit, no sum in this package overflows.
NUMBER_LIMIT = 1 << 50


#: Rows of a trace that are requests: a flush needs no bytes, any other request does.
IS_REQUEST = (pl.col("length") > 0) | (pl.col("op") == FLUSH)


class TraceError(ValueError):
    """A mistake of the user, in one line: the given value, the expected values and the place."""


@dataclass(frozen=True)
class Units:
    """Units of the numbers in the file.

    `time` is a key of `TIME_UNITS`, `address` and `length` are keys of `SPACE_UNITS`.
    `guessed` holds one sentence for each unit that the content does not state.
    """

    time: str
    address: str
    length: str
    guessed: tuple[str, ...] = ()


@dataclass
class Trace:
    """A block trace in memory.

    `frame` has the columns of `SCHEMA`, and optionally the column of `STREAM`. `at_ns` counts from
    the earliest request and never falls. `op` is 0 read, 1 write, 2 trim, 3 flush. `device` indexes
    `devices` (the names in the file). `offset` and `length` are bytes. A flush has offset and
    length 0; no other request has length 0.
    `unparsed_lines` counts lines (or binary records) that could not be read, and `first_unparsed`
    shows the first of them. `notes` report everything else that was left out or changed.
    `checked` states for Parquet whether a digest in the file was compared with the requests.
    """

    name: str
    format: str
    frame: pl.DataFrame
    units: Units
    unparsed_lines: int = 0
    first_unparsed: str | None = None
    notes: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=lambda: ["0"])
    checked: bool | None = None


@dataclass
class Parsed:
    """Output of a format's reader, with numbers still in the units of the file.

    `frame` has `time` (decimal or integer, any origin), `op` (UInt8), `device` (integer or text),
    `offset` and `length` (UInt64). `units` is (time, address, length); `guesses` maps "time",
    "address" or "length" to a sentence with the reason for an assumed unit.
    `candidates` counts the lines or records that should have been requests.
    """

    frame: pl.DataFrame
    units: tuple[str, str, str]
    guesses: dict[str, str] = field(default_factory=dict)
    candidates: int = 0
    unparsed: int = 0
    first_unparsed: str | None = None
    cause: str | None = None
    """Reason why the whole file is unusable, if the reader has found one."""
    notes: list[str] = field(default_factory=list)
    rows: int = 0
    """Number of requests in the file, if only the earliest of them were read."""
    devices: Sequence[str] = ()
    """Names of devices that are numbers in the frame, if they have names."""
    checked: bool | None = None
    """As in `Trace`."""


#: The frame of a `Parsed` without requests.
NO_REQUESTS = pl.DataFrame(schema={"time": pl.Int64, **SCHEMA}).drop("at_ns")


def shorten(text: str, limit: int = 80) -> str:
    """Returns `text` on one line, quoted, cut to `limit` characters."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def plural(count: int, noun: str) -> str:
    """Returns `count` with its noun: "1 line", "2,000 lines"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
