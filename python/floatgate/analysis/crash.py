"""`crash`: cuts the power at every moment of a workload, then recovers and verifies the drive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.simulation import configs, memory, sources
from floatgate.simulation.options import RunOptions
from floatgate.simulation.watching import Progress, measure

POINTS = 20_000
"""Maximum number of moments explored by default, in the workload and again in recoveries."""

PAGES = 400_000_000
"""Maximum number of pages verified in total.

Each recovery verifies all pages, so fewer moments of a large drive are explored.
"""

POINTS_MIN = 50
"""Minimum number of moments explored, however large the drive."""


def crash(
    trace: Any,
    *,
    device: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    every: int | None = None,
    point: int | None = None,
    second: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Plays a trace on a drive with a journal and cuts its power.

    Power fails in the middle of each program and erase, and after it. The drive is then recovered
    from its flash alone. Durable writes must be there; pages acknowledged since then may be old or
    new. Every 16th drive continues the workload. `every` = n explores every n-th moment; the
    default explores at most 20,000. `point` explores a single moment, counted from 0. `second` = n
    also cuts every n-th recovery at each of its moments; the default cuts every 50th recovery, at
    most 20,000 moments in all.

    `trace`, `device`, `set` and the other options, except `verify`, are as for `run`; `addresses`
    is "fold" or "span". Arrivals are closed, `ftl.journal` is on, and offline policies are refused.

    The document has "points" (power losses explored, "second_cuts" of them in recoveries), "lost"
    (pages with a version that is not allowed; 0 if all is well), "first_loss" (its moment, or
    None), "torn_seen" (interrupted programs and erases), "recoveries", "went_on" (drives that
    continued), "requests", "moments" (of the workload), "recovery_moments" (of recoveries),
    "left_out" (moments of both that were not explored), "every" (None for a single point),
    "reads_mean" and "reads_max" (pages that a recovery read), "programs_mean", "mount_us_mean",
    "name" and "notes". Raises as `run` does, and ConfigError for a `point` beyond the last moment.
    """
    how = RunOptions(**options)
    how.refuse(("verify",), "what is found is always checked")
    how.refuse(("start_cache",), "the drives of crash points are filled anew")
    how.refuse(("units", "full_size"), "recoveries are checked on the erase units of the device")
    how.refuse_modulo()
    _check(every, point, second)
    config = configs.resolve(device, set or {})
    source = sources.open_source(trace, how)
    load = source.load(None)
    pages = max(1, config.logical_bytes(load.span) // config.page_bytes)
    memory.check(pages, memory.CUT)
    most = points_most(pages)
    asked = {"every": every, "point": point, "second": second, "most": most, "seed": how.seed}
    engine = partial(_core.crash, config, span_bytes=load.span_bytes)
    found = measure(engine, load.workload, progress, **asked)
    left_out = found["moments"] + found["recovery_moments"] - found["points"]
    notes = [*load.notes, *_left_out(found)] if point is None else load.notes
    return {"name": source.name, **found, "left_out": left_out, "notes": notes}


def points_most(pages: int) -> int:
    """Returns the maximum number of moments explored by default on a drive with these pages."""
    return max(POINTS_MIN, min(POINTS, PAGES // pages))


def _check(every: int | None, point: int | None, second: int | None) -> None:
    for name, given in (("every", every), ("second", second)):
        if given is not None and given < 1:
            raise _core.ConfigError(f"{name}: {given} given; expected at least 1")
    if point is not None and (point < 0 or every is not None):
        raise _core.ConfigError(f"point: {point} given; expected 0 or more, without `every`")


def _left_out(found: Mapping[str, Any]) -> Iterator[str]:
    """Yields notes on moments of the workload and of recoveries that were not explored."""
    seconds = found["second_cuts"]
    kinds = (
        ("the workload", found["moments"], found["points"] - seconds, "--every 1"),
        ("recoveries", found["recovery_moments"], seconds, "--second 1"),
    )
    for whose, moments, explored, option in kinds:
        if explored < moments:
            left = f"{moments - explored:,} of {moments:,} moments of {whose} were left out"
            yield f"{left}; {option} explores them all"
