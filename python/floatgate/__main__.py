"""Process of the command line, `floatgate` or `python -m floatgate`: signals and exit status.

The process installs its signal handlers before it imports anything large. Ctrl-C therefore never
shows a traceback, not even during start-up.
"""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from collections.abc import Callable
from types import FrameType

from .simulation.signals import Ended, Signals

LOOK_S = 0.1
"""Seconds between two checks whether a signal should end the process."""

FRAME_SLOTS = 1 << 15
"""Pointers in the large frame: 256 KiB. CPython maps the next power of two, 512 KiB, and the other
half has room for some thousand frames.
"""

NEW_OBJECTS = 100_000
"""Objects that Python creates between two searches for cycles. A run creates 70,000, most of them
modules and classes that live until the end.
"""


def _end(number: int, _: FrameType | None) -> None:
    """Ends the process in order, once: further signals are ignored,
    so that they cannot interrupt the cleanup.
    """
    for other in _heard():
        signal.signal(other, signal.SIG_IGN)
    _look_every(LOOK_S)
    Signals.come(number)


def _look_every(seconds: float) -> None:
    """Starts to check periodically whether a signal should end the process;
    0 seconds stops the checks.
    """
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: Signals.look())
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _unraised(found: sys.UnraisableHookArgs) -> None:
    """Drops the message about an `Ended` that Python has swallowed within a callback. The next
    check raises `Ended` again.
    """
    if not isinstance(found.exc_value, Ended):
        sys.__unraisablehook__(found)


def _heard() -> set[int]:
    """Returns the signals that end the process: Ctrl-C, the signals that `timeout` and Slurm send,
    and the hang-up of the terminal.
    """
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return {int(getattr(signal, name)) for name in names if hasattr(signal, name)}


def _with_room(command: Callable[[], int]) -> int:
    """Runs `command` below a very large frame and returns its exit status.

    CPython 3.11 to 3.14 map memory for frames in steps of 16 KiB, and unmap each step when its last
    frame returns. A loop whose calls cross the edge of a step maps and unmaps memory with every
    call, which costs a third of the time. Below a frame of this size, all later frames fit in
    mapped memory.
    """

    def below() -> int:
        return command()

    below.__code__ = below.__code__.replace(co_stacksize=FRAME_SLOTS)
    return below()


def _search_rarely() -> None:
    """Makes Python search for cycles rarely, and not at the exit. The default is a search after
    every 700 new objects, which takes 35 ms of a run, and two at the exit, which take 50 ms.
    """
    gc.set_threshold(NEW_OBJECTS)
    # A frozen object is not searched. The memory of the process is freed anyway.
    atexit.register(gc.freeze)


def main() -> None:
    """Runs the command in `sys.argv` and ends the process with its exit status."""
    sys.unraisablehook = _unraised
    _search_rarely()
    try:
        for number in _heard():
            # A signal that is ignored at the start stays ignored: `nohup` relies on that.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _end)
        from .cli import main as command

        status = _with_room(command)
        # If a callback swallowed the signal near the end, the command has still completed its work.
        _look_every(0)
    except (Ended, KeyboardInterrupt) as error:
        _look_every(0)
        status = Ended.status(error)
    sys.exit(status)


if __name__ == "__main__":
    main()
