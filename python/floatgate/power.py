"""`crash`: the power fails everywhere in a workload, and the drive is found again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from . import _core, configs, jobs, sources
from .run_options import RunOptions

POINTS = 20_000
"""As many losses of power are explored in the workload, and as many in recoveries, at most, if it
is not said how many."""

PAGES = 400_000_000
"""A large drive has fewer: each recovery looks at all of its pages, at so many all in all."""

POINTS_MIN = 50
"""A drive that is larger still has as many."""


def crash(
    trace: Any,
    *,
    device: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    every: int | None = None,
    point: int | None = None,
    second: int | None = None,
    progress: jobs.Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Plays a trace on a drive with a journal and cuts its power.

    Power fails behind each program and erase and in the middle of it. Then the drive is recovered
    from nothing but what is on flash: what was durable must be there, of what was acknowledged
    since each page is old or new, and every 16th drive goes on. With `every` = n every n-th moment
    is explored, without it as many as fit; `point` explores a single one, counted from 0. With
    `second` = n every n-th recovery is cut everywhere as well, without it every 50th at as many of
    its moments as fit.

    `trace`, `device`, `set` and the other options, but `verify`, are as for `run`; `addresses` is
    "fold" or "span". Arrivals are closed, `ftl.journal` is on; what needs to know the future is
    refused.

    The document has "points" (losses of power, "second_cuts" of them in recoveries), "lost"
    (pages that were not what they may be; 0 is what is hoped for), "first_loss" (where, or None),
    "torn_seen", "recoveries", "went_on", "requests", "moments" (that there were in the workload),
    "recovery_moments" (that there were in recoveries), "left_out" (moments of both that were not
    explored), "every" (None for a single point), "reads_mean" and "reads_max" (pages that a
    recovery looked at), "programs_mean", "mount_us_mean", "name" and "notes". Raises as `run` does,
    and ConfigError for a `point` that there is not.
    """
    how = RunOptions(**options)
    how.refuse(("verify",), "what is found is always checked")
    how.refuse_modulo()
    _check(every, point, second)
    config = configs.resolve(device, set or {})
    source = sources.open_source(trace, how)
    load = source.load(None)
    most = _most(config, load)
    asked = {"every": every, "point": point, "second": second, "most": most, "seed": how.seed}
    engine = partial(_core.crash, config, span_bytes=load.span_bytes)
    found = jobs.measure(engine, load.workload, progress, **asked)
    left_out = found["moments"] + found["recovery_moments"] - found["points"]
    notes = [*load.notes, *_left_out(found)] if point is None else load.notes
    return {"name": source.name, **found, "left_out": left_out, "notes": notes}


def _check(every: int | None, point: int | None, second: int | None) -> None:
    for name, given in (("every", every), ("second", second)):
        if given is not None and given < 1:
            raise _core.ConfigError(f"{name}: {given} given; expected at least 1")
    if point is not None and (point < 0 or every is not None):
        raise _core.ConfigError(f"point: {point} given; expected 0 or more, and no `every`")


def _most(config: str, load: sources.Load) -> int:
    """POINTS, or fewer on a large drive."""
    span = load.span_bytes or load.workload.span_bytes
    page = _core.size_bytes(json.loads(config)["flash"]["page"]) or 1
    pages = max(1, _core.logical_bytes(config, span) // page)
    return max(POINTS_MIN, min(POINTS, PAGES // pages))


def _left_out(found: Mapping[str, Any]) -> Iterator[str]:
    """How many moments of the workload and of recoveries were not explored, where any were."""
    seconds = found["second_cuts"]
    kinds = (
        ("the workload", found["moments"], found["points"] - seconds, "--every 1"),
        ("recoveries", found["recovery_moments"], seconds, "--second 1"),
    )
    for whose, moments, explored, option in kinds:
        if explored < moments:
            left = f"{moments - explored:,} of {moments:,} moments of {whose} were left out"
            yield f"{left}; {option} explores them all"
