"""Hot and cold data in a workload: which pages are written often, where they lie,
and how soon again.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floatgate import _core
from floatgate.results.drawn import Shown
from floatgate.results.typed import build
from floatgate.simulation import sources
from floatgate.simulation.options import RunOptions
from floatgate.simulation.watching import Progress, measure

GB = 1_000_000_000
HOT_FROM = 4


@dataclass(frozen=True)
class SequenceMeans:
    """Table 1 of the ETI paper: means over the sequences. None if there is no sequence."""

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
    """k: extents with fewer cold pages than this between them are merged. 1 merges nothing."""
    extents: float | None
    """Extents of hot pages."""
    cold_writes_share: float | None
    """Share of the page writes to cold pages that falls into these extents, 0 to 1; the mean over
    the sequences that have such writes.
    """


@dataclass(frozen=True)
class TopShare:
    """Share of the writes that the most written pages get, over the whole workload."""

    pages_share: float
    """Share of the written pages, above 0 and at most 1; their number is rounded up."""
    writes_share: float | None
    """Share of the page writes, 0 to 1."""


@dataclass(frozen=True)
class Skew:
    """Uneven distribution of the page writes of the whole workload over its written pages."""

    gini: float | None
    """Gini coefficient of the writes per written page: 0 if all pages have equally many writes,
    towards 1 if one page has all of them.
    """
    top: tuple[TopShare, ...]
    """Shares from the most written 0.1 % to all pages, including 1, 5, 10 and 20 %."""


@dataclass(frozen=True)
class DistanceQuantile:
    """A quantile of the overwrite distance."""

    quantile: float
    """0 to 1."""
    pages: int | None
    """Distance in page writes, to three digits."""


@dataclass(frozen=True)
class DistanceBar:
    """Overwrites whose distance lies between one power of two and the next."""

    from_pages: int
    """Lower bound in page writes, inclusive."""
    below_pages: int
    """Upper bound in page writes, exclusive."""
    overwrites: int
    """Page writes with such a distance."""


@dataclass(frozen=True)
class Overwrites:
    """Distances of overwrites over the whole workload.

    A distance is the number of page writes from one write of a page to its next: 1 if the very next
    page write is to the same page. Trims do not count.
    """

    overwrites: int
    """Page writes to pages written earlier."""
    overwrites_share: float | None
    """Share of overwrites among all page writes, 0 to 1."""
    mean_pages: float | None
    """Mean distance in page writes."""
    quantiles: tuple[DistanceQuantile, ...]
    """10, 25, 50, 75, 90 and 99 %."""
    histogram: tuple[DistanceBar, ...]
    """Bars by powers of two, up to the largest distance."""


@dataclass(frozen=True)
class Runs:
    """Requests of one kind, and those that begin at the end of the previous request of the kind."""

    requests: int
    bytes: int
    """Bytes of all requests of the kind."""
    continuing_requests_share: float | None
    """Share of the requests that continue the previous request, 0 to 1."""
    continuing_bytes_share: float | None
    """Share of the bytes that are in such requests, 0 to 1."""
    runs: int
    """Number of runs.

    A run is a request that continues no other, and the requests that follow it without a gap.
    """
    run_requests_mean: float | None
    """Mean requests in a run."""
    run_bytes_mean: float | None
    """Mean bytes of a run."""
    run_bytes_p50: int | None
    """Median bytes of a run; this and the next two quantiles are rounded to three digits."""
    run_bytes_p90: int | None
    run_bytes_p99: int | None
    run_bytes_max: int | None


@dataclass(frozen=True)
class Sequentiality:
    """How sequential the requests are, in the order in which they are sent."""

    all: Runs
    """Reads and writes together."""
    reads: Runs
    """Reads only; other requests between two reads do not count."""
    writes: Runs
    """Writes only; other requests between two writes do not count."""


@dataclass(frozen=True)
class OneSequence:
    """Results of one sequence, with the columns of the table."""

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
    """Report that `hotness` returns. A page has `page_bytes` bytes, and a page write is a page that
    a write request covers. A mean or a share over nothing is None.
    """

    name: str
    """File name or generator text."""
    page_bytes: int
    """4096, as in the paper."""
    gb_bytes: int
    """Bytes of writes in a sequence."""
    hot_from: int
    """Writes within a sequence that make a page hot."""
    rounding: str
    """How to count a write to part of a page: "cover" counts the page, "truncate" counts only the
    whole pages that fit in the write's length.
    """
    write_requests: int
    written_bytes: int
    """Bytes of the write requests."""
    page_writes: int
    written_pages: int
    """Different pages that were written."""
    sequences: int
    """Sequences that enter the means."""
    partial_bytes: int
    """Bytes of writes in the last sequence if they are less than `gb_bytes`, else 0."""
    partial_counted: bool
    """Whether that last sequence is among `sequences`."""
    means: SequenceMeans
    extents: tuple[MergedExtents, ...]
    """For k = 1, 2, 4, ..., 1024."""
    skew: Skew
    overwrites: Overwrites
    sequentiality: Sequentiality
    each: tuple[OneSequence, ...]
    """Every counted sequence, in order."""
    notes: tuple[str, ...]
    """Remarks on the report."""

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Hotness:
        """Returns the report that `to_dict` wrote. Raises ValueError if something is missing."""
        return build(cls, document, "hotness")

    def _headline(self) -> str:
        return f"of {self.name}: {self.sequences} sequences, {self.written_pages} pages written"

    def to_dict(self) -> dict[str, Any]:
        """Returns plain dictionaries, lists and numbers, under the names of the fields."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain


