"""Parquet with the columns of a trace frame, as `floatgate trace import` writes it.

`at_ns`, `op` (0 read, 1 write, 2 trim, 3 flush), `offset` and `length` in bytes; `device` may be
missing. What else is known of the trace is JSON under the key `floatgate` of the file metadata.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from .. import gaps
from ..model import (
    FLUSH,
    IS_REQUEST,
    NO_REQUESTS,
    NUMBER_LIMIT,
    SCHEMA,
    STREAM,
    Parsed,
    Trace,
    TraceError,
)
from ..text import Head
from .base import Format, Whole

MAGIC = b"PAR1"

_KEY = "floatgate"
UNITS = ("ns", "bytes", "bytes")
_NEEDED = [name for name in SCHEMA if name != "device"]

#: Rows that are decoded at once.
_BATCH = 1 << 18


def _claims(head: Head) -> bool:
    return head.data.startswith(MAGIC)


def _read(data: bytes) -> Parsed:
    return File("", data).read(None)


@dataclass(frozen=True)
class File:
    """A Parquet file, of which only what is asked for is read."""

    name: str
    """What it is called in an error."""
    source: Path | bytes

    def rows(self) -> int:
        """How many there are, by the file's metadata."""
        with self._said():
            return int(self._scan().select(pl.len()).collect().item())

    def about(self) -> Parsed:
        """What is known of it without its rows."""
        with self._said():
            schema = self._scan().collect_schema()
            if not all(schema.get(name, pl.Null()).is_integer() for name in _NEEDED):
                from_frame(self._scan().head(_BATCH).collect())
            text = pl.read_parquet_metadata(self._bytes_or_path()).get(_KEY)
            about: dict[str, Any] = json.loads(text) if text else {}
        notes = []
        if about:
            units = ", ".join(about["units"])
            notes = [f"imported from {about['format']} ({units})", *about["notes"]]
            notes += about["guessed"]
        return Parsed(NO_REQUESTS, UNITS, notes=notes, devices=about.get("devices", []))

    def batches(self, limit: int | None = None) -> Iterator[pl.DataFrame]:
        """Frames as in `Parsed`, some rows at a time; of the first `limit` requests if it is given.

        What lies behind these is not read.
        """
        scan = self._scan()
        return self._frames(scan if limit is None else scan.filter(IS_REQUEST).head(limit))

    def earlier(self, at_ns: int) -> int:
        """How many requests are before this time. Groups of rows that are not are not read."""
        with self._said():
            early = self._scan().filter((pl.col("at_ns") < at_ns) & IS_REQUEST)
            return int(early.select(pl.len()).collect(engine="streaming").item())

    def read(self, limit: int | None) -> Parsed:
        """All of it; or, with a limit, the earliest so many requests and few others."""
        result = self.about()
        result.frame = _joined(self.batches(limit), result.frame)
        if limit is not None and result.frame.height == limit:
            result.rows = self.rows()
            time = result.frame["time"]
            last = int(time.max())  # type: ignore[arg-type]
            if self.earlier(last) > (time < last).sum():
                early = self._scan().filter((pl.col("at_ns") <= last) & IS_REQUEST)
                result.frame = _joined(self._frames(early), result.frame)
        result.candidates = result.frame.height
        return result

    def _scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self._bytes_or_path(), glob=False, hive_partitioning=False)

    def _bytes_or_path(self) -> Path | io.BytesIO:
        # Whoever reads moves on in the bytes.
        return self.source if isinstance(self.source, Path) else io.BytesIO(self.source)

    def _frames(self, rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        with self._said():
            # One thread decodes while others work, and only what fits in two batches is in memory.
            for frame in rows.collect_batches(chunk_size=_BATCH, lazy=True, engine="streaming"):
                yield from_frame(frame).frame

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, OSError, ValueError) as error:
            words = " ".join(str(error).split())
            if not isinstance(error, TraceError):
                words = f"damaged Parquet data: {words}"
            raise TraceError(f"{self.name}: {words}" if self.name else words) from error


def _joined(frames: Iterable[pl.DataFrame], empty: pl.DataFrame) -> pl.DataFrame:
    found = list(frames)
    return pl.concat(found) if found else empty


def metadata(trace: Trace) -> dict[str, str]:
    """File metadata from which `read` restores what the columns do not hold.

    What is said about long gaps is left out: whoever reads the file sees them again.
    """
    units = trace.units
    seen_again = gaps.told(trace.frame["at_ns"])
    about = {
        "format": trace.format,
        "units": [units.time, units.address, units.length],
        "guessed": list(units.guessed),
        "devices": trace.devices,
        "notes": [note for note in trace.notes if note not in seen_again],
    }
    return {_KEY: json.dumps(about)}


def from_frame(frame: pl.DataFrame) -> Parsed:
    """Checks a frame with the columns of a trace (`device`, `stream` optional) and takes it over.

    Raises `TraceError` naming the column that is missing, of another kind, null or out of range.
    """
    missing = [name for name in _NEEDED if name not in frame.columns]
    if missing:
        raise TraceError(
            f"column {missing[0]} is missing; expected {', '.join(_NEEDED)} and perhaps device; "
            f"there are {', '.join(frame.columns[:12]) or 'none'}"
        )
    columns = []
    for name in [*_NEEDED, *(name for name in STREAM if name in frame.columns)]:
        kind = frame.schema[name]
        bad = frame[name].null_count() or not kind.is_integer()
        if bad or _out_of_range(frame[name]):
            low, high = _limits(name)
            raise TraceError(
                f"column {name}: expected integers from {low} to {high - 1} and no nulls; "
                f"it is {kind} from {frame[name].min()!s} to {frame[name].max()!s}"
            )
        if name in SCHEMA:
            columns.append(pl.col(name).cast(pl.Int64 if name == "at_ns" else SCHEMA[name]))
    flush = pl.col("op") == FLUSH
    place = [pl.when(flush).then(0).otherwise(column) for column in columns[2:]]
    device = pl.col("device") if "device" in frame.columns else pl.lit(0, pl.UInt32)
    if frame.select(device).to_series().null_count():
        raise TraceError("column device: expected a device in every row; some are null")
    streams = [pl.col("stream").cast(pl.UInt16)] if "stream" in frame.columns else []
    taken = frame.select(
        columns[0].alias("time"),
        columns[1].alias("op"),
        device.alias("device"),
        place[0].cast(pl.UInt64).alias("offset"),
        place[1].cast(pl.UInt64).alias("length"),
        *streams,
    )
    return Parsed(taken, UNITS, candidates=taken.height)


def _limits(name: str) -> tuple[int, int]:
    limits = {"at_ns": (-(1 << 62), 1 << 62), "op": (0, FLUSH + 1), "stream": (0, 1 << 16)}
    return limits.get(name, (0, NUMBER_LIMIT))


def _out_of_range(column: pl.Series) -> bool:
    low, high = _limits(column.name)
    values: Any = (column.min(), column.max())
    return not column.is_empty() and not low <= values[0] <= values[1] < high


FORMAT = Format(
    "parquet",
    "Parquet with the columns at_ns, op, device, offset, length, perhaps stream (or a directory of "
    "such files)",
    "this project",
    _claims,
    lambda: Whole(_read),
)
