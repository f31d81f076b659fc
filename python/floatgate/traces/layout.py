"""Maps devices with separate address spaces to the one address space of a simulated drive.

Devices follow one another, each rounded up to whole regions of 1 MiB. Then:

    span     device 0 [#..#|trim]  device 1 [.#]      everything kept, holes included
    fold     [##|#]                                   only regions that a read or write touches
    modulo   address modulo the capacity of a drive   a request across the end is split in two

`fold` is one monotone function: F(x) = number of touched bytes below x. It keeps the order of
addresses. It keeps a read or write in one piece, because every region in it is touched. It clips a
trim: pieces in untouched regions disappear, and the remainder is again one piece.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from .model import NUMBER_LIMIT, TRIM, WRITE, Trace, TraceError, plural

ADDRESSES = ("fold", "span", "modulo")
"""Ways to make one address space of the devices; `RunOptions` accepts the same names."""

REGION = 1 << 20
HANDLES_MAX = 1 << 16
PAGE = 4096

_COLUMNS = ("at_ns", "op", "offset", "length", "stream")
_COVERS = {"device": pl.UInt32, "first": pl.UInt64, "end": pl.UInt64}

#: Maximum number of frames of ranges before they are merged. The limit is needed because dropping
#: the duplicates in a frame may save no memory.
_COVERS_MAX = 64


@dataclass
class Layout:
    """Requests in one address space of `span_bytes` bytes.

    `frame` has `at_ns`, `op`, `offset`, `length` as in `Trace.frame`, in the same order, and
    `stream` if there are placement handles. `notes` report how many requests were split, clipped or
    dropped.
    """

    frame: pl.DataFrame
    span_bytes: int
    notes: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return self.frame.height


class Footprint:
    """Size and touched regions of the devices of a trace, collected in bounded memory."""

    def __init__(self) -> None:
        self.has_trims = False
        #: One past the last byte of each device.
        self._ends: dict[int, int] = {}
        #: Regions that reads and writes touch: `first` to `end` - 1. Rows may overlap.
        self._covers = [pl.DataFrame(schema=_COVERS)]

    def add(self, frame: pl.DataFrame) -> None:
        """Adds requests with the columns `device` (a number), `op`, `offset` and `length`."""
        if frame["device"].n_unique() == 1:
            self._add(frame, int(frame["device"][0]))
        else:
            for part in frame.partition_by("device"):
                self._add(part, int(part["device"][0]))
        if len(self._covers) > _COVERS_MAX:
            self._merge()

    def _add(self, frame: pl.DataFrame, device: int) -> None:
        end = frame["offset"] + frame["length"]
        self._ends[device] = max(self._ends.get(device, 0), int(end.max()))
        self.has_trims = self.has_trims or bool((frame["op"] == TRIM).any())
        end = pl.col("offset") + pl.col("length") + (REGION - 1)
        covers = frame.filter(pl.col("op") <= WRITE).select(
            first=pl.col("offset") // REGION, end=end // REGION
        )
        # Most requests lie in one region, and finding duplicates in one column is much faster.
        within = covers["end"] - covers["first"] <= 1
        # `arg_unique` takes a fifth of the time of `unique`, which sorts.
        first = covers.filter(within).select(pl.col("first").gather(pl.col("first").arg_unique()))
        for found in (covers.filter(~within).unique(), first.with_columns(end=pl.col("first") + 1)):
            self._covers.append(found.select(pl.lit(device, pl.UInt32).alias("device"), pl.all()))

    def numbered(self, numbers: Mapping[int, int]) -> Footprint:
        """Returns this footprint with new device numbers; two devices may share a number."""
        found = Footprint()
        found.has_trims = self.has_trims
        for device, end in self._ends.items():
            number = numbers[device]
            found._ends[number] = max(found._ends.get(number, 0), end)
        renamed = pl.col("device").replace_strict(numbers, return_dtype=pl.UInt32)
        found._covers = [covers.with_columns(renamed) for covers in self._covers]
        return found

    def place(self, name: str, mode: str, capacity: int | None) -> Placing:
        """Returns the placement of the trace `name` with this footprint. Raises `TraceError`."""
        if mode not in ADDRESSES:
            raise TraceError(f"addresses: {mode!r} is not known; expected {', '.join(ADDRESSES)}")
        if mode == "modulo" and (capacity is None or capacity < PAGE or capacity % PAGE):
            raise TraceError(
                f"capacity: {capacity} given; modulo expects a multiple of {PAGE} bytes"
            )
        if mode != "modulo" and capacity is not None:
            raise TraceError(
                f"capacity: {capacity} given, but addresses are {mode}; expected modulo"
            )
        ends = pl.Series([*self._ends.values()], dtype=pl.UInt64)
        regions = (ends + (REGION - 1)) // REGION
        spans = pl.DataFrame({"device": [*self._ends], "span": regions * REGION}).sort("device")
        span = int(spans["span"].sum())
        if span >= NUMBER_LIMIT * 4096:
            raise TraceError(f"{name}: its devices span {span:,} bytes together; too many")
        bases = spans.select(
            pl.col("device").cast(pl.UInt32), base=pl.col("span").cum_sum() - pl.col("span")
        )
        if mode != "fold":
            return Placing(bases, capacity or span, wraps=mode == "modulo")
        self._merge()
        base = pl.col("base") // REGION
        covers = (
            self._covers[0]
            .join(bases, on="device")
            .select(
                pl.lit(0, pl.UInt32).alias("device"),
                first=pl.col("first") + base,
                end=pl.col("end") + base,
            )
        )
        runs = _runs(covers).select(
            start=pl.col("first") * REGION, size=(pl.col("end") - pl.col("first")) * REGION
        )
        runs = runs.with_columns(below=pl.col("size").cum_sum() - pl.col("size"))
        placing = Placing(bases, int(runs["size"].sum()), runs)
        end = int(bases["base"][-1]) + self._ends[int(bases["device"][-1])]
        return replace(placing, runs=None) if placing.keeps(end) else placing

    def _merge(self) -> None:
        self._covers = [_runs(pl.concat(self._covers))]


@dataclass(frozen=True)
class Placing:
    """Placement of the requests of a trace in one address space of `span_bytes` bytes."""

    bases: pl.DataFrame
    """Start of each device, before regions are left out."""
    span_bytes: int
    runs: pl.DataFrame | None = None
    """Runs of adjacent touched regions: `start` and `size` in bytes, `below` the touched bytes
    before a run. None if no region within the devices is left out."""
    wraps: bool = False
    by_device: bool = False
    """Whether the device number of a request is its placement handle."""

    def with_streams(self, streams: str) -> Placing:
        """Returns this placement with handles from the `trace` or from the `device`.

        Raises `TraceError` for more devices than handles.
        """
        devices = self.bases.height
        if streams == "device" and devices > HANDLES_MAX:
            raise TraceError(
                f"streams: device given for {devices:,} devices; expected at most {HANDLES_MAX:,}"
            )
        return replace(self, by_device=streams == "device")

    def keeps(self, end: int) -> bool:
        """Returns whether all regions before the byte `end` are kept."""
        if self.runs is None:
            return not self.wraps
        starts_at_0 = self.runs.height == 1 and self.runs["start"][0] == 0
        return starts_at_0 and end <= self.span_bytes

    def apply(self, frame: pl.DataFrame, tally: Counter[str]) -> pl.DataFrame:
        """Returns the requests as the drive receives them; counts changed requests in `tally`."""
        if self.by_device:
            frame = frame.with_columns(pl.col("device").cast(pl.UInt16).alias("stream"))
        if self.bases.height > 1:
            base = pl.col("device").replace_strict(
                self.bases["device"], self.bases["base"], return_dtype=pl.UInt64
            )
            moved = pl.when(pl.col("op") <= TRIM).then(pl.col("offset") + base)
            frame = frame.with_columns(moved.otherwise(pl.col("offset")).alias("offset"))
        if self.wraps:
            return _wrapped(frame, self.span_bytes, tally)
        ends = frame["offset"] + frame["length"]
        if self.runs is None or ends.is_empty() or self.keeps(int(ends.max())):
            return _played(frame)
        return _folded(frame, self.runs, tally)


def lay_out(
    trace: Trace, mode: str = "fold", *, capacity: int | None = None, streams: str = "trace"
) -> Layout:
    """Lays out the devices of `trace` one after the other; the module describes the modes.

    `capacity` is the size of the drive in bytes, a multiple of 4 KiB. `modulo` requires it, and the
    other modes refuse it. With `streams="device"` the placement handle of a request is the number
    of its device. Raises `TraceError`.
    """
    footprint, tally = Footprint(), Counter[str]()
    footprint.add(trace.frame)
    placing = footprint.place(trace.name, mode, capacity).with_streams(streams)
    frame = placing.apply(trace.frame, tally)
    return Layout(frame, placing.span_bytes, told(tally))


def told(tally: Mapping[str, int]) -> list[str]:
    """Returns notes about requests that were dropped, clipped or split."""
    notes = []
    if tally["lost"]:
        notes.append(
            f"{plural(tally['gone'], 'trim')} dropped and {tally['clipped']:,} clipped: "
            f"{tally['lost']:,} bytes in regions of 1 MiB that nothing reads or writes"
        )
    if tally["longer"]:
        longer = plural(tally["longer"], "request")
        notes.append(f"{longer} longer than the drive clipped to its size")
    if tally["split"]:
        notes.append(f"{plural(tally['split'], 'request')} split in two at the end of the drive")
    return notes


def _runs(covers: pl.DataFrame) -> pl.DataFrame:
    """Merges regions into runs of adjacent regions of each device: `first` to `end` - 1."""
    seen = pl.col("end").cum_max().shift(1, fill_value=0).over("device")
    covers = covers.sort("device", "first").with_columns(seen=seen)
    begins = (pl.col("first") > pl.col("seen")) | (pl.col("device") != pl.col("device").shift(1))
    run = begins.fill_null(True).cum_sum()
    found = covers.group_by("device", run.alias("run"), maintain_order=True)
    return found.agg(pl.col("first").min(), pl.col("end").max()).drop("run")


def _touched_below(addresses: pl.Series, runs: pl.DataFrame) -> pl.Series:
    """Returns F(x) for each address x: the number of bytes below x in touched regions."""
    if runs.is_empty():
        return addresses * 0
    index = runs["start"].search_sorted(addresses, side="right").cast(pl.Int64) - 1
    at = runs.select(pl.all().gather(index.clip(lower_bound=0)))
    inside = pl.min_horizontal(pl.col("x") - pl.col("start"), "size")
    below = pl.when(pl.col("index") >= 0).then(pl.col("below") + inside).otherwise(0)
    return at.with_columns(x=addresses, index=index).select(below).to_series()


def _folded(frame: pl.DataFrame, runs: pl.DataFrame, tally: Counter[str]) -> pl.DataFrame:
    ends = frame["offset"] + frame["length"]
    start = _touched_below(frame["offset"], runs)
    frame = frame.with_columns(offset=start)
    # A read or a write touches each of its regions, so only trims change their length.
    trims = (frame["op"] == TRIM).arg_true()
    if trims.is_empty():
        return _played(frame)
    length = frame["length"].gather(trims)
    end = _touched_below(ends.gather(trims), runs)
    kept = end - start.gather(trims)
    gone, lost = kept == 0, length - kept
    cut = (lost > 0) & ~gone
    tally.update(gone=int(gone.sum()), clipped=int(cut.sum()), lost=int(lost.sum()))
    folded = frame.with_columns(length=frame["length"].scatter(trims, kept))
    return _played(folded.filter((pl.col("op") != TRIM) | (pl.col("length") > 0)))


def _played(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(name for name in _COLUMNS if name in frame.columns)


def _wrapped(frame: pl.DataFrame, capacity: int, tally: Counter[str]) -> pl.DataFrame:
    size = pl.col("length").clip(upper_bound=capacity)
    wrapped = frame.with_columns(offset=pl.col("offset") % capacity, length=size)
    first = pl.min_horizontal(pl.col("length"), capacity - pl.col("offset"))
    pieces = wrapped.with_columns(rest=pl.col("length") - first, length=first)
    split = int((pieces["rest"] > 0).sum())
    tally.update(longer=int((frame["length"] > capacity).sum()), split=split)
    if split:
        head = pieces.with_row_index("row")
        tail = head.filter(pl.col("rest") > 0).with_columns(
            offset=pl.lit(0, pl.UInt64), length=pl.col("rest")
        )
        pieces = pl.concat([head, tail]).sort("row", maintain_order=True)
    return _played(pieces)
