"""Interrupts of Python policies that do not return when their run is to end."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from types import CodeType

from floatgate import _core

from .watching import POLL_SECONDS

PATIENCE_SECONDS = 1.0
"""Seconds that a Python policy has to return when its run is to end."""


def interrupt(thread: int) -> None:
    """Raises KeyboardInterrupt in a thread as soon as it executes Python code."""
    error = ctypes.py_object(KeyboardInterrupt)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


class Asking:
    """Threads whose runs call Python policies. A thread is registered during its `within` block."""

    def __init__(self, caller: CodeType) -> None:
        """`caller` is the code that calls the engine. It is never interrupted, because it could get
        the exception after its `within` block.
        """
        self._caller = caller
        self._threads: set[int] = set()
        self._is_over = False

    @contextmanager
    def within(self) -> Iterator[None]:
        """Registers the calling thread. Raises Cancelled once `end` has been called."""
        thread = get_ident()
        self._threads.add(thread)
        try:
            if self._is_over:
                raise _core.Cancelled("interrupted")
            yield
        finally:
            self._threads.discard(thread)

    def end(self) -> None:
        """Waits for cancelled runs to end.

        A policy that does not return is interrupted repeatedly, because it may catch the interrupt.
        """
        self._is_over = True
        patient_until = time.monotonic() + PATIENCE_SECONDS
        while self._threads:
            if time.monotonic() > patient_until:
                self._interrupt()
            time.sleep(POLL_SECONDS)

    def _interrupt(self) -> None:
        """Raises KeyboardInterrupt in threads that are executing a policy."""
        for thread, frame in sys._current_frames().items():
            # If the caller is on top, the thread executes the engine and not a policy.
            if thread in self._threads and frame.f_code is not self._caller:
                interrupt(thread)
