"""The command line as tests call it: in the test's own process, or as a process of its own.

A process imports Polars, which takes longer than most commands. `in_process` runs the same `main`
in the test's process and gives it what a process has: arguments, a working directory, environment
variables and standard streams. It then restores everything that an exit would have ended.

What it cannot stand for needs `as_process`: signals from outside, pipes and streams that close,
limits of memory and of file size, and everything that happens before `main` or after it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TextIO

HANGS_S = 900
"""Seconds after which a command counts as hung. Even a slow, busy machine needs less."""

UNSHOWN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python hides by default."""


class Done(subprocess.CompletedProcess[str]):
    """A command that has ended, with what it has printed."""

    def ok(self) -> Done:
        """Checks that the command has succeeded."""
        assert self.returncode == 0, self.stderr
        return self

    def document(self) -> Any:
        """Returns the JSON that the command has printed, and checks that it has succeeded."""
        return json.loads(self.ok().stdout)

    def refused(self, words: str = "") -> str:
        """Checks that the call was wrong: one line with `words`, which is returned, and status
        2."""
        assert (self.returncode, self.stdout, self.stderr.count("\n")) == (2, "", 1), self.stderr
        assert self.stderr.startswith("floatgate: ") and words in self.stderr
        return self.stderr


DoneBytes = subprocess.CompletedProcess[bytes]


class Hung(BaseException):
    """A command took longer than `HANGS_S`. No `except Exception` of the command can catch this."""


def as_process(folder: Path, *arguments: object, **options: Any) -> Done:
    """Runs `python -m floatgate` in `folder`. The options are those of `subprocess.run`."""
    return python("-m", "floatgate", *arguments, cwd=folder, **options)


def python(*arguments: object, **options: Any) -> Done:
    """Runs this Python in a process of its own.

    It gets exactly the variables that Python knows. Readline, which pytest imports, sets `COLUMNS`
    for child processes behind Python's back.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": dict(os.environ)}
    texts = {"text": True, "encoding": "utf-8", "timeout": HANGS_S}
    words = [sys.executable, *map(str, arguments)]
    done = subprocess.run(words, **{**pipes, **texts, **options})
    return Done(words, done.returncode, done.stdout, done.stderr)


def in_process(
    folder: Path, *arguments: object, environment: Mapping[str, str] | None = None
) -> Done:
    """Returns what `as_process` returns, without a process."""
    done = in_process_bytes(folder, *arguments, environment=environment)
    return Done(done.args, done.returncode, _text(done.stdout), _text(done.stderr))


def in_process_bytes(
    folder: Path,
    *arguments: object,
    data: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> DoneBytes:
    """Runs the command in this process, with `data` in a pipe on standard input."""
    from floatgate import __main__ as program

    words = [str(program.__file__), *map(str, arguments)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _restored():
        _enter(folder, environment)
        sys.argv = words
        # Typer names the program in messages by this module, and spawned workers import it.
        sys.modules["__main__"] = program
        with _standard_streams(data, out, err):
            status = _status(program.main)
        return DoneBytes(words, status, _content(out), _content(err))


def _status(main: Any) -> int:
    """Returns the exit status that `main` ends with. An uncaught exception prints its traceback,
    as Python does."""
    try:
        main()
    except SystemExit as end:
        return _exit_status(end.code)
    except Hung:
        raise
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _exit_status(code: object) -> int:
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def _enter(folder: Path, environment: Mapping[str, str] | None) -> None:
    """Gives the command its directory, which `python -m` also puts on the import path."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)


@contextlib.contextmanager
def _standard_streams(data: bytes, out: BinaryIO, err: BinaryIO) -> Iterator[None]:
    """Redirects the three descriptors and Python's streams on top of them.

    Python's streams are never closed: a library may keep one, and in a process it would be valid
    until the exit.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    with contextlib.ExitStack() as stack:
        for number, source in enumerate((_input(data, stack), out.fileno(), err.fileno())):
            stack.enter_context(_redirected(number, source))
        sys.stdin, sys.stdout = _stream(0, "r"), _stream(1, "w")
        sys.stderr = _stream(2, "w", errors="backslashreplace", buffering=1)
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
            sys.stdin, sys.stdout, sys.stderr = before


def _stream(
    number: int, mode: str, *, errors: str | None = None, buffering: int = -1
) -> TextIO | Any:
    return os.fdopen(number, mode, buffering, encoding="utf-8", errors=errors, closefd=False)


def _input(data: bytes, stack: contextlib.ExitStack) -> int:
    """Returns a descriptor to read `data` from: a pipe, as a process would have."""
    reading, writing = os.pipe()

    def write() -> None:
        # The command may end before it has read everything.
        with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
            pipe.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    stack.callback(writer.join)
    stack.callback(os.close, reading)
    return reading


@contextlib.contextmanager
def _redirected(number: int, source: int) -> Iterator[None]:
    """Makes the descriptor `number` mean the file of `source`."""
    before = os.dup(number)
    try:
        os.dup2(source, number)
        yield
    finally:
        os.dup2(before, number)
        os.close(before)


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Undoes at the end what the exit of a process would undo."""
    with contextlib.ExitStack() as stack:
        stack.callback(os.chdir, Path.cwd())
        stack.callback(_set_environment, dict(os.environ))
        stack.callback(os.umask, _umask())
        for name in ("argv", "excepthook", "unraisablehook"):
            stack.callback(setattr, sys, name, getattr(sys, name))
        stack.callback(sys.path.__setitem__, slice(None), sys.path[:])
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(atexit.unregister, gc.freeze)
        stack.callback(sys.modules.__setitem__, "__main__", sys.modules["__main__"])
        stack.callback(_forget_modules, set(sys.modules))
        stack.callback(setattr, logging.root, "handlers", logging.root.handlers[:])
        stack.callback(logging.root.setLevel, logging.root.level)
        stack.enter_context(_signals())
        stack.enter_context(warnings.catch_warnings())
        _show_warnings()
        yield


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _set_environment(before: dict[str, str]) -> None:
    if dict(os.environ) != before:
        os.environ.clear()
        os.environ.update(before)


def _forget_modules(before: set[str]) -> None:
    """Drops modules that came from the command's directory: another test may have others of the
    same names. Installed packages stay, as some can be imported only once."""
    folder = Path.cwd()
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or "/"
        if Path(file).is_relative_to(folder) and "site-packages" not in file:
            del sys.modules[name]


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Ends a command that hangs, and restores signal handlers and the timer.

    A Ctrl-C that the command has turned into an exit status is raised again, to end the tests.
    """
    from floatgate.simulation.signals import Signals

    heard = [getattr(signal, f"SIG{name}") for name in ("INT", "TERM", "HUP", "ALRM")]
    before = {number: signal.getsignal(number) for number in heard}
    signal.signal(signal.SIGALRM, _hung)
    signal.setitimer(signal.ITIMER_REAL, HANGS_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        come, Signals._come = Signals._come, None
        if come is not None:
            signal.raise_signal(come)


def _hung(*_: object) -> None:
    raise Hung(f"the command runs for more than {HANGS_S} seconds")


def _show_warnings() -> None:
    """Shows warnings as a process does. pytest collects them, and shows each kind."""

    def show(message: Any, category: Any, name: str, line: int, *_: object) -> None:
        sys.stderr.write(warnings.formatwarning(message, category, name, line))

    warnings.resetwarnings()
    for category in UNSHOWN:
        warnings.simplefilter("ignore", category)
    warnings.showwarning = show


def _content(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _text(data: bytes) -> str:
    """Returns the text as `subprocess` decodes it."""
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
