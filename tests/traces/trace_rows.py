"""Names for the columns of trace rows, and rows that two samples share."""

from __future__ import annotations

from pathlib import Path

from floatgate.traces import Trace, read_trace

READ, WRITE, TRIM, FLUSH = range(4)
SECTOR, PAGE = 512, 4096
US, S = 10**3, 10**9

Row = tuple[int, int, int, int, int]  # at_ns, op, device, offset, length

# Rows of the same requests, as printed by blkparse and as stored by blktrace.
ISSUED: list[Row] = [
    (0, WRITE, 0, 223490 * SECTOR, 8 * SECTOR),
    (91_200, READ, 1, 4096 * SECTOR, 16 * SECTOR),
    (191_200, TRIM, 1, 8192 * SECTOR, 2048 * SECTOR),
    (291_200, FLUSH, 0, 0, 0),
    (391_200, FLUSH, 0, 0, 0),
    (391_200, WRITE, 0, 64 * SECTOR, 8 * SECTOR),
]

SCALES = {"bytes": 1, "sectors": 512, "pages": 4096}


def read_bytes(data: bytes, folder: Path, **options: object) -> Trace:
    path = folder / "sample"
    path.write_bytes(data)
    return read_trace(path, **options)  # type: ignore[arg-type]


def units_of(trace: Trace) -> str:
    return f"{trace.units.time} {trace.units.address} {trace.units.length}"
