"""Placements in Python: which stream, and so which erase unit, a page goes to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._core import ConfigError, DriveShape, HostWrite, Reclaimed
from .base import Policy, started
from .victim import Victim

Integers = npt.NDArray[np.int64]

STREAMS_MAX = 200
"""Streams that a placement can have. Each has an open erase unit of the drive."""


@dataclass(frozen=True, slots=True)
class HostWrites:
    """Pages that the host is about to write, in this order: an array each, of int64."""

    lpn: Integers
    """The page: 0 to `logical_pages` - 1."""
    request_pages: Integers
    """Pages of the request that it belongs to, from 1."""
    handle: Integers
    """The placement handle of that request, 0 to 65,535; 0 if it names none. It is what a trace has
    as `stream`: here a stream is what the placement answers."""
    arrival_ns: Integers
    """When the request arrives, in nanoseconds of the trace; 0 while the drive is filled."""
    clock: Integers
    """Pages that the host had written before it, since the drive was new."""


@dataclass(frozen=True, slots=True)
class MovedPages:
    """Pages of one erase unit that cleaning moves now."""

    lpn: Integers
    """The pages."""
    handle: Integers
    """The placement handle of the host's last write of each, which may be under way or in a write
    buffer. What SHRD writes to its log counts for none."""
    stream: int
    """The stream that they are in."""
    clock: int
    """Pages that the host has written since the drive was new."""
    now_ns: int
    """The time, in nanoseconds of the device's clock."""


class Placement(Policy):
    """Sorts pages into streams: those of a stream share erase units.

    A subclass sets `streams` and defines `stream` or, to be asked for many pages at a time,
    `stream_batch`; the other methods if it wants to be asked or told. Streams are numbered from
    cold to hot: where cleaning must choose between equals it takes the lowest. The trait
    `Placement` of the engine, `crates/floatgate-ftl/src/placement.rs`, is what built-in ones are.
    """

    KEY = "placement.scheme"
    AXIS = "placement"
    REQUIRED = (("stream", "stream_batch"),)

    needs_victim: ClassVar[bool] = False
    """Whether it works with its own victim policy only, which it then brings along: a config that
    names no `cleaning.victim` gets the placement's name there."""

    streams: int
    """How many streams it sorts into: 1 to 200."""

    def start(self, drive: DriveShape) -> None:
        """A run begins on this drive: forget what an earlier one has left."""

    def stream(self, write: HostWrite) -> int:
        """The stream of a page that the host writes now: 0 to `streams` - 1."""
        raise NotImplementedError

    def stream_batch(self, writes: HostWrites) -> Any:
        """The stream of each of these pages: an array of whole numbers, or of False and True.

        They are the pages of up to 1024 requests, before the first of them is begun. What happens
        while they are served, such as cleaning, is told after this call; there is no time of the
        device's clock, as it is not known yet. Only for drives that write pages in the order of
        the requests: without a write buffer, with one queue, under the plain host.
        """
        raise NotImplementedError

    def moved(self, pages: MovedPages) -> Any:
        """The streams of pages that cleaning moves: a number for all, or an array of one for each.

        Not defined: they stay in their stream. Asked with `placement.gc_destination` "scheme" (the
        default) and "reclassify".
        """
        raise NotImplementedError

    def trimmed(self, lpn: int) -> None:
        """A page holds nothing any more."""

    def reclaimed(self, unit: Reclaimed) -> None:
        """A unit is about to be cleaned; `moved` follows for what is valid in it."""

    def victim(self) -> Victim:
        """The victim policy that goes with this placement, and may know it.

        It is taken where `cleaning.victim` has the placement's name, or has none and the placement
        `needs_victim`. Not defined: there is none.
        """
        raise NotImplementedError

    def check(self) -> None:
        """Raises TypeError or ValueError for what the policy lacks, or has wrong."""
        super().check()
        streams = getattr(self, "streams", None)
        if isinstance(streams, bool) or not isinstance(streams, int):
            raise TypeError(f"{type(self).__name__}.streams is {streams!r}: expected an int")
        if not 1 <= streams <= STREAMS_MAX:
            raise ValueError(
                f"{type(self).__name__}.streams is {streams}: expected 1 to {STREAMS_MAX}"
            )

    def fit(self, config: dict[str, Any]) -> None:
        """Sets the number of streams. Raises ConfigError for a drive that it cannot be on."""
        name, victim = config["placement"]["scheme"], config["cleaning"]["victim"]
        if self.needs_victim and victim != name:
            raise ConfigError(
                f'{Victim.KEY} = "{victim}": {name} works with its own victim policy only; '
                f'expected {Victim.KEY} = "{name}", or none given'
            )
        config["placement"]["streams"] = self.streams
        if self.defines("stream_batch"):
            refuse_other_orders(config)

    def calls(self) -> PlacementCalls:
        """What the engine asks in the policy's place."""
        return PlacementCalls(self)


