"""A simulation's result, typed. Times are microseconds of simulated time, pages are the drive's.

A number is None where it does not exist: the write amplification of a run that wrote nothing,
the hit ratio of a cache that the drive does not have.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

if TYPE_CHECKING:
    import polars as pl

_T = TypeVar("_T")


@dataclass(frozen=True)
class WorkloadResult:
    """The requests of the host."""

    name: str
    """File name or generator text."""
    hash: str
    """Digest of the requests: equal for equal input."""
    requests: int
    reads: int
    writes: int
    trims: int
    flushes: int
    read_pages: int
    """Pages that read requests touched."""
    write_pages: int
    """Pages that write requests touched."""
    volumes_written: float
    """Page writes per logical page: drive capacities (volumes) written."""
    trimmed_pages: int
    """Pages unmapped by trims."""
    unwritten_pages_read: int
    """Pages read that had never been written; they cost no flash read."""
    partial_page_reads: int
    """Pages read because a write covered only a part of them."""
    footprint_pages: int
    """Distinct pages that were read or written."""
    skipped: int
    """Lines of the trace that could not be read."""
    duration_s: float | None
    """Seconds of simulated time from the first arrival to the last completion."""


@dataclass(frozen=True)
class DriveResult:
    """The drive that was simulated. T is the flash in service, U what the host can address."""

    units: int
    """Erase units in service: T, without the reserve."""
    reserve_units: int
    """Erase units on top of T that cleaning, or merging log blocks, needs to work."""
    pages_per_unit: int
    page_bytes: int
    """Bytes of data in a page."""
    logical_pages: int
    """U in pages."""
    log_pages: int
    """Logical pages of the host's log (SHRD), in addition to U."""
    translation_pages: int
    """Flash pages that hold the map; 0 where the map is not kept on flash."""
    physical_bytes: int
    """All flash in bytes."""
    logical_bytes: int
    """U in bytes."""
    spare_factor: float
    """(T-U)/T, from 0 to 1."""
    over_provisioning: float
    """(T-U)/U, from 0."""
    low_water: int
    """A write that opens an erase unit then cleans until this many less 1 are free."""
    high_water: int
    """Cleaning ahead of need stops at this many free erase units."""
    channels: int
    dies: int
    """Dies on a channel."""
    planes: int
    """Planes in a die."""


@dataclass(frozen=True)
class CauseCounts:
    """Flash operations by what caused them."""

    host: int
    """Requests of the host."""
    map: int
    """Translation pages, on behalf of the host."""
    gc: int
    """Moves of data by cleaning."""
    gc_map: int
    """Translation pages, on behalf of cleaning."""
    merge: int
    """Merges of log blocks."""
    wear: int
    """Wear levelling."""
    remap: int
    """Remapping commands."""
    journal: int
    """The journal: checkpoints and trims."""
    retire: int
    """Pages moved out of retired erase units, and programs that failed."""

    @property
    def total(self) -> int:
        """Operations of all causes."""
        return sum(vars(self).values())


@dataclass(frozen=True)
class FlashResult:
    """Pages read, pages programmed, erase units erased."""

    reads: CauseCounts
    programs: CauseCounts
    erases: CauseCounts
    emergency_cleans: int
    """Victims that the victim policy did not choose, as free units were short."""


@dataclass(frozen=True)
class MappingResult:
    """The cache of the map."""

    hit_ratio: float | None
    """Hits per look-up, 0 to 1."""
    hits: int | None
    misses: int | None
    evictions: int | None
    dirty_evictions: int | None
    """Evictions of dirty entries, which write to flash."""
    prefetched: int | None
    """Entries prefetched."""
    prefetch_used: int | None
    """Prefetched entries that were accessed later."""
    prefetch_unused: int | None
    """Prefetched entries that were evicted without an access."""
    cache_bytes: int | None
    """Memory of the cache in bytes."""


@dataclass(frozen=True)
class MergesResult:
    """Merges of log blocks; all 0 on a page-mapped drive."""

    switch: int
    """Log blocks that held a whole block in order and became the data block: no copies."""
    partial: int
    """Log blocks in order that became the data block after the missing pages were copied in."""
    full: int
    """Blocks whose newest pages were all copied to a fresh erase unit."""
    dropped_logs: int
    """Log blocks erased without a merge, as they had no valid page."""
    shared_logs: int
    """Log blocks shared by several logical blocks that full merges emptied (`fast`)."""
    merged_per_shared_log: float | None
    """Logical blocks merged to empty one of these (associativity), on average."""
    merged_per_shared_log_max: int | None
    """The most logical blocks merged to empty one of these."""


