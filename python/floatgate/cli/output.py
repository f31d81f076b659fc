"""Output of a command: the terminal, and files written completely or not at all."""

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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from floatgate.files import parts
from floatgate.files.reading import shown
from floatgate.simulation.signals import Signals

from . import paths

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 120
"""Width in characters when standard output is no terminal."""

LINE_SECONDS = 5.0
"""Seconds between two lines of progress when standard error is no terminal."""

OTHERS_NAMED = 5
"""Maximum number of files of another run that a note names."""

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
    """Returns a console for standard output, without markup, as a name may contain its signs."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def say(text: str, quiet: bool = False) -> None:
    """Prints a message on standard error, because it is no result."""
    if not quiet:
        with contextlib.suppress(OSError):
            print("\n".join(map(shown, text.split("\n"))), file=sys.stderr)


def print_json(document: Any) -> None:
    print(json.dumps(document, indent=2, ensure_ascii=False))


@contextlib.contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yields a function that moves a bar on standard error; None where that is no terminal."""
    with progress_bars(quiet) as move:
        if move is None:
            yield None
            return
        move("", "", 0, 0)
        yield partial(move, "")


def importing(
    module: str, progress: Callable[[str, int, int], None] | None
) -> Callable[[str, int, int], None]:
    """Returns `progress` with one more task: it imports the module that prints the result.

    The function is called while the engine runs in threads of its own. The calling thread would
    only wait, so the import takes no time of the command.
    """

    def move(phase: str, done: int, total: int) -> None:
        # The trace is read by the calling thread itself.
        if phase != "read":
            import_module(module)
        if progress is not None:
            progress(phase, done, total)

    return move


@contextlib.contextmanager
def progress_lines(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Like `progress_bar`, but prints a line every few seconds if standard error is no terminal."""
    if not quiet and not sys.stderr.isatty():
        yield _Lines().move
        return
    with progress_bar(quiet) as move:
        yield move


class _Lines:
    """Progress as lines: the first step of each phase, then at most one step in `LINE_SECONDS`."""

    def __init__(self) -> None:
        self._next, self._phase = 0.0, ""

    def move(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase or time.monotonic() >= self._next:
            self._next, self._phase = time.monotonic() + LINE_SECONDS, phase
            of_all = f" of {total}" if total else ""
            say(f"{PHASES.get(phase, phase)}: {done}{of_all} done")


@contextlib.contextmanager
def progress_bars(quiet: bool) -> Iterator[Callable[[str, str, int, int], None] | None]:
    """Like `progress_bar`, with a bar for each name; the yielded function takes the name first."""
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
    """Yields the directory that a command writes to, or None if it writes nothing.

    The directory is --out, else `default`, else the first free of NAME-2, NAME-3 and so on. A
    second run therefore replaces nothing of the first, unless `force` selects `default` itself. A
    new directory is created at once, so that two runs started together get different ones. If the
    command fails and the directory is still empty, the directory is removed.
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
    """Makes a directory; returns False if the name is taken.

    Returns True also if no directory can be made here: `staged` then reports the error.
    """
    with contextlib.suppress(OSError):
        folder.mkdir()
        return True
    return not os.path.lexists(folder)


def numbered(default: Path) -> Iterator[Path]:
    """Yields the names that a command without --out tries."""
    yield default
    for number in itertools.count(2):
        yield default.with_name(f"{default.name}-{number}")


@contextlib.contextmanager
def staged(
    target: Path | None,
    *,
    force: bool = False,
    inputs: Sequence[str | Path | None] = (),
    quiet: bool = False,
) -> Iterator[Path | None]:
    """Yields a directory; its files move into `target` at the end, and are removed on failure.

    Yields None without a target. The directory is on the file system of `target`, so that moves are
    renames. An error is raised before any work is done if the directory cannot be created, or if
    `target` has files and `force` is not set. `force` replaces files of the same names, and names
    the other files on standard error, unless `quiet`. No file of `inputs` is ever replaced.
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
        raise paths.refused(f"{target}: is not empty; --force replaces files of the same names")
    # If an earlier run was killed before all these directories existed, its part is in a parent.
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
        if occupied and not quiet:
            _name_others(target, {place.name for _, place in moves})


def _name_others(target: Path, written: set[str]) -> None:
    """Says which files of a directory are older than the run that was just written into it."""
    others = sorted(p.name for p in target.iterdir() if p.is_file() and p.name not in written)
    if others:
        more = f" and {len(others) - OTHERS_NAMED} more" if len(others) > OTHERS_NAMED else ""
        names = ", ".join(others[:OTHERS_NAMED])
        say(f"note: {target}: files of another run, or of yours, are still there: {names}{more}")


@contextlib.contextmanager
def staged_file(
    target: Path,
    *,
    force: bool = False,
    inputs: Sequence[str | Path | None] = (),
    option: str = "--out",
) -> Iterator[Path]:
    """Yields a new file that becomes `target` at the end, and is removed on failure. `option` names
    `target`.

    `-` is standard output. A device or a FIFO is written to and never replaced. A symbolic link is
    followed. An existing file is replaced only with `force`, and a file of `inputs` never; both
    errors are raised before any work is done.
    """
    through = paths.is_stdout(target) or paths.is_special(target)
    if not through:
        paths.refuse_input(target, inputs)
        paths.refuse_existing(target, force=force, option=option)
    folder = Path(tempfile.gettempdir()) if through else paths.real(target).parent
    parts.sweep(folder)
    with _temporary(lambda: parts.file(folder), target) as part:
        yield part
        _settle(part, target)


@contextlib.contextmanager
def _temporary(make: Callable[[], parts.Part], target: Path) -> Iterator[Path]:
    """Yields the path of the temporary part from `make`; removes the part in every case.

    Errors name `target`.
    """
    part = None
    try:
        with Signals.Held():
            # A signal during this import would make Polars panic.
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
    """Replaces the name of a temporary file in the error by the name that the user knows."""
    if error.filename is None or Path(error.filename).is_relative_to(part):
        return OSError(error.errno, error.strerror or str(error), str(target))
    return error


def _settle(part: Path, target: Path) -> None:
    """Moves the finished `part` to `target`: by renaming, or by copying into a pipe or device."""
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
