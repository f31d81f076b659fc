"""The command line as a process, `floatgate` or `python -m floatgate`: signals and exit status.

It takes hold of signals before anything heavy is imported, so that there is no moment at which
Ctrl-C shows a traceback.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType

from .ending import Ended, Signals

LOOK_S = 0.1
"""Seconds from one look whether the end is under way to the next."""

FRAME_SLOTS = 1 << 15
"""Pointers: a quarter of a mebibyte. What is mapped for it is the next power of two, and the half
that is left holds some thousand frames."""


def _end(number: int, _: FrameType | None) -> None:
    """Ends the process in order, once: what is cleaned up then is not to be interrupted."""
    for other in _heard():
        signal.signal(other, signal.SIG_IGN)
    _look_every(LOOK_S)
    Signals.come(number)


def _look_every(seconds: float) -> None:
    """Looks again and again whether the end is under way; with 0, no more."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: Signals.look())
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _unraised(found: sys.UnraisableHookArgs) -> None:
    """Says nothing of an end that Python has dropped within a callback: the next look raises it."""
    if not isinstance(found.exc_value, Ended):
        sys.__unraisablehook__(found)


def _heard() -> set[int]:
    """Ctrl-C, what `timeout` and Slurm send, and a terminal that goes away."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return {int(getattr(signal, name)) for name in names if hasattr(signal, name)}


def _with_room(command: Callable[[], int]) -> int:
    """What `command` returns.

    CPython 3.11 to 3.14 map memory for 16 KiB of frames at a time, and unmap it as soon as it is
    left: a loop that happens to call at its edge does so with every call, and a third of the time
    is gone. Below a frame as large as this one there is room for all frames to come.
    """

    def below() -> int:
        return command()

    below.__code__ = below.__code__.replace(co_stacksize=FRAME_SLOTS)
    return below()


def main() -> None:
    """Runs the command in `sys.argv` and ends the process with its exit status."""
    sys.unraisablehook = _unraised
    try:
        for number in _heard():
            # What is ignored stays so: `nohup` relies on that.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _end)
        from .cli import main as command

        status = _with_room(command)
        # What dropped a signal was the last of its work: it is done.
        _look_every(0)
    except (Ended, KeyboardInterrupt) as error:
        _look_every(0)
        status = Ended.status(error)
    sys.exit(status)


if __name__ == "__main__":
    main()