@dataclass(frozen=True)
class BufferResult:
    """The write buffer."""

    hit_ratio: float | None
    """Hits per page, 0 to 1."""
    hits: int | None
    misses: int | None
    write_hits: int
    """Hits of writes."""
    read_hits: int
    flushed_pages: int | None
    """Pages evicted or flushed from the buffer to flash."""
    padded_pages: int
    """Pages read from flash to pad evicted blocks, and written with them."""
    trimmed_pages: int
    """Pages that were trimmed while they were buffered."""
    held_pages: int
    """Pages that were in the buffer at the end."""
    memory_bytes: int
    """Memory of the bookkeeping in bytes, without the pages."""


@dataclass(frozen=True)
class StreamPages:
    """The writes to one stream."""

    host_pages: int
    gc_pages: int


@dataclass(frozen=True)
class PlacementResult:
    """Which data shared erase units."""

    streams: tuple[StreamPages, ...]
    memory_bytes: int
    """Memory of the policy in bytes."""
    extents: int | None
    """Extents that the policy tracks; None if it has none."""
    sample_reads: int
    """Translation pages read to sample page ages."""


@dataclass(frozen=True)
class CleaningResult:
    """Erase units cleaned, by occasion."""

    foreground: int
    """A write waited for it."""
    emergency: int
    """Of these, victims that the policy did not choose, as free units were short."""
    incremental: int
    """Incremental cleaning, a few copies with each host write."""
    idle: int
    """While the host was idle."""
    wear: int
    """To level wear."""
    victim_valid_mean: float | None
    """Mean share of valid pages in a victim, 0 to 1; u of A = 1/(1-u)."""


@dataclass(frozen=True)
class HostResult:
    """The layer above the drive."""

    commands: int
    """Sent to the drive. A write to the log is two, its header and its data."""
    remaps: int
    """Remap commands."""
    remapped_pages: int
    redirected_reads: int
    """Reads with a page in the log."""
    windows: int = 0
    """Windows of the log remapped."""
    twrites: int = 0
    """Writes to the log."""
    packed_requests: int = 0
    """Requests packed into these."""
    packed_pages: int = 0
    dropped_pages: int = 0
    """Pages in the log invalidated by larger writes and trims."""
    log_full: int = 0
    """Small writes that found no room in the log."""
    log_pages_used: int = 0
    """Slots of the log in use at the end."""
    memory_bytes: int = 0
    """Of the host's memory."""


@dataclass(frozen=True)
class LatencySummary:
    """Response times in microseconds, from arrival to completion."""

    requests: int
    mean_us: float | None
    stdev_us: float | None
    p50_us: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    """The 99.9th percentile."""
    p9999_us: float | None
    """The 99.99th percentile."""
    max_us: float | None
    cdf: tuple[tuple[float, float], ...]
    """Response time in microseconds and share of requests (0 to 1) that took no longer, rising."""


@dataclass(frozen=True)
class BlameTimes:
    """Mean microseconds of a request by what it waited for; together, the mean latency."""

    queue: float | None
    """Waiting for the command queue."""
    map: float | None
    """Translation pages."""
    gc: float | None
    """Flash busy with cleaning."""
    bus: float | None
    """Transfers."""
    die: float | None
    """The flash operations of requests."""
    merge: float | None
    """Merges of log blocks."""
    buffer: float | None
    """Waiting for the write buffer, and copying to and from it."""
    remap: float | None
    """Remapping by command of the host."""


@dataclass(frozen=True)
class LatencyResult:
    """Response times in microseconds."""

    all: LatencySummary
    """Of all requests."""
    read: LatencySummary
    write: LatencySummary
    blame_us: BlameTimes

    @property
    def p50(self) -> float | None:
        """Median over all requests, microseconds."""
        return self.all.p50_us

    @property
    def p95(self) -> float | None:
        """95th percentile over all requests, microseconds."""
        return self.all.p95_us

    @property
    def p99(self) -> float | None:
        """99th percentile over all requests, microseconds."""
        return self.all.p99_us

    @property
    def p999(self) -> float | None:
        """99.9th percentile over all requests, microseconds."""
        return self.all.p999_us


@dataclass(frozen=True)
class ThroughputResult:
    """How fast the drive was."""

    iops: float | None
    """Requests per second of simulated time."""
    read_mb_s: float | None
    """Megabytes (10^6 bytes) read per second of simulated time."""
    write_mb_s: float | None
    """Megabytes (10^6 bytes) written per second of simulated time."""
    device_seconds: float | None
    """Simulated seconds."""
    utilization: float | None
    """Share of the time in which the flash was busy, 0 to 1."""


@dataclass(frozen=True)
class WearMap:
    """Wear and validity over the flash: at most 4096 cells of equally many erase units, in the
    order of their number; the last may have fewer."""

    units_per_cell: int
    erases: tuple[float, ...]
    """Mean erases of the units of each cell."""
    valid: tuple[float, ...]
    """Share of valid pages in each cell, 0 to 1."""


@dataclass(frozen=True)
class WearResult:
    """Erases per erase unit."""

    erases_min: float | None
    erases_mean: float | None
    erases_max: float | None
    erases_stdev: float | None
    map: WearMap


