"""Block traces: reads every known format, lays out addresses, computes statistics of a trace."""

from __future__ import annotations

from .formats import FORMATS, Format
from .info import trace_info
from .layout import Layout, lay_out
from .model import Trace, TraceError, Units
from .read import open_trace, read_trace, trace_of, write_parquet
from .stream import Room, Stream, StreamLayout
from .write import suffix_of, write_opened, write_trace

__all__ = [
    "FORMATS",
    "Format",
    "Layout",
    "Room",
    "Stream",
    "StreamLayout",
    "Trace",
    "TraceError",
    "Units",
    "lay_out",
    "open_trace",
    "read_trace",
    "suffix_of",
    "trace_info",
    "trace_of",
    "write_opened",
    "write_parquet",
    "write_trace",
]
