"""Pool of simulation jobs: several run at a time, with progress, until they end or Ctrl-C ends
them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from floatgate import _core

from . import memory, threads
from .builds import build
from .identity import Job, labelled
from .interrupt import Asking
from .kept import Kept
from .watching import POLL_SECONDS, Progress, watched

if TYPE_CHECKING:
    from floatgate.results.result import Result

SHARED_BYTES = 5 << 28
"""Maximum memory of all drives, in bytes, while there are more runs than workers."""


def cores() -> int:
    """Returns the number of cores that this process may use.

    A container may have fewer than the machine.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_all(
    jobs: Sequence[Job], workers: int, progress: Progress | None, kept: Kept | None = None
) -> list[Result]:
    """Runs the jobs, `workers` at a time. Ctrl-C ends them all.

    A failed job does not end the others. When all have ended, the first error is raised. Its
    `results` are the results of the other jobs, and None for each failed job. Results of runs with
    a Python policy are not kept, and their notes state this.
    """
    if len(jobs) > 1:
        # Each run needs its own policies, as it has its own drive.
        jobs = [replace(job, drive=job.drive.apart()) for job in jobs]
    futures = _stored(jobs, kept)
    for at, job in enumerate(jobs):
        if at not in futures:
            job.check_memory()
    missing = [at for at in range(len(jobs)) if at not in futures]
    room = memory.available()
    waiting = _groups(jobs, missing, workers, room)
    turns = _core.Turns(workers)
    controls = [_core.Control() for _ in jobs]
    readings: list[_core.Reading] = []
    asking = Asking(_simulate.__code__)
    underway: list[Underway] = []
    try:
        while waiting or underway:
            while waiting and _has_room(underway, waiting[0], workers, room):
                group = waiting.popleft()
                reading = _reading(jobs, group.jobs, turns)
                readings += [reading] if reading else []
                for at in group.jobs:
                    run = partial(_simulate, jobs[at], kept, controls[at], turns, reading, asking)
                    futures[at] = threads.submit(run)
                underway.append(Underway(group, {futures[at] for at in group.jobs}))
            running = {run for one in underway for run in one.running}
            ended = wait(running, POLL_SECONDS, FIRST_COMPLETED).done
            underway = [
                Underway(one.group, left) for one in underway if (left := one.running - ended)
            ]
            if progress is not None:
                progress(*_sum(jobs, controls, futures))
    finally:
        for control in controls:
            control.cancel()
        for reading in readings:
            reading.stop()
        asking.end()
        wait(futures.values())
    results = [None if futures[at].exception() else futures[at].result() for at in range(len(jobs))]
    for at, job in enumerate(jobs):
        _raise(job.label, futures[at], results)
    return [result for result in results if result is not None]


def _stored(jobs: Sequence[Job], kept: Kept | None) -> dict[int, Future[Result]]:
    """Returns the jobs with a kept result, by their index."""
    stored: dict[int, Future[Result]] = {}
    if kept is None:
        return stored
    ended = Event()

    def look() -> None:
        for at, job in enumerate(jobs):
            if ended.is_set():
                return
            if job.drive.guests:
                continue
            # If the requests cannot be read, the run that plays them will report the error.
            with suppress(_core.ConfigError, _core.RunError):
                if (result := kept.find(job)) is not None:
                    stored[at] = Future()
                    stored[at].set_result(result)

    watched(look, ended.set, lambda: None)
    return stored


@dataclass(frozen=True)
class Group:
    """Indices of jobs that run side by side because they share a reading of their workload.

    Jobs whose requests are in memory have no reading to share.
    """

    jobs: Sequence[int]
    size: int
    """Bytes of memory of their drives, which exist at the same time."""


@dataclass(frozen=True)
class Underway:
    """A group whose runs have begun."""

    group: Group
    running: set[Future[Result]]
    """Runs that have not ended."""


