"""External policies for the tests: built-in policies rewritten in Python, and policies that
fail."""

from __future__ import annotations

from typing import Any

import numpy as np

import floatgate as fg

HOTCOLD = "hotcold:span=8MiB,r=0.9,f=0.1,writes=20k,trim=0.05,seed=3"
SETS = {
    "start.fill": "random",
    "capacity.spare_factor": 0.2,
    "queue.arrivals": "closed",
    "flash.pages_per_block": 16,
}


class Short(fg.Placement):
    """Works like `length`: short writes are hot."""

    streams = 2

    def stream(self, write: fg.HostWrite) -> int:
        return int(write.request_pages <= 4)


class ShortBatch(fg.Placement):
    """Works like `length`, for many pages in a call."""

    streams = 2

    def stream_batch(self, writes: fg.HostWrites) -> Any:
        return writes.request_pages <= 4


class Clusters(fg.Placement):
    """Works like `dac` with its defaults."""

    streams = 6

    def start(self, drive: fg.DriveShape) -> None:
        self.regions = np.full(drive.logical_pages, -1)

    def stream(self, write: fg.HostWrite) -> int:
        region = int(min(self.regions[write.lpn] + 1, self.streams - 1))
        self.regions[write.lpn] = region
        return region

    def moved(self, pages: fg.MovedPages) -> Any:
        regions = np.full(len(pages.lpn), max(pages.stream - 1, 0))
        self.regions[pages.lpn] = regions
        return regions

    def trimmed(self, lpn: int) -> None:
        self.regions[lpn] = -1


class ByHandle(fg.Placement):
    """Works like `host`: a stream for each handle. With `shared`, all pages that cleaning moves
    share one stream."""

    def __init__(self, handles: int, shared: bool) -> None:
        self.first = int(shared)
        self.streams = handles + self.first

    def stream(self, write: fg.HostWrite) -> int:
        return self.first + write.handle

    def moved(self, pages: fg.MovedPages) -> Any:
        return 0 if self.first else pages.stream


class ByHandleBatch(fg.Placement):
    """Works like `ByHandle`, for many pages in a call."""

    __init__ = ByHandle.__init__  # type: ignore[assignment]
    moved = ByHandle.moved  # type: ignore[assignment]
    first: int

    def stream_batch(self, writes: fg.HostWrites) -> Any:
        return self.first + writes.handle


class ByHandleAgain(ByHandle):
    """Sorts the pages that cleaning moves by their handle, too."""

    def moved(self, pages: fg.MovedPages) -> Any:
        return self.first + pages.handle


class Emptiest(fg.Victim):
    """Works like `greedy`."""

    def pick(self, candidates: fg.Candidates) -> int:
        return int(candidates.unit[np.argmin(candidates.valid_pages)])


class Oldest(fg.Victim):
    """Works like `fifo`."""

    def pick(self, candidates: fg.Candidates) -> int:
        return int(candidates.unit[np.argmin(candidates.sealed_order)])


