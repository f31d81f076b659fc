"""Ways in which a host could divide its writes into streams, with a placement handle for each
(docs/handles.md): by device, by the size of a write, or by the handles of the trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from floatgate.traces.model import WRITE

from .sampled import Requests

SMALL = 16 << 10
"""Maximum size of a small write in bytes."""

SHARE_LEAST = 0.02
"""Minimum share of the page writes outside the largest stream. A way with a smaller share is left
out.
"""

HANDLES = 8
"""Maximum number of placement handles: as many as drives have."""

PAGES = (pl.col("end") - pl.col("first")).cast(pl.Int64)
"""Pages of a request."""


ONE = {"placement.scheme": "host", "placement.handles": 1}
"""Baseline with one handle for all writes. As with more handles, pages that cleaning moves have
erase units of their own.
"""


@dataclass(frozen=True)
class Streams:
    """A way in which a host could divide its writes into streams."""

    name: str
    handle: pl.Expr
    """Handle of a write."""
    handles: int
    share: float = 0.0
    """Share of the page writes that are not in the largest stream."""


def known_streams(whole: Requests) -> tuple[list[Streams], list[str]]:
    """Returns the ways that suit this trace, and the reasons why the other ways are left out."""
    suitable, reasons = [], []
    small = Streams(f"by size, to {SMALL >> 10} KiB and larger", pl.col("length") > SMALL, 2)
    ways = [("by size", small, "nearly all writes are in one size class"), _by_device(whole)]
    if "stream" in whole.frame.columns:
        handles = min(HANDLES, int(whole.frame["stream"].max()) + 1)  # type: ignore[arg-type]
        traced = Streams("by the handles of the trace", pl.col("stream"), handles)
        ways.append(("by the handles of the trace", traced, "nearly all writes have the same one"))
    for name, way, why in ways:
        share = 0.0 if way is None else _share(whole, way)
        if way is not None and share >= SHARE_LEAST:
            suitable.append(replace(way, share=share))
        else:
            reasons.append(f"{name}: {why}")
    return suitable, reasons


def named(small: Requests, streams: Streams) -> tuple[Requests, Mapping[str, Any]]:
    """Gives each request of a sample its handle. Returns the sample, and settings of a drive that
    obeys the handles."""
    handle = streams.handle.fill_null(0).cast(pl.UInt16)
    settings = {"placement.scheme": "host", "placement.handles": streams.handles}
    return replace(small, frame=small.frame.with_columns(stream=handle)), settings


def _by_device(whole: Requests) -> tuple[str, Streams | None, str]:
    """Returns the streams with a handle for each of the most written devices, if several devices
    are written. The texts are the name of this way and the reason to leave it out."""
    writes = whole.frame.filter(pl.col("op") == WRITE)
    by_device = writes.group_by("device").agg(PAGES.sum().alias("writes"))
    ordered = by_device.sort("writes", "device", descending=[True, False])["device"].to_list()
    if len(ordered) < 2:
        return "by device", None, "one device is written"
    most_written = ordered[: HANDLES - 1]
    handle = pl.col("device").replace_strict(
        most_written, range(1, len(most_written) + 1), default=0, return_dtype=pl.UInt16
    )
    way = Streams(f"by device, {len(ordered)} of them", handle, len(most_written) + 1)
    return "by device", way, "one device has nearly all writes"


def _share(whole: Requests, streams: Streams) -> float:
    writes = whole.frame.filter(pl.col("op") == WRITE)
    sums = writes.group_by(streams.handle.alias("handle")).agg(PAGES.sum().alias("writes"))
    most: Any = sums["writes"].max()
    return 1 - float(most or 0) / max(whole.page_writes, 1)
