"""`crash`: the power fails everywhere in a workload, and the drive is found again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from . import _core, configs, jobs, sources
from .report.values import quantity

POINTS = 20_000
"""About so many losses of power are explored if it is not said how many."""

PAGES = 400_000_000
"""A large drive has fewer: each recovery looks at all of its pages, at so many all in all."""

MOMENTS_A_REQUEST = 8
"""What a request comes to, roughly: programs and erases, each cut in the middle and behind."""


def crash(
    trace: Any,
    *,
    device: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    limit: int | None = None,
    seed: int = 1,
    addresses: str = "fold",
    format: str | None = None,
    every: int | None = None,
    point: int | None = None,
    second: int = 50,
    progress: jobs.Progress | None = None,
) -> dict[str, Any]:
    """Plays a trace on a drive with a journal and cuts its power.

    Power fails behind each program and erase and in the middle of it. Then the drive is recovered
    from nothing but what is on flash: what was durable must be there, of what was acknowledged
    since each page is old or new, and each 16th drive goes on. `every` so manieth moment is
    explored, without it as many as fit; `point` explores a single one. Each `second`th recovery is
    cut everywhere as well.

    `trace`, `device`, `set`, `limit`, `seed`, `addresses` ("fold" or "span") and `format` are as
    for `run`. Arrivals are closed, `ftl.journal` is on; what needs to know the future is refused.

    The document has "points" (losses of power, "second_cuts" of them in recoveries), "lost"
    (pages that were not what they may be; 0 is what is hoped for), "first_loss" (where, or None),
    "torn_seen", "recoveries", "went_on", "requests", "moments" (that there were), "every",
    "reads_mean" and "reads_max" (pages that a recovery looked at), "programs_mean",
    "mount_us_mean", "name" and "notes". Raises as `run` does.
    """
    _check(every, point, second, addresses)
    how = sources.RunOptions(limit=limit, seed=seed, addresses=addresses, format=format)
    config = configs.resolve(device, set or {})
    source = sources.open_source(trace, how)
    load = source.load(None)
    notes = list(load.notes)
    if point is None and every is None:
        every = _sample(config, load)
        if every > 1:
            notes.append(f"one of {every} moments is explored; --every 1 explores them all")
    asked = {"every": every, "point": point, "second": second, "seed": seed}
    engine = partial(_core.crash, config, span_bytes=load.span_bytes)
    found = jobs.measure(engine, load.workload, progress, **asked)
    return {"name": source.name, **found, "every": every, "notes": notes}


def _check(every: int | None, point: int | None, second: int, addresses: str) -> None:
    for name, given in (("every", every), ("second", second)):
        if given is not None and given < 1:
            raise _core.ConfigError(f"{name}: {given} given; expected at least 1")
    if point is not None and (point < 0 or every is not None):
        raise _core.ConfigError(f"point: {point} given; expected 0 or more, and no `every`")
    if addresses == "modulo":
        raise _core.ConfigError("addresses: 'modulo' given; expected fold or span")


def _sample(config: str, load: sources.Load) -> int:
    """Which moments are explored for about POINTS of them, or fewer on a large drive."""
    span = load.span_bytes or load.workload.span_bytes
    page = quantity(json.loads(config)["flash"]["page"]) or 1
    pages = max(1, _core.logical_bytes(config, span) // int(page))
    points = max(50, min(POINTS, PAGES // pages))
    return max(1, load.workload.requests * MOMENTS_A_REQUEST // points)
