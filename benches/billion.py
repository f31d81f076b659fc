"""Measures time and memory for a trace of a billion requests.

    python benches/billion.py [MILLIONS]

The workload reads, writes, trims and flushes at random offsets of 4 GiB. The requests come from a
temporary Parquet file, and from a generator. The drive has no clock (`timing = "none"`). Each row
is a separate process: wall time, processor time of all its threads, and peak memory. The first row
has hardly any requests: it shows the memory of the drive alone. MILLIONS defaults to 20. 1000 need
6.4 GB of disk space.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from trace_reading import COUNTING, head, quietly, report, run

BYTES = 10
"""Upper limit of disk bytes for a request."""


def main() -> None:
    millions = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    requests = millions * 1_000_000
    with tempfile.TemporaryDirectory() as directory:
        if shutil.disk_usage(directory).free < BYTES * requests:
            raise SystemExit(f"{directory}: expected {BYTES * requests:,} bytes free")
        path = Path(directory) / "long.parquet"
        head()
        report("the drive", run(f"run {spec(1000)} {COUNTING}"), 1000)
        quietly(f"trace generate {spec(requests)} -o {path}")
        report(f"Parquet, {path.stat().st_size:,} bytes", run(f"run {path} {COUNTING}"), requests)
        report("generator", run(f"run {spec(requests)} {COUNTING}"), requests)


def spec(requests: int) -> str:
    mix = "reads=0.3,trim=0.02,flush=0.01,arrivals=exponential"
    return f"uniform:span=4GiB,requests={requests},{mix}"


if __name__ == "__main__":
    main()