class NoCache(fg.Mapping):
    """Works like `none`: no map entry is cached."""

    def start(self, drive: fg.MapShape) -> None:
        self.entries = drive.entries_per_page

    def access(self, access: fg.MapAccess) -> list[fg.MapOp]:
        return [("update" if access.kind == "trim" else "fetch", access.tpn)]

    def assigned(self, lpn: int) -> list[fg.MapOp]:
        return [("rewrite", lpn // self.entries)]

    def relocated(self, lpns: Any) -> list[fg.MapOp]:
        return [("update", int(tpn)) for tpn in np.unique(lpns // self.entries)]

    def residency(self, lpn: int) -> str:
        return "absent"

    def flush(self) -> None:
        return None


class Entries(fg.Mapping):
    """Works like `dftl` with plain LRU. `log` records each access and eviction of an entry."""

    def start(self, drive: fg.MapShape) -> None:
        self.entries, self.room = drive.entries_per_page, drive.cache_bytes // 8
        self.cached: dict[int, bool] = {}
        self.log: list[str] = []

    def access(self, access: fg.MapAccess) -> list[fg.MapOp]:
        dirty, work = access.kind != "read", []
        if access.lpn in self.cached:
            self.log.append("hit")
            dirty |= self.cached.pop(access.lpn)
        else:
            self.log.append("miss")
            if len(self.cached) == self.room:
                work += self.evicted()
            work.append(("fetch", access.tpn))
        self.cached[access.lpn] = dirty
        return work

    def evicted(self) -> list[fg.MapOp]:
        old = next(iter(self.cached))
        dirty = self.cached.pop(old)
        self.log.append("dirty" if dirty else "clean")
        return [("update", old // self.entries)] if dirty else []

    def relocated(self, lpns: Any) -> list[fg.MapOp]:
        self.cached.update((int(lpn), True) for lpn in lpns if int(lpn) in self.cached)
        pages = {int(lpn) // self.entries: None for lpn in lpns if int(lpn) not in self.cached}
        return [("update", tpn) for tpn in pages]

    def residency(self, lpn: int) -> str:
        return {None: "absent", False: "clean", True: "dirty"}[self.cached.get(lpn)]

    def flush(self) -> list[fg.MapOp]:
        pages = {lpn // self.entries for lpn, dirty in self.cached.items() if dirty}
        self.cached.update(dict.fromkeys(self.cached, False))
        return [("update", tpn) for tpn in sorted(pages)]


class Counting(Entries):
    """Works like `Entries`, and reports counts of its evictions."""

    def counts(self) -> fg.MapCounts:
        dirty = self.log.count("dirty")
        return fg.MapCounts(
            evictions=self.log.count("clean") + dirty,
            dirty_evictions=dirty,
            prefetched=0,
            prefetch_used=0,
            prefetch_unused=0,
            cache_bytes=8 * len(self.cached),
        )


class LastUsed(fg.WriteBuffer):
    """Works like `lru`."""

    def start(self, drive: fg.BufferShape) -> None:
        self.used: dict[int, None] = {}

    def written(self, block: int, first: int, pages: int, buffered: int) -> None:
        self.read(block)

    def read(self, block: int) -> None:
        self.used.pop(block, None)
        self.used[block] = None

    def victim(self, blocks: Any) -> int:
        held = {int(block) for block in blocks}
        return next(block for block in self.used if block in held)


class LastUsedBatch(fg.WriteBuffer):
    """Works like `lru`, with many writes in a call."""

    def start(self, drive: fg.BufferShape) -> None:
        self.used = np.zeros(-(-drive.logical_pages // drive.block_pages), int)
        self.now = 0

    def written_batch(self, writes: fg.BufferWrites) -> None:
        count = len(writes.block)
        self.used[writes.block] = np.arange(self.now + 1, self.now + 1 + count)
        self.now += count

    def read(self, block: int) -> None:
        self.now += 1
        self.used[block] = self.now

    def victim(self, blocks: Any) -> int:
        return int(blocks[np.argmin(self.used[blocks])])


def counts(result: fg.Result) -> dict[str, Any]:
    """Returns a result's document without the policy's name and the elapsed time."""
    document = result.to_dict()
    for key in ("engine", "config"):
        del document[key]
    for key in ("placement", "buffer"):
        # The memory of a Python policy is unknown.
        (document[key] or {}).pop("memory_bytes", None)
    # The owners of pages are handles with `host`, and streams with a Python policy.
    (document["placement"] or {}).pop("owners", None)
    return document


def told(result: fg.Result) -> dict[str, Any]:
    """Returns the same document without the counts that a mapping reports, for a mapping in Python
    that reports none."""
    document = counts(result)
    for name in UNTOLD:
        del document["mapping"][name]
    return document


UNTOLD = (
    "evictions",
    "dirty_evictions",
    "prefetched",
    "prefetch_used",
    "prefetch_unused",
    "cache_bytes",
)
"""Fields of a mapping's result that are None if the Python policy does not report counts."""
