"""Log of nbdkit: a file of limited size, and lines for standard error with few repetitions."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

FILE_MAX = 1 << 20
"""Size in bytes at which the file is emptied, once its lines have been read."""

LINE_MAX = 500
"""Characters of a line that are shown."""

KINDS_MAX = 100
"""Kinds of lines that are counted separately."""

WAIT_S = 10.0
"""Seconds until the first count of a kind of line; each next count takes twice as long."""

WAIT_MAX_S = 3600.0

LAST = 5
"""Lines that are kept for the error of a server that has ended."""

OTHERS = "other lines"


class Log:
    """File into which a process writes its standard error, and a reader of its new lines.

    The file is opened once, so reading works even if the process has no free file descriptors.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._file = os.open(path, flags, 0o600)
        self._at = 0
        self._rest = b""
        self.last: deque[str] = deque(maxlen=LAST)

    @property
    def sink(self) -> int:
        """File descriptor for the process.

        It appends, so writing also continues after the file was emptied.
        """
        return self._file

    def lines(self) -> Iterator[str]:
        """Yields the new lines, at most `FILE_MAX` bytes at a time. Cuts long lines."""
        chunk = os.pread(self._file, FILE_MAX, self._at)
        self._at += len(chunk)
        *ended, rest = (self._rest + chunk).split(b"\n")
        self._rest = rest[: 4 * LINE_MAX]
        for line in map(_shown, ended):
            self.last.append(line)
            yield line
        if os.fstat(self._file).st_size > FILE_MAX:
            # A process that writes faster than the reader reads loses the rest.
            os.ftruncate(self._file, 0)
            self._at = 0


class Repeats:
    """Passes on the first line of each kind, and later only counts of further lines.

    Lines that differ only in numbers are of one kind.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._kinds: dict[str, _Kind] = {}

    def add(self, line: str) -> None:
        name = re.sub(r"[0-9]+", "#", line)
        if name not in self._kinds and len(self._kinds) >= KINDS_MAX:
            name = OTHERS
        kind = self._kinds.get(name)
        if kind is None:
            self._kinds[name] = _Kind(time.monotonic())
            self._tell(line)
        else:
            kind.add(line)

    def look(self, *, is_end: bool = False) -> None:
        """Passes on the counts that are due, or all of them at the end."""
        now = time.monotonic()
        for kind in self._kinds.values():
            if kind.more and (is_end or now >= kind.due_s):
                self._tell(kind.count(now))


class _Kind:
    def __init__(self, now: float) -> None:
        self._wait_s = WAIT_S
        self.due_s = now + WAIT_S
        self.more = 0
        self._line = ""

    def add(self, line: str) -> None:
        self.more += 1
        self._line = line

    def count(self, now: float) -> str:
        text = self._line
        if self.more > 1:
            text += f" (the last of {self.more:,} such lines)"
        self._wait_s = min(2 * self._wait_s, WAIT_MAX_S)
        self.due_s = now + self._wait_s
        self.more = 0
        return text


def _shown(line: bytes) -> str:
    """Returns a line as text. Escapes characters by which a client could control the terminal."""
    text = line[: 4 * LINE_MAX].decode("utf-8", "replace")
    cut = text if len(text) <= LINE_MAX else f"{text[:LINE_MAX]}..."
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in cut)
