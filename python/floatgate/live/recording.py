"""Recording of clients' requests: converts the plugin's capture to a trace, a Parquet file."""

from __future__ import annotations

from pathlib import Path

from floatgate._core import ConfigError
from floatgate.files import parts


def capture_of(trace: Path) -> Path:
    """Returns the file that the plugin writes before `trace` is complete."""
    return trace.with_name(trace.name + ".part")


def claim(trace: Path) -> Path:
    """Returns the capture's path, after a check that no file would be lost. Raises ConfigError."""
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
    """Converts the capture to `trace`, some requests at a time; returns the number of requests.

    The capture is then removed. A capture without requests makes no trace, and the result is 0.
    Raises TraceError if the file is not a capture, and OSError if writing fails; then the capture
    is kept.
    """
    from floatgate.traces import open_trace, write_opened
    from floatgate.traces.formats import capture

    part = capture_of(trace)
    if part.stat().st_size < capture.HEADER_BYTES + capture.RECORD_BYTES:
        part.unlink()
        return 0
    read = open_trace(part)
    with parts.writing(trace) as new:
        requests = write_opened(read, new)
    part.unlink()
    return requests
