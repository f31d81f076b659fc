"""Simulations: some at a time, watched, ended by Ctrl-C, and kept as each of them ends."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from . import _core
from .configs import Resolved
from .ending import Signals
from .report.files import write_whole
from .result import Result
from .run_options import RunOptions
from .sources import Load

POLL_SECONDS = 0.1
"""How often a waiting caller looks up: for progress, and for Ctrl-C."""

_T = TypeVar("_T")

Progress = Callable[[str, int, int], None]
"""Called with the phase ("read", "fill" or "run") and the requests done and in all, of all runs
together; 0 in all where that is not known. From the thread that called, some ten times a second."""


@dataclass(frozen=True)
class Job:
    """One simulation."""

    label: str
    """What tells it from the others, for an error; empty where it is the only one."""
    drive: Resolved
    load: Load
    how: RunOptions

    def check(self) -> None:
        """Raises ConfigError where the drive is too small for the workload."""
        load = self.load
        span = load.workload.span_bytes if load.span_bytes is None else load.span_bytes
        try:
            _core.logical_bytes(self.drive.config, span)
        except _core.ConfigError as error:
            raise _labelled(error, self.label) from error

    @property
    def digest(self) -> str:
        """Equal for runs that give equal results: of engine, config, requests and seed."""
        load, how = self.load, self.how
        requests = (load.workload.name, load.workload.digest, load.workload.requests)
        played = (requests, load.span_bytes, how.seed, how.verify)
        what = (_core.__version__, self.drive.config, *played)
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Kept:
    """Results on disk, a file for each run that has ended: `DIGEST.json`."""

    directory: Path
    resume: bool
    """Whether what is there already is taken, instead of being simulated again."""

    def find(self, job: Job) -> Result | None:
        """The result of an earlier run; None where there is none, or its file is torn."""
        try:
            text = self._path(job).read_text("utf-8")
            return Result.from_json(text) if self.resume else None
        except (OSError, ValueError):
            return None

    def keep(self, job: Job, result: Result) -> None:
        """Writes the result, whole or not at all."""
        self.directory.mkdir(parents=True, exist_ok=True)
        write_whole(self._path(job), (result.to_json() + "\n").encode())

    def _path(self, job: Job) -> Path:
        return self.directory / f"{job.digest}.json"


def measure(
    engine: Callable[..., str],
    workload: _core.Workload,
    progress: Progress | None,
    **options: object,
) -> dict[str, Any]:
    """What the engine says of a workload."""
    control = _core.Control()

    def tell() -> None:
        if progress is not None:
            progress(*control.progress())

    text = watched(lambda: engine(workload, **options, control=control), control.cancel, tell)
    document: dict[str, Any] = json.loads(text)
    return document


def watched(work: Callable[[], _T], stop: Callable[[], None], tell: Callable[[], None]) -> _T:
    """What `work` returns. It runs in a thread of its own, so that Ctrl-C is heard.

    `tell` is called some ten times a second and at the end, `stop` in any case: it must make
    `work` end soon.
    """
    with ThreadPoolExecutor(1) as pool:
        try:
            future = pool.submit(work)
            while not wait([future], POLL_SECONDS).done:
                Signals.look()
                tell()
        finally:
            stop()
    tell()
    return future.result()


def cores() -> int:
    """The cores that this process may use; a container may have fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_all(
    jobs: Sequence[Job], workers: int, progress: Progress | None, kept: Kept | None = None
) -> list[Result]:
    """Runs the jobs, `workers` at a time. The first that fails, or Ctrl-C, ends them all."""
    for job in jobs:
        job.check()
    controls = [_core.Control() for _ in jobs]
    with ThreadPoolExecutor(workers) as pool:
        try:
            futures = [
                pool.submit(_simulate, job, kept, control)
                for job, control in zip(jobs, controls, strict=True)
            ]
            pending = True
            while pending:
                Signals.look()
                done, running = wait(futures, POLL_SECONDS, FIRST_EXCEPTION)
                failed = any(future.exception() for future in done)
                pending = bool(running) and not failed
                if progress is not None:
                    progress(*_sum(jobs, controls, futures))
        finally:
            for control in controls:
                control.cancel()
            pool.shutdown(cancel_futures=True)
    for job, future in zip(jobs, futures, strict=True):
        _raise(job.label, future)
    return [future.result() for future in futures]


def _raise(label: str, future: Future[Result]) -> None:
    """Raises what made the job fail; one that was cancelled because of another is no failure."""
    error = None if future.cancelled() else future.exception()
    if error is None or isinstance(error, _core.Cancelled):
        return
    raise _labelled(error, label) from error


def _labelled(error: BaseException, label: str) -> BaseException:
    """The error with the run that it is of."""
    if label and isinstance(error, (_core.ConfigError, _core.RunError)):
        return type(error)(f"{label}: {error}")
    return error


def _sum(
    jobs: Sequence[Job], controls: Sequence[_core.Control], futures: Sequence[Future[Result]]
) -> tuple[str, int, int]:
    """Phase, requests done and requests in all over all jobs."""
    if len(jobs) == 1:
        return controls[0].progress()
    done = total = 0
    for job, control, future in zip(jobs, controls, futures, strict=True):
        requests = job.load.workload.requests
        phase, at, _ = control.progress()
        done += requests if future.done() else at if phase == "run" else 0
        total += requests
    return "run", done, total


def _simulate(job: Job, kept: Kept | None, control: _core.Control) -> Result:
    if kept is not None and (found := kept.find(job)) is not None:
        return found
    text = _core.simulate(
        job.drive.config,
        job.load.workload,
        seed=job.how.seed,
        span_bytes=job.load.span_bytes,
        verify=job.how.verify,
        device=job.drive.device,
        skipped=job.load.skipped,
        notes=job.load.notes,
        control=control,
    )
    result = Result.from_json(text)
    if kept is not None:
        kept.keep(job, result)
    return result