def _groups(
    jobs: Sequence[Job],
    missing: Sequence[int],
    workers: int,
    room: int | None,
    most: int = SHARED_BYTES,
) -> deque[Group]:
    """Splits the jobs into groups. A group of several jobs takes at most `room` bytes, unless
    that is None. A group of more than `most` bytes has at most `workers` jobs.
    """
    by_reading: dict[Hashable, list[Group]] = {}
    for at in missing:
        job = jobs[at]
        takes = job.memory_bytes()
        key: Hashable = at if job.load.workload.is_held else id(job.load)
        groups = by_reading.setdefault(key, [Group([], 0)])
        last = groups.pop()
        together = last.size + takes
        is_full = together > most and len(last.jobs) >= workers
        if last.jobs and (is_full or not _fits(together, room)):
            groups.append(last)
            last = Group([], 0)
        groups.append(Group([*last.jobs, at], last.size + takes))
    return deque(group for groups in by_reading.values() for group in groups)


def _has_room(underway: Sequence[Underway], group: Group, workers: int, room: int | None) -> bool:
    """Returns whether the group can begin, with `room` bytes of memory for all drives.

    Runs that share a reading wait for one another, so one group alone would leave a core idle. A
    second group therefore begins, unless the drives are too large for memory.
    """
    together = group.size + sum(one.group.size for one in underway)
    if underway and not _fits(together, room):
        return False
    if sum(len(one.running) for one in underway) < workers:
        return True
    return len(underway) < workers and together <= SHARED_BYTES


def _fits(size: int, room: int | None) -> bool:
    return room is None or size <= room


def _reading(jobs: Sequence[Job], group: Sequence[int], turns: _core.Turns) -> _core.Reading | None:
    if len(group) < 2:
        return None
    return _core.Reading(jobs[group[0]].load.workload, len(group), turns)


def _raise(label: str, future: Future[Result], results: list[Result | None]) -> None:
    """Raises the job's error, if it failed."""
    if (error := future.exception()) is not None:
        failure = labelled(error, label)
        failure.results = results  # type: ignore[attr-defined]
        # The exception of a Python policy stays the cause.
        raise failure from (error.__cause__ or error)


def _sum(
    jobs: Sequence[Job], controls: Sequence[_core.Control], futures: Mapping[int, Future[Result]]
) -> tuple[str, int, int]:
    """Returns the phase, the requests done and the number of requests, summed over all jobs."""
    if len(jobs) == 1:
        return controls[0].progress()
    done = total = 0
    for number, (job, control) in enumerate(zip(jobs, controls, strict=True)):
        requests = job.load.workload.requests
        phase, at, _ = control.progress()
        has_ended = number in futures and futures[number].done()
        done += requests if has_ended else at if phase == "run" else 0
        total += requests
    return "run", done, total


def _start_cache(job: Job) -> tuple[str, str] | None:
    """Returns the directory of this build's start states, and the build; None if none are kept."""
    directory = job.how.start_cache
    if not directory or job.drive.guests:
        return None
    if Path(directory).exists() and not Path(directory).is_dir():
        raise _core.ConfigError(f"start_cache: {directory} given; expected a directory")
    return str(Path(directory) / build()), build()


def _simulate(
    job: Job,
    kept: Kept | None,
    control: _core.Control,
    turns: _core.Turns,
    reading: _core.Reading | None,
    asking: Asking,
) -> Result:
    with asking.within() if job.drive.guests else nullcontext():
        text = _core.simulate(
            job.drive.config,
            job.load.workload,
            seed=job.how.seed,
            span_bytes=job.load.span_bytes,
            verify=job.how.verify,
            start_cache=_start_cache(job),
            device=job.drive.device,
            skipped=job.load.skipped,
            notes=job.notes(kept is not None),
            can_shrink=job.drive.can_shrink,
            control=control,
            turns=turns,
            reading=reading,
            guests=job.drive.guests or None,
        )
    from floatgate.results.result import Result

    result = Result.from_json(text)
    if kept is not None and not job.drive.guests:
        kept.keep(job, result)
    return result
