"""Mapping caches in Python: which part of the map is in memory, and what that costs."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import MapAccess, MapShape
from .base import Policy, started

Integers = npt.NDArray[np.int64]

MapOp = tuple[str, int]
"""Flash work: ("fetch", tpn) reads translation page `tpn`, ("update", tpn) reads it, changes
entries and programs it anew, ("rewrite", tpn) programs one that is in memory as a whole."""


@dataclass(frozen=True, slots=True)
class MapCounts:
    """What a mapping has counted since it was started. What is None is not in the result either.

    A count never falls, and is told each time or never.
    """

    hits: int | None = None
    """Accesses that found their entry. None, as `misses` then has to be: as the answers of `access`
    have it."""
    misses: int | None = None
    """Accesses that did not."""
    evictions: int | None = None
    """Entries, or pages of them, that left the cache."""
    dirty_evictions: int | None = None
    """Those of them that had to be written back."""
    prefetched: int | None = None
    """Entries loaded before they were asked for."""
    prefetch_used: int | None = None
    """Those of them that were asked for while they were cached."""
    prefetch_unused: int | None = None
    """Those of them that left the cache before anyone asked."""
    cache_bytes: int | None = None
    """Bytes of memory that the cache takes now: this one may fall."""


NAMES = tuple(field.name for field in fields(MapCounts))


class Mapping(Policy):
    """A mapping cache. A subclass defines all of its methods but `start`, `assigned` and `counts`.

    The map is on flash, in translation pages of `entries_per_page` entries; the engine keeps the
    truth, does the work that the policy answers, and counts it. An access whose answer reads its
    own translation page ("fetch" or "update") is counted as a miss, any other as a hit, unless
    `counts` tells otherwise. With `verify`, the map on flash is held against the truth: an entry
    that is not "dirty" has to be there. The trait `Mapping` of the engine,
    `crates/floatgate-ftl/src/mapping.rs`, is what built-in ones are.
    """

    KEY = "mapping.scheme"
    AXIS = "mapping"
    REQUIRED = (("access",), ("relocated",), ("residency",), ("flush",))

    def start(self, drive: MapShape) -> None:
        """A run begins on this drive, with an empty cache: forget an earlier one."""

    def access(self, access: MapAccess) -> Iterable[MapOp] | None:
        """The host accesses an entry: the work that this costs, in order; None: none."""
        raise NotImplementedError

    def assigned(self, lpn: int) -> Iterable[MapOp] | None:
        """The host's write of a page has been programmed: the entry that was accessed for it now
        says where. What it costs to write that through; None: nothing, the entry is cached."""

    def relocated(self, lpns: Integers) -> Iterable[MapOp] | None:
        """Cleaning has moved these pages, in ascending order: what it costs to point their entries
        there. No more programs than pages, or than there are translation pages."""
        raise NotImplementedError

    def residency(self, lpn: int) -> str:
        """What is cached of an entry: "absent", "clean", or "dirty" if flash has an older one."""
        raise NotImplementedError

    def flush(self) -> Iterable[MapOp] | None:
        """Writes back all that is dirty, which stays cached and is clean: the work."""
        raise NotImplementedError

    def counts(self) -> MapCounts:
        """What it has counted since `start`, the drive's fill included: the result has what was
        counted since the fill ended. Asked then, and whenever results are read."""
        raise NotImplementedError

    def calls(self) -> MappingCalls:
        """What the engine asks in the policy's place."""
        return MappingCalls(self)


class MappingCalls:
    """A mapping as the engine asks it."""

    def __init__(self, policy: Mapping) -> None:
        self._policy = policy
        self.start = partial(started, policy)
        self.residency = policy.residency
        self.hears_assigned = policy.defines("assigned")
        self.tells_counts = policy.defines("counts")
        self._counted: tuple[int | None, ...] | None = None

    def access(self, access: MapAccess) -> Any:
        """The work of an access."""
        return _list(self._policy.access(access))

    def assigned(self, lpn: int) -> Any:
        """The work of a write that was programmed."""
        return _list(self._policy.assigned(lpn))

    def relocated(self, lpns: bytes) -> Any:
        """The work of a move."""
        return _list(self._policy.relocated(np.frombuffer(lpns, dtype=np.int64)))

    def flush(self) -> Any:
        """The work of writing back."""
        return _list(self._policy.flush())

    def counts(self) -> tuple[int | None, ...]:
        """The fields of MapCounts, checked."""
        told = self._policy.counts()
        if not isinstance(told, MapCounts):
            raise TypeError(f"counts() returned {told!r}: expected a floatgate.MapCounts")
        if (told.hits is None) != (told.misses is None):
            raise ValueError(
                f"counts() returned {told}: expected both hits and misses, or neither of them"
            )
        counts = tuple(_count(name, getattr(told, name)) for name in NAMES)
        before = counts if self._counted is None else self._counted
        for name, now, was in zip(NAMES, counts, before, strict=True):
            falls = now is not None and was is not None and now < was and name != "cache_bytes"
            if falls or (now is None) != (was is None):
                raise ValueError(f"counts() returned {name}={now} after {was}: {_EXPECTED[falls]}")
        self._counted = counts
        return counts


_EXPECTED = {
    True: "expected what was counted since start(), which never falls",
    False: "expected it each time, or never",
}


def _count(name: str, count: Any) -> int | None:
    if count is None:
        return None
    try:
        whole = operator.index(count)
    except TypeError:
        whole = -1
    if not 0 <= whole < 1 << 63:
        raise ValueError(
            f"counts() returned {name}={count!r}: expected an int of at least 0, or None"
        )
    return whole


def _list(answer: Any) -> Any:
    """Generators too are work, if they are of pairs."""
    return answer if answer is None or isinstance(answer, (str, list)) else list(answer)
