"""Table of the trace formats, one row each, in the order in which a file is tested."""

from __future__ import annotations

from . import (
    biosnoop,
    biotracer,
    blkparse,
    blktrace,
    block_events,
    capture,
    cloud,
    diskmon,
    disksim,
    etw,
    fio,
    fiu,
    floatgate_csv,
    hpsrt,
    iosnoop,
    msr,
    oracle_general,
    parquet,
    spc,
    vscsi,
)
from .base import Format

# No file matches two formats (tested), so the order affects only the cost of recognition.
FORMATS: tuple[Format, ...] = (
    parquet.FORMAT,
    floatgate_csv.FORMAT,
    spc.FORMAT,
    msr.FORMAT,
    disksim.HEIMDALL,
    disksim.DISKSIM,
    disksim.PAGES,
    blkparse.FORMAT,
    blktrace.FORMAT,
    block_events.FORMAT,
    biosnoop.FORMAT,
    iosnoop.FORMAT,
    etw.FORMAT,
    capture.FORMAT,
    fio.FORMAT,
    fiu.FORMAT,
    vscsi.FORMAT,
    biotracer.FORMAT,
    diskmon.FORMAT,
    hpsrt.FORMAT,
    cloud.ALIBABA,
    cloud.TENCENT,
    cloud.SYSTOR,
    oracle_general.FORMAT,
)

__all__ = ["FORMATS", "Format"]
