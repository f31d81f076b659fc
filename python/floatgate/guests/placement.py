"""Placements in Python, which choose the stream, and thereby the erase unit, of a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from .._core import ConfigError, DriveShape, HostWrite, Reclaimed
from .base import Policy, started
from .victim import Victim

if TYPE_CHECKING:
    from .arrays import Integers

STREAMS_MAX = 200
"""Maximum number of streams of a placement. Each stream has an open erase unit of the drive."""


@dataclass(frozen=True, slots=True)
class HostWrites:
    """Pages that the host is about to write, in this order: an array each, of int64."""

    lpn: Integers
    """The page: 0 to `logical_pages` - 1."""
    request_pages: Integers
    """Pages of the request to which the page belongs, from 1."""
    handle: Integers
    """Placement handle of that request, 0 to 65,535; 0 if it names none. A trace has it in the
    column `stream`. In this class, a stream is the answer of the placement instead.
    """
    arrival_ns: Integers
    """Arrival time of the request, in nanoseconds of the trace; 0 while the drive is filled."""
    clock: Integers
    """Pages that the host had written before this page, since the drive was new."""


@dataclass(frozen=True, slots=True)
class MovedPages:
    """Pages of one erase unit that cleaning moves now."""

    lpn: Integers
    """The pages."""
    handle: Integers
    """Placement handle of the host's last write of each page. That write may be in flight or in a
    write buffer. Writes by which SHRD fills its log do not count.
    """
    stream: int
    """Stream of the pages before the move."""
    clock: int
    """Pages that the host has written since the drive was new."""
    now_ns: int
    """Time, in nanoseconds of the device's clock."""


class Placement(Policy):
    """Sorts pages into streams; the pages of a stream share erase units.

    A subclass sets `streams` and defines `stream` or, to handle many pages at a time,
    `stream_batch`. The other methods are optional. Streams are numbered from cold to hot: if
    cleaning must choose between equal units, it takes the lowest stream. Built-in placements
    implement the engine's trait `Placement`, `crates/floatgate-ftl/src/placement.rs`.
    """

    KEY = "placement.scheme"
    AXIS = "placement"
    REQUIRED = (("stream", "stream_batch"),)

    needs_victim: ClassVar[bool] = False
    """Whether the placement works only with its own victim policy, which it then brings along: a
    config that names no `cleaning.victim` gets the placement's name there.
    """

    streams: int
    """Number of streams: 1 to 200."""

    def start(self, drive: DriveShape) -> None:
        """Begins a run on this drive: forget anything from an earlier run."""

    def stream(self, write: HostWrite) -> int:
        """Returns the stream of a page that the host writes now: 0 to `streams` - 1."""
        raise NotImplementedError

    def stream_batch(self, writes: HostWrites) -> Any:
        """Returns the stream of each of these pages: an array of whole numbers,
        or of False and True.

        The engine passes the pages of up to 1024 requests before the first of these requests
        begins. It reports events while they are served, such as cleaning, after this call. It
        passes no time of the device's clock, because the time is not known yet. Use this method
        only for drives that write pages in the order of the requests: without a write buffer, with
        one queue, under the plain host.
        """
        raise NotImplementedError

    def moved(self, pages: MovedPages) -> Any:
        """Returns the streams of pages that cleaning moves: a number for all,
        or an array with one for each.

        If it is not defined, the pages stay in their stream. The engine calls it with
        `placement.gc_destination` "scheme" (the default) and "reclassify".
        """
        raise NotImplementedError

    def trimmed(self, lpn: int) -> None:
        """Reports that a page no longer holds data."""

    def reclaimed(self, unit: Reclaimed) -> None:
        """Reports that a unit is about to be cleaned; `moved` follows for its valid pages."""

    def victim(self) -> Victim:
        """Returns the victim policy that belongs to this placement, and may share its state.

        The drive uses it if `cleaning.victim` has the placement's name, or if that key is not set
        and the placement `needs_victim`. If it is not defined, the placement has no victim policy.
        """
        raise NotImplementedError

    def check(self) -> None:
        """Raises TypeError or ValueError if the policy lacks something, or has something wrong."""
        super().check()
        streams = getattr(self, "streams", None)
        if isinstance(streams, bool) or not isinstance(streams, int):
            raise TypeError(f"{type(self).__name__}.streams is {streams!r}: expected an int")
        if not 1 <= streams <= STREAMS_MAX:
            raise ValueError(
                f"{type(self).__name__}.streams is {streams}: expected 1 to {STREAMS_MAX}"
            )

    def fit(self, config: dict[str, Any]) -> None:
        """Sets the number of streams.

        Raises ConfigError for a drive that cannot have the placement.
        """
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
        """Returns the object that the engine calls instead of the policy."""
        return PlacementCalls(self)


class PlacementCalls:
    """Adapter through which the engine calls a placement: bytes in, bytes out."""

    def __init__(self, policy: Placement) -> None:
        self._policy = policy
        self.streams = policy.streams
        self.is_batched = policy.defines("stream_batch")
        self.sorts_moved = policy.defines("moved")
        self.hears_trims = policy.defines("trimmed")
        self.hears_reclaims = policy.defines("reclaimed")
        self.at_fault: int | None = None
        """Index of the page in a batch whose answer is not a stream."""
        self.start = partial(started, policy)
        self.stream = policy.stream
        self.trimmed = policy.trimmed
        self.reclaimed = policy.reclaimed

    def stream_batch(
        self, lpns: bytes, counts: bytes, handles: bytes, arrivals: bytes, clock: int
    ) -> bytes:
        """Returns the streams of pages that are about to be written, a byte each."""
        from .arrays import consecutive, integers, streams_of

        lpn = integers(lpns)
        requests = integers(counts), integers(handles), integers(arrivals)
        writes = HostWrites(lpn, *requests, consecutive(clock, len(lpn)))
        streams = streams_of("stream_batch", self._policy.stream_batch(writes), lpn)
        return self._checked("stream_batch", streams, lpn)

    def moved(self, lpns: bytes, handles: bytes, stream: int, clock: int, now_ns: int) -> bytes:
        """Returns the streams of pages that cleaning moves, a byte each."""
        from .arrays import integers, streams_of

        lpn = integers(lpns)
        answer = self._policy.moved(MovedPages(lpn, integers(handles), stream, clock, now_ns))
        return self._checked("moved", streams_of("moved", answer, lpn, one_for_all=True), lpn)

    def _checked(self, method: str, streams: Integers, lpn: Integers) -> bytes:
        if streams.min() < 0 or streams.max() >= self.streams:
            at = self.at_fault = int(((streams < 0) | (streams >= self.streams)).argmax())
            raise ValueError(
                f"{method}() returned {streams[at]} for page {lpn[at]}: "
                f"expected 0 to {self.streams - 1}"
            )
        return streams.astype("uint8").tobytes()


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
