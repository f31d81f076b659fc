"""Parquet with the columns of a trace frame, as `floatgate trace import` writes it.

`at_ns`, `op` (0 read, 1 write, 2 trim, 3 flush), `offset` and `length` in bytes; `device` may be
missing. The file metadata holds the rest of the trace as JSON under the key `floatgate`, with a
digest of the rows and of this JSON. Polars writes Parquet without checksums, so a reader of all
rows compares the digest.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from floatgate.files.digests import Digest
from floatgate.files.reading import parse_json
from floatgate.results.typed import build

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
_DIGEST = "digest"

#: Errors that Polars raises for damaged files; its panic is not an `Exception`.
_DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException)

UNITS = ("ns", "bytes", "bytes")
_NEEDED = [name for name in SCHEMA if name != "device"]


def _claims(head: Head) -> bool:
    return head.data.startswith(MAGIC)


def _read(data: bytes) -> Parsed:
    return File("", data).read(None)


@dataclass(frozen=True)
class _About:
    """Metadata of a file about its trace."""

    format: str
    units: tuple[str, ...]
    guessed: tuple[str, ...]
    devices: tuple[str, ...]
    notes: tuple[str, ...]

    def told(self) -> list[str]:
        """Returns the notes for the trace that is read."""
        origin = f"imported from {self.format} ({', '.join(self.units)})"
        return [origin, *self.notes, *self.guessed]


@dataclass(frozen=True)
class File:
    """A Parquet file; each method reads only the data that it needs."""

    name: str
    """Name of the file in errors."""
    source: Path | bytes
    batch: int = 1 << 18
    """Rows that are decoded at a time."""

    def rows(self) -> int:
        with self._said():
            return int(self._scan().select(pl.len()).collect().item())

    def about(self) -> Parsed:
        """Returns everything about the trace except its rows."""
        with self._said():
            schema = self._scan().collect_schema()
            if not all(schema.get(name, pl.Null()).is_integer() for name in _NEEDED):
                from_frame(self._scan().head(self.batch).collect())
            result = Parsed(NO_REQUESTS, UNITS, checked=self._digest is not None)
            if self._metadata is not None:
                about = build(_About, self._document, f"metadata {_KEY}")
                result.notes, result.devices = about.told(), about.devices
        return result

    def batches(self, limit: int | None = None) -> Iterator[pl.DataFrame]:
        """Yields frames as in `Parsed`, in batches; with a `limit`, only the first requests.

        Rows after these are not read. Without a `limit`, compares the digest after the last row.
        """
        scan = self._scan()
        return self._whole() if limit is None else self._frames(scan.filter(IS_REQUEST).head(limit))

    def earlier(self, at_ns: int) -> int:
        """Counts the requests before the time `at_ns`; skips row groups that have none."""
        with self._said():
            early = self._scan().filter((pl.col("at_ns") < at_ns) & IS_REQUEST)
            return int(early.select(pl.len()).collect(engine="streaming").item())

    def read(self, limit: int | None) -> Parsed:
        """Reads all rows; or, with a limit, the earliest `limit` requests and few others."""
        result = self.about()
        result.frame = _joined(self.batches(limit), result.frame)
        result.checked = result.checked and limit is None
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
        # Reading advances the position in the bytes, so every reader gets its own copy.
        return self.source if isinstance(self.source, Path) else io.BytesIO(self.source)

    @cached_property
    def _metadata(self) -> str | None:
        """The text under the key `floatgate` in the metadata of the file, or None."""
        return pl.read_parquet_metadata(self._bytes_or_path()).get(_KEY)

    @cached_property
    def _document(self) -> Any:
        try:
            return None if self._metadata is None else parse_json(self._metadata)
        except ValueError as error:
            raise ValueError(f"metadata {_KEY}: {error}") from error

    @property
    def _digest(self) -> Any:
        return self._document.get(_DIGEST) if isinstance(self._document, dict) else None

    def _whole(self) -> Iterator[pl.DataFrame]:
        with self._said():
            rows, expected = self._scan(), self._digest
            digest = Digest(rows.collect_schema())
        yield from self._frames(rows, digest if expected is not None else None)
        if expected is not None and digest.text(_text_of(self._document)) != expected:
            raise self._error(
                "the requests differ from those that were written: the file is damaged, or another "
                f"program has changed them and kept the metadata {_KEY}; restore the file, or "
                "write it without these metadata"
            )

    def _frames(self, rows: pl.LazyFrame, digest: Digest | None = None) -> Iterator[pl.DataFrame]:
        with self._said():
            # One thread decodes while others work; at most two batches are in memory.
            for frame in rows.collect_batches(chunk_size=self.batch, lazy=True, engine="streaming"):
                if digest is not None:
                    digest.add(frame)
                yield from_frame(frame).frame

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except (*_DAMAGED, OSError, ValueError) as error:
            words = " ".join(str(error).split())
            if not isinstance(error, TraceError):
                words = f"damaged Parquet data: {words}"
            raise self._error(words) from error

    def _error(self, words: str) -> TraceError:
        return TraceError(f"{self.name}: {words}" if self.name else words)


def _joined(frames: Iterable[pl.DataFrame], empty: pl.DataFrame) -> pl.DataFrame:
    found = list(frames)
    return pl.concat(found) if found else empty


def metadata(trace: Trace, digest: Digest) -> dict[str, str]:
    """Returns file metadata from which `read` restores the facts that the columns do not hold.

    `digest` covers all rows. Notes about long gaps are left out: a reader of the file finds the
    gaps again.
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
    return {_KEY: json.dumps(about | {_DIGEST: digest.text(_text_of(about))})}


def write_into(file: BinaryIO, trace: Trace) -> None:
    digest = Digest(trace.frame.schema)
    digest.add(trace.frame)
    trace.frame.write_parquet(file, metadata=metadata(trace, digest))


def _text_of(document: Mapping[str, Any]) -> str:
    """Returns the metadata text that the digest covers: all keys except the digest."""
    return json.dumps({key: document[key] for key in document if key != _DIGEST}, sort_keys=True)


def from_frame(frame: pl.DataFrame) -> Parsed:
    """Checks a frame with the columns of a trace (`device`, `stream` optional) and returns it.

    Raises `TraceError` with the column that is missing, of another type, null or out of range.
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
