"""The command line as a process, `floatgate` or `python -m floatgate`: signals and exit status.

It takes hold of signals before anything heavy is imported, so that there is no moment at which
Ctrl-C shows a traceback.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

from .ending import Ended, Signals


def _end(number: int, _: FrameType | None) -> None:
    """Ends the process in order, once: what is cleaned up then is not to be interrupted."""
    for other in _heard():
        signal.signal(other, signal.SIG_IGN)
    Signals.come(number)


def _heard() -> set[int]:
    """Ctrl-C, what `timeout` and Slurm send, and a terminal that goes away."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return {int(getattr(signal, name)) for name in names if hasattr(signal, name)}


def main() -> None:
    """Runs the command in `sys.argv` and ends the process with its exit status."""
    try:
        for number in _heard():
            # What is ignored stays so: `nohup` relies on that.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _end)
        from .cli import main as command

        status = command()
    except (Ended, KeyboardInterrupt) as error:
        status = Ended.status(error)
    sys.exit(status)


if __name__ == "__main__":
    main()
