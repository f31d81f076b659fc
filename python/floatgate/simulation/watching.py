"""Work of the engine in a thread of its own: it reports progress, and Ctrl-C ends it."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any, TypeVar

from floatgate import _core

from . import threads

POLL_SECONDS = 0.1
"""Interval at which a waiting caller reports progress and reacts to Ctrl-C, in seconds."""

_T = TypeVar("_T")

Progress = Callable[[str, int, int], None]
"""Callback for progress. It gets the phase ("read", "fill" or "run"), the requests done and the
total number of requests, both summed over all runs. An unknown total is 0. The thread of the caller
calls it some ten times a second.
"""


def measure(
    engine: Callable[..., str],
    workload: _core.Workload,
    progress: Progress | None,
    **options: object,
) -> dict[str, Any]:
    """Runs an analysis of the engine on a workload and returns its document."""
    control = _core.Control()

    def tell() -> None:
        if progress is not None:
            progress(*control.progress())

    text = watched(lambda: engine(workload, **options, control=control), control.cancel, tell)
    document: dict[str, Any] = json.loads(text)
    return document


def watched(work: Callable[[], _T], stop: Callable[[], None], tell: Callable[[], None]) -> _T:
    """Runs `work` in a thread of its own, so that Ctrl-C still takes effect,
    and returns its result.

    `tell` is called some ten times a second and once at the end. `stop` is called in any case: it
    must make `work` end soon.
    """
    future = threads.submit(work)
    try:
        while not wait([future], POLL_SECONDS).done:
            tell()
    finally:
        stop()
        wait([future])
    tell()
    return future.result()