@dataclass(frozen=True)
class LifetimeResult:
    """Lifetime of the flash at the write amplification, rate and wear spread of this run."""

    endurance: int
    """Erases that a unit is rated for."""
    host_bytes: float | None
    """Bytes that the host can write until the mean unit has reached its endurance."""
    host_bytes_first_unit: float | None
    """Bytes that the host can write until the first unit has reached it."""
    years: float | None
    """Years until the mean unit has reached it, at the workload's rate."""


@dataclass(frozen=True)
class FaultsResult:
    """Injected faults and their effects (`[faults]`); else all zero."""

    factory_bad_units: int
    program_failures: int
    erase_failures: int
    worn_out_units: int
    retired_units: int
    """Erase units replaced by spares."""
    moved_pages: int
    """Pages moved out of these."""
    unreadable_pages: int
    """Pages that became uncorrectable."""
    corrupt_pages: int
    """Pages whose checksum was wrong."""
    failed_page_reads: int
    """Page reads of the host that failed with an error."""
    unwritten_pages: int
    """Partial page writes refused, as the old page could not be read."""
    unpadded_pages: int
    """Pages left out of the padding of a block, as they could not be read."""
    spare_units_left: int
    read_only: bool
    refused_requests: int
    """Writes and trims after the drive had become read-only."""


@dataclass(frozen=True)
class EngineResult:
    """Cost of the simulation itself; the only part that differs when it is repeated."""

    version: str
    wall_seconds: float
    """Seconds of real time."""
    host_requests_per_second: float | None
    """Requests per second of real time."""
    page_writes_per_second: float | None
    """Host page writes per second of real time."""
    page_programs_per_second: float | None
    """Flash programs, whatever the cause, per second of real time."""
    peak_rss_bytes: int | None
    """Most memory that the process has had, in bytes."""


@dataclass(frozen=True, repr=False)
class Result:
    """One simulation: its workload, its drive and its results."""

    device: str
    """The preset's name or the path that the config is from; "config" where it was a dict."""
    config: dict[str, Any]
    """The resolved config, defaults included, as nested tables."""
    seed: int
    workload: WorkloadResult
    drive: DriveResult
    start: dict[str, Any]
    """The state of the drive before the workload, and how it was reached."""
    write_amplification: float | None
    """All programs per page that the host wrote; at least 1 without a write buffer."""
    data_write_amplification: float | None
    """The same without translation pages, as closed forms count."""
    flash: FlashResult
    mapping: MappingResult
    merges: MergesResult
    buffer: BufferResult
    placement: PlacementResult
    host: HostResult
    latency: LatencyResult
    throughput: ThroughputResult
    cleaning: CleaningResult
    wear: WearResult
    lifetime: LifetimeResult
    faults: FaultsResult
    warnings: tuple[str, ...]
    """Why the numbers might not mean what they seem to."""
    notes: tuple[str, ...]
    """How the numbers came about: guessed units, requests left out or changed."""
    engine: EngineResult
    _document: dict[str, Any] = field(compare=False)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Result:
        """The result from its document, as `to_dict` gives it; a missing field is a KeyError."""
        own = copy.deepcopy(dict(document))
        return _build(cls, own | {"_document": own})

    @property
    def timeline(self) -> pl.DataFrame:
        """One row per window of the run, at `host_pages` written and `seconds` simulated.

        Per window: `write_amplification`, `hit_ratio`; `mean_us`, `p50_us`, `p99_us`, `p999_us`
        and `max_us` of its reads and writes; pages programmed by cause (`gc_programs`,
        `map_programs`, `merge_programs`). Null where a window has nothing of the kind.
        """
        import polars as pl

        return pl.DataFrame(self._document["timeline"], strict=False)

    def to_dict(self) -> dict[str, Any]:
        """The whole document, timeline, distributions and histogram included."""
        return copy.deepcopy(self._document)

    def to_json(self) -> str:
        """The whole document as JSON text, numbers as the engine gave them."""
        return json.dumps(self._document, indent=2, ensure_ascii=False)

    def _repr_html_(self) -> str:
        from .notebook import result_html

        return result_html(self)

    def __repr__(self) -> str:
        return (
            f"<Result of {self.workload.name}: write amplification {self.write_amplification}, "
            f"p99 {self.latency.p99} us>"
        )


def _build(kind: Callable[..., _T], data: Mapping[str, Any]) -> _T:
    """The dataclass `kind` from the entries of its names, nested ones included."""
    return kind(**{name: _value(hint, data[name]) for name, hint in get_type_hints(kind).items()})


def _value(hint: Any, value: Any) -> Any:
    if is_dataclass(hint):
        return _build(hint, value)  # type: ignore[arg-type]
    inner = get_args(hint)
    if isinstance(value, list) and inner:
        return tuple(_value(inner[0], item) for item in value)
    return value
