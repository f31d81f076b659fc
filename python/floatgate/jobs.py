"""Simulation jobs: several at a time, with progress, ended by Ctrl-C,
each result kept at its end.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, get_ident
from typing import Any, TypeVar

from . import _core, memory, parts
from .builds import build
from .configs import Resolved, page_bytes
from .report.files import write_whole
from .result import Result
from .run_options import RunOptions
from .sources import Load

POLL_SECONDS = 0.1
"""Seconds between two updates of a waiting caller: it reports progress and reacts to Ctrl-C."""

PATIENCE_SECONDS = 1.0
"""Seconds that a Python policy has to return when its run is to end."""

SHARED_PAGES = 1 << 27
"""Most logical pages of drives whose runs share a reading:
such drives take some 2 GiB of memory.
"""

VERIFIED = 4
"""Factor by which `verify` increases the memory of a page."""

_T = TypeVar("_T")

Progress = Callable[[str, int, int], None]
"""Callback for progress. It gets the phase ("read", "fill" or "run"), the requests done and all
requests, both summed over all runs; all requests are 0 if unknown. The calling thread calls it some
ten times a second.
"""


def digest_of(*what: object) -> str:
    """Returns 32 hexadecimal digits that are equal for values with equal JSON. They name the file
    of a stored result.
    """
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Job:
    """One simulation."""

    label: str
    """Label that distinguishes the job in an error; empty if it is the only job."""
    drive: Resolved
    load: Load
    how: RunOptions

    def pages(self) -> int:
        """Returns the logical pages of the map.

        Raises ConfigError if the drive cannot hold the workload.
        """
        try:
            size = _core.logical_bytes(self.drive.config, self.load.span)
        except _core.ConfigError as error:
            raise _labelled(error, self.label) from error
        return size // page_bytes(json.loads(self.drive.config))

    def check_memory(self) -> None:
        """Raises ConfigError if the drive does not fit into memory."""
        memory.check(self.pages(), memory.VERIFIED if self.how.verify else memory.RUN, self.label)

    @property
    def digest(self) -> str:
        """Digest of engine, config, requests and seed. It is equal for runs with equal results.

        A run with a Python policy has no digest: the policy's name does not identify its code.
        """
        assert not self.drive.guests, "two runs with one name for different code would be equal"
        load, how = self.load, self.how
        requests = (load.workload.name, load.workload.digest, load.workload.requests)
        played = (requests, load.span_bytes, how.seed, how.verify)
        return digest_of(_core.__version__, self.drive.config, *played)

    def notes(self, is_kept: bool) -> list[str]:
        """Returns notes on the workload, on the drive,
        and on results that a Python policy keeps from storage.
        """
        names = " and ".join(sorted(self.drive.guests.names()))
        why = f"{names}: the name of a Python policy does not identify its code"
        return [
            *self.load.notes,
            *self.drive.notes,
            *([f"not resumable: {why}, so this run is not kept"] if names and is_kept else []),
            *([f"start state not kept: {why}"] if names and self.how.start_cache else []),
        ]


@dataclass(frozen=True)
class Kept:
    """Results on disk, one file for each run that has ended: `DIGEST.json`.

    The file is the result's document with one more key, `sha256`: the digest of the text without
    it.
    """

    directory: Path
    resume: bool
    """Whether stored results are read instead of being simulated again."""

    @classmethod
    def at(cls, directory: Path, resume: bool) -> Kept:
        """Opens the results in `directory` and removes
        partial files that a killed run left there.
        """
        parts.sweep(directory)
        return cls(directory, resume)

    def find(self, job: Job) -> Result | None:
        """Returns the result of an earlier run; None if there is none,
        or if its file is damaged.
        """
        if not self.resume:
            return None
        try:
            content = self._path(job).read_text("utf-8")
            text = content.rpartition(_SEAL)[0] + "\n}"
            return Result.from_json(text) if content == _sealed(text) else None
        except (OSError, ValueError):
            return None

    def keep(self, job: Job, result: Result) -> None:
        """Writes the result, whole or not at all."""
        self.directory.mkdir(parents=True, exist_ok=True)
        write_whole(self._path(job), _sealed(result.to_json()).encode())

    def _path(self, job: Job) -> Path:
        return self.directory / f"{job.digest}.json"


_SEAL = ',\n  "sha256": '
"""Text between a result's document and its digest."""


def _sealed(text: str) -> str:
    """Returns the text of a JSON object with its digest as the last entry."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    body = text.removesuffix("\n}")
    return f'{body}{_SEAL}"{digest}"\n}}\n'


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
    with ThreadPoolExecutor(1) as pool:
        try:
            future = pool.submit(work)
            while not wait([future], POLL_SECONDS).done:
                tell()
        finally:
            stop()
    tell()
    return future.result()


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
    `results` are the results of the other jobs, and None for each failed job. Results with a Python
    policy are not kept, and their notes state this.
    """
    if len(jobs) > 1:
        # Each run needs its own policies, as it has its own drive.
        jobs = [replace(job, drive=job.drive.apart()) for job in jobs]
    futures = _known(jobs, kept)
    for at, job in enumerate(jobs):
        if at not in futures:
            job.check_memory()
    waiting = _groups(jobs, [at for at in range(len(jobs)) if at not in futures], workers)
    turns = _core.Turns(workers)
    controls = [_core.Control() for _ in jobs]
    readings: list[_core.Reading] = []
    asking = Asking()
    underway: list[Underway] = []
    with ThreadPoolExecutor(len(jobs) or 1) as pool:
        try:
            while waiting or underway:
                while waiting and _has_room(underway, waiting[0], workers):
                    group = waiting.popleft()
                    reading = _reading(jobs, group.jobs, turns)
                    readings += [reading] if reading else []
                    for at in group.jobs:
                        run = partial(
                            _simulate, jobs[at], kept, controls[at], turns, reading, asking
                        )
                        futures[at] = pool.submit(run)
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
    results = [None if futures[at].exception() else futures[at].result() for at in range(len(jobs))]
    for at, job in enumerate(jobs):
        _raise(job.label, futures[at], results)
    return [result for result in results if result is not None]


