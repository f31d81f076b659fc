"""Measures requests per second of Python policies, and of the same policies built in.

    python benches/python_policies.py [REQUESTS]

The workloads are uniform and hot/cold page writes on a drive without a clock. Each rate is the
best of three runs. Most policies are the examples of docs/python-policies.md, taken from the
page. One of them needs Numba.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

import floatgate as fg

RUNS = 3
SETS = {"timing": "none", "capacity.spare_factor": 0.2}
PAGE = Path(__file__).resolve().parents[1] / "docs/python-policies.md"
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)


class Batch(fg.Placement):
    """`Short` of docs/python-policies.md, called with many writes."""

    streams = 2

    def stream_batch(self, writes: fg.HostWrites) -> Any:
        return writes.request_pages <= 4


class Sinking(Batch):
    """Batch placement that also chooses streams for the pages that cleaning moves."""

    def moved(self, pages: fg.MovedPages) -> Any:
        return 0


class Emptiest(fg.Victim):
    """Works like `greedy`."""

    def pick(self, candidates: fg.Candidates) -> int:
        return int(candidates.unit[np.argmin(candidates.valid_pages)])


class Everything(fg.Mapping):
    """Reports every entry as cached and does no work: measures the cost of the calls."""

    def access(self, access: fg.MapAccess) -> list[fg.MapOp] | None:
        return None

    def relocated(self, lpns: Any) -> list[fg.MapOp] | None:
        return None

    def residency(self, lpn: int) -> str:
        return "dirty"

    def flush(self) -> list[fg.MapOp] | None:
        return None


MAP = {"mapping.cache": "128KiB"}
"""A quarter of the map, which is 512 KiB."""

BUFFER = {"buffer.capacity": "1MiB"}
LARGE = {"buffer.capacity": "16MiB"}


def examples() -> dict[str, Any]:
    """Returns the policies of the page by name, without running the page's examples."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)
    tree = ast.parse("\n".join(blocks))
    tree.body = [one for one in tree.body if isinstance(one, DEFINITIONS)]
    found: dict[str, Any] = {"__name__": "examples"}
    exec(compile(tree, str(PAGE), "exec"), found)
    return found


def rate(trace: str, sets: dict[str, Any]) -> float:
    """Returns requests per second, the best of several runs."""
    found = []
    for _ in range(RUNS):
        result = fg.run(trace, set={**SETS, **sets})
        found.append(result.engine.host_requests_per_second)
    return max(found)


def main() -> None:
    """Prints a row for each policy."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    page = examples()
    uniform = f"uniform:span=256MiB,writes={requests},size=4KiB"
    rows: list[tuple[str, dict[str, Any]]] = [
        ("length, built in", {"placement.scheme": "length"}),
        ("length, stream()", {"placement.scheme": page["Short"]()}),
        ("length, stream_batch()", {"placement.scheme": Batch()}),
        ("length, stream_batch() and moved()", {"placement.scheme": Sinking()}),
        ("counters, stream_batch()", {"placement.scheme": page["OftenWritten"]()}),
        ("counters, stream_batch() by Numba", {"placement.scheme": page["Compiled"]()}),
        ("greedy, built in", {"cleaning.victim": "greedy"}),
        ("greedy, pick()", {"cleaning.victim": Emptiest()}),
        ("map in memory, built in", {"mapping.scheme": "ideal"}),
        ("map in memory, access()", {"mapping.scheme": Everything()}),
        ("a quarter of the map, built in", {**MAP, "mapping.scheme": "page_cache"}),
        ("a quarter of the map, access()", {**MAP, "mapping.scheme": page["PageCache"]()}),
    ]
    buffers = [
        ("lru, built in", "lru"),
        ("lru, written() and victim()", page["LastUsed"]()),
        ("lru, written_batch() and victim()", page["LastUsedOfMany"]()),
    ]
    for name, sets in rows:
        show(name, rate(uniform, sets))
    hot = f"hotcold:span=256MiB,r=0.9,f=0.02,writes={requests},size=4KiB"
    for trace, drive, told in ((uniform, BUFFER, "1 MiB"), (hot, LARGE, "hot pages in 16 MiB")):
        for name, policy in buffers:
            show(f"{told}: {name}", rate(trace, {**drive, "buffer.scheme": policy}))


def show(name: str, requests: float) -> None:
    """Prints a row."""
    print(f"{name:56} {requests:>14,.0f} requests/s", flush=True)


if __name__ == "__main__":
    main()
