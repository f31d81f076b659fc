"""From devices with addresses of their own to one address space for a simulated drive.

Devices stand one after the other, each rounded up to whole regions of 1 MiB. Then:

    span     device 0 [#..#|trim]  device 1 [.#]      everything kept, holes included
    fold     [##|#]                                   only regions that a read or write touches
    modulo   address modulo the capacity of a drive   what crosses the end is split in two

`fold` is one monotone function: F(x) = number of touched bytes below x. It keeps the order of
addresses, keeps a read or write in one piece (every region it covers is touched), and clips a
trim: pieces in untouched regions disappear, and what remains is again one piece.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from ..run_options import ADDRESSES
from .model import NUMBER_LIMIT, TRIM, WRITE, Trace, TraceError, plural

REGION = 1 << 20
PAGE = 4096

_COLUMNS = ("at_ns", "op", "offset", "length")


@dataclass
class Layout:
    """Requests in one address space of `span_bytes` bytes.

    `frame` has `at_ns`, `op`, `offset`, `length` as in `Trace.frame`, in the same order. `notes`
    says how many requests were split, clipped or dropped.
    """

    frame: pl.DataFrame
    span_bytes: int
    notes: list[str] = field(default_factory=list)


def lay_out(trace: Trace, mode: str = "fold", *, capacity: int | None = None) -> Layout:
    """Lays the devices of `trace` out one after the other; see the module for the modes.

    `capacity` is the size of the drive in bytes, a multiple of 4 KiB; it belongs to `modulo`
    and to no other mode. Raises `TraceError`.
    """
    if mode not in ADDRESSES:
        raise TraceError(f"addresses: {mode!r} is not known; expected {', '.join(ADDRESSES)}")
    if mode == "modulo" and (capacity is None or capacity < PAGE or capacity % PAGE):
        raise TraceError(f"capacity: {capacity} given; modulo expects a multiple of {PAGE} bytes")
    if mode != "modulo" and capacity is not None:
        raise TraceError(f"capacity: {capacity} given, but addresses are {mode}; expected modulo")
    frame, span = _one_after_the_other(trace)
    if mode == "span":
        return Layout(frame.select(_COLUMNS), span)
    if mode == "fold":
        return _fold(frame)
    assert capacity is not None
    return _modulo(frame, capacity)


def _one_after_the_other(trace: Trace) -> tuple[pl.DataFrame, int]:
    """The frame with the base of its device added to each offset, and the end of the last."""
    end = pl.col("offset") + pl.col("length")
    regions = (end.max() + REGION - 1) // REGION
    spans = trace.frame.group_by("device").agg((regions * REGION).alias("span")).sort("device")
    span = int(spans["span"].sum())
    if span >= NUMBER_LIMIT * 4096:
        raise TraceError(f"{trace.name}: its devices span {span:,} bytes together; too many")
    bases = spans.select("device", base=pl.col("span").cum_sum() - pl.col("span"))
    if bases.height == 1:
        return trace.frame, span
    base = pl.col("device").replace_strict(bases["device"], bases["base"], return_dtype=pl.UInt64)
    moved = pl.when(pl.col("op") <= TRIM).then(pl.col("offset") + base).otherwise(pl.col("offset"))
    return trace.frame.with_columns(moved.alias("offset")), span


def _touched_runs(frame: pl.DataFrame) -> pl.DataFrame:
    """Runs of adjacent touched regions: `start` and `size` in bytes, `below` touched bytes."""
    end = pl.col("offset") + pl.col("length") + (REGION - 1)
    covers = (
        frame.filter(pl.col("op") <= WRITE)
        .select(first=pl.col("offset") // REGION, end=end // REGION)
        .unique()
        .sort("first")
        .with_columns(seen=pl.col("end").cum_max().shift(1, fill_value=0))
    )
    run = (pl.col("first") > pl.col("seen")).cum_sum()
    return (
        covers.group_by(run.alias("run"), maintain_order=True)
        .agg(pl.col("first").min(), pl.col("end").max())
        .select(
            start=pl.col("first") * REGION,
            size=(pl.col("end") - pl.col("first")) * REGION,
        )
        .with_columns(below=pl.col("size").cum_sum() - pl.col("size"))
    )


def _touched_below(addresses: pl.Series, runs: pl.DataFrame) -> pl.Series:
    """F(x) for each address x: the bytes below x that lie in touched regions."""
    index = runs["start"].search_sorted(addresses, side="right").cast(pl.Int64) - 1
    at = runs.select(pl.all().gather(index.clip(lower_bound=0)))
    inside = pl.min_horizontal(pl.col("x") - pl.col("start"), "size")
    below = pl.when(pl.col("index") >= 0).then(pl.col("below") + inside).otherwise(0)
    return at.with_columns(x=addresses, index=index).select(below).to_series()


def _fold(frame: pl.DataFrame) -> Layout:
    runs = _touched_runs(frame)
    span = int(runs["size"].sum())
    start = _touched_below(frame["offset"], runs) if span else frame["offset"] * 0
    end = _touched_below(frame["offset"] + frame["length"], runs) if span else start
    folded = frame.with_columns(
        offset=start, length=end - start, lost=pl.col("length") - (end - start)
    )
    gone = (pl.col("op") == TRIM) & (pl.col("length") == 0)
    cut = pl.col("lost") > 0
    counts = folded.select(
        gone=gone.sum(), clipped=(cut & ~gone).sum(), lost=pl.col("lost").sum()
    ).row(0, named=True)
    notes = []
    if counts["lost"]:
        notes.append(
            f"{plural(counts['gone'], 'trim')} dropped and {counts['clipped']:,} clipped: "
            f"{counts['lost']:,} bytes in regions of 1 MiB that nothing reads or writes"
        )
    return Layout(folded.filter(~gone).select(_COLUMNS), span, notes)


def _modulo(frame: pl.DataFrame, capacity: int) -> Layout:
    notes = []
    longer = int((frame["length"] > capacity).sum())
    if longer:
        notes.append(f"{plural(longer, 'request')} longer than the drive clipped to its size")
    size = pl.col("length").clip(upper_bound=capacity)
    wrapped = frame.with_columns(offset=pl.col("offset") % capacity, length=size)
    first = pl.min_horizontal(pl.col("length"), capacity - pl.col("offset"))
    pieces = wrapped.with_columns(rest=pl.col("length") - first, length=first)
    split = int((pieces["rest"] > 0).sum())
    if split:
        notes.append(f"{plural(split, 'request')} split in two at the end of the drive")
        head = pieces.with_row_index("row")
        tail = head.filter(pl.col("rest") > 0).with_columns(
            offset=pl.lit(0, pl.UInt64), length=pl.col("rest")
        )
        pieces = pl.concat([head, tail]).sort("row", maintain_order=True)
    return Layout(pieces.select(_COLUMNS), capacity, notes)
