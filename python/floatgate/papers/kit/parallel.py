"""Reproduces papers side by side. Reading, judging and drawing take one core; the runs of another
paper use the others. A process frees a paper before it begins the next."""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
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
from .finished import finished
from .outcome import Summary, summary_of
from .page import write_outcome

AT_ONCE = 2
"""Number of processes. Each has the runs of a paper in memory."""

Tell = Callable[[str, str, int, int], None]
"""Callback for progress: the paper, the phase, and the requests done and in total."""

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
    cache = run_cache(say) if asked.cached else None
    kept = finished(cache, name, asked.full, asked.traces) if cache and folder else None
    if kept and folder and (summary := kept.unpack(folder)):
        written = (folder / "results.json").read_text("utf-8") if asked.document else "null"
        return Reproduced(summary, json.loads(written))
    outcome = papers.reproduce(
        name, full=asked.full, traces=asked.traces, progress=progress, kept=cache
    )
    document, summary = outcome.document(), summary_of(outcome)
    if folder:
        write_outcome(outcome, document, folder)
        if kept:
            kept.pack(summary, folder)
    return Reproduced(summary, document if asked.document else None)


def reproduce_all(
    names: Sequence[str], asked: Asked, directory: Path | None, progress: Tell | None, say: Say
) -> list[Reproduced]:
    """Reproduces the papers, each in a folder of its name if a directory is given.

    Raises the exception of the first paper that fails, and RunError if a process was killed.
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
            folder = directory / name if directory else None
            if folder:
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
    """Returns a context for fresh processes. A forked one would inherit locks of lost threads."""
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
"""Queue for messages, in a process that reproduces papers."""


def _begin(heard: Heard, over: Connection, drawn: bool) -> None:
    """Prepares a new process, which ends when the other end of `over` is closed."""
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


def _reproduce(name: str, asked: Asked, folder: Path | None, watched: bool) -> Reproduced:
    progress = (lambda *phase: _tell((name, *phase))) if watched else None
    reproduced = reproduce_one(name, asked, folder, progress, _tell)
    gc.collect()
    return reproduced
