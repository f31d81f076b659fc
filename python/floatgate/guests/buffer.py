"""Write buffers in Python: which block leaves when room is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import BufferShape
from .base import Policy

Integers = npt.NDArray[np.int64]


class WriteBuffer(Policy):
    """Says which block leaves a write buffer. A subclass defines `victim`, and what it wants told.

    Pages are held, and leave, block by block: a run of `block_pages` pages at a multiple of that
    number (`buffer.block_pages`). The engine knows which pages are held. Built-in ones are in
    `crates/floatgate-ftl/src/buffer.rs`.
    """

    KEY = "buffer.scheme"
    AXIS = "buffer"
    REQUIRED = (("victim",),)

    def start(self, drive: BufferShape) -> None:
        """A run begins on this drive, with an empty buffer: forget an earlier one."""

    def written(self, block: int, first: int, pages: int, buffered: int) -> None:
        """So many pages of a block have been written, from page `first` of it on; `buffered` of
        its pages are held now."""

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
        self.start = policy.start
        self.written = policy.written
        self.read = policy.read
        self.trimmed = policy.trimmed

    def victim(self, blocks: bytes) -> Any:
        """The number of a block, if the policy is right."""
        return self._policy.victim(np.frombuffer(blocks, dtype=np.int64))
