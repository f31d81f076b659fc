"""How hot and cold data lie in a workload: which pages are written often, where, and when again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _core, jobs, sources
from .notebook import Shown
from .run_options import RunOptions
from .typed import build

GB = 1_000_000_000
HOT_FROM = 4


@dataclass(frozen=True)
class SequenceMeans:
    """Table 1 of the ETI paper: means over the sequences. None where there is no sequence."""

    hot_pages: float | None
    """Different pages written `hot_from` times or more."""
    cold_pages: float | None
    """Different pages written less often."""
    hot_writes: float | None
    """Page writes to hot pages."""
    cold_writes: float | None
    """Page writes to cold pages."""
    length_pages: float | None
    """Pages of a write request."""


@dataclass(frozen=True)
class MergedExtents:
    """Figures 1 and 2 of the ETI paper at one k: means over the sequences."""

    gap_pages: int
    """k: extents with fewer cold pages than this between them are one. 1 merges nothing."""
    extents: float | None
    """Extents of hot pages."""
    cold_writes_share: float | None
    """Share of the page writes to cold pages that falls into these extents, 0 to 1; the mean over
    the sequences with such writes."""


@dataclass(frozen=True)
class TopShare:
    """What the most written pages get, over the whole workload."""

    pages_share: float
    """Share of the written pages, above 0 and at most 1; their number is rounded up."""
    writes_share: float | None
    """Share of the page writes, 0 to 1."""


@dataclass(frozen=True)
class Skew:
    """How unevenly the page writes of the whole workload go to the pages that it writes."""

    gini: float | None
    """Gini coefficient of the writes per written page: 0 if all have equally many, towards 1 if
    one page has all."""
    top: tuple[TopShare, ...]
    """From the most written 0.1 % to all pages; 1, 5, 10 and 20 % among them."""


@dataclass(frozen=True)
class DistanceQuantile:
    """A quantile of the overwrite distance."""

    quantile: float
    """0 to 1."""
    pages: int | None
    """Page writes, to three digits."""


@dataclass(frozen=True)
class DistanceBar:
    """Overwrites with a distance from a power of two to the next."""

    from_pages: int
    """Page writes, included."""
    below_pages: int
    """Page writes, not included."""
    overwrites: int
    """Page writes with such a distance."""


@dataclass(frozen=True)
class Overwrites:
    """Distances of overwrites: page writes from one write of a page to its next, over the whole
    workload. 1 if the very next page write is to the same page. Trims play no part."""

    overwrites: int
    """Page writes to pages written before."""
    overwrites_share: float | None
    """Their share of all page writes, 0 to 1."""
    mean_pages: float | None
    """Mean distance in page writes."""
    quantiles: tuple[DistanceQuantile, ...]
    """10, 25, 50, 75, 90 and 99 %."""
    histogram: tuple[DistanceBar, ...]
    """By powers of two, up to the largest that occurs."""


@dataclass(frozen=True)
class Runs:
    """Requests of one kind that begin where the one before of that kind ended."""

    requests: int
    bytes: int
    """Bytes of these requests."""
    continuing_requests_share: float | None
    """Share of the requests that continue the one before, 0 to 1."""
    continuing_bytes_share: float | None
    """Share of the bytes that are in such requests, 0 to 1."""
    runs: int
    """Runs: a request that continues nothing, and those that follow it without a gap."""
    run_requests_mean: float | None
    """Mean requests in a run."""
    run_bytes_mean: float | None
    """Mean bytes of a run."""
    run_bytes_p50: int | None
    """Median bytes of a run; this and the next two to three digits."""
    run_bytes_p90: int | None
    run_bytes_p99: int | None
    run_bytes_max: int | None


@dataclass(frozen=True)
class Sequentiality:
    """How sequential the requests are, in the order in which they are sent."""

    all: Runs
    """Reads and writes together."""
    reads: Runs
    """Reads, whatever is between them."""
    writes: Runs
    """Writes, whatever is between them."""


@dataclass(frozen=True)
class OneSequence:
    """One sequence, with the columns of the table."""

    hot_pages: int
    cold_pages: int
    hot_writes: int
    cold_writes: int
    length_pages: float | None
    extents: int
    """Extents of hot pages, none merged."""
    write_requests: int
    written_bytes: int


@dataclass(frozen=True, repr=False)
class Hotness(Shown):
    """What `hotness` finds. A page has `page_bytes` bytes, and a page write is a page that a write
    request covers; a mean or a share of nothing is None."""

    name: str
    """File name or generator text."""
    page_bytes: int
    """4096, as in the paper."""
    gb_bytes: int
    """Bytes of writes in a sequence."""
    hot_from: int
    """Writes within a sequence that make a page hot."""
    rounding: str
    """What a write of a part of a page counts: "cover", the page; "truncate", whole pages only."""
    write_requests: int
    written_bytes: int
    """Bytes of the write requests."""
    page_writes: int
    written_pages: int
    """Different pages that were written."""
    sequences: int
    """Sequences that the means are over."""
    partial_bytes: int
    """Bytes of writes in the last sequence if they are less than `gb_bytes`, else 0."""
    partial_counted: bool
    """Whether that one is among `sequences`."""
    means: SequenceMeans
    extents: tuple[MergedExtents, ...]
    """For k = 1, 2, 4, ..., 1024."""
    skew: Skew
    overwrites: Overwrites
    sequentiality: Sequentiality
    each: tuple[OneSequence, ...]
    """Every sequence that counts, in order."""
    notes: tuple[str, ...]
    """What is to be known about it."""

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Hotness:
        """The same from what `to_dict` gave. Raises ValueError where something is missing."""
        return build(cls, document, "hotness")

    def _headline(self) -> str:
        return f"of {self.name}: {self.sequences} sequences, {self.written_pages} pages written"

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists and numbers, under the names of the fields."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain


def hotness(
    trace: Any,
    *,
    gb: int | str = GB,
    hot_from: int = HOT_FROM,
    rounding: str = "cover",
    partial: bool = False,
    progress: jobs.Progress | None = None,
    **options: Any,
) -> Hotness:
    """Where hot data lie, how hot they are, and how sequential the requests, from one pass.

    The first half is Table 1 and Figures 1 and 2 of M. Shafaei, P. Desnoyers, J. Fitzpatrick,
    "Write amplification reduction in flash-based SSDs through extent-based temperature
    identification", HotStorage 2016: the workload is split into sequences of `gb` bytes of writes,
    each ending with the request that completes it. Within a sequence a page of 4 KiB is hot if it
    is written `hot_from` times or more; any other page is cold. Means are over the sequences.

    `gb` is bytes, or a text such as "1GB" (10^9) or "1GiB" (2^30). `rounding` says what a write of
    a part of a page counts: "cover" every page that it touches, "truncate" as many pages as are
    whole in its length. A last sequence of less than `gb` counts if `partial` is true, or if it is
    the only one. `trace` and the other options, but `addresses` and `verify`, are as for
    `floatgate.run`; the devices of a trace are laid one after the other, with everything that is
    never touched. `progress` is called with the phases "read" and "hotness".

    Raises ConfigError or TraceError (both ValueError) for what is wrong with the call.
    """
    measured = parse_options(gb, hot_from, rounding, partial)
    how = RunOptions(**options)
    how.refuse(
        ("addresses", "verify", "start_cache", "units", "full_size"),
        "hot data are those of the whole address space",
    )
    if progress is not None:
        progress("read", 0, 0)
    return hotness_of(sources.open_source(trace, how), measured, progress)


@dataclass(frozen=True)
class Options:
    """How it is measured, checked."""

    gb_bytes: int
    hot_from: int
    rounding: str
    partial: bool


def parse_options(
    gb: int | str = GB,
    hot_from: int = HOT_FROM,
    rounding: str = "cover",
    partial: bool = False,
) -> Options:
    """The options as the engine takes them. Raises ConfigError."""
    size = _core.size_bytes(str(gb)) or 0
    if not 1 <= size < 1 << 63:
        raise _core.ConfigError(f'gb: {gb!r} given; expected bytes, or a size such as "1GB"')
    if not 1 <= hot_from < 1 << 32:
        raise _core.ConfigError(f"hot_from: {hot_from!r} given; expected at least 1 write")
    if rounding not in ("cover", "truncate"):
        raise _core.ConfigError(f"rounding: {rounding!r} given; expected cover or truncate")
    return Options(size, hot_from, rounding, partial)


def hotness_of(source: sources.Source, options: Options, progress: jobs.Progress | None) -> Hotness:
    """`hotness` of what has been read already."""
    # Holes count: two hot pages with one between them are not neighbours.
    how = dataclasses.replace(source.how, addresses="span")
    load = dataclasses.replace(source, how=how, loads={}).load(None)
    engine, asked = _core.hotness, dataclasses.asdict(options)
    document = jobs.measure(engine, load.workload, progress, **asked)
    document |= {"name": source.name, "notes": [*load.notes, *_notes(document)]}
    return Hotness.from_dict(document)


def gigabytes(size: int) -> str:
    """Bytes for people, in the unit that sequences are in: "1 GB", "1.074 GB"."""
    return f"{size / GB:.4g} GB"


def _notes(document: Mapping[str, Any]) -> list[str]:
    left, whole = gigabytes(document["partial_bytes"]), gigabytes(document["gb_bytes"])
    if not document["partial_bytes"]:
        return []
    if not document["partial_counted"]:
        return [f"the last {left} of writes are no whole sequence of {whole} and are left out"]
    if document["sequences"] == 1:
        return [f"the only sequence has {left} of writes, less than {whole}"]
    return [
        f"the last sequence has {left} of writes, less than {whole}, and counts like the others"
    ]
