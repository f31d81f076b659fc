"""What every part of the trace front shares: the error, the units, the trace itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

READ, WRITE, TRIM, FLUSH = 0, 1, 2, 3

#: Nanoseconds in one tick of each time unit.
TIME_UNITS = {"ns": 1, "100ns": 100, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}

#: Bytes in one address or length unit.
SPACE_UNITS = {"bytes": 1, "sectors": 512, "pages": 4096, "KiB": 1 << 10, "MiB": 1 << 20}

#: Why a unit is a guess where neither the format nor the file has a word about it.
UNSTATED = "nothing says their unit"

#: Columns of `Trace.frame`, in this order.
SCHEMA = {
    "at_ns": pl.UInt64,
    "op": pl.UInt8,
    "device": pl.UInt32,
    "offset": pl.UInt64,
    "length": pl.UInt64,
}

#: A column that a frame may have besides: the placement handle of each request.
STREAM = {"stream": pl.UInt16}

#: Addresses and lengths stay below this, in their own unit: 1 PiB even where a unit is one byte.
#: A larger number is no address but a misread line; below it, no sum in this package overflows.
NUMBER_LIMIT = 1 << 50


#: Rows of a trace that ask for something: a flush needs no bytes, anything else does.
IS_REQUEST = (pl.col("length") > 0) | (pl.col("op") == FLUSH)


class TraceError(ValueError):
    """The user's mistake, in one line: what was given, what was expected, where."""


@dataclass(frozen=True)
class Units:
    """Units of the numbers as they stand in the file.

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

    `frame` has the columns of `SCHEMA`, and perhaps that of `STREAM`: `at_ns` counts from the
    earliest request and never falls, `op` is 0 read, 1 write, 2 trim, 3 flush, `device` indexes
    `devices` (the names in the file), `offset` and `length` are bytes. A flush has offset and
    length 0; nothing else has length 0.
    `unparsed_lines` counts lines (or binary records) that could not be read, `first_unparsed`
    shows the first of them, `notes` says everything else that was left out or changed.
    `checked` states of Parquet whether a digest in the file was compared with the requests.
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
    """What a format's reader hands over, with numbers still in the units of the file.

    `frame` has `time` (decimal or integer, any origin), `op` (UInt8), `device` (integer or text),
    `offset` and `length` (UInt64). `units` is (time, address, length); `guesses` maps "time",
    "address" or "length" to the sentence that says why this unit was assumed.
    `candidates` counts the lines or records that should have been requests.
    """

    frame: pl.DataFrame
    units: tuple[str, str, str]
    guesses: dict[str, str] = field(default_factory=dict)
    candidates: int = 0
    unparsed: int = 0
    first_unparsed: str | None = None
    cause: str | None = None
    """Why nothing of this file can be relied on, if the reader has found a reason."""
    notes: list[str] = field(default_factory=list)
    rows: int = 0
    """Requests in the file, where only the earliest of them were read."""
    devices: Sequence[str] = ()
    """Names of devices that are numbers, where they have any."""
    checked: bool | None = None
    """As in `Trace`."""


#: The frame of a `Parsed` that comes without one.
NO_REQUESTS = pl.DataFrame(schema={"time": pl.Int64, **SCHEMA}).drop("at_ns")


def shorten(text: str, limit: int = 80) -> str:
    """`text` on one line, quoted, cut to `limit` characters."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def plural(count: int, noun: str) -> str:
    """`count` with its noun: "1 line", "2,000 lines"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
