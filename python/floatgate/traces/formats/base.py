"""Row type of the table of formats, and the interface of a reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import polars as pl

from ..model import NO_REQUESTS, Parsed
from ..text import Head


class Reader(Protocol):
    """Reads the content of one file in pieces; the result does not depend on the piece size."""

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        """Returns the requests at the start of `data`, as in `Parsed.frame`, and the bytes used.

        The caller passes the unused bytes again with more data, unless this is the `last` piece.
        Raises `TraceError`, or `Again` if the file must be read again from its start.
        """

    def told(self) -> Parsed:
        """Returns the outcome after the last piece, without the frame."""


class Whole:
    """Reader for a format that cannot be read in pieces: reads the whole file at once."""

    def __init__(self, read: Callable[[bytes], Parsed]) -> None:
        self._read = read

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        """See `Reader.take`."""
        if not last:
            return NO_REQUESTS, 0
        found = self._read(data)
        self._told = replace(found, frame=NO_REQUESTS)
        return found.frame, len(data)

    def told(self) -> Parsed:
        """See `Reader.told`."""
        return self._told


class Again(Exception):
    """Raised when a file must be read again from its start, with `reader`."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader


@dataclass(frozen=True)
class Format:
    """A trace format: its name, one line of documentation, the source of its definition.

    `claims` tests from the start of a file whether the file has this format. `reader` makes a
    reader for the content. Neither opens files.
    """

    name: str
    doc: str
    source: str
    claims: Callable[[Head], bool]
    reader: Callable[[], Reader]
