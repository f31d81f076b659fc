"""Keeps the requests of a file, which is read only once, until they are played."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from floatgate.files import parts

from .model import IS_REQUEST, NO_REQUESTS, TraceError, plural
from .write import os_error

#: Rows per frame.
_BATCH = 1 << 18


class Spool:
    """Frames as in `Parsed`, in their order, without requests of length 0.

    Up to `most` requests are kept in memory, or all of them if `most` is None. More requests are
    kept in a temporary folder, which is removed with the spool, at the latest when the process
    ends.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._remove: weakref.finalize[..., Spool] | None = None
        self.clear()

    def clear(self) -> None:
        if self._remove is not None:
            self._remove()
        self.requests = self.empty = 0
        #: Whether the times of all requests so far are in order.
        self.is_sorted = True
        self._last: Any = None
        self._held: list[pl.DataFrame] = []
        self._folder: Path | None = None
        self._files: list[Path] = []

    @property
    def is_held(self) -> bool:
        """Whether all requests are in memory."""
        return self._folder is None

    def add(self, frame: pl.DataFrame) -> None:
        """Adds the next requests. Raises `TraceError` if they cannot be written."""
        kept = frame.filter(IS_REQUEST)
        self.empty += frame.height - kept.height
        self.requests += kept.height
        if kept.is_empty():
            return
        time = kept["time"]
        ahead = self._last is None or time[0] >= self._last
        self.is_sorted = self.is_sorted and ahead and time.is_sorted()
        self._last = time[-1]
        if not self._files and (self._most is None or self.requests <= self._most):
            self._held.append(kept)
            return
        for part in (*self._held, kept):
            self._write(part)
        self._held = []

    def whole(self) -> pl.DataFrame:
        return pl.concat(self._kept()) if self.requests else NO_REQUESTS

    def frames(self, limit: int | None = None) -> Iterator[pl.DataFrame]:
        """Yields the requests, or the first `limit` of them, in batches."""
        missing = self.requests if limit is None else min(self.requests, limit)
        for frame in self._kept():
            yield from frame.head(missing).iter_slices(_BATCH)
            missing -= min(missing, frame.height)

    def _kept(self) -> Iterator[pl.DataFrame]:
        return iter(self._held) if self.is_held else map(pl.read_parquet, self._files)

    def told(self) -> list[str]:
        """Returns the note about dropped requests of length 0, or an empty list."""
        return [f"{plural(self.empty, 'request')} of length 0 dropped"] if self.empty else []

    def _write(self, frame: pl.DataFrame) -> None:
        folder = self._folder or self._made()
        path = folder / f"{len(self._files)}.parquet"
        try:
            frame.write_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise TraceError(
                f"{folder}: cannot be written: {os_error(error, path).strerror}; the requests of a "
                "long trace are kept there while they are played (TMPDIR names the folder)"
            ) from error
        self._files.append(path)

    def _made(self) -> Path:
        try:
            place = Path(tempfile.gettempdir())
            parts.sweep(place)
            part = parts.folder(place)
        except OSError as error:
            raise TraceError(
                f"no temporary folder for the requests of a long trace: {error.strerror or error}"
            ) from error
        self._folder = part.path
        self._remove = weakref.finalize(self, part.end)
        return self._folder