def interrupt(thread: int) -> None:
    """Raises KeyboardInterrupt in a thread as soon as it executes Python code."""
    error = ctypes.py_object(KeyboardInterrupt)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


class Asking:
    """Threads whose runs call Python policies, each registered while it is `within`."""

    def __init__(self) -> None:
        self._threads: set[int] = set()
        self._is_over = False

    @contextmanager
    def within(self) -> Iterator[None]:
        """Registers the calling thread. Raises Cancelled once `end` has been called."""
        thread = get_ident()
        self._threads.add(thread)
        try:
            if self._is_over:
                raise _core.Cancelled("interrupted")
            yield
        finally:
            self._threads.discard(thread)

    def end(self) -> None:
        """Waits for cancelled runs to end.

        A policy that does not return is interrupted repeatedly, because it may catch the interrupt.
        """
        self._is_over = True
        patient_until = time.monotonic() + PATIENCE_SECONDS
        while self._threads:
            if time.monotonic() > patient_until:
                self._interrupt()
            time.sleep(POLL_SECONDS)

    def _interrupt(self) -> None:
        """Raises KeyboardInterrupt in threads that are executing a policy."""
        for thread, frame in sys._current_frames().items():
            # Code outside a policy would not expect the exception.
            if thread in self._threads and frame.f_code is not _simulate.__code__:
                interrupt(thread)


def _known(jobs: Sequence[Job], kept: Kept | None) -> dict[int, Future[Result]]:
    """Returns the jobs with a kept result, by their index."""
    found: dict[int, Future[Result]] = {}
    if kept is None:
        return found
    ended = Event()

    def look() -> None:
        for at, job in enumerate(jobs):
            if ended.is_set():
                return
            if job.drive.guests:
                continue
            # Requests that cannot be read are an error of the run that plays them.
            with suppress(_core.ConfigError, _core.RunError):
                if (result := kept.find(job)) is not None:
                    found[at] = Future()
                    found[at].set_result(result)

    watched(look, ended.set, lambda: None)
    return found


@dataclass(frozen=True)
class Group:
    """Indices of jobs that run side by side because they share a reading of their workload.

    Jobs whose requests are in memory have no reading to share.
    """

    jobs: Sequence[int]
    pages: int
    """Logical pages of their drives, all of which are in memory at the same time."""


@dataclass(frozen=True)
class Underway:
    """A group whose runs have begun."""

    group: Group
    running: set[Future[Result]]
    """Runs that have not ended."""


def _groups(jobs: Sequence[Job], missing: Sequence[int], workers: int) -> deque[Group]:
    """Splits the jobs into groups. A group of large drives has at most `workers` jobs."""
    found: dict[Hashable, list[Group]] = {}
    for at in missing:
        job = jobs[at]
        pages = job.pages() * (VERIFIED if job.how.verify else 1)
        key: Hashable = at if job.load.workload.is_held else id(job.load)
        groups = found.setdefault(key, [Group([], 0)])
        last = groups.pop()
        if last.pages + pages > SHARED_PAGES and len(last.jobs) >= workers:
            groups.append(last)
            last = Group([], 0)
        groups.append(Group([*last.jobs, at], last.pages + pages))
    return deque(group for groups in found.values() for group in groups)


def _has_room(underway: Sequence[Underway], group: Group, workers: int) -> bool:
    """Returns whether the group can begin.

    Runs that share a reading wait for one another, so one group alone would leave a core idle. A
    second group therefore begins, unless the drives are too large for memory.
    """
    if sum(len(one.running) for one in underway) < workers:
        return True
    pages = group.pages + sum(one.group.pages for one in underway)
    return len(underway) < workers and pages <= SHARED_PAGES


def _reading(jobs: Sequence[Job], group: Sequence[int], turns: _core.Turns) -> _core.Reading | None:
    if len(group) < 2:
        return None
    return _core.Reading(jobs[group[0]].load.workload, len(group), turns)


def _raise(label: str, future: Future[Result], results: list[Result | None]) -> None:
    """Raises the job's error, if it failed."""
    if (error := future.exception()) is not None:
        said = _labelled(error, label)
        said.results = results  # type: ignore[attr-defined]
        # The exception of a Python policy stays the cause.
        raise said from (error.__cause__ or error)


def _labelled(error: BaseException, label: str) -> BaseException:
    """Returns the error with the label of its run."""
    if label and isinstance(error, (_core.ConfigError, _core.RunError)):
        labelled = type(error)(f"{label}: {error}")
        labelled.__dict__.update(vars(error))
        return labelled
    return error


def _sum(
    jobs: Sequence[Job], controls: Sequence[_core.Control], futures: Mapping[int, Future[Result]]
) -> tuple[str, int, int]:
    """Returns the phase, the requests done and all requests, summed over all jobs."""
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
            control=control,
            turns=turns,
            reading=reading,
            guests=job.drive.guests or None,
        )
    result = Result.from_json(text)
    if kept is not None and not job.drive.guests:
        kept.keep(job, result)
    return result
