"""Gain from streams that the host could name, as placement handles (docs/handles.md). The streams
are by device, by the size of a write, or as in the trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from floatgate.traces.model import WRITE

from .sampled import Requests

SMALL = 16 << 10
"""Most bytes of a small write."""

SHARE_LEAST = 0.02
"""Least share of the page writes outside the largest stream; with less,
the streams are not tried.
"""

HANDLES = 8
"""Most placement handles, as many as drives have."""

PAGES = (pl.col("end") - pl.col("first")).cast(pl.Int64)
"""Pages of a request."""


ONE = {"placement.scheme": "host", "placement.handles": 1}
"""One handle for all writes: only pages that cleaning moves are separate, as with any handles."""


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
    """Returns the ways that this trace allows, and reasons why other ways are left out."""
    found, reasons = [], []
    small = Streams(f"by size, to {SMALL >> 10} KiB and larger", pl.col("length") > SMALL, 2)
    ways = [("by size", small, "nearly all writes are in one size class"), _by_device(whole)]
    if "stream" in whole.frame.columns:
        handles = min(HANDLES, int(whole.frame["stream"].max()) + 1)  # type: ignore[arg-type]
        own = Streams("by the handles of the trace", pl.col("stream"), handles)
        ways.append(("by the handles of the trace", own, "nearly all writes have the same"))
    for name, way, why in ways:
        share = 0.0 if way is None else _share(whole, way)
        if way is not None and share >= SHARE_LEAST:
            found.append(replace(way, share=share))
        else:
            reasons.append(f"{name}: {why}")
    return found, reasons


def named(small: Requests, streams: Streams) -> tuple[Requests, Mapping[str, Any]]:
    """Returns a sample whose requests have handles, and the settings of a drive that uses them."""
    handle = streams.handle.fill_null(0).cast(pl.UInt16)
    settings = {"placement.scheme": "host", "placement.handles": streams.handles}
    return replace(small, frame=small.frame.with_columns(stream=handle)), settings


def _by_device(whole: Requests) -> tuple[str, Streams | None, str]:
    """Returns a handle for each of the most written devices."""
    writes = whole.frame.filter(pl.col("op") == WRITE)
    by_device = writes.group_by("device").agg(PAGES.sum().alias("writes"))
    ordered = by_device.sort("writes", "device", descending=[True, False])["device"].to_list()
    if len(ordered) < 2:
        return "by device", None, "one device is written"
    own = ordered[: HANDLES - 1]
    handle = pl.col("device").replace_strict(
        own, range(1, len(own) + 1), default=0, return_dtype=pl.UInt16
    )
    way = Streams(f"by device, {len(ordered)} of them", handle, len(own) + 1)
    return "by device", way, "one device has nearly all writes"


def _share(whole: Requests, streams: Streams) -> float:
    writes = whole.frame.filter(pl.col("op") == WRITE)
    sums = writes.group_by(streams.handle.alias("handle")).agg(PAGES.sum().alias("writes"))
    most: Any = sums["writes"].max()
    return 1 - float(most or 0) / max(whole.page_writes, 1)
