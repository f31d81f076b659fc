"""Write buffers in Python, which choose the block that leaves when room is needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .._core import BufferShape
from .base import Policy, started

if TYPE_CHECKING:
    from .arrays import Integers


@dataclass(frozen=True, slots=True)
class BufferWrites:
    """Writes to the buffer, in the order in which they happened: an array each, of int64."""

    block: Integers
    """Block that was written to."""
    first: Integers
    """First page of the block that was written."""
    pages: Integers
    """Pages written, from `first` on."""
    buffered: Integers
    """Buffered pages of the block after the write."""


class WriteBuffer(Policy):
    """Chooses the block that leaves a write buffer. A subclass defines `victim`. To learn of
    writes, it also defines `written`, for one write at a time, or `written_batch`, for many.

    Pages are buffered, and leave, block by block. A block is a run of `block_pages` pages
    (`buffer.block_pages`) at a multiple of that number. The engine keeps track of the buffered
    pages. Built-in buffer policies are in `crates/floatgate-ftl/src/buffer.rs`.
    """

    KEY = "buffer.scheme"
    AXIS = "buffer"
    REQUIRED = (("victim",),)
    EITHER = (("written", "written_batch"),)

    def start(self, drive: BufferShape) -> None:
        """Begins a run on this drive, with an empty buffer: forget anything from an earlier run."""

    def written(self, block: int, first: int, pages: int, buffered: int) -> None:
        """Reports a write of `pages` pages of a block, from its page `first` on. `buffered` of the
        block's pages are buffered now.
        """

    def written_batch(self, writes: BufferWrites) -> None:
        """Reports, instead of `written`, all writes since the previous call of any method.

        The engine calls it before any other call that follows the writes, after 1024 writes, and
        when the run ends. No write is missed, and none is reported late, because a write needs no
        answer.
        """

    def read(self, block: int) -> None:
        """Reports a read of a page of a block from the buffer."""

    def trimmed(self, block: int, left: int) -> None:
        """Reports a trim of a page of a block that stays; `left` pages are left."""

    def victim(self, blocks: Integers) -> int:
        """Returns the block that leaves: one of `blocks`.

        The engine does not call it if all blocks leave, as on a flush. A block that is no longer
        among `blocks` has left. The block that is being written is not among them.
        """
        raise NotImplementedError

    def calls(self) -> WriteBufferCalls:
        """Returns the object that the engine calls instead of the policy."""
        return WriteBufferCalls(self)


class WriteBufferCalls:
    """Adapter through which the engine calls a buffer policy."""

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
        """Reports writes, given as the columns of BufferWrites."""
        from .arrays import integers

        self._policy.written_batch(BufferWrites(*map(integers, columns)))

    def victim(self, blocks: bytes) -> Any:
        """Returns the policy's answer: the number of a block, if the policy is correct."""
        from .arrays import integers

        return self._policy.victim(integers(blocks))
