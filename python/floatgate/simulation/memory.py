"""Memory that simulated drives need, compared with the memory available to this process.

A drive keeps some bytes for each page of its map, written or not. A drive that needs more memory
than is available is refused at the start, so that it does not fail in the middle of an allocation.
"""

from __future__ import annotations

import os
from pathlib import Path

from floatgate import _core
from floatgate.results.values import size

RUN, VERIFIED, CUT = 11, 100, 400
"""Bytes per page: for a run, for a run with `verify`,
and for the drive copies of power-loss tests.
"""

_MEMINFO = Path("/proc/meminfo")


def check(pages: int, page_takes: int, label: str = "") -> None:
    """Raises ConfigError unless a drive of `pages` fits, at `page_takes` bytes each.

    If there are several runs, `label` names this one in the error.
    """
    wanted, room = pages * page_takes, available()
    if room is None or wanted <= room:
        return
    raise _core.ConfigError(
        f"{f'{label}: ' if label else ''}a drive of {pages:,} pages takes some {size(wanted)} of "
        f"memory, and {size(room)} are available; expected a workload of a smaller span, a smaller "
        "flash.blocks, or larger pages (mapping.unit)"
    )


def available() -> int | None:
    """Returns the bytes still available to this process;
    None if the system does not report them.
    """
    limits = [_free(), _address_space()]
    return min((limit for limit in limits if limit is not None), default=None)


def _free() -> int | None:
    """Returns the bytes that the kernel could give without swapping."""
    try:
        lines = _MEMINFO.read_text("ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def _address_space() -> int | None:
    """Returns the bytes that `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return limit
    return max(0, limit - used * os.sysconf("SC_PAGE_SIZE"))
