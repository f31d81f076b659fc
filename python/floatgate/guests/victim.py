"""Victim policies in Python: which erase unit is cleaned next."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import DriveShape
from .base import Policy, started

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The units that can be cleaned: an array each, of int64, one element for each unit.

    They come stream by stream, in each those with the fewest valid pages first, and of these the
    one first that has gone longest without a change. Clocks are pages that the host has written.
    """

    unit: Integers
    """The number of the unit: what `pick` answers one of."""
    valid_pages: Integers
    """Pages that would have to be moved."""
    capacity_pages: Integers
    """Pages that it holds."""
    stream: Integers
    """The stream that it was opened for. Those from the placement's number of streams on are the
    drive's own, such as that of the map."""
    erases: Integers
    """Times that it has been erased since the counters began."""
    sealed_order: Integers
    """Units that had been sealed before it: a smaller number is an older unit."""
    opened_at: Integers
    """The clock when it was opened."""
    sealed_at: Integers
    """The clock when it was full."""
    modified_at: Integers
    """The clock when it was full or lost a page, whichever came last."""
    clock: int
    """The clock now."""


class Victim(Policy):
    """Chooses the erase unit that is cleaned next. A subclass defines `pick`.

    The trait `Victim` of the engine, `crates/floatgate-ftl/src/victim.rs`, is what built-in ones
    are. If there may be too few free units for its choice the drive cleans what it has room for,
    as with any victim policy.
    """

    KEY = "cleaning.victim"
    AXIS = "victim"
    REQUIRED = (("pick",),)

    def start(self, drive: DriveShape) -> None:
        """A run begins on this drive: forget what an earlier one has left."""

    def pick(self, candidates: Candidates) -> int:
        """The unit to clean: one of `candidates.unit`."""
        raise NotImplementedError

    def calls(self) -> VictimCalls:
        """What the engine asks in the policy's place."""
        return VictimCalls(self)


class VictimCalls:
    """A victim policy as the engine asks it."""

    def __init__(self, policy: Victim) -> None:
        self._policy = policy
        self.start = partial(started, policy)

    def pick(self, columns: list[bytes], clock: int) -> Any:
        """The number of a unit, if the policy is right."""
        arrays = (np.frombuffer(column, dtype=np.int64) for column in columns)
        names = (one.name for one in fields(Candidates))
        return self._policy.pick(Candidates(**dict(zip(names, arrays, strict=False)), clock=clock))
