"""What a signal becomes in the command line. It is imported first, so it imports nothing."""

from __future__ import annotations

import signal
import sys


class Ended(BaseException):
    """A signal that ends the process; no `except Exception` on its way out holds it up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @staticmethod
    def status(error: BaseException) -> int:
        """Says that the process was ended; returns its exit status, which is that of shells."""
        number = error.number if isinstance(error, Ended) else int(signal.SIGINT)
        name = "interrupted" if number == signal.SIGINT else signal.Signals(number).name
        if sys.stderr is not None:
            words = name if name == "interrupted" else f"ended by {name}"
            print(f"floatgate: {words}", file=sys.stderr)
        return 128 + number


class Signals:
    """The signal that has come, if any, and whether it may end what is being done."""

    _come: int | None = None
    _holds = 0

    @classmethod
    def come(cls, number: int) -> None:
        """Raises Ended, unless that is held up."""
        cls._come = number
        cls.look()

    @classmethod
    def look(cls) -> None:
        """Raises Ended if a signal has come, and is not ending what is being done already.

        Called now and then once one has come: Python drops an exception that a signal raises
        within a callback or a finalizer, as do libraries that try whether something can be had.
        """
        if cls._come is not None and not cls._holds and not cls._is_under_way():
            raise Ended(cls._come)

    @staticmethod
    def _is_under_way() -> bool:
        """Whether this is called by what is cleaned up on the way out."""
        error = sys.exc_info()[1]
        while error is not None and not isinstance(error, Ended):
            error = error.__context__
        return error is not None

    class Held:
        """While it is entered, no signal comes between two things that belong together."""

        def __enter__(self) -> None:
            Signals._holds += 1

        def __exit__(self, *_: object) -> None:
            Signals._holds -= 1
            Signals.look()