def hotness(
    trace: Any,
    *,
    gb: int | str = GB,
    hot_from: int = HOT_FROM,
    rounding: str = "cover",
    partial: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Hotness:
    """Finds where hot data lie, how hot they are, and how sequential the requests are, in one pass.

    The report begins with Table 1 and Figures 1 and 2 of M. Shafaei, P. Desnoyers, J. Fitzpatrick,
    "Write amplification reduction in flash-based SSDs through extent-based temperature
    identification", HotStorage 2016. The workload is split into sequences of `gb` bytes of writes;
    the request that completes a sequence still belongs to it. Within a sequence, a page of 4 KiB is
    hot if it is written `hot_from` times or more; any other page is cold. Means are over the
    sequences.

    `gb` is bytes, or a text such as "1GB" (10^9) or "1GiB" (2^30). `rounding` sets how to
    count a write to part of a page: "cover" counts every page that the write touches, "truncate"
    counts only the whole pages that fit in its length. A last sequence of less than `gb` counts if
    `partial` is true, or if it is the only one.

    `trace` and the other options, except `addresses` and `verify`, are as for `floatgate.run`. The
    devices of a trace are laid one after the other, including addresses that are never touched.
    `progress` is called with the phases "read" and "hotness".

    Raises ConfigError or TraceError (both ValueError) for a wrong argument or trace.
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
    """Checked options of a measurement."""

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
    """Returns the options as the engine takes them. Raises ConfigError."""
    size = _core.size_bytes(str(gb)) or 0
    if not 1 <= size < 1 << 63:
        raise _core.ConfigError(f'gb: {gb!r} given; expected bytes, or a size such as "1GB"')
    if not 1 <= hot_from < 1 << 32:
        raise _core.ConfigError(f"hot_from: {hot_from!r} given; expected at least 1 write")
    if rounding not in ("cover", "truncate"):
        raise _core.ConfigError(f"rounding: {rounding!r} given; expected cover or truncate")
    return Options(size, hot_from, rounding, partial)


def hotness_of(source: sources.Source, options: Options, progress: Progress | None) -> Hotness:
    """Returns the report of `hotness` for a source that is already open."""
    # Holes count: two hot pages with an untouched page between them are not neighbours.
    how = dataclasses.replace(source.how, addresses="span")
    load = dataclasses.replace(source, how=how, loads={}).load(None)
    engine, asked = _core.hotness, dataclasses.asdict(options)
    document = measure(engine, load.workload, progress, **asked)
    document |= {"name": source.name, "notes": [*load.notes, *_notes(document)]}
    return Hotness.from_dict(document)


def gigabytes(size: int) -> str:
    """Returns bytes as text in the unit of the sequences: "1 GB", "1.074 GB"."""
    return f"{size / GB:.4g} GB"


def _notes(document: Mapping[str, Any]) -> list[str]:
    left, whole = gigabytes(document["partial_bytes"]), gigabytes(document["gb_bytes"])
    if not document["partial_bytes"]:
        return []
    if not document["partial_counted"]:
        return [f"the last {left} of writes are left out: less than a whole sequence of {whole}"]
    if document["sequences"] == 1:
        return [f"the only sequence has {left} of writes, less than {whole}"]
    return [
        f"the last sequence has {left} of writes, less than {whole}, and counts like the others"
    ]