class PlacementCalls:
    """A placement as the engine asks it: bytes in, bytes out."""

    def __init__(self, policy: Placement) -> None:
        self._policy = policy
        self.streams = policy.streams
        self.is_batched = policy.defines("stream_batch")
        self.sorts_moved = policy.defines("moved")
        self.hears_trims = policy.defines("trimmed")
        self.hears_reclaims = policy.defines("reclaimed")
        self.at_fault: int | None = None
        """Of the pages of a batch, the one whose answer is no stream."""
        self.start = partial(started, policy)
        self.stream = policy.stream
        self.trimmed = policy.trimmed
        self.reclaimed = policy.reclaimed

    def stream_batch(
        self, lpns: bytes, counts: bytes, handles: bytes, arrivals: bytes, clock: int
    ) -> bytes:
        """The streams of pages that are about to be written, a byte each."""
        lpn = _integers(lpns)
        clocks = np.arange(clock, clock + len(lpn), dtype=np.int64)
        requests = _integers(counts), _integers(handles), _integers(arrivals)
        writes = HostWrites(lpn, *requests, clocks)
        answer = self._policy.stream_batch(writes)
        _refuse_masked("stream_batch", answer)
        return self._checked("stream_batch", answer, lpn)

    def moved(self, lpns: bytes, handles: bytes, stream: int, clock: int, now_ns: int) -> bytes:
        """The streams of pages that cleaning moves, a byte each."""
        lpn = _integers(lpns)
        answer = self._policy.moved(MovedPages(lpn, _integers(handles), stream, clock, now_ns))
        _refuse_masked("moved", answer)
        if np.ndim(answer) == 0:
            answer = np.full(len(lpn), answer)
        return self._checked("moved", answer, lpn)

    def _checked(self, method: str, answer: Any, lpn: Integers) -> bytes:
        streams = np.asarray(answer)
        if streams.dtype.kind not in "iub":
            raise TypeError(f"{method}() returned {streams.dtype} values: expected whole numbers")
        if streams.shape != lpn.shape:
            raise ValueError(
                f"{method}() returned an array of shape {streams.shape}: expected {lpn.shape}"
            )
        if streams.min() < 0 or streams.max() >= self.streams:
            at = self.at_fault = int(np.argmax((streams < 0) | (streams >= self.streams)))
            raise ValueError(
                f"{method}() returned {streams[at]} for page {lpn[at]}: "
                f"expected 0 to {self.streams - 1}"
            )
        return streams.astype(np.uint8).tobytes()


def _refuse_masked(method: str, answer: Any) -> None:
    """Raises ValueError for an answer that is missing in part: what NumPy makes of it as a plain
    array is whatever lies under the mask."""
    if np.ma.is_masked(answer):
        raise ValueError(
            f"{method}() returned an array with masked elements: expected a stream for each page"
        )


def _integers(given: bytes) -> Integers:
    return np.frombuffer(given, dtype=np.int64)


def refuse_other_orders(config: dict[str, Any]) -> None:
    """Raises ConfigError for a drive that does not write pages in the order of the requests."""
    for section, key, expected in (
        ("buffer", "scheme", "none"),
        ("queue", "queues", 1),
        ("host", "scheme", "plain"),
    ):
        value = config[section][key]
        if value != expected:
            raise ConfigError(
                f"{section}.{key} = {value}: expected {expected}, as a placement with "
                "stream_batch() is asked in the order of the requests"
            )
