"""How fast traces are read, as a user waits for it: file on disk to sorted columns in memory."""

from __future__ import annotations

import time
from pathlib import Path

from floatgate.traces import lay_out, read_trace

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"
ROUNDS = 3


def main() -> None:
    files = sorted(TRACES.glob("*.zst"))
    if not files:
        print(f"no traces at {TRACES}: nothing to measure")
    for file in files:
        seconds, requests, name = min(measure(file) for _ in range(ROUNDS))
        print(f"{file.name:45} {name:14} {requests / seconds:12,.0f} requests/s")


def measure(file: Path) -> tuple[float, int, str]:
    """Seconds to read and lay out a trace, its requests, and its format."""
    begin = time.perf_counter()
    trace = read_trace(file)
    lay_out(trace)
    return time.perf_counter() - begin, trace.frame.height, trace.format


if __name__ == "__main__":
    main()
