"""Threads that run the engine. They are kept for later runs: a run in a new thread takes 0.4 ms
longer, mostly for memory of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

_T = TypeVar("_T")

_MOST = 1 << 20
"""More than all runs that ever go on at a time: runs that share a reading wait for each other."""


def submit(work: Callable[[], _T]) -> Future[_T]:
    """Does the work in a thread of its own."""
    return _executor().submit(work)


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MOST, "engine")


if hasattr(os, "register_at_fork"):
    # A forked process has none of the threads.
    os.register_at_fork(after_in_child=_executor.cache_clear)
