"""Where a command writes: the terminal, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 120
"""Columns of text where no terminal says how many it has."""

PHASES = {
    "read": "reading the trace",
    "generate": "generating",
    "fill": "filling the drive",
    "run": "simulating",
    "count": "counting moments",
    "crash": "cutting the power",
    "curve": "measuring the map cache",
    "hotness": "measuring hot and cold data",
}


def console() -> Console:
    """Standard output for people. Text is printed as it is: a trace's name is no markup."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def say(text: str, quiet: bool = False) -> None:
    """A message, which is no result and so goes to standard error."""
    if not quiet:
        print(text, file=sys.stderr)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


@contextlib.contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on standard error that the yielded function moves; None where there is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TaskProgressColumn as Percent
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("{task.description}"), BarColumn(), Percent(), MofNCompleteColumn())
    with Progress(*columns, TimeLeft(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def move(phase: str, done: int, total: int) -> None:
            name = PHASES.get(phase, "starting")
            bar.update(task, description=name, completed=done, total=total or None)

        yield move


@contextlib.contextmanager
def staged(target: Path) -> Iterator[Path]:
    """A directory whose files move into `target` at the end, and vanish where something fails.

    It lies on the file system of `target`, so that moving is renaming. Where it cannot be made,
    that is an error of the call, found before any work is done.
    """
    base = target.absolute()
    while not os.path.lexists(base):
        base = base.parent
    try:
        part = Path(tempfile.mkdtemp(dir=base, prefix=".floatgate-", suffix=".part"))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield part
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(part.iterdir()):
            file.replace(target / file.name)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def staged_file(target: Path) -> Iterator[Path]:
    """A new file beside `target` that takes its name at the end, and vanishes on failure."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.touch()
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _unwritable(target: Path, error: OSError) -> typer.BadParameter:
    reason = error.strerror or str(error)
    return typer.BadParameter(f"{target}: cannot be written: {reason}", param_hint="'--out'")
