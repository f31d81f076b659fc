"""Block traces: reading any known format, laying out addresses, the figures of a trace."""

from __future__ import annotations

from .formats import FORMATS, Format
from .info import trace_info
from .layout import Layout, lay_out
from .model import Trace, TraceError, Units
from .read import read_trace, write_parquet
from .write import suffix_of, write_trace

__all__ = [
    "FORMATS",
    "Format",
    "Layout",
    "Trace",
    "TraceError",
    "Units",
    "lay_out",
    "read_trace",
    "suffix_of",
    "trace_info",
    "write_parquet",
    "write_trace",
]
