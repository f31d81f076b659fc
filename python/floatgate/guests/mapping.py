"""Mapping caches in Python: which part of the map is in memory, and what that costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import MapAccess, MapShape
from .base import Policy

Integers = npt.NDArray[np.int64]

MapOp = tuple[str, int]
"""Flash work: ("fetch", tpn) reads translation page `tpn`, ("update", tpn) reads it, changes
entries and programs it anew, ("rewrite", tpn) programs one that is in memory as a whole."""


class Mapping(Policy):
    """A mapping cache. A subclass defines all of its methods but `start` and `assigned`.

    The map is on flash, in translation pages of `entries_per_page` entries; the engine keeps the
    truth, does the work that the policy answers, and counts it. An access whose answer reads its
    own translation page ("fetch" or "update") is counted as a miss, any other as a hit; evictions
    are not counted. With `verify`, the map on flash is held against the truth: an entry that is
    not "dirty" has to be there. The trait `Mapping` of the engine,
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

    def calls(self) -> MappingCalls:
        """What the engine asks in the policy's place."""
        return MappingCalls(self)


class MappingCalls:
    """A mapping as the engine asks it."""

    def __init__(self, policy: Mapping) -> None:
        self._policy = policy
        self.start = policy.start
        self.residency = policy.residency
        self.hears_assigned = policy.defines("assigned")

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


def _list(answer: Any) -> Any:
    """Generators too are work, if they are of pairs."""
    return answer if answer is None or isinstance(answer, (str, list)) else list(answer)
