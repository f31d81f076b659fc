"""Requests per second of runs with policies in Python, beside the same policy built in.

    python benches/python_policies.py [REQUESTS]

Random page writes on a drive without a clock, whose map is in memory but for the rows of mappings.
Best of three. A mapping and a write buffer have no batch form: they are asked access by access,
write by write.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any

import numpy as np

import floatgate as fg

RUNS = 3
SETS = {"timing": "none", "capacity.spare_factor": 0.2}


class OneByOne(fg.Placement):
    """Short writes are hot."""

    streams = 2

    def stream(self, write: fg.HostWrite) -> int:
        return write.request_pages <= 4


class Batch(fg.Placement):
    """The same for many pages at a time."""

    streams = 2

    def stream_batch(self, writes: fg.HostWrites) -> Any:
        return writes.request_pages <= 4


class Counters(fg.Placement):
    """A page is hot once it was written four times: a table of NumPy."""

    streams = 2

    def start(self, drive: fg.DriveShape) -> None:
        self.written = np.zeros(drive.logical_pages, np.uint32)

    def stream_batch(self, writes: fg.HostWrites) -> Any:
        hot = self.written[writes.lpn] >= 4
        np.add.at(self.written, writes.lpn, 1)
        return hot


def compiled() -> type[fg.Placement] | None:
    """The last one as a loop that Numba compiles; None without Numba."""
    try:
        from numba import njit
    except ImportError:
        return None

    @njit(cache=False)  # type: ignore[untyped-decorator]
    def count(lpns: Any, written: Any, streams: Any) -> None:
        for at, lpn in enumerate(lpns):
            streams[at] = written[lpn] >= 4
            written[lpn] += 1

    class Compiled(Counters):
        def stream_batch(self, writes: fg.HostWrites) -> Any:
            streams = np.empty(len(writes.lpn), np.uint8)
            count(writes.lpn, self.written, streams)
            return streams

    Compiled()
    return Compiled


class Sinking(Batch):
    """The batch, with a say in where cleaning moves pages."""

    def moved(self, pages: fg.MovedPages) -> Any:
        return 0


class Emptiest(fg.Victim):
    """As `greedy`."""

    def pick(self, candidates: fg.Candidates) -> int:
        return int(candidates.unit[np.argmin(candidates.valid_pages)])


class Everything(fg.Mapping):
    """Has each entry at hand and no work to do: what being asked costs."""

    def access(self, access: fg.MapAccess) -> list[fg.MapOp] | None:
        return None

    def relocated(self, lpns: Any) -> list[fg.MapOp] | None:
        return None

    def residency(self, lpn: int) -> str:
        return "dirty"

    def flush(self) -> list[fg.MapOp] | None:
        return None


class Pages(fg.Mapping):
    """Whole translation pages, the last used ones: the example of docs/python-policies.md."""

    def start(self, drive: fg.MapShape) -> None:
        self.entries, self.room = drive.entries_per_page, drive.cache_bytes // drive.page_bytes
        self.cached: OrderedDict[int, bool] = OrderedDict()

    def access(self, access: fg.MapAccess) -> list[fg.MapOp]:
        return self.use(access.tpn, access.kind != "read")

    def use(self, tpn: int, writes: bool) -> list[fg.MapOp]:
        """The work of having a page at hand."""
        work: list[fg.MapOp] = [] if tpn in self.cached else [("fetch", tpn)]
        self.cached[tpn] = self.cached.pop(tpn, False) or writes
        if len(self.cached) > self.room and self.cached.pop(old := next(iter(self.cached))):
            work.append(("rewrite", old))
        return work

    def relocated(self, lpns: Any) -> list[fg.MapOp]:
        pages = (int(tpn) for tpn in np.unique(lpns // self.entries))
        return [op for tpn in pages for op in self.use(tpn, True)]

    def residency(self, lpn: int) -> str:
        is_dirty = self.cached.get(lpn // self.entries)
        return {None: "absent", False: "clean", True: "dirty"}[is_dirty]

    def flush(self) -> list[fg.MapOp]:
        dirty = [tpn for tpn, is_dirty in self.cached.items() if is_dirty]
        self.cached.update(dict.fromkeys(dirty, False))
        return [("rewrite", tpn) for tpn in dirty]


class LastUsed(fg.WriteBuffer):
    """As `lru`: the example of docs/python-policies.md."""

    def start(self, drive: fg.BufferShape) -> None:
        self.used = np.zeros(-(-drive.logical_pages // drive.block_pages), int)
        self.now = 0

    def written(self, block: int, first: int, pages: int, buffered: int) -> None:
        self.read(block)

    def read(self, block: int) -> None:
        self.now += 1
        self.used[block] = self.now

    def victim(self, blocks: Any) -> int:
        return int(blocks[np.argmin(self.used[blocks])])


MAP = {"mapping.cache": "128KiB"}
"""A quarter of the map, which is 512 KiB."""

BUFFER = {"buffer.capacity": "1MiB"}


def rate(trace: str, sets: dict[str, Any]) -> float:
    """Requests per second, the best of some runs."""
    found = []
    for _ in range(RUNS):
        result = fg.run(trace, set={**SETS, **sets})
        found.append(result.engine.host_requests_per_second)
    return max(found)


def main() -> None:
    """Prints a row for each policy."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    trace = f"uniform:span=256MiB,writes={requests},size=4KiB"
    numba = compiled()
    rows: list[tuple[str, dict[str, Any]]] = [
        ("length, built in", {"placement.scheme": "length"}),
        ("length, stream()", {"placement.scheme": OneByOne()}),
        ("length, stream_batch()", {"placement.scheme": Batch()}),
        ("length, stream_batch() and moved()", {"placement.scheme": Sinking()}),
        ("counters, stream_batch()", {"placement.scheme": Counters()}),
        ("greedy, built in", {"cleaning.victim": "greedy"}),
        ("greedy, pick()", {"cleaning.victim": Emptiest()}),
        ("map in memory, built in", {"mapping.scheme": "ideal"}),
        ("map in memory, access()", {"mapping.scheme": Everything()}),
        ("a quarter of the map, built in", {**MAP, "mapping.scheme": "page_cache"}),
        ("a quarter of the map, access()", {**MAP, "mapping.scheme": Pages()}),
        ("lru of 1 MiB, built in", {**BUFFER, "buffer.scheme": "lru"}),
        ("lru of 1 MiB, written() and victim()", {**BUFFER, "buffer.scheme": LastUsed()}),
    ]
    if numba is not None:
        rows.insert(5, ("counters, stream_batch() by Numba", {"placement.scheme": numba()}))
    for name, sets in rows:
        print(f"{name:40} {rate(trace, sets):>14,.0f} requests/s", flush=True)


if __name__ == "__main__":
    main()
