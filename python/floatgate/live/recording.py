"""What clients did, as a trace: the plugin's capture becomes a Parquet file."""

from __future__ import annotations

from pathlib import Path

from floatgate import parts
from floatgate._core import ConfigError


def capture_of(trace: Path) -> Path:
    """The file that the plugin writes while `trace` is in the making."""
    return trace.with_name(trace.name + ".part")


def claim(trace: Path) -> Path:
    """The capture's path, once it is known that nothing is lost. Raises ConfigError."""
    part = capture_of(trace)
    if trace.suffix != ".parquet":
        raise ConfigError(f"--record: {trace} given; expected a name that ends in .parquet")
    if not trace.parent.is_dir():
        raise ConfigError(f"--record: {trace.parent} is no directory")
    parts.sweep(trace.parent)
    if part.exists():
        raise ConfigError(
            f"--record: {part} is what a server that was killed has recorded; keep it with "
            f"floatgate trace import {part} -o {trace}, or remove it"
        )
    return part


def keep(trace: Path) -> int:
    """Makes `trace` of its capture, some requests at a time; returns how many there are.

    The capture is removed then. One without a request makes no trace, and the answer is 0. Raises
    TraceError for what is no capture, OSError where writing fails: the capture stays.
    """
    from floatgate.traces import Stream, open_trace, write_trace
    from floatgate.traces.formats import capture

    part = capture_of(trace)
    if part.stat().st_size < capture.HEADER_BYTES + capture.RECORD_BYTES:
        part.unlink()
        return 0
    read = open_trace(part)
    with parts.writing(trace) as new:
        if isinstance(read, Stream):
            requests = read.requests
            write_trace(read.unread(), new, ".parquet", read.batches())
        else:
            requests = read.frame.height
            write_trace(read, new, ".parquet")
    part.unlink()
    return requests
