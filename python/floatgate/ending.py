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
