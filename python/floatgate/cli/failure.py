"""How a command ends: one clear line on standard error, and the exit status."""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from floatgate.ending import Ended
from floatgate.files import shown

RUN_FAILED = 1
CALL_WRONG = 2


def complain(text: str) -> None:
    """Says what is wrong, in one line."""
    with contextlib.suppress(OSError):
        print(f"floatgate: {shown(' '.join(text.split()))}", file=sys.stderr)


class OneLineErrors(TyperGroup):
    """Commands whose expected failures are a line; only a bug of ours shows a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; ends the process where it fails in a way that is no bug."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            # Typer would say so in its own way.
            raise Ended(signal.SIGINT) from error
        except BrokenPipeError as error:
            # Whoever read our output has seen enough: no failure, and nothing to say.
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
    """Whether Typer found the call wrong.

    Newer versions of Typer have a Click of their own, so there is no one class to ask for.
    """
    return hasattr(error, "format_message")


def _status(error: Exception) -> int | None:
    """The exit status of an expected failure; None for a bug."""
    # The trace front loads Polars, which `--help` and usage errors need not wait for.
    from floatgate._core import ConfigError, RunError
    from floatgate.models import ModelError
    from floatgate.traces import TraceError

    if isinstance(error, (ConfigError, ModelError, TraceError, UnicodeEncodeError)):
        # Of a call, what cannot be encoded was no UTF-8; Python keeps such bytes as surrogates.
        return CALL_WRONG
    return RUN_FAILED if isinstance(error, (RunError, OSError, MemoryError)) else None


def words_of(error: Exception) -> str:
    """The error as a line, without the name of its class."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object[:80]!r} is not UTF-8; expected text in UTF-8"
    return str(error) or type(error).__name__
