"""The runner: every trace on every drive, each trace read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import configs, jobs, scaling, sources
from .configs import Resolved
from .jobs import Job, Kept, Progress
from .result import Result
from .run_options import RunOptions


def simulate(
    traces: Sequence[Any],
    drives: Sequence[Resolved],
    hows: Sequence[RunOptions],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    kept: Kept | None = None,
) -> list[Result]:
    """Every trace on every drive with each of `hows`, which differ in their seed only.

    In this order, the last varying fastest. `workers` run at a time, without it one per core.
    """
    planned: list[Job] = []
    for trace in traces:
        if progress is not None:
            progress("read", 0, 0)
        opened = _open_all(trace, hows)
        planned += [_job(opened[how.seed], drive, how) for drive in drives for how in hows]
    if len(planned) == 1:
        planned = [replace(planned[0], label="")]
    return jobs.run_all(planned, workers or jobs.cores(), progress, kept)


def simulate_pairs(
    pairs: Sequence[tuple[Any, Resolved]], how: RunOptions, *, progress: Progress | None = None
) -> list[Result]:
    """Each trace on the drive beside it, one at a time per core; in their order."""
    planned = [_job(sources.open_source(trace, how), drive, how) for trace, drive in pairs]
    return jobs.run_all(planned, jobs.cores(), progress)


def only(source: sources.Source, drive: Resolved, how: RunOptions) -> Job:
    """What was opened on a drive, as a job beside which there is no other."""
    return replace(_job(source, drive, how), label="")


def _open_all(trace: Any, hows: Sequence[RunOptions]) -> dict[int, sources.Source]:
    """The requests for each seed. A recording is read once: it has no use for a seed."""
    first = sources.open_source(trace, hows[0])
    if first.workload is None:
        return {how.seed: first for how in hows}
    return {how.seed: sources.open_source(trace, how) for how in hows}


def _job(source: sources.Source, drive: Resolved, how: RunOptions) -> Job:
    wrapped = configs.capacity(drive.config) if how.addresses == "modulo" else None
    label = f"{source.name}, {drive.label}" if drive.label else source.name
    load = source.load(wrapped)
    return Job(label, scaling.fit(drive, load.span, how), load, how)
