"""End of a command: one clear line on standard error, and the exit status."""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from floatgate.files.reading import shown
from floatgate.simulation.signals import Ended

RUN_FAILED = 1
CALL_WRONG = 2


def complain(text: str) -> None:
    """Prints an error as one line on standard error."""
    with contextlib.suppress(OSError):
        print(f"floatgate: {shown(' '.join(text.split()))}", file=sys.stderr)


class OneLineErrors(TyperGroup):
    """Group of commands that print expected failures as one line; only bugs show a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; an expected failure ends the process with an exit status."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            # Typer would print a message of its own.
            raise Ended(signal.SIGINT) from error
        except BrokenPipeError as error:
            # The reader of the output has closed the pipe: this is no failure and needs no message.
            raise typer.Exit from error
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if is_usage_error(error):
                raise
            status = _status(error)
            if status is None:
                raise
            complain(words_of(error))
            raise typer.Exit(status) from error


def is_usage_error(error: Exception) -> bool:
    """Returns whether Typer rejected the call.

    Newer versions of Typer contain their own copy of Click, so no single class covers all errors.
    """
    return hasattr(error, "format_message")


def _status(error: Exception) -> int | None:
    """Returns the exit status of an expected failure; None for a bug."""
    # These modules load Polars; `--help` and usage errors need not wait for it.
    from floatgate._core import ConfigError, RunError
    from floatgate.models import ModelError
    from floatgate.traces import TraceError

    if isinstance(error, (ConfigError, ModelError, TraceError, UnicodeEncodeError)):
        # An argument that cannot be encoded was not UTF-8; Python keeps such bytes as surrogates.
        return CALL_WRONG
    return RUN_FAILED if isinstance(error, (RunError, OSError, MemoryError)) else None


def words_of(error: Exception) -> str:
    """Returns the error as a line, without the name of its class."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object[:80]!r} is not UTF-8; expected text in UTF-8"
    return str(error) or type(error).__name__
