"""Runs on an executor: a bounded number in flight, each row told as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait

from floatgate import _core
from floatgate.jobs import POLL_SECONDS

from . import tasks
from .rows import Row, row_of
from .tasks import Task

Told = Callable[[Row], None]


def execute(
    planned: Iterable[Task],
    executor: Executor,
    in_flight: int,
    told: Told,
    look: Callable[[], None],
) -> None:
    """Runs what is planned, at most `in_flight` submitted and not ended at a time.

    `told` gets each row in this thread; a run whose worker failed has a row, too. `look` is called
    some ten times a second. Raises RunError where the executor itself has broken.
    """
    running: dict[Future[Row], Task] = {}
    waiting = iter(planned)
    task = next(waiting, None)
    try:
        while task is not None or running:
            while task is not None and len(running) < in_flight:
                running[_submit(executor, task)] = task
                task = next(waiting, None)
            ended = wait(running, POLL_SECONDS, FIRST_COMPLETED).done
            for future in ended:
                told(_row(future, running.pop(future)))
            look()
    finally:
        for future in running:
            future.cancel()


def _submit(executor: Executor, task: Task) -> Future[Row]:
    try:
        return executor.submit(tasks.run, task)
    except BrokenExecutor as error:
        raise _broken(error) from error


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
