"""Runs every trace on every drive, and reads each trace once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import configs, pool, scaling, sources
from .configs import Resolved
from .identity import Job
from .kept import Kept
from .options import RunOptions
from .watching import Progress

if TYPE_CHECKING:
    from floatgate.results.result import Result


def simulate(
    traces: Sequence[Any],
    drives: Sequence[Resolved],
    hows: Sequence[RunOptions],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    kept: Kept | None = None,
) -> list[Result]:
    """Simulates every trace on every drive with each of `hows`, which differ only in their seed.

    The results are ordered by trace, then by drive, then by `hows`. `workers` runs go at a time;
    the default is one per core.
    """
    planned: list[Job] = []
    for trace in traces:
        if progress is not None:
            progress("read", 0, 0)
        opened = _open_all(trace, hows)
        planned += [_job(opened[how.seed], drive, how) for drive in drives for how in hows]
    if len(planned) == 1:
        planned = [replace(planned[0], label="")]
    return pool.run_all(planned, workers or pool.cores(), progress, kept)


def simulate_pairs(
    pairs: Sequence[tuple[Any, Resolved]], how: RunOptions, *, progress: Progress | None = None
) -> list[Result]:
    """Simulates each trace on the drive in its pair, one run per core at a time;
    keeps their order.
    """
    planned = [_job(sources.open_source(trace, how), drive, how) for trace, drive in pairs]
    return pool.run_all(planned, pool.cores(), progress)


def only(source: sources.Source, drive: Resolved, how: RunOptions) -> Job:
    """Returns the only job of a call: an open source on a drive, without a label."""
    return replace(_job(source, drive, how), label="")


def _open_all(trace: Any, hows: Sequence[RunOptions]) -> dict[int, sources.Source]:
    """Returns the requests for each seed.

    A recording does not depend on the seed, so it is read once.
    """
    first = sources.open_source(trace, hows[0])
    if first.is_recorded:
        return {how.seed: first for how in hows}
    return {how.seed: sources.open_source(trace, how) for how in hows}


def _job(source: sources.Source, drive: Resolved, how: RunOptions) -> Job:
    wrapped = configs.capacity(drive.config) if how.addresses == "modulo" else None
    if source.needs_capacity:
        wrapped = configs.own_capacity(drive.config)
    label = f"{source.name}, {drive.label}" if drive.label else source.name
    load = source.load(wrapped)
    return Job(label, scaling.fit(drive, load.span, how), load, how)
