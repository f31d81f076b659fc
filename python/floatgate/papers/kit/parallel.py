"""Papers that are reproduced side by side: while one is read, judged and drawn, which takes one
core, the runs of another go on. A process frees a paper before it begins the next."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from threading import Thread
from typing import Any

from floatgate import papers
from floatgate._core import RunError
from floatgate.simulation.pool import cores
from floatgate.simulation.watching import POLL_SECONDS, Progress

from .cache import run_cache
from .page import write_outcome
from .summary import Summary, summary_of

AT_ONCE = 2
"""Processes. Each has the runs of a paper in memory, and uses all cores while it simulates."""

Tell = Callable[[str, str, int, int], None]
"""Called with a paper, and the phase, the requests done and in all of its runs."""

Say = Callable[[str], None]

Heard = SimpleQueue[Any]
"""What processes tell: the arguments of a `Tell`, or a text."""


@dataclass(frozen=True)
class Asked:
    """What is to be made of each paper."""

    full: bool
    traces: Path | None
    cached: bool
    """Whether results of earlier runs are taken, and new ones kept."""
    document: bool
    """Whether the whole document is handed over, too."""


@dataclass(frozen=True)
class Reproduced:
    """A paper that was reproduced."""

    summary: Summary
    document: dict[str, Any] | None


def reproduce_one(
    name: str, asked: Asked, folder: Path | None, progress: Progress | None, say: Say
) -> Reproduced:
    """The paper, with its page and data in the folder, if there is one. `say` hears what is to be
    known of the cache."""
    outcome = papers.reproduce(
        name,
        full=asked.full,
        traces=asked.traces,
        progress=progress,
        kept=run_cache(say) if asked.cached else None,
    )
    document = outcome.document()
    if folder is not None:
        write_outcome(outcome, document, folder)
    return Reproduced(summary_of(outcome), document if asked.document else None)


def reproduce_all(
    names: Sequence[str], asked: Asked, directory: Path | None, progress: Tell | None, say: Say
) -> list[Reproduced]:
    """The papers in the order of their names, each with a folder of its name in the directory, if
    there is one.

    Raises what the first that failed has raised (the first named where several failed between
    two looks), and RunError where a process was ended.
    """
    heard: Heard = _spawned().SimpleQueue()
    said: set[str] = set()

    def hear() -> None:
        while not heard.empty():
            one = heard.get()
            if not isinstance(one, str):
                if progress is not None:
                    progress(*one)
            elif one not in said:
                said.add(one)
                say(one)

    with _workers(heard, directory is not None) as pool:
        work = []
        for name in names:
            folder = None
            if directory is not None:
                folder = directory / name
                folder.mkdir()
            with _deaf():
                work.append(pool.submit(_reproduce, name, asked, folder, progress is not None))
        open_ones = set(work)
        while open_ones:
            ended, open_ones = wait(open_ones, POLL_SECONDS, FIRST_EXCEPTION)
            hear()
            for one in work:
                if one in ended:
                    one.result()
        return [one.result() for one in work]


def _spawned() -> Any:
    """Processes that begin anew: one that is forked has locks of threads that it does not have."""
    return multiprocessing.get_context("spawn")


@contextlib.contextmanager
def _workers(heard: Heard, drawn: bool) -> Iterator[Executor]:
    """Processes that end with this one, whatever ends it."""
    over, lives = _spawned().Pipe(duplex=False)
    pool = ProcessPoolExecutor(min(AT_ONCE, cores()), _spawned(), _begin, (heard, over, drawn))
    try:
        yield pool
        pool.shutdown()
    except BrokenProcessPool as error:
        raise RunError(
            "a process that reproduced a paper was ended; the system does so where memory is short"
        ) from error
    finally:
        lives.close()
        pool.shutdown(cancel_futures=True)
        over.close()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """What is started here does not hear Ctrl-C, which is this process's to act on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_told: Heard | None = None
"""In a process of papers, where it tells how far it is."""


def _begin(heard: Heard, over: Connection, drawn: bool) -> None:
    """Makes a new process one that reproduces papers, until nothing can come from `over`."""
    global _told
    _told = heard
    gc.disable()
    Thread(target=_end_with, args=(over,), daemon=True).start()
    if drawn:
        from floatgate.report.page import begin_script

        begin_script()


def _end_with(over: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        over.recv()
    signal.raise_signal(signal.SIGKILL)


def _tell(what: object) -> None:
    if _told is not None:
        _told.put(what)


def _tell_progress(name: str, phase: str, done: int, total: int) -> None:
    _tell((name, phase, done, total))


def _reproduce(name: str, asked: Asked, folder: Path | None, watched: bool) -> Reproduced:
    progress = partial(_tell_progress, name) if watched else None
    found = reproduce_one(name, asked, folder, progress, _tell)
    gc.collect()
    return found
