"""One row of the table of formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import polars as pl

from ..model import NO_REQUESTS, Parsed
from ..text import Head


class Reader(Protocol):
    """Takes the content of one file apart, piece by piece: what comes of it is the same whatever
    the pieces."""

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        """The requests at the start of `data`, as in `Parsed.frame`, and how many bytes they take.

        The bytes behind these come again with more behind them, unless this is the `last` piece.
        Raises `TraceError`, and `Again` where all has to be read once more.
        """

    def told(self) -> Parsed:
        """What is known when everything was taken, without the frame."""


class Whole:
    """Takes a file apart at once: for a format of which no part can be read alone."""

    def __init__(self, read: Callable[[bytes], Parsed]) -> None:
        self._read = read

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        """As a `Reader`."""
        if not last:
            return NO_REQUESTS, 0
        found = self._read(data)
        self._told = replace(found, frame=NO_REQUESTS)
        return found.frame, len(data)

    def told(self) -> Parsed:
        """As a `Reader`."""
        return self._told


class Again(Exception):
    """Only now it is known how the file is to be read: by `reader`, from its start."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader


@dataclass(frozen=True)
class Format:
    """A trace format: its name, one line of documentation, where its definition is from.

    `claims` says from the start of a file whether it has this format; `reader` makes what takes its
    content apart. Neither opens files.
    """

    name: str
    doc: str
    source: str
    claims: Callable[[Head], bool]
    reader: Callable[[], Reader]
