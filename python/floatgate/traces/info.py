"""Statistics of `trace info`."""

from __future__ import annotations

from typing import Any

import polars as pl

from .model import FLUSH, READ, TRIM, WRITE, Trace

PAGE = 4096
SHIFTED = 0.5
"""Minimum share of reads and writes that begin equally far behind a page boundary, for a note."""


def unique_pages(frame: pl.DataFrame) -> int:
    """Counts the distinct (device, 4 KiB page) pairs that the requests of `frame` touch.

    Computes the length of a union of intervals: the requests are sorted by their first page, and
    each request adds its pages beyond the furthest page so far. No request is expanded into pages.
    """
    pages = frame.select(
        "device",
        first=(pl.col("offset") // PAGE).cast(pl.Int64),
        end=((pl.col("offset") + pl.col("length") + PAGE - 1) // PAGE).cast(pl.Int64),
    ).sort("device", "first")
    seen = pl.col("end").cum_max().shift(1, fill_value=0).over("device")
    new = pl.col("end") - pl.max_horizontal("first", seen)
    return int(pages.select(new.clip(lower_bound=0).sum()).item())


def page_writes(writes: pl.DataFrame) -> int:
    """Counts the 4 KiB pages that the requests touch; a page counts once for each request."""
    first = pl.col("offset") // PAGE
    end = (pl.col("offset") + pl.col("length") + PAGE - 1) // PAGE
    return int(writes.select((end - first).sum()).item())


def trace_info(trace: Trace) -> dict[str, Any]:
    """Returns the document of `trace info --json`.

    A request touches a 4 KiB page if it reads or writes any byte of the page; pages are counted for
    each device. A mean or a ratio without data is None. `aligned_share` is the share of reads and
    writes whose offset and length are multiples of 4 KiB. `handles` has the writes of each
    placement handle; it is None for a trace without handles.
    """
    frame = trace.frame
    by_op = {op: frame.filter(pl.col("op") == op) for op in (READ, WRITE, TRIM, FLUSH)}
    reads, writes, trims = by_op[READ], by_op[WRITE], by_op[TRIM]
    data = frame.filter(pl.col("op") <= WRITE)
    written = unique_pages(writes)
    aligned = data.select((pl.col("offset") % PAGE == 0) & (pl.col("length") % PAGE == 0))
    return {
        "name": trace.name,
        "format": trace.format,
        "requests": frame.height,
        "reads": reads.height,
        "writes": writes.height,
        "trims": trims.height,
        "flushes": by_op[FLUSH].height,
        "footprint_pages": unique_pages(data),
        "mean_write_bytes": writes["length"].mean(),
        "mean_read_bytes": reads["length"].mean(),
        "duration_s": frame.select(pl.col("at_ns").max()).item() / 1e9,
        "written_pages": written,
        "page_writes_per_written_page": page_writes(writes) / written if written else None,
        "devices": len(trace.devices),
        "device_names": trace.devices,
        "handles": _handles(frame),
        "trimmed_bytes": int(trims["length"].sum()),
        "aligned_share": aligned.to_series().mean(),
        "unparsed_lines": trace.unparsed_lines,
        "first_unparsed": trace.first_unparsed,
        "units": {
            "time": trace.units.time,
            "address": trace.units.address,
            "length": trace.units.length,
        },
        "guessed": list(trace.units.guessed),
        "notes": [*trace.notes, *_shifted(data)],
        "checked": trace.checked,
    }


def _handles(frame: pl.DataFrame) -> dict[str, int] | None:
    """Returns the number of writes with each placement handle; None for a trace without handles."""
    if "stream" not in frame.columns:
        return None
    writes = frame.filter(pl.col("op") == WRITE)["stream"].value_counts().sort("stream")
    return {str(handle): count for handle, count in writes.iter_rows()}


def _shifted(data: pl.DataFrame) -> list[str]:
    """Returns a note if most reads and writes begin equally far behind a page boundary."""
    behind = data.select(pl.col("offset") % PAGE).to_series().value_counts(sort=True)
    if not behind.height:
        return []
    most, requests = behind.row(0)
    share = requests / data.height
    if most == 0 or share < SHIFTED:
        return []
    place = f"{100 * share:.0f} % of reads and writes begin {most} bytes behind a multiple of 4 KiB"
    cost = "pages at their ends are covered in part, and cost a drive as much as whole ones"
    return [f"{place}, as in a partition that begins there; {cost}"]
