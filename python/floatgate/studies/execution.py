"""Executes runs on an executor: limits the runs in flight, reports each row when it is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from typing import Any

from floatgate import _core
from floatgate.simulation.watching import POLL_SECONDS

from . import tasks
from .planned import Task
from .rows import Row, row_of
from .tasks import Ending

Told = Callable[[Row], None]


def execute(
    planned: Iterable[Task],
    executor: Executor,
    in_flight: int,
    told: Told,
    look: Callable[[], None],
) -> None:
    """Executes the planned runs; at most `in_flight` are submitted and unfinished at a time.

    `told` receives each row in this thread; a run whose worker failed has a row, too. `look` is
    called some ten times a second. Raises RunError if the executor itself breaks. An exception in
    this function, also from a signal, ends the runs.
    """
    ending = Ending()
    running: dict[Future[Row], Task] = {}
    waiting = iter(planned)
    task = next(waiting, None)
    try:
        while task is not None or running:
            while task is not None and len(running) < in_flight:
                running[_submit(executor, task, ending)] = task
                task = next(waiting, None)
            for future in running:
                if isinstance(future, _Asked):
                    future.ask()
            ended = wait(running, POLL_SECONDS, FIRST_COMPLETED).done
            for future in ended:
                told(_row(future, running.pop(future)))
            look()
    finally:
        ending.end()
        for future in running:
            future.cancel()


def check(executor: object) -> None:
    """Raises ConfigError if `executor` is no executor."""
    if not callable(getattr(executor, "submit", None)):
        raise _core.ConfigError(
            f"executor: {executor!r} given; expected one with `submit`, as those of "
            "concurrent.futures"
        )


class _Asked(Future[Row]):
    """Future for a job that is no future itself, such as a job of submitit, and must be polled."""

    def __init__(self, job: Any) -> None:
        super().__init__()
        self._job = job

    def ask(self) -> None:
        """Takes over the result or the error of the job, once it is done."""
        if self.done() or not self._job.done():
            return
        try:
            self.set_result(self._job.result())
        except Exception as error:
            self.set_exception(error)

    def cancel(self) -> bool:
        """Cancels the job, too, if it can be cancelled."""
        if not self.done():
            with suppress(AttributeError):
                self._job.cancel()
        return super().cancel()


def _submit(executor: Executor, task: Task, ending: Ending) -> Future[Row]:
    try:
        submitted = executor.submit(tasks.run, task, ending)
    except BrokenExecutor as error:
        raise _broken(error) from error
    return submitted if isinstance(submitted, Future) else _Asked(submitted)


def _row(future: Future[Row], task: Task) -> Row:
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, BrokenExecutor):
        raise _broken(error) from error
    if not isinstance(error, Exception) or isinstance(error, _core.Cancelled):
        raise error
    words = " ".join(str(error).split())
    return row_of(task, RuntimeError(f"{type(error).__name__}: {words}"))


def _broken(error: BaseException) -> _core.RunError:
    words = " ".join(str(error).split())
    return _core.RunError(f"the workers have ended: {words}; --resume runs what is missing")
