"""Executor of `concurrent.futures` that executes runs on a Ray cluster."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from threading import Timer
from typing import Any, TypeVar

from floatgate import _core

_T = TypeVar("_T")

ANSWER_S = 10.0
"""Seconds within which a cluster must accept a connection."""

MEMORY = 1 << 30
"""Bytes that a run claims if the study states no size."""

TRIES = 4
"""Maximum number of attempts at a run whose worker, machine or memory was lost."""

WAIT_S = 1.0
"""Seconds before the second attempt at such a run; each further wait is twice as long."""


class RayExecutor(Executor):
    """Submits runs to the cluster at `address`; without an address, to a cluster on this machine.

    A run claims a core and `memory` bytes, so a machine gets only the runs that its memory can
    hold. A run whose worker or machine was lost is started again later. A run that lacked memory is
    also started again, with twice the claim. Raises ConfigError if Ray is not installed, if there
    is no cluster, or if no machine has the memory.
    """

    def __init__(self, address: str | None, memory: int | None) -> None:
        try:
            import ray
        except ImportError as error:
            raise _core.ConfigError(
                "engine: ray is not installed; expected floatgate[ray]"
            ) from error
        self._ray = ray
        self._memory = memory or MEMORY
        self._mine = not ray.is_initialized()
        if self._mine:
            _check_reachable(address)
            quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
            try:
                ray.init(address=address or "local", **quiet)
            except (ConnectionError, ValueError) as error:
                words = " ".join(str(error).split())
                raise _core.ConfigError(f"RAY_ADDRESS: {address}: {words}") from error
        self._largest = _largest_memory(ray.nodes())
        if self._memory > self._largest:
            if self._mine:
                ray.shutdown()
            raise _core.ConfigError(
                f"memory: {self._memory:,} bytes a run; no machine of the cluster has more than "
                f"{self._largest:,}"
            )

    def cores(self) -> int:
        """Returns how many runs the cluster can execute at a time, by its cores."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def in_flight(self) -> int:
        """Returns the number of runs to submit at a time: two for each core of the cluster."""
        return 2 * self.cores()

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Starts `fn` on the cluster; pickles the function and its arguments."""
        future: Future[_T] = Future()
        self._begin(future, partial(fn, *args, **kwargs), self._memory, 1)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves the cluster, which ends unfinished runs; a cluster on this machine ends, too."""
        if self._mine:
            self._ray.shutdown()

    def _begin(self, future: Future[_T], work: Callable[[], _T], claim: int, tries: int) -> None:
        if future.cancelled():
            return
        # Ray itself must not retry. It would restart a run that it killed for its memory with the
        # same claim, and without end: only a `max_retries` of 0 disables its separate budget for
        # such runs (`task_oom_retries`, TaskManager::AddPendingTask).
        options = {"num_cpus": 1, "memory": claim, "max_retries": 0}
        ended = partial(self._ended, future, work, claim, tries)
        try:
            came = self._ray.remote(_call).options(**options).remote(work)
            came.future().add_done_callback(ended)
        except Exception as error:
            # In a timer thread no caller would receive the error.
            future.set_exception(error)

    def _ended(
        self,
        future: Future[_T],
        work: Callable[[], _T],
        claim: int,
        tries: int,
        came: Future[_T],
    ) -> None:
        error = came.exception()
        if future.cancelled():
            return
        if error is None:
            future.set_result(came.result())
        elif tries >= TRIES or not self._may_be_tried(error):
            future.set_exception(error)
        else:
            delay = WAIT_S * 2 ** (tries - 1)
            if self._is_short(error):
                claim = min(2 * claim, self._largest)
            timer = Timer(delay, self._begin, (future, work, claim, tries + 1))
            timer.daemon = True
            timer.start()

    def _is_short(self, error: BaseException) -> bool:
        return isinstance(error, (MemoryError, self._ray.exceptions.OutOfMemoryError))

    def _may_be_tried(self, error: BaseException) -> bool:
        lost = self._ray.exceptions
        kinds = (
            lost.WorkerCrashedError,
            lost.LocalRayletDiedError,
            lost.NodeDiedError,
            lost.ObjectLostError,
        )
        return self._is_short(error) or isinstance(error, kinds)


def _check_reachable(address: str | None) -> None:
    """Raises ConfigError if nothing listens at HOST:PORT; Ray itself would wait many minutes."""
    found = re.fullmatch(r"(?:ray://)?\[?([^/]+?)\]?:(\d+)", address or "")
    if found is None:
        return
    try:
        socket.create_connection((found[1], int(found[2])), ANSWER_S).close()
    except (OSError, OverflowError) as error:
        words = getattr(error, "strerror", None) or error
        raise _core.ConfigError(f"RAY_ADDRESS: {address}: no cluster is there: {words}") from error


def _call(work: Callable[[], _T]) -> _T:
    return work()


def _largest_memory(nodes: list[dict[str, Any]]) -> int:
    """Returns the largest memory of a machine of the cluster, in bytes."""
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    return max((int(of.get("memory", 0)) for of in alive), default=0)
