"""Write buffers in Python: which block leaves when room is needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import BufferShape
from .base import Policy, started

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BufferWrites:
    """Writes to the buffer, in the order in which they happened: an array each, of int64."""

    block: Integers
    """The block that was written to."""
    first: Integers
    """The first page of it that was."""
    pages: Integers
    """Pages from there on."""
    buffered: Integers
    """Pages of the block that were held after it."""


class WriteBuffer(Policy):
    """Says which block leaves a write buffer. A subclass defines `victim`, and what it wants told:
    of writes one by one by `written`, or of many at a time by `written_batch`.

    Pages are held, and leave, block by block: a run of `block_pages` pages at a multiple of that
    number (`buffer.block_pages`). The engine knows which pages are held. Built-in ones are in
    `crates/floatgate-ftl/src/buffer.rs`.
    """

    KEY = "buffer.scheme"
    AXIS = "buffer"
    REQUIRED = (("victim",),)
    EITHER = (("written", "written_batch"),)

    def start(self, drive: BufferShape) -> None:
        """A run begins on this drive, with an empty buffer: forget an earlier one."""

    def written(self, block: int, first: int, pages: int, buffered: int) -> None:
        """So many pages of a block have been written, from page `first` of it on; `buffered` of
        its pages are held now."""

    def written_batch(self, writes: BufferWrites) -> None:
        """Instead of `written`: these blocks have been written to since the policy was last asked
        or told anything.

        It comes before any other call that follows the writes, after 1024 of them, and when the run
        ends: nothing is missed and nothing is told late, as a write asks for no answer.
        """

    def read(self, block: int) -> None:
        """A page of a block has been read from the buffer."""

    def trimmed(self, block: int, left: int) -> None:
        """A page of a block that stays has been trimmed; so many are left."""

    def victim(self, blocks: Integers) -> int:
        """The block that is to leave: one of these.

        Not asked where all leave, as on a flush: what is not among `blocks` any more has left. The
        block that is being written to is not among them.
        """
        raise NotImplementedError

    def calls(self) -> WriteBufferCalls:
        """What the engine asks in the policy's place."""
        return WriteBufferCalls(self)


class WriteBufferCalls:
    """A buffer policy as the engine asks it."""

    def __init__(self, policy: WriteBuffer) -> None:
        self._policy = policy
        self.hears_writes = policy.defines("written")
        self.is_batched = policy.defines("written_batch")
        self.hears_reads = policy.defines("read")
        self.hears_trims = policy.defines("trimmed")
        self.start = partial(started, policy)
        self.written = policy.written
        self.read = policy.read
        self.trimmed = policy.trimmed

    def written_batch(self, *columns: bytes) -> None:
        """Tells of writes, by the columns of BufferWrites."""
        self._policy.written_batch(BufferWrites(*map(_integers, columns)))

    def victim(self, blocks: bytes) -> Any:
        """The number of a block, if the policy is right."""
        return self._policy.victim(_integers(blocks))


def _integers(given: bytes) -> Integers:
    return np.frombuffer(given, dtype=np.int64)
