"""One run of a study: its description, and its execution on a worker."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Lock, get_ident
from typing import Any

from floatgate import _core
from floatgate.simulation import pool, runner, sources
from floatgate.simulation.interrupt import interrupt
from floatgate.simulation.options import RunOptions
from floatgate.simulation.watching import POLL_SECONDS
from floatgate.traces import TraceError

from .planned import Task
from .rows import Row, row_of

OPENED = 8
"""Maximum number of open traces in a process: few suffice, as a trace's runs follow each other."""


class Ending:
    """Ends the runs of a study in threads of this process.

    Pickled into another process, it becomes a new object that ends nothing: that process receives
    signals of its own.
    """

    def __init__(self) -> None:
        self._ended = Event()
        self._lock = Lock()
        self._opening: set[int] = set()

    def __reduce__(self) -> tuple[type[Ending], tuple[()]]:
        return Ending, ()

    def end(self) -> None:
        """Ends the runs soon."""
        self._ended.set()
        with self._lock:
            for thread in self._opening:
                # Reading a long trace takes minutes, and the reader does not check for the end.
                interrupt(thread)

    def look(self, *_: object) -> None:
        """Raises Cancelled once the runs are to end; can serve as the `Progress` of a run."""
        if self._ended.is_set():
            raise _core.Cancelled("the study is ended")

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Marks this thread as opening a trace; `end` interrupts such a thread."""
        thread = get_ident()
        with self._lock:
            self.look()
            self._opening.add(thread)
        try:
            yield
        finally:
            with self._lock:
                self._opening.discard(thread)


def run(task: Task, ending: Ending) -> Row:
    """Executes a run and returns its row: the result, or the error of config, trace or run.

    Other errors, such as a lack of memory, are raised. Raises Cancelled or KeyboardInterrupt if the
    study is ended meanwhile.
    """
    if task.drive is None:
        return row_of(task, _core.ConfigError(task.refused))
    try:
        with ending.opening():
            source = _KNOWN.open(task.source, task.identity, task.how)
            job = runner.only(source, task.drive, task.how)
        return row_of(task, pool.run_all([job], 1, ending.look)[0])
    except (_core.ConfigError, _core.RunError, TraceError, OSError) as error:
        return row_of(task, error)


class _Opened:
    """The traces that were opened last; threads that need one trace share one opening."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: OrderedDict[Any, Future[sources.Source]] = OrderedDict()

    def open(self, source: str, identity: str, how: RunOptions) -> sources.Source:
        """Returns the source. An error of the opening is raised in all threads that wait for it."""
        # A recording is equal for every seed.
        options = how if sources.is_made(source, how.format) else replace(how, seed=1)
        key = source, identity, options
        with self._lock:
            mine = key not in self._found
            if mine:
                self._found[key] = Future()
            self._found.move_to_end(key)
            found = self._found[key]
            while len(self._found) > OPENED:
                self._found.popitem(last=False)
        if mine:
            try:
                opened = sources.open_source(source, how)
                if how.addresses != "modulo":
                    # The layout is computed here, once, and not by each run.
                    opened.load(None)
                found.set_result(opened)
            except BaseException as error:
                # A later attempt may succeed, for example if a server was away.
                with self._lock:
                    if self._found.get(key) is found:
                        del self._found[key]
                found.set_exception(error)
        while not found.done():
            # In steps, because a thread that waits without a limit cannot be interrupted.
            wait([found], POLL_SECONDS)
        return found.result()


_KNOWN = _Opened()
