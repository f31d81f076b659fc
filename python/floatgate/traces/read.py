"""Reads a trace from any source into a `Trace` or a `Stream`; writes a trace as Parquet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from floatgate.files.parts import writing
from floatgate.files.reading import shown

from . import columns as named
from . import source as files
from . import stream
from .build import build, check_units, refuse_garbage
from .formats import FORMATS, Format, parquet
from .formats.base import Again, Reader, Whole
from .gaps import parse_duration
from .model import Parsed, Trace, TraceError, shorten
from .offers import fio_log, offer
from .spool import Spool
from .stream import ROOM, Room, Stream
from .text import Head

#: Bytes at the start of a file by which its format is recognised.
_LOOKED_AT = 1 << 20


def read_trace(
    source: Any,
    *,
    format: str | None = None,
    units: Mapping[str, str] | None = None,
    limit: int | None = None,
    close_gaps: str | None = None,
    columns: str | Mapping[str, str | int] | None = None,
    room: Room = ROOM,
) -> Trace:
    """Reads a trace; recognises its format and its compression by content.

    `source` is a path, a directory of Parquet files, a URL that fsspec supports, a Polars DataFrame
    or any object with `__arrow_c_stream__` that has the columns of `Trace.frame` (`device` may be
    missing). `format` names a row of `FORMATS` and replaces recognition. `units` overrides units of
    the file: "time" in ns, 100ns, us, ms or s; "address" and "length" in bytes, sectors
    (512), pages (4096), KiB or MiB. `limit` keeps only this number of the earliest requests; if the
    times of a Parquet file are in order, later requests are not read. `close_gaps`, such as "1h",
    shortens every longer gap between two requests to that duration. `columns`, such as
    "time=3,op=5,offset=2,length=4", reads delimited text of any other form (docs/traces.md).
    `room` sets how much of a file is read and decoded at a time. Raises `TraceError`.
    """
    gap = _check(format, units, limit, close_gaps, columns)
    if isinstance(source, (str, Path)):
        name = shown(Path(source).name or str(source))
        form, parsed = _parse(str(source), _chosen(format, columns), limit, room)
        return build(parsed, name, form, units, limit, gap)
    if columns is not None:
        raise TraceError("columns: expected delimited text in a file, not a frame")
    if isinstance(source, pl.DataFrame) or hasattr(source, "__arrow_c_stream__"):
        frame = source if isinstance(source, pl.DataFrame) else pl.DataFrame(source)
        return build(parquet.from_frame(frame), "frame", "frame", units, limit, gap)
    raise TraceError(
        f"a trace cannot be a {type(source).__name__}; expected a path, a URL or a frame"
    )


def open_trace(
    source: Any,
    *,
    format: str | None = None,
    units: Mapping[str, str] | None = None,
    limit: int | None = None,
    close_gaps: str | None = None,
    columns: str | Mapping[str, str | int] | None = None,
    room: Room = ROOM,
) -> Trace | Stream:
    """Opens a trace as `read_trace` does, but returns one that exceeds `room` as a `Stream`.

    A `Stream` does not hold its requests in memory: Parquet is read again for each replay, and the
    requests of other formats are kept in a temporary folder. A long trace with times out of order
    stays in memory to be sorted, and its notes report this.
    """
    gap = _check(format, units, limit, close_gaps, columns)
    chosen = _chosen(format, columns)
    if isinstance(source, (str, Path)):
        name = shown(Path(source).name or str(source))
        if parts := _parquet_files(str(source), chosen, room.batch):
            found = _open_parquet(parts, name, units, limit, gap, room)
            if found is not None:
                return found
        elif len(contents := files.contents(str(source))) == 1:
            return _open_other(contents[0], chosen, name, units, limit, gap, room)
    how: dict[str, Any] = {"format": format, "units": units, "limit": limit, "columns": columns}
    return read_trace(source, **how, close_gaps=close_gaps, room=room)


def _open_parquet(
    parts: list[parquet.File],
    name: str,
    units: Mapping[str, str] | None,
    limit: int | None,
    gap: int | None,
    room: Room,
) -> Trace | Stream | None:
    """Opens a long trace; returns None for a trace that fits in memory."""
    rows = sum(part.rows() for part in parts)
    wanted = rows if limit is None else min(rows, limit)
    # A limit that spans several files is rare, so that case stays in memory.
    if wanted <= room.requests or (limit is not None and len(parts) > 1):
        return None
    abouts = [part.about() for part in parts]
    about = abouts[0] if len(parts) == 1 else _joined(abouts)
    about.rows = rows

    def batches() -> Iterator[pl.DataFrame]:
        for part, known in zip(parts, abouts, strict=True):
            for frame in part.batches(limit):
                yield frame if len(parts) == 1 else _by_device_name(frame, known.devices)

    try:
        return stream.survey(about, batches, name, "parquet", gap, limit, units)
    except stream.UnsortedError:
        found = [part.read(limit) for part in parts]
        whole = found[0] if len(parts) == 1 else _joined(found)
        return _sorted(build(whole, name, "parquet", units, limit, gap))


def _open_other(
    content: files.Content,
    chosen: Format | None,
    name: str,
    units: Mapping[str, str] | None,
    limit: int | None,
    gap: int | None,
    room: Room,
) -> Trace | Stream:
    """Opens a trace in any format except Parquet; a short trace stays in memory."""
    kept = Spool(room.requests)
    form, parsed = _taken(content, chosen, kept, room.piece)
    if not kept.is_held and kept.is_sorted:
        parsed.rows = kept.requests
        return stream.survey(parsed, lambda: kept.frames(limit), name, form, gap, limit, units)
    parsed.frame = kept.whole()
    trace = build(parsed, name, form, units, limit, gap)
    return trace if kept.is_held else _sorted(trace)


def _sorted(trace: Trace) -> Trace:
    """Adds a note about memory to a long trace that had to be sorted."""
    held = f"{trace.frame.height:,} requests were held in memory to sort them"
    trace.notes.append(f"{held}; a long trace needs less memory if its times are in order")
    return trace


def check_head(contents: Sequence[files.Content], *, format: str | None = None) -> None:
    """Raises `TraceError` if the first 1 MiB of one of the files shows that it is no trace.

    A shorter file is read as a whole. Of a Parquet file, only the metadata at its end is read.
    """
    chosen = _chosen(format, None)
    for content in contents:
        if parts := _parquet_files(content.name, chosen, ROOM.batch):
            parts[0].about()
            continue
        with content.opened() as plain:
            head = plain.peek(_LOOKED_AT)
        form = chosen or recognise(head, content.name)
        if len(head) < _LOOKED_AT:
            _open_other(content, form, Path(content.name).name, None, None, None, ROOM)
        elif not isinstance(reader := form.reader(), Whole):
            with suppress(Again):
                frame, _ = reader.take(head, False)
                # The rest of the file may be fine, if this piece has a request.
                if frame.is_empty():
                    refuse_garbage(reader.told(), content.name, form.name)


def trace_of(
    frames: Callable[[], Iterator[pl.DataFrame]], requests: int, room: Room = ROOM
) -> Trace | Stream:
    """Returns a trace of `requests` requests from frames that `read_trace` accepts.

    The frames are in the order of their times.
    """
    if requests <= room.requests:
        return read_trace(pl.concat(frames()))

    def rows() -> Iterator[pl.DataFrame]:
        return (parquet.from_frame(frame).frame for frame in frames())

    return stream.survey(Parsed(next(rows()), parquet.UNITS), rows, "frame", "frame", None)


def _parquet_files(source: str, chosen: Format | None, batch: int) -> list[parquet.File]:
    """Returns the Parquet files of a path: of a file, or of a directory. Otherwise none.

    Raises `TraceError` if the path, or a directory in it, cannot be listed.
    """
    path = Path(source)
    if chosen not in (None, parquet.FORMAT) or files.is_url(source):
        return []
    found = files.parquet_parts(path)
    parts = [path] if found is None else found
    try:
        # A source that can be read only once, such as a pipe, is not opened.
        whole = all(part.is_file() and _has_magic(part) for part in parts)
    except OSError:
        return []
    return [parquet.File(str(part), part, batch) for part in parts] if whole else []


def _has_magic(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(parquet.MAGIC)) == parquet.MAGIC


def _check(
    format: str | None,
    units: Mapping[str, str] | None,
    limit: int | None,
    close_gaps: str | None,
    columns: str | Mapping[str, str | int] | None,
) -> int | None:
    """Checks the options and returns the gap in nanoseconds. Raises `TraceError`."""
    check_units(units or {})
    if limit is not None and limit < 1:
        raise TraceError(f"limit: {limit} given; expected at least 1 request")
    gap = None if close_gaps is None else parse_duration(close_gaps)
    if format is not None and columns is not None:
        raise TraceError(f"columns: {columns!r} given with format {format!r}; expected one of them")
    return gap


def _chosen(format: str | None, columns: str | Mapping[str, str | int] | None) -> Format | None:
    """Returns the format that the user has named, or None."""
    if columns is not None:
        return _of_columns(named.parse_columns(columns))
    return None if format is None else _by_name(format)


def _by_name(name: str) -> Format:
    for row in FORMATS:
        if row.name == name:
            return row
    known = ", ".join(row.name for row in FORMATS)
    raise TraceError(f"format: {name!r} is not known; expected one of {known}")


def _of_columns(places: Mapping[str, str]) -> Format:
    """Returns the format of text whose columns the user has named. It matches no file."""
    return Format(
        "columns",
        "delimited text whose columns are given",
        "the user",
        lambda head: False,
        lambda: named.Reader(places),
    )


def recognise(data: bytes, name: str) -> Format:
    """Returns the format of a file; `data` is the start of the file, or all of it.

    Raises `TraceError` with the first line of the file if no format matches.
    """
    if not data.strip():
        raise TraceError(f"{name}: empty; expected a trace")
    head = Head.of(data)
    for row in FORMATS:
        if row.claims(head):
            return row
    if head.complete and not head.lines and b"\0" not in data:
        raise TraceError(f"{name}: the trace has no requests, only empty lines and comments")
    first = f"line 1 is {shorten(head.lines[0])}" if head.lines else "binary data"
    if head.lines and re.match(r"\[\w.*\]\s*$", head.lines[0]):
        raise TraceError(
            f"{name}: no trace ({first}); a fio job file needs a name that ends in .fio, or "
            "--format fio-jobs"
        )
    if reason := fio_log(head.lines):
        raise TraceError(f"{name}: {reason}")
    if command := offer([head.comment, *head.lines], name):
        raise TraceError(f"{name}: no known trace format ({first}); read its columns: {command}")
    known = ", ".join(row.name for row in FORMATS)
    raise TraceError(
        f"{name}: no known trace format ({first}); expected one of {known}, "
        "or delimited text read with trace import --columns"
    )


def _parse(source: str, chosen: Format | None, limit: int | None, room: Room) -> tuple[str, Parsed]:
    """Returns the format and the requests of a source, all in memory."""
    if parts := _parquet_files(source, chosen, room.batch):
        found = [part.read(limit) for part in parts]
        return "parquet", found[0] if len(found) == 1 else _joined(found)
    results = []
    for content in files.contents(source):
        kept = Spool()
        form, parsed = _taken(content, chosen, kept, room.piece)
        parsed.frame = kept.whole()
        results.append(parsed)
    return form, results[0] if len(results) == 1 else _joined(results)


def _taken(
    content: files.Content, chosen: Format | None, kept: Spool, piece: int
) -> tuple[str, Parsed]:
    """Reads a file; returns its format and everything except its requests, which go to `kept`."""
    row, reader = chosen, None
    while True:
        with content.opened() as plain:
            if row is None:
                row = recognise(plain.peek(_LOOKED_AT), content.name)
            reader = reader or row.reader()
            try:
                _take(plain, reader, kept, content.name, piece)
            except Again as again:
                reader = again.reader
                kept.clear()
                continue
        parsed = reader.told()
        parsed.notes += kept.told()
        return row.name, parsed


def _take(plain: files.Plain, reader: Reader, kept: Spool, name: str, least: int) -> None:
    """Reads the rest of a file, in pieces of at least `least` bytes. The next piece is read, and
    decompressed, while the reader takes the last one.
    """
    rest, size = b"", least
    piece = plain.read(size)
    # Leaving the block waits for the thread, which then no longer needs the file.
    with ThreadPoolExecutor(1) as pool:
        while True:
            last = len(piece) < size
            # The size grows while the reader uses nothing: the cost of copying stays linear.
            size = max(least, len(rest))
            ahead = None if last else pool.submit(plain.read, size)
            data = rest + piece
            try:
                frame, used = reader.take(data, last)
            except TraceError as error:
                raise TraceError(f"{name}: {error}") from error
            kept.add(frame)
            if ahead is None:
                return
            rest, piece = data[used:], ahead.result()


def _joined(parts: list[Parsed]) -> Parsed:
    """Joins the Parquet parts of a directory; equal notes appear once."""
    frames = [_by_device_name(part.frame, part.devices) for part in parts]
    return Parsed(
        pl.concat(frames),
        parts[0].units,
        candidates=sum(part.candidates for part in parts),
        notes=list(dict.fromkeys(note for part in parts for note in part.notes)),
        rows=sum(part.rows or part.frame.height for part in parts),
        checked=_all_checked(parts),
    )


def _all_checked(parts: Sequence[Parsed]) -> bool | None:
    states = [part.checked for part in parts]
    return None if None in states else all(states)


def _by_device_name(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    codes = {str(code): name for code, name in enumerate(names)}
    return frame.with_columns(pl.col("device").cast(pl.String).replace(codes))


def write_parquet(trace: Trace, path: str | Path) -> None:
    """Writes `trace` so that `read_trace` returns the same frame and devices.

    The file appears as a whole or not at all: it is written next to `path` and then renamed. Raises
    `TraceError` if it cannot be written.
    """
    path = Path(path)
    try:
        with writing(path) as part, part.open("wb") as file:
            parquet.write_into(file, trace)
    except OSError as error:
        raise TraceError(f"{path}: cannot be written: {error.strerror or error}") from error
