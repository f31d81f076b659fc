"""Mapping caches in Python: the cached entries of the map, and the flash work that they cost."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from .._core import MapAccess, MapShape
from .base import Policy, started

if TYPE_CHECKING:
    from .arrays import Integers

MapOp = tuple[str, int]
"""Flash work: ("fetch", tpn) reads translation page `tpn`. ("update", tpn) reads it, changes
entries and programs it again. ("rewrite", tpn) programs a page whose entries are all in memory.
"""


@dataclass(frozen=True, slots=True)
class MapCounts:
    """Counts of a mapping since it was started. A count that is None is not in the result.

    A count never falls. A mapping reports a count in every call, or never.
    """

    hits: int | None = None
    """Accesses that found their entry. None, together with `misses`, lets the engine count hits
    from the answers of `access`.
    """
    misses: int | None = None
    """Accesses that did not find their entry."""
    evictions: int | None = None
    """Entries, or pages of entries, that left the cache."""
    dirty_evictions: int | None = None
    """Evictions that had to be written back."""
    prefetched: int | None = None
    """Entries loaded before an access needed them."""
    prefetch_used: int | None = None
    """Prefetched entries that were accessed while they were cached."""
    prefetch_unused: int | None = None
    """Prefetched entries that left the cache before an access."""
    cache_bytes: int | None = None
    """Bytes of memory that the cache takes now. Only this count may fall."""


NAMES = tuple(field.name for field in fields(MapCounts))


class Mapping(Policy):
    """Mapping cache.

    A subclass defines all methods except `start`, `assigned` and `counts`, which are optional.

    The map is on flash, in translation pages of `entries_per_page` entries. The engine keeps the
    true map, performs the work that the policy returns, and counts it. An access whose answer reads
    its own translation page ("fetch" or "update") counts as a miss, any other access as a hit,
    unless `counts` reports other numbers. With `verify`, the map on flash is compared with the true
    map: every entry that is not "dirty" must be there. Built-in mappings implement the engine's
    trait `Mapping`, `crates/floatgate-ftl/src/mapping.rs`.
    """

    KEY = "mapping.scheme"
    AXIS = "mapping"
    REQUIRED = (("access",), ("relocated",), ("residency",), ("flush",))

    def start(self, drive: MapShape) -> None:
        """Begins a run on this drive, with an empty cache: forget anything from an earlier run."""

    def access(self, access: MapAccess) -> Iterable[MapOp] | None:
        """Returns the work for the host's access to an entry, in order; None for no work."""
        raise NotImplementedError

    def assigned(self, lpn: int) -> Iterable[MapOp] | None:
        """Reports that a host write has been programmed: its entry now has the new location.
        Returns the work to write the entry through; None if the entry is cached and there is no
        work.
        """

    def relocated(self, lpns: Integers) -> Iterable[MapOp] | None:
        """Reports pages that cleaning has moved, in ascending order.

        Returns the work to update their entries, with at most one program for each page and for
        each translation page.
        """
        raise NotImplementedError

    def residency(self, lpn: int) -> str:
        """Returns the state of an entry: "absent", "clean",
        or "dirty" if flash has an older version.
        """
        raise NotImplementedError

    def flush(self) -> Iterable[MapOp] | None:
        """Returns the work to write back all dirty entries, which stay cached and become clean."""
        raise NotImplementedError

    def counts(self) -> MapCounts:
        """Returns the counts since `start`, including the drive's fill. The engine calls it when
        the fill ends and whenever results are read. The result of a run has the counts since the
        end of the fill.
        """
        raise NotImplementedError

    def calls(self) -> MappingCalls:
        """Returns the object that the engine calls instead of the policy."""
        return MappingCalls(self)


class MappingCalls:
    """Adapter through which the engine calls a mapping."""

    def __init__(self, policy: Mapping) -> None:
        self._policy = policy
        self.start = partial(started, policy)
        self.residency = policy.residency
        self.hears_assigned = policy.defines("assigned")
        self.tells_counts = policy.defines("counts")
        self._counted: tuple[int | None, ...] | None = None

    def access(self, access: MapAccess) -> Any:
        return _list(self._policy.access(access))

    def assigned(self, lpn: int) -> Any:
        return _list(self._policy.assigned(lpn))

    def relocated(self, lpns: bytes) -> Any:
        from .arrays import integers

        return _list(self._policy.relocated(integers(lpns)))

    def flush(self) -> Any:
        return _list(self._policy.flush())

    def counts(self) -> tuple[int | None, ...]:
        """Returns the fields of MapCounts, checked."""
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
    """Returns work as a list; generators of pairs are also work."""
    return answer if answer is None or isinstance(answer, (str, list)) else list(answer)
