"""Reproduces papers side by side. Reading, judging and drawing take one core; the runs of another
paper use the other cores meanwhile. A process frees a paper before it begins the next."""

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
"""Number of processes. Each has the runs of a paper in memory, and uses all cores while it
simulates."""

Tell = Callable[[str, str, int, int], None]
"""Callback for progress. Its arguments are the paper, the phase, and the number of requests done
and in total over all runs."""

Say = Callable[[str], None]

Heard = SimpleQueue[Any]
"""Queue of messages from the processes: the arguments of a `Tell`, or a text."""


@dataclass(frozen=True)
class Asked:
    full: bool
    traces: Path | None
    cached: bool
    document: bool
    """Whether the process passes the whole document back, too."""


@dataclass(frozen=True)
class Reproduced:
    summary: Summary
    document: dict[str, Any] | None


def reproduce_one(
    name: str, asked: Asked, folder: Path | None, progress: Progress | None, say: Say
) -> Reproduced:
    """Reproduces the paper, and writes its page and data if a folder is given. `say` receives
    messages about the cache."""
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
    """Reproduces the papers and returns them in the order of `names`. If a directory is given, each
    paper has a folder of its name there.

    If a paper fails, raises its exception. If several fail between two polls, the first of them in
    `names` decides. Raises RunError if a process was killed.
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
    """Returns a context that starts fresh processes. A forked process would inherit locks of
    threads that it does not have."""
    return multiprocessing.get_context("spawn")


@contextlib.contextmanager
def _workers(heard: Heard, drawn: bool) -> Iterator[Executor]:
    """Yields processes that end with this one, even if it is killed."""
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
    """Processes started in this block ignore Ctrl-C. This process handles it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_told: Heard | None = None
"""Queue for progress messages. It is set only in a process that reproduces papers."""


def _begin(heard: Heard, over: Connection, drawn: bool) -> None:
    """Prepares a new process for reproducing papers. The process ends when the other end of `over`
    is closed."""
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
    reproduced = reproduce_one(name, asked, folder, progress, _tell)
    gc.collect()
    return reproduced
