"""Victim policies in Python, which choose the erase unit to clean next."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from .._core import DriveShape
from .base import Policy, started

if TYPE_CHECKING:
    from .arrays import Integers


@dataclass(frozen=True, slots=True)
class Candidates:
    """Units that can be cleaned: an array each, of int64, with one element for each unit.

    The order is by stream, then by valid pages, fewest first, then by the time of the last change,
    longest ago first. Clocks count the pages that the host has written.
    """

    unit: Integers
    """Number of the unit; `pick` returns one of these."""
    valid_pages: Integers
    """Pages that cleaning would have to move."""
    capacity_pages: Integers
    """Pages that the unit can hold."""
    stream: Integers
    """Stream for which the unit was opened. Numbers from the placement's number of streams on are
    the drive's own streams, such as the stream of the map.
    """
    erases: Integers
    """Erases of the unit since the counters were reset."""
    sealed_order: Integers
    """Units that were sealed before this unit: a smaller number means an older unit."""
    opened_at: Integers
    """Clock when the unit was opened."""
    sealed_at: Integers
    """Clock when the unit was full."""
    modified_at: Integers
    """Clock when the unit was full or last lost a page, whichever came later."""
    clock: int
    """Clock now."""


class Victim(Policy):
    """Chooses the erase unit to clean next. A subclass defines `pick`.

    Built-in victim policies implement the engine's trait `Victim`,
    `crates/floatgate-ftl/src/victim.rs`. If there may be too few free units for the chosen unit,
    the drive cleans a unit for which it has room, as with any victim policy.
    """

    KEY = "cleaning.victim"
    AXIS = "victim"
    REQUIRED = (("pick",),)

    def start(self, drive: DriveShape) -> None:
        """Begins a run on this drive: forget anything from an earlier run."""

    def pick(self, candidates: Candidates) -> int:
        """Returns the unit to clean: one of `candidates.unit`."""
        raise NotImplementedError

    def calls(self) -> VictimCalls:
        """Returns the object that the engine calls instead of the policy."""
        return VictimCalls(self)


class VictimCalls:
    """Adapter through which the engine calls a victim policy."""

    def __init__(self, policy: Victim) -> None:
        self._policy = policy
        self.start = partial(started, policy)

    def pick(self, columns: list[bytes], clock: int) -> Any:
        """Returns the policy's answer: the number of a unit, if the policy is correct."""
        from .arrays import integers

        arrays = map(integers, columns)
        names = (one.name for one in fields(Candidates))
        return self._policy.pick(Candidates(**dict(zip(names, arrays, strict=False)), clock=clock))
