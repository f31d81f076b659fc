"""Writes traces as Parquet or as the project's CSV, optionally compressed, by file name."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import zstandard
from polars.io.plugins import register_io_source

from floatgate.files.digests import Digest

from .formats import floatgate_csv, parquet
from .model import SCHEMA, STREAM, Trace, TraceError
from .stream import Stream

PARQUET = ".parquet"

# Without a modification time in the file, equal requests make equal files.
_CODECS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    ".csv": contextlib.nullcontext,
    ".csv.gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ".csv.zst": lambda file: zstandard.ZstdCompressor(write_checksum=True).stream_writer(
        file, closefd=False
    ),
    ".csv.bz2": partial(bz2.open, mode="wb"),
    ".csv.xz": partial(lzma.open, mode="wb"),
}


def suffix_of(name: str) -> str:
    """Returns the suffix of `name`, which determines the format. Raises `TraceError`."""
    known = (PARQUET, *_CODECS)
    for suffix in known:
        if name.lower().endswith(suffix):
            return suffix
    raise TraceError(f"{name}: its suffix names no format; expected one of {', '.join(known)}")


def write_trace(
    trace: Trace, path: Path, suffix: str, batches: Iterable[pl.DataFrame] | None = None
) -> None:
    """Writes `trace` into the file `path`, in the format of `suffix`.

    `batches` yield its requests if its own frame is empty. `read_trace` returns the same requests;
    only Parquet keeps the other facts about a trace. Raises `TraceError` for a CSV of a trace with
    several devices or placement handles, for which CSV has no column. Raises OSError if writing
    fails.
    """
    frames = [trace.frame] if batches is None else batches
    with path.open("wb") as file:
        if suffix == PARQUET:
            _write_parquet(frames, trace, file)
        else:
            _write_csv(frames, trace, file, suffix)


def write_opened(opened: Trace | Stream, path: Path, suffix: str = PARQUET) -> int:
    """Writes an opened trace as `write_trace` does, and returns the number of its requests."""
    if isinstance(opened, Stream):
        write_trace(opened.unread(), path, suffix, opened.batches())
        return opened.requests
    write_trace(opened, path, suffix)
    return opened.frame.height


def parquet_bytes(trace: Trace) -> bytes:
    """Returns the Parquet file of a trace in memory, including its metadata."""
    content = io.BytesIO()
    parquet.write_into(content, trace)
    return content.getvalue()


def _write_parquet(frames: Iterable[pl.DataFrame], trace: Trace, file: BinaryIO) -> None:
    schema = pl.Schema({name: (SCHEMA | STREAM)[name] for name in trace.frame.columns})
    digest, is_complete = Digest(schema), False

    def source(*_: Any) -> Iterator[pl.DataFrame]:
        nonlocal is_complete
        for frame in frames:
            rows = frame.select(*schema)
            digest.add(rows)
            yield rows
        is_complete = True

    def metadata(_: Any) -> dict[str, str]:
        assert is_complete, "the metadata stand behind the rows"
        return parquet.metadata(trace, digest)

    lazy = register_io_source(source, schema=schema)
    try:
        lazy.sink_parquet(file, metadata=metadata)
    except pl.exceptions.ComputeError as error:
        raise os_error(error, file.name) from error


def os_error(error: Exception, name: str | Path) -> OSError:
    """Returns the OSError that made a write of `name` fail; Polars has no error class for it.

    Raises `error` if its cause is no OSError.
    """
    number = re.search(r"\(os error (\d+)\)", str(error))
    if isinstance(error, OSError) and error.errno is not None:
        return error
    if number is None:
        raise error
    return OSError(int(number[1]), os.strerror(int(number[1])), str(name))


def _write_csv(frames: Iterable[pl.DataFrame], trace: Trace, file: BinaryIO, suffix: str) -> None:
    if len(trace.devices) > 1:
        raise TraceError(
            f"{trace.name} has {len(trace.devices)} devices, for which CSV has no column; "
            f"expected {PARQUET}"
        )
    if "stream" in trace.frame.columns:
        raise TraceError(
            f"{trace.name} has placement handles, for which CSV has no column; expected {PARQUET}"
        )
    with _CODECS[suffix](file) as sink:
        sink.write(floatgate_csv.HEADER)
        for frame in frames:
            sink.write(floatgate_csv.lines(frame))
