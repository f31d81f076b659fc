"""Whether streams would help that the host could name, as placement handles (docs/handles.md): by
device, by the size of a write, or those that the trace has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from floatgate.traces.model import WRITE

from .sampled import Requests

SMALL = 16 << 10
"""Bytes of a write that passes for small."""

SHARE_LEAST = 0.02
"""Streams beside the largest of fewer page writes than this share are none."""

HANDLES = 8
"""Placement handles at most, as many as drives have."""

PAGES = (pl.col("end") - pl.col("first")).cast(pl.Int64)
"""Pages of a request."""


ONE = {"placement.scheme": "host", "placement.handles": 1}
"""One handle for all: only what cleaning moves is apart, as with any handles."""


@dataclass(frozen=True)
class Streams:
    """A way in which a host could tell its writes apart."""

    name: str
    handle: pl.Expr
    """The handle of a write."""
    handles: int
    share: float = 0.0
    """Share of the page writes that are not in the largest stream."""


def known_streams(whole: Requests) -> tuple[list[Streams], list[str]]:
    """The ways that this trace allows, and why others are left out."""
    found, reasons = [], []
    small = Streams(f"by size, to {SMALL >> 10} KiB and larger", pl.col("length") > SMALL, 2)
    ways = [("by size", small, "nearly all writes are of one class"), _by_device(whole)]
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
    """A sample whose requests have handles, and the settings of the drive that looks at them."""
    handle = streams.handle.fill_null(0).cast(pl.UInt16)
    settings = {"placement.scheme": "host", "placement.handles": streams.handles}
    return replace(small, frame=small.frame.with_columns(stream=handle)), settings


def _by_device(whole: Requests) -> tuple[str, Streams | None, str]:
    """A handle for each of the devices that are written most."""
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
    return "by device", way, "one device has the writes"


def _share(whole: Requests, streams: Streams) -> float:
    writes = whole.frame.filter(pl.col("op") == WRITE)
    sums = writes.group_by(streams.handle.alias("handle")).agg(PAGES.sum().alias("writes"))
    most: Any = sums["writes"].max()
    return 1 - float(most or 0) / max(whole.page_writes, 1)
