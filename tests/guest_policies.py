"""Policies in Python for the tests: built-in ones written anew, and such as fail."""

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
    """As `length`: short writes are hot."""

    streams = 2

    def stream(self, write: fg.HostWrite) -> int:
        return int(write.request_pages <= 4)


class ShortBatch(fg.Placement):
    """The same for many pages at a time."""

    streams = 2

    def stream_batch(self, writes: fg.HostWrites) -> Any:
        return writes.request_pages <= 4


class Clusters(fg.Placement):
    """As `dac` with its defaults."""

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


class Emptiest(fg.Victim):
    """As `greedy`."""

    def pick(self, candidates: fg.Candidates) -> int:
        return int(candidates.unit[np.argmin(candidates.valid_pages)])


class Oldest(fg.Victim):
    """As `fifo`."""

    def pick(self, candidates: fg.Candidates) -> int:
        return int(candidates.unit[np.argmin(candidates.sealed_order)])


class NoCache(fg.Mapping):
    """As `none`: nothing is cached."""

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


class LastUsed(fg.WriteBuffer):
    """As `lru`."""

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


def counts(result: fg.Result) -> dict[str, Any]:
    """All of a result but what says which policy it was, and how long it took."""
    document = result.to_dict()
    for key in ("engine", "config"):
        del document[key]
    for key in ("placement", "buffer", "mapping"):
        # What a policy in Python takes is not known.
        for name in ("memory_bytes", "cache_bytes"):
            (document[key] or {}).pop(name, None)
    return document
