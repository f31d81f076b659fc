"""Where a command writes: the terminal, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from floatgate import parts

from ..ending import Signals
from ..files import shown
from . import paths

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 120
"""Columns of text where no terminal says how many it has."""

LINE_SECONDS = 5.0
"""Between two lines of progress, where no terminal shows a bar."""

PHASES = {
    "read": "reading the trace",
    "generate": "generating",
    "fill": "filling the drive",
    "run": "simulating",
    "count": "counting moments",
    "calibrate": "simulating runs",
    "crash": "cutting the power",
    "curve": "measuring the map cache",
    "hotness": "measuring hot and cold data",
    "plan": "planning runs",
    "study": "running",
    "trials": "trying configs",
}


def console() -> Console:
    """Standard output for people. Text is printed as it is: a trace's name is no markup."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def say(text: str, quiet: bool = False) -> None:
    """A message, which is no result and so goes to standard error."""
    if not quiet:
        with contextlib.suppress(OSError):
            print("\n".join(map(shown, text.split("\n"))), file=sys.stderr)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


@contextlib.contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on standard error that the yielded function moves; None where there is no terminal."""
    with progress_bars(quiet) as move:
        if move is None:
            yield None
            return
        move("", "", 0, 0)
        yield partial(move, "")


@contextlib.contextmanager
def progress_lines(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """As `progress_bar`; where standard error is no terminal, a line now and then."""
    if not quiet and not sys.stderr.isatty():
        yield _Lines().move
        return
    with progress_bar(quiet) as move:
        yield move


class _Lines:
    """Progress as lines: the first step, and then one in some seconds."""

    def __init__(self) -> None:
        self._next = 0.0

    def move(self, phase: str, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_SECONDS
            of_all = f" of {total}" if total else ""
            say(f"{PHASES.get(phase, phase)}: {done}{of_all} done")


@contextlib.contextmanager
def progress_bars(quiet: bool) -> Iterator[Callable[[str, str, int, int], None] | None]:
    """As `progress_bar`, with a bar for each name that the function is called with first."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
    from rich.progress import TaskProgressColumn as Percent
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("{task.description}"), BarColumn(), Percent(), MofNCompleteColumn())
    with Progress(*columns, TimeLeft(), console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def move(name: str, phase: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task("starting", total=None)
            text = ": ".join(filter(None, (name, PHASES.get(phase, "starting"))))
            bars.update(tasks[name], description=text, completed=done, total=total or None)

        yield move


@contextlib.contextmanager
def folder(
    out: Path | None, default: Path, *, force: bool = False, is_written: bool = True
) -> Iterator[Path | None]:
    """Where a command writes: --out, or else the default, or the first of NAME-2, -3 that is free.

    So a second run replaces nothing of the first, unless `force` asks for the default itself. A new
    directory is made at once, that two runs begun together have one each, and goes again where the
    command fails with nothing in it. None where nothing is written.
    """
    if out is not None or not is_written or force:
        yield default if out is None and is_written else out
        return
    made = next(filter(_is_new, numbered(default)))
    try:
        yield made
    except BaseException:
        with contextlib.suppress(OSError):
            made.rmdir()
        raise


def _is_new(folder: Path) -> bool:
    """Makes a directory, unless the name is taken; where none can be made, `staged` says so."""
    with contextlib.suppress(OSError):
        folder.mkdir()
        return True
    return not os.path.lexists(folder)


def numbered(default: Path) -> Iterator[Path]:
    """The names that a command without --out tries."""
    yield default
    for number in itertools.count(2):
        yield default.with_name(f"{default.name}-{number}")


@contextlib.contextmanager
def staged(
    target: Path | None, *, force: bool = False, inputs: Sequence[str | Path | None] = ()
) -> Iterator[Path | None]:
    """A directory whose files move into `target` at the end, and vanish where something fails.

    None where there is no target. It lies on the file system of `target`, so that moving is
    renaming. Where it cannot be made, that is an error of the call, found before any work is
    done; so is a `target` with files in it, unless `force` replaces those of the same names.
    None of `inputs` is ever replaced.
    """
    if target is None:
        yield None
        return
    base = real = paths.real(target)
    while not os.path.lexists(base):
        base = base.parent
    try:
        occupied = real.is_dir() and any(real.iterdir())
    except OSError as error:
        raise _unwritable(target, error) from error
    paths.refuse_input(target, inputs)
    if occupied and not force:
        raise paths.refused(f"{target}: is not empty; --force replaces the files of an earlier run")
    # An earlier run may have found fewer of these folders, and have begun in one above.
    for folder in (real, *real.parents):
        parts.sweep(folder)
    with _temporary(lambda: parts.folder(base), target) as part:
        yield part
        files = sorted(file for file in part.rglob("*") if file.is_file())
        moves = [(file, target / file.relative_to(part)) for file in files]
        for _, place in moves:
            paths.refuse_input(place, inputs)
        real.mkdir(parents=True, exist_ok=True)
        for file, place in moves:
            place.parent.mkdir(parents=True, exist_ok=True)
            _settle(file, place)


@contextlib.contextmanager
def staged_file(
    target: Path, *, force: bool = False, inputs: Sequence[str | Path | None] = ()
) -> Iterator[Path]:
    """A new file that becomes `target` at the end, and vanishes on failure.

    `-` is standard output. A device or a FIFO stays what it is and is written to; of a symbolic
    link, the file behind it is meant. A file that exists is replaced only by `force`, and one of
    `inputs` never: an error of the call, found before any work is done.
    """
    through = paths.is_stdout(target) or paths.is_special(target)
    if not through:
        paths.refuse_input(target, inputs)
        paths.refuse_existing(target, force=force)
    folder = Path(tempfile.gettempdir()) if through else paths.real(target).parent
    parts.sweep(folder)
    with _temporary(lambda: parts.file(folder), target) as part:
        yield part
        _settle(part, target)


@contextlib.contextmanager
def _temporary(make: Callable[[], parts.Part], target: Path) -> Iterator[Path]:
    """What `make` gives, until the end or a failure, a signal included; errors name `target`."""
    part = None
    try:
        with Signals.Held():
            # A signal in the middle of this import would be a panic of Polars.
            import polars  # noqa: F401

            part = make()
        yield part.path
    except OSError as error:
        if part is None:
            raise _unwritable(target, error) from error
        raise _named(error, part.path, target) from error
    finally:
        if part is not None:
            part.end()


def _named(error: OSError, part: Path, target: Path) -> OSError:
    """The error with the name that the user knows, instead of that of a file in the making."""
    if error.filename is None or Path(error.filename).is_relative_to(part):
        return OSError(error.errno, error.strerror or str(error), str(target))
    return error


def _settle(part: Path, target: Path) -> None:
    """Puts the finished `part` where `target` is: by renaming, or through what is no file."""
    if paths.is_stdout(target):
        with part.open("rb") as source:
            shutil.copyfileobj(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif paths.is_special(target):
        with part.open("rb") as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
    else:
        part.replace(paths.real(target))


def _unwritable(target: Path, error: OSError) -> typer.BadParameter:
    return paths.refused(f"{target}: cannot be written: {error.strerror or error}")
