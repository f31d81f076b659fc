"""Standard streams that are closed, full, or without a reader."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import sys
from typing import Any

from .failure import RUN_FAILED, complain

_PLAIN = {
    "\N{NARROW NO-BREAK SPACE}": " ",
    "\N{NO-BREAK SPACE}": " ",
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{PLUS-MINUS SIGN}": "+-",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{MICRO SIGN}": "u",
    "\N{HORIZONTAL ELLIPSIS}": "...",
}
"""Characters of our tables, and plain ones for terminals that have no other characters."""


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replaces the next character that an encoding lacks: by a plain one, or by an escape."""
    if isinstance(error, UnicodeEncodeError):
        text = error.object[error.start]
        if text in _PLAIN:
            return _PLAIN[text], error.start + 1
    return codecs.backslashreplace_errors(error)


codecs.register_error("floatgate", _plain)


class _Closed(io.TextIOBase):
    """Replaces a closed standard output: a write fails, so that no result is lost silently."""

    @property
    def buffer(self) -> Any:
        """Object for writes of bytes, which fail as well."""
        return self

    def write(self, _: Any) -> int:
        raise OSError(errno.EBADF, "closed", "standard output")


def open_all() -> None:
    """Makes all three streams usable.

    A file opened later must not get the number of a standard stream: prints would go into that
    file. If standard error is closed, messages are dropped; Python would print them on standard
    output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123
    if sys.stdout is None:
        sys.stdout = _Closed()
    elif isinstance(sys.stdout, io.TextIOWrapper):
        # A file name may hold bytes that are not UTF-8; they are escaped as in JSON.
        sys.stdout.reconfigure(errors="floatgate")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123


def flushed(status: int) -> int:
    """Flushes standard output and returns the exit status.

    A failed write changes status 0 to `RUN_FAILED`.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has closed the pipe: this is no failure.
        _forget()
    except OSError as error:
        _forget()
        complain(f"standard output: {error.strerror}")
        return status or RUN_FAILED
    return status


def _forget() -> None:
    """Discards buffered output, so that Python does not try to write it again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
