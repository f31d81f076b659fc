"""Description of jobs that the engine takes: plain numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .job import Direction, Distribution, FioJob, Sizes
from .layout import Extent, lay_out


def describe(jobs: Sequence[FioJob], capacity: int | None) -> str:
    """Returns the jobs on a drive of `capacity` bytes, None for any size, as JSON text.

    Raises ConfigError as `lay_out`.
    """
    extents = lay_out(jobs, capacity)
    described = [_job(job, extent, jobs) for job, extent in zip(jobs, extents, strict=True)]
    return json.dumps({"jobs": described})


def _job(job: FioJob, extent: Extent, jobs: Sequence[FioJob]) -> dict[str, Any]:
    waited = [at for at, other in enumerate(jobs) if job.waits_for and other.name == job.waits_for]
    return {
        "name": job.name,
        "clone": job.clone,
        "phase": job.phase,
        "group": job.group,
        "waits_for": waited,
        "offset": extent.offset,
        "size": extent.size,
        "random": job.is_random,
        "directions": [_direction(one) for one in job.directions],
        "read_percent": job.read_percent,
        "distribution": _distribution(job.distribution),
        "each_once": job.each_once,
        "repeats": job.repeats,
        "seed": job.seed,
        "depth": job.depth,
        "refill_at": job.refill_at,
        "io_bytes": job.io_bytes or _work(job, extent),
        "continues": job.io_bytes is not None,
        "loops": job.loops,
        "requests_max": job.requests_max,
        "start_delay_ns": list(job.start_delay_ns),
        "ramp_ns": job.ramp_ns,
        "runtime_ns": job.runtime_ns,
        "time_based": job.time_based,
        "ends_group": job.ends_group,
        "poisson": job.is_poisson,
        "think_ns": job.think_ns,
        "think_requests": job.think_requests,
        "rate_ignores_think": job.rate_ignores_think,
        "flush_every": list(job.flush_every),
        "flushes_at_end": job.flushes_at_end,
        "handles": _handles(job),
    }


def _work(job: FioJob, extent: Extent) -> int:
    """Returns the bytes of a loop: with `filesize`, those of `size`."""
    size = job.region.size
    is_given = job.region.filesize is not None and size is not None and not size.is_percent
    return size.number if is_given and size is not None else extent.size


def _handles(job: FioJob) -> dict[str, Any] | None:
    if job.handles is None:
        return None
    return {
        "option": job.handles.option,
        "numbers": list(job.handles.numbers),
        "random": job.handles.is_random,
    }


def _distribution(distribution: Distribution) -> dict[str, Any]:
    return {"kind": distribution.kind, "shape": distribution.shape, "center": distribution.center}


def _direction(direction: Direction) -> dict[str, Any]:
    return {
        "op": direction.kind,
        "sizes": _sizes(direction.sizes),
        "align": direction.align,
        "skip": direction.skip,
        "random_percent": direction.random_percent,
        "rate": direction.rate,
        "zones": [list(zone) for zone in direction.zones],
    }


def _sizes(sizes: Sizes) -> dict[str, Any]:
    return {
        "low": sizes.low,
        "high": sizes.high,
        "split": [list(pair) for pair in sizes.split],
        "unaligned": sizes.is_unaligned,
    }
