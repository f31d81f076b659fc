"""Standard streams that are closed, full, or that nobody reads any more."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Any

from .failure import RUN_FAILED, complain


class _Closed(io.TextIOBase):
    """In the place of a standard output that is closed: a result must not be lost in silence."""

    @property
    def buffer(self) -> Any:
        """What bytes are written to; they are refused, too."""
        return self

    def write(self, _: Any) -> int:
        raise OSError(errno.EBADF, "closed", "standard output")


def open_all() -> None:
    """Makes all three streams usable.

    No file that is opened later may get the number of a stream: prints would go into it. Messages
    have no place where standard error is closed; Python would print them on standard output.
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
        # The name of a file may hold bytes that are no UTF-8; JSON has the same escapes for them.
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123


def flushed(status: int) -> int:
    """The exit status, once all that was printed has been written."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough: no failure.
        _forget()
    except OSError as error:
        _forget()
        complain(f"standard output: {error.strerror}")
        return status or RUN_FAILED
    return status


def _forget() -> None:
    """What is left in the buffer has no reader; Python must not try again when it exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
