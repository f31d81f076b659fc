"""How the command line turns a signal into an exception.

This module is imported first, so it imports nothing heavy.
"""

from __future__ import annotations

import signal
import sys


class Ended(BaseException):
    """Exception for a signal that ends the process. No `except Exception` can catch it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @staticmethod
    def status(error: BaseException) -> int:
        """Prints that a signal ended the process,
        and returns the exit status that shells use for it.
        """
        number = error.number if isinstance(error, Ended) else int(signal.SIGINT)
        name = "interrupted" if number == signal.SIGINT else signal.Signals(number).name
        if sys.stderr is not None:
            words = name if name == "interrupted" else f"ended by {name}"
            print(f"floatgate: {words}", file=sys.stderr)
        return 128 + number


class Signals:
    """Signal that has arrived, if any, and the blocks that keep the process from ending now."""

    _come: int | None = None
    _holds = 0

    @classmethod
    def come(cls, number: int) -> None:
        """Records a signal and raises Ended, unless a `Held` block delays it."""
        cls._come = number
        cls.look()

    @classmethod
    def look(cls) -> None:
        """Raises Ended if a signal has arrived and the process is not ending yet.

        After a signal, this is called periodically, because the exception of the signal handler may
        get lost: Python drops an exception within a callback or a finalizer, and libraries catch
        all exceptions when they test for a feature.
        """
        if cls._come is not None and not cls._holds and not cls._is_under_way():
            raise Ended(cls._come)

    @staticmethod
    def _is_under_way() -> bool:
        """Returns whether the caller is cleanup code that runs because of an `Ended`."""
        error = sys.exc_info()[1]
        while error is not None and not isinstance(error, Ended):
            error = error.__context__
        return error is not None

    class Held:
        """Holds up signals inside its `with` block,
        so that none separates two steps that belong together.
        """

        def __enter__(self) -> None:
            Signals._holds += 1

        def __exit__(self, *_: object) -> None:
            Signals._holds -= 1
            Signals.look()
