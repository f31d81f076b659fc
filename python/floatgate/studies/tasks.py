"""One run of a study: what it is, and what comes of it where it is run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event, Lock, get_ident
from typing import Any

from floatgate import _core, jobs, runner, sources
from floatgate.configs import Resolved
from floatgate.ranges import Value
from floatgate.run_options import RunOptions
from floatgate.traces import TraceError

from .rows import Row, row_of

OPENED = 8
"""Traces that a process keeps open: runs of one trace come one after the other."""


@dataclass(frozen=True)
class Task:
    """One run; it can be sent to another process or machine."""

    digest: str
    """Equal for runs that give equal results: of config, requests, options, seed and build."""
    trace: str
    """The trace as the study has it."""
    source: str
    """What is opened: an absolute path, a URL or a generator."""
    identity: str
    """A generator's text, or a digest of the trace's bytes, which may change where it is."""
    volume: str | None
    values: Mapping[str, Value]
    """What varies."""
    drive: Resolved
    how: RunOptions
    options: Mapping[str, Any]
    """Those of `how` as the study has them, by their names."""
    memory: int | None
    """Bytes that it takes at most, where that is known."""
    refused: str = ""
    """Why no drive has its config, where that is so: then the values stand for the config."""


class Ending:
    """Ends the runs of a study that are in threads of this process.

    In another process it is another one, which ends nothing: that has signals of its own.
    """

    def __init__(self) -> None:
        self._ended = Event()
        self._lock = Lock()
        self._opening: set[int] = set()

    def __reduce__(self) -> tuple[type[Ending], tuple[()]]:
        return Ending, ()

    def end(self) -> None:
        """Ends them soon."""
        self._ended.set()
        with self._lock:
            for thread in self._opening:
                # A long trace is read for minutes, and looks at nothing meanwhile.
                jobs.interrupt(thread)

    def look(self, *_: object) -> None:
        """Raises Cancelled once they are to end; it may be the `Progress` of a run."""
        if self._ended.is_set():
            raise _core.Cancelled("the study is ended")

    @contextmanager
    def opening(self) -> Iterator[None]:
        """While it is entered, this thread opens a trace, and is interrupted at the end."""
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
    """Its row: of the result, or of the error of the config, the trace or the run.

    Other errors, such as those of memory, are raised; Cancelled or KeyboardInterrupt where the
    study is ended meanwhile.
    """
    if task.refused:
        return row_of(task, _core.ConfigError(task.refused))
    try:
        with ending.opening():
            source = _KNOWN.open(task.source, task.identity, task.how)
            job = runner.only(source, task.drive, task.how)
        return row_of(task, jobs.run_all([job], 1, ending.look)[0])
    except (_core.ConfigError, _core.RunError, TraceError, OSError) as error:
        return row_of(task, error)


class _Opened:
    """The traces that were opened last; each is opened once, whoever asks meanwhile."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: OrderedDict[Any, Future[sources.Source]] = OrderedDict()

    def open(self, source: str, identity: str, how: RunOptions) -> sources.Source:
        """The source. Raises what opening it raises, to all who ask meanwhile."""
        # A recording is the same with every seed.
        options = how if sources.is_generator(source) else replace(how, seed=1)
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
                    # It is laid out here, once, and not by all who play it.
                    opened.load(None)
                found.set_result(opened)
            except BaseException as error:
                # What is asked for later may be there again, as where a server was away.
                with self._lock:
                    if self._found.get(key) is found:
                        del self._found[key]
                found.set_exception(error)
        while not found.done():
            # In steps, as a thread that waits without an end is not interrupted.
            wait([found], jobs.POLL_SECONDS)
        return found.result()


_KNOWN = _Opened()
