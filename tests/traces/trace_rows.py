"""Names for the columns of trace rows, traces in files, and rows that two samples share."""

from __future__ import annotations

from pathlib import Path

import pytest

from floatgate.traces import Trace, TraceError, read_trace

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


def write(folder: Path, content: str | bytes | list[str], name: str = "file") -> Path:
    """Writes a trace: bytes, a text, or lines."""
    path = folder / name
    text = "\n".join(content) + "\n" if isinstance(content, list) else content
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read_bytes(data: bytes, folder: Path, **options: object) -> Trace:
    return read_trace(write(folder, data, "sample"), **options)  # type: ignore[arg-type]


def failure(source: object, **options: object) -> str:
    """Returns the error of reading a trace, which is one line."""
    with pytest.raises(TraceError) as caught:
        read_trace(source, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def units_of(trace: Trace) -> str:
    return f"{trace.units.time} {trace.units.address} {trace.units.length}"
