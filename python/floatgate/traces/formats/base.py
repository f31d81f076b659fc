"""One row of the table of formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model import Parsed
from ..text import Head


@dataclass(frozen=True)
class Format:
    """A trace format: its name, one line of documentation, where its definition is from.

    `claims` says from the start of a file whether it has this format; `read` takes the whole
    content apart. Neither opens files.
    """

    name: str
    doc: str
    source: str
    claims: Callable[[Head], bool]
    read: Callable[[bytes], Parsed]
