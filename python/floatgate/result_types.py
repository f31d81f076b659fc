"""Parts of a result. tools/result_types.py generates them from the engine's schema.

Times are of the simulated clock unless a field states another; pages are flash pages. A number
is None where it does not exist.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any


@dataclass(frozen=True)
class WorkloadResult:
    """Requests of the host."""

    name: str
    """File name or generator text."""
    hash: str
    """Digest of the requests: equal for equal input."""
    requests: int
    """Requests of every kind."""
    reads: int
    """Read requests."""
    writes: int
    """Write requests."""
    trims: int
    """Trim requests."""
    flushes: int
    """Flush requests."""
    read_bytes: int
    """Bytes of the reads."""
    write_bytes: int
    """Bytes of the writes that the drive accepted."""
    read_pages: int
    """Pages that read requests touched."""
    write_pages: int
    """Pages that write requests touched."""
    volumes_written: float
    """Bytes written divided by the capacity: drive capacities (volumes) written."""
    trimmed_pages: int
    """Pages unmapped by trims."""
    unwritten_pages_read: int
    """Pages read that held no data, because they were never written, or were trimmed; they cost no
    flash read."""
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
    """The simulated drive. T is the flash in service, U the flash that the host can address."""

    units: int
    """Erase units in service: T, without the reserve."""
    units_added: int
    """Units of T added to those that the spare factor gives, because the drive could not have
    worked without them."""
    reserve_units: int
    """Erase units on top of T that cleaning, or merging log blocks, needs to work."""
    slc_units: int
    """Erase units on top of T and the reserve that only the SLC cache uses (`slc.static`)."""
    pages_per_unit: int
    """Pages in an erase unit, without parity pages."""
    page_bytes: int
    """Bytes of data in a page."""
    logical_pages: int
    """U in pages."""
    log_pages: int
    """Logical pages of the host's log (SHRD), in addition to U."""
    translation_pages: int
    """Flash pages that hold the map; 0 if the map is not on flash."""
    physical_bytes: int
    """Bytes of T, the reserve and the SLC cache's units, parity included."""
    logical_bytes: int
    """U in bytes."""
    spare_factor: float
    """(T-U)/T, from 0 to 1."""
    over_provisioning: float
    """(T-U)/U, from 0."""
    low_water: int
    """Low water of free erase units: a write that opens a unit cleans until at least this number
    less 1 are free."""
    high_water: int
    """High water of free erase units: cleaning ahead of need stops at this number."""
    channels: int
    """Channels."""
    dies: int
    """Dies on a channel."""
    planes: int
    """Planes in a die."""


@dataclass(frozen=True)
class SpaceResult:
    """Use of the flash in bytes; the parts add up to `raw_bytes`."""

    raw_bytes: int
    """All flash of the drive."""
    user_bytes: int
    """Flash that the host can address: the capacity on the data sheet."""
    log_bytes: int
    """The host's log (SHRD)."""
    map_bytes: int
    """The map."""
    spare_bytes: int
    """Spare space for cleaning: the rest of the erase units in service."""
    cleaning_bytes: int
    """Erase units without which cleaning, or merging log blocks, cannot begin
    (`drive.reserve_units`)."""
    slc_bytes: int
    """Erase units that only the SLC cache uses, counted at their native capacity."""
    journal_bytes: int
    """Erase units of the journal."""
    fault_bytes: int
    """Erase units that replace failing units in the simulation (`[faults]`)."""
    reserve_bytes: int
    """Erase units kept to replace failed units; the simulation does not use them
    (`capacity.reserve`)."""
    parity_bytes: int
    """Parity in all erase units."""


@dataclass(frozen=True)
class StartResult:
    """The state of the drive before the workload, and how it was reached."""

    fill: str
    """Data written beforehand."""
    volumes: float
    """Volumes (drive capacities) of random page writes."""
    played_volumes: float
    """Volumes that the generators of `start.play` wrote after that."""
    settled: bool | None
    """For "steady" and "sampled": whether write amplification settled."""
    write_amplification: float | None
    """Write amplification at the end of the start phase: of the last volume, or of all random
    writes."""
    model_units: int | None
    """For "sampled": erase units in service of the smaller drive whose steady state was sampled.
    The other fields then describe the smaller drive. None if the state is exact."""
    model_pages_per_unit: int | None
    """For "sampled": pages in an erase unit of the smaller drive."""


@dataclass(frozen=True)
class AmplificationResult:
    """Bytes programmed to the flash for each byte that the host wrote, by cause. The components sum
    to the write amplification. All are absent if the host wrote nothing."""

    host: float | None
    """Bytes of the host: 1 without a write buffer. A write buffer can absorb bytes that never reach
    the flash, and can add bytes to pad a block."""
    partial: float | None
    """The rest of pages that a write covered in part: the drive programs the page as a whole."""
    map: float | None
    """Translation pages, on behalf of the host."""
    gc: float | None
    """Data moved by cleaning."""
    gc_map: float | None
    """Translation pages, on behalf of cleaning."""
    merge: float | None
    """Merges of log blocks."""
    wear: float | None
    """Wear levelling."""
    remap: float | None
    """Remapping commands."""
    journal: float | None
    """The journal: checkpoints and trims."""
    retire: float | None
    """Pages moved out of retired erase units, and pages programmed again after a failed program."""
    pad: float | None
    """Padding of rows that had to be programmed before they were full."""
    fold: float | None
    """Data moved out of the SLC cache."""
    parity: float | None
    """Parity over dies."""


@dataclass(frozen=True)
class CauseCounts:
    """Flash operations by cause."""

    host: int
    """Requests of the host."""
    map: int
    """Translation pages, on behalf of the host."""
    gc: int
    """Data moved by cleaning."""
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
    """Pages moved out of retired erase units, and pages programmed again after a failed program."""
    pad: int
    """Padding of rows that had to be programmed before they were full."""
    fold: int
    """Data moved out of the SLC cache."""
    parity: int
    """Parity over dies."""

    @property
    def total(self) -> int:
        """Operations of all causes."""
        return sum(vars(self).values())


@dataclass(frozen=True)
class FlashResult:
    """Pages read, pages programmed, erase units erased. Pages are map units, of `mapping.unit`
    bytes."""

    reads: CauseCounts
    """Pages read."""
    programs: CauseCounts
    """Pages programmed."""
    erases: CauseCounts
    """Erase units erased."""
    senses: int
    """Reads of a flash page from the cells: one read covers all map units of a flash page."""
    program_operations: int
    """Program operations: each programs a page, or a row of pages (`flash.program_pages`)."""
    memory_reads: int
    """Pages read from the controller's memory because they were not programmed yet; `reads` does
    not include them."""
    emergency_cleans: int
    """Victims that the victim policy did not choose, because free units were short."""


@dataclass(frozen=True)
class MappingResult:
    """The cache of the map."""

    hit_ratio: float | None
    """Hits per look-up, 0 to 1."""
    hits: int
    """Look-ups that found their entry in the cache."""
    misses: int
    """Look-ups that did not find their entry in the cache."""
    evictions: int | None
    """Entries, or pages of entries, that left the cache. This and the following counts are None if
    a Python policy does not report them."""
    dirty_evictions: int | None
    """Evictions of dirty entries, which write to flash."""
    prefetched: int | None
    """Entries loaded before they were accessed."""
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
    """Log blocks that held a whole block in order and became the data block without copies."""
    partial: int
    """Log blocks in order that became the data block after the missing pages were copied in."""
    full: int
    """Blocks whose newest pages were all copied to a fresh erase unit."""
    dropped_logs: int
    """Log blocks erased without a merge, because they had no valid page."""
    shared_logs: int
    """Log blocks shared by several logical blocks that full merges emptied (`fast`)."""
    merged_per_shared_log: float | None
    """Mean number of logical blocks merged to empty a shared log block (associativity)."""
    merged_per_shared_log_max: int | None
    """Largest number of logical blocks merged to empty a shared log block."""


@dataclass(frozen=True)
class BufferResult:
    """The write buffer."""

    hit_ratio: float | None
    """Hits per page, 0 to 1."""
    hits: int
    """Pages read or written that were in the buffer."""
    misses: int
    """Pages read or written that were not in the buffer."""
    write_hits: int
    """Pages written that were in the buffer."""
    read_hits: int
    """Pages read that were in the buffer."""
    flushed_pages: int
    """Pages evicted or flushed from the buffer to flash."""
    padded_pages: int
    """Pages read from flash to pad evicted blocks, and written with them."""
    trimmed_pages: int
    """Pages trimmed while they were in the buffer."""
    held_pages: int
    """Pages in the buffer at the end."""
    memory_bytes: int
    """Memory of the bookkeeping in bytes, without the pages."""


@dataclass(frozen=True)
class SlcResult:
    """Use of the SLC cache; all zero without one."""

    cached_pages: int
    """Pages of the host written to the cache."""
    direct_pages: int
    """Pages of the host written directly to native units, because the cache was full."""
    folds: int
    """Units folded: their valid pages were moved to units in native mode."""
    idle_folds: int
    """Units folded while the host was idle, included in `folds`."""
    programs: int
    """Pages programmed in SLC mode, included in `flash.programs`."""
    program_operations: int
    """Programs in SLC mode, included in `flash.program_operations`."""
    units: int
    """Units of the cache at the end."""
    valid_pages: int
    """Valid pages in the cache's units."""


@dataclass(frozen=True)
class StreamPages:
    """Pages written to one stream, and its erase units that cleaning emptied."""

    host_pages: int
    """Pages that the host wrote."""
    hot_pages: int
    """Pages among `host_pages` that are hot in truth: those below `perfect.hot_pages`. 0 if that
    key is not set."""
    gc_pages: int
    """Pages that cleaning moved."""
    victims: int
    """Victims of the stream: erase units, or reclaim units of several erase units, that cleaning
    emptied, or that the SLC cache folded. Units emptied to level wear do not count."""
    victim_valid_pages: int
    """Valid pages of these victims when they were chosen. In incremental cleaning the host can
    overwrite some of them before they are copied."""
    victim_valid_mean: float | None
    """Mean share of valid pages in these victims, 0 to 1. None without victims."""


@dataclass(frozen=True)
class OwnerPages:
    """Pages of one owner: of a placement handle with `placement.scheme = "host"`, else of a stream
    of the placement. A page belongs to the handle of its last write, or to the stream that it is
    in."""

    host_pages: int
    """Pages that the host wrote."""
    gc_pages: int
    """Pages of the owner that cleaning copied."""
    gc_pages_for: tuple[int, ...]
    """The `gc_pages` by owner of the host write that they were copied for: the write waited for the
    cleaning, or incremental cleaning ran along with it. The last number is for cleaning that ran
    for no write of data, but while the host was idle or for a page of the map."""
    wear_pages: int
    """Pages of the owner that wear levelling moved."""
    fold_pages: int
    """Pages of the owner that were copied out of the SLC cache."""
    relabelled_pages: int
    """Pages of the owner in erase units that joined another reclaim unit without copies
    (`cleaning.relabel`)."""
    write_amplification: float | None
    """Pages of the owner that were written, copied or moved, per page that the host wrote. None
    without a write."""


@dataclass(frozen=True)
class ExtentSearchResult:
    """Searches for the extents in which write commands begin, as ETI's paper describes them. A step
    compares the page with one extent, and steps are means per command. All fields are None if the
    policy tracks no extents, and steps without a command."""

    commands: int | None
    """Write commands."""
    in_last: int | None
    """Write commands that begin in the extent found last."""
    walk: float | None
    """Steps of a walk along the extents, from the first one."""
    walk_from_last: float | None
    """Steps of a walk from the extent found last, in either direction."""
    halving: float | None
    """Steps of a binary search among all extents."""
    halving_from_last: float | None
    """Steps of a search from the extent found last, by doubled distances and then by halving."""


@dataclass(frozen=True)
class PlacementResult:
    """Placement: which data shared erase units."""

    streams: tuple[StreamPages, ...]
    """The streams, cold to hot."""
    owners: tuple[OwnerPages, ...]
    """The owners of pages: a row for each placement handle with `placement.scheme = "host"`, else
    for each stream of the placement."""
    memory_bytes: int
    """Memory of the policy in bytes."""
    extents: int | None
    """Extents that the policy tracks at the end. This and the following two are None if the policy
    tracks no extents."""
    extents_mean: float | None
    """Mean number of extents at the end of a write command."""
    extents_most: int | None
    """Largest number of extents at the end of a write command."""
    extent_search: ExtentSearchResult
    """Searches for the extents in which write commands begin."""
    sample_reads: int
    """Translation pages read to sample page ages."""
    unknown_handles: int
    """Writes of the host with a placement handle that the drive does not have; the drive used
    handle 0."""


@dataclass(frozen=True)
class HostResult:
    """The host layer above the drive."""

    commands: int
    """Commands sent to the drive. Without a host layer every request is one command. A write to the
    log is two commands, its header and its data."""
    remaps: int
    """Remap commands."""
    remapped_pages: int
    """Pages remapped by these commands."""
    redirected_reads: int
    """Reads that touch a page in the log."""
    windows: int
    """Windows of the log remapped."""
    twrites: int
    """Writes to the log."""
    packed_requests: int
    """Requests packed into writes to the log."""
    packed_pages: int
    """Pages of the packed requests."""
    dropped_pages: int
    """Pages in the log invalidated by larger writes and trims."""
    log_full: int
    """Small writes that found no room in the log."""
    log_pages_used: int
    """Slots of the log in use at the end."""
    memory_bytes: int
    """Memory of the layer on the host, in bytes."""


@dataclass(frozen=True)
class JobLatency:
    """Completion latencies (`clat` of fio) of one kind of request in microseconds: from when the
    job sends a request to its completion. Sending takes no time, so `clat` and `lat` of fio are
    equal here. Values are absent if time is not simulated, or without such a request."""

    mean_us: float | None
    """Mean, exact."""
    stdev_us: float | None
    """Standard deviation, exact."""
    p50_us: float | None
    """Median; this and the other percentiles are within 0.1 %."""
    p95_us: float | None
    """95th percentile."""
    p99_us: float | None
    """99th percentile."""
    p999_us: float | None
    """99.9th percentile."""
    p9999_us: float | None
    """99.99th percentile."""
    max_us: float | None
    """Maximum."""
    ns: tuple[int, ...]
    """The longest time in each bucket of the histogram in nanoseconds, rising, as in
    `distributions`. Empty unless `latency.distribution` is "full"."""
    counts: tuple[int, ...]
    """Number of requests in each bucket."""


@dataclass(frozen=True)
class BlameTimes:
    """Mean microseconds of a request by cause of the wait; the components sum to the mean
    latency."""

    queue: float | None
    """Waiting for the command queue."""
    map: float | None
    """Reading and writing translation pages."""
    gc: float | None
    """Waiting for flash busy with cleaning."""
    bus: float | None
    """Transfers of the request itself, and waiting for transfers of other requests."""
    die: float | None
    """Flash operations of the request itself and of other host requests."""
    merge: float | None
    """Merges of log blocks."""
    buffer: float | None
    """Waiting for the write buffer, and copying to and from it."""
    remap: float | None
    """Remapping commanded by the host."""
    controller: float | None
    """Waiting for the controller's cores, and their work."""
    link: float | None
    """Waiting for the host's link, and transfers on it."""


@dataclass(frozen=True)
class JobHandle:
    """Writes of a job with one placement handle."""

    handle: int
    """Number of the handle."""
    write_bytes: int
    """Bytes that the job wrote with this handle."""
    write_amplification: float | None
    """Write amplification of the handle's pages over all jobs with this handle, as in
    `placement.owners`. Absent without a write, and for a handle that the drive does not have."""


@dataclass(frozen=True)
class JobResult:
    """One job of a job file, or one clone of it, from the end of its `ramp_time` on."""

    name: str
    """Name of the job."""
    clone: int
    """Number among the clones of the job (`numjobs`), from 0."""
    reads: int
    """Read requests."""
    writes: int
    """Write requests."""
    trims: int
    """Trim requests."""
    flushes: int
    """Flush requests."""
    read_bytes: int
    """Bytes of the reads."""
    write_bytes: int
    """Bytes of the writes."""
    trim_bytes: int
    """Bytes of the trims."""
    start_s: float | None
    """Seconds of simulated time from the start of the run to the first request. This and the
    following rates are absent if time is not simulated, or without a request."""
    seconds: float | None
    """Seconds of simulated time from the first request to the last completion."""
    iops: float | None
    """Reads, writes and trims per second."""
    read_mb_s: float | None
    """Read data in 10^6 bytes per second."""
    write_mb_s: float | None
    """Written data in 10^6 bytes per second."""
    trim_mb_s: float | None
    """Trimmed data in 10^6 bytes per second."""
    read: JobLatency
    """Completion latencies of the reads."""
    write: JobLatency
    """Completion latencies of the writes."""
    trim: JobLatency
    """Completion latencies of the trims."""
    blame_us: BlameTimes
    """Components of the mean completion latency of the reads and writes."""
    handles: tuple[JobHandle, ...]
    """Placement handles of the writes, if the job has `fdp` or `dataplacement`."""


@dataclass(frozen=True)
class LatencySummary:
    """Response times of one kind of request in microseconds, from arrival to completion. Values are
    absent if there was no such request."""

    requests: int
    """Number of requests."""
    mean_us: float | None
    """Mean, exact."""
    stdev_us: float | None
    """Standard deviation, exact."""
    p50_us: float | None
    """Median; this and the other percentiles are within 0.1 %."""
    p95_us: float | None
    """95th percentile."""
    p99_us: float | None
    """99th percentile."""
    p999_us: float | None
    """99.9th percentile."""
    p9999_us: float | None
    """99.99th percentile."""
    max_us: float | None
    """Maximum."""
    cdf: tuple[tuple[float, float], ...]
    """Pairs of a response time in microseconds and the share of requests (0 to 1) that took no
    longer, in ascending order. The shares are every 1 % up to 99 %, every 0.1 % up to 99.9 %, then
    as fine as the number of requests allows, and 1 for the maximum."""


@dataclass(frozen=True)
class LatencyResult:
    """Response times in microseconds."""

    all: LatencySummary
    """Reads and writes together."""
    read: LatencySummary
    """Reads."""
    write: LatencySummary
    """Writes."""
    blame_us: BlameTimes
    """Components of the mean response time of all requests."""

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
class Distribution:
    """Distribution of the response times of one kind of request, or of the time that they spent on
    one cause, at full resolution: a histogram of three significant digits with every bucket that is
    not empty."""

    operation: str
    """Kind of requests: "read", "write", or "all" for both."""
    cause: str
    """Cause of the time: an entry of `latency.blame_us` such as "gc", or "response" for the whole
    response time."""
    requests: int
    """Number of requests."""
    none: int
    """Requests that spent no time on the cause; no bucket counts them."""
    mean_us: float | None
    """Mean over all of the requests in microseconds, exact."""
    ns: tuple[int, ...]
    """The longest time in each bucket in nanoseconds, rising. Times in a bucket are longer than the
    previous entry, and shorter than the bucket's own entry by at most 0.1 %."""
    counts: tuple[int, ...]
    """Number of requests in each bucket."""

    @property
    def cdf(self) -> tuple[tuple[float, float], ...]:
        """Time in microseconds and share of requests (0 to 1) that took no longer, rising: 0 with
        those of no time, then every bucket."""
        ranks = accumulate(self.counts, initial=self.none)
        times = zip((0, *self.ns), ranks, strict=True)
        return tuple((ns / 1000, rank / self.requests) for ns, rank in times if self.requests)

    def quantile_us(self, share: float) -> float | None:
        """The time in microseconds that `share` (0 to 1) of the requests did not exceed, within
        0.1 %; None of no requests."""
        rank = max(1, math.ceil(round(share * self.requests, 6))) - 0.5
        return next((us for us, part in self.cdf if part * self.requests > rank), None)

    def share_above(self, us: float) -> float | None:
        """The share of the requests (0 to 1) that it took longer than `us` microseconds, to
        within 0.1 % of `us`; None of no requests."""
        above = (count for ns, count in zip(self.ns, self.counts, strict=True) if ns > us * 1000)
        return sum(above) / self.requests if self.requests else None


@dataclass(frozen=True)
class ThroughputResult:
    """Speed of the drive."""

    iops: float | None
    """Reads and writes per second of simulated time."""
    read_mb_s: float | None
    """Megabytes (10^6 bytes) read per second of simulated time."""
    write_mb_s: float | None
    """Megabytes (10^6 bytes) written per second of simulated time."""
    device_seconds: float | None
    """Simulated seconds, from the first arrival to the last completion; absent if time is not
    simulated."""
    utilization: float | None
    """Share of the time in which a die was busy, 0 to 1, as a mean over the dies."""


@dataclass(frozen=True)
class DiesResult:
    """Use of each die's time: shares from 0 to 1 that sum to 1. One entry per die, with the dies of
    the first channel first. Empty if time is not simulated."""

    read: tuple[float, ...]
    """Reading cells."""
    program: tuple[float, ...]
    """Programming cells."""
    erase: tuple[float, ...]
    """Erasing cells."""
    transfer: tuple[float, ...]
    """Sending a page or a command."""
    wait: tuple[float, ...]
    """Waiting for the channel."""
    idle: tuple[float, ...]
    """Idle."""


@dataclass(frozen=True)
class ChannelsResult:
    """Use of each channel's time, by purpose of the transfers: shares from 0 to 1 that sum to 1.
    One entry per channel. Empty if time is not simulated."""

    host: tuple[float, ...]
    """Data of the host."""
    map: tuple[float, ...]
    """Translation pages, and the journal."""
    gc: tuple[float, ...]
    """Cleaning, and wear levelling."""
    merge: tuple[float, ...]
    """Merges of log blocks."""
    remap: tuple[float, ...]
    """Remapping commanded by the host."""
    idle: tuple[float, ...]
    """Idle."""


@dataclass(frozen=True)
class LookedAtResult:
    """The slowest read or write, and the first one if several are equally slow. If `lanes.around`
    is a time, only requests in progress at that time count. Empty if there was none."""

    number: int | None
    """Number of the request in the workload, from 0."""
    op: str | None
    """"read" or "write"."""
    offset: int | None
    """First byte of the request."""
    length: int | None
    """Length of the request in bytes."""
    arrival_ns: int | None
    """Arrival of the request, in nanoseconds of simulated time from the start of the run."""
    done_ns: int | None
    """Completion of the request, in the same unit."""
    latency_us: float | None
    """Response time of the request in microseconds."""
    blame_us: BlameTimes
    """Components of the response time, in microseconds."""
    dies: tuple[int, ...]
    """Dies that worked for the request, including reads and writes of its translation pages. Dies
    of cleaning, merges and evictions that the request waited for do not count."""


@dataclass(frozen=True)
class SpansResult:
    """Activity of dies and channels, one entry per span. In a span, a lane (a die or a channel) did
    the same for the same cause. Spans are sorted by lane, then by time. Spans of a lane do not
    overlap; between them the lane was idle."""

    lane: tuple[int, ...]
    """Number of the lane: dies are numbered as in `dies`, and channels follow."""
    doing: tuple[str, ...]
    """"read", "program" or "erase" of cells, "transfer" of a page or a command, or "wait" for the
    channel; channels only transfer."""
    cause: tuple[str, ...]
    """Cause of the activity: "host", "map", "gc", "merge" or "remap"."""
    from_ns: tuple[int, ...]
    """Start of each span, in nanoseconds of simulated time from the start of the run."""
    to_ns: tuple[int, ...]
    """End of each span, in the same unit."""


@dataclass(frozen=True)
class LanesResult:
    """Activity of each die and each channel in a window of the run, and the request that the window
    shows. Empty if no window was requested, or if the run ended before the window."""

    from_ns: int | None
    """Start of the window, in nanoseconds of simulated time from the start of the run."""
    to_ns: int | None
    """End of the window, in the same unit."""
    left_out_ns: int
    """Nanoseconds by which the window was shortened, because it would have had more than
    `lanes.spans` spans."""
    request: LookedAtResult
    """The request that the window shows."""
    spans: SpansResult
    """Activity of dies and channels."""


@dataclass(frozen=True)
class CleaningResult:
    """Victims cleaned, by occasion. A victim is an erase unit, or a reclaim unit of several erase
    units (`placement.reclaim_unit`)."""

    foreground: int
    """Units cleaned while a write waited."""
    emergency: int
    """Foreground cleans whose victim the policy did not choose, because free units were short."""
    incremental: int
    """Units cleaned incrementally, a few copies with each host write."""
    idle: int
    """Units cleaned while the host was idle."""
    wear: int
    """Units cleaned to level wear."""
    relabelled: int
    """Erase units of victims that joined another reclaim unit without copies, because all their
    pages were valid (`cleaning.relabel`)."""
    victim_valid_mean: float | None
    """Mean share of valid pages in a victim, 0 to 1; u in A = 1/(1-u)."""


@dataclass(frozen=True)
class WearMap:
    """Map of wear and valid pages over the erase units. It has at most 4096 cells, each with the
    same number of units, in the order of the units' numbers; the last cell may have fewer units."""

    units_per_cell: int
    """Erase units in a cell."""
    erases: tuple[float, ...]
    """Mean erases of the units of each cell."""
    valid: tuple[float, ...]
    """Share of valid pages in each cell, 0 to 1."""


@dataclass(frozen=True)
class WearResult:
    """Erases per erase unit: how many, how even, and where."""

    erases_min: int | None
    """Erases of the least erased unit."""
    erases_mean: float
    """Mean erases of a unit."""
    erases_max: int | None
    """Erases of the most erased unit."""
    erases_stdev: float
    """Standard deviation of the erases of a unit."""
    histogram: tuple[tuple[int, int], ...]
    """Pairs of a number of erases and the number of units with that many erases, rising."""
    map: WearMap
    """Map of wear and valid pages over the erase units."""


@dataclass(frozen=True)
class LifetimeResult:
    """How long the flash lasts if the host continues as in this run, and wear stays as even."""

    endurance: int
    """Rated erases of a unit."""
    host_bytes: float | None
    """Bytes that the host can write until the mean erases of all units reach the endurance."""
    host_bytes_first_unit: float | None
    """Bytes that the host can write until the first unit reaches the endurance."""
    years: float | None
    """Years until the mean erases of all units reach the endurance, at the workload's rate."""


@dataclass(frozen=True)
class FaultsResult:
    """Failures of flash with faults (`[faults]`); all zero without faults."""

    factory_bad_units: int
    """Erase units that were bad from the factory."""
    program_failures: int
    """Programs that failed, of a page or of a whole program unit."""
    erase_failures: int
    """Erases that failed."""
    worn_out_units: int
    """Erase units that reached the number of erases that they last."""
    retired_units: int
    """Erase units replaced by spares."""
    moved_pages: int
    """Pages moved out of retired units."""
    rewritten_pages: int
    """Pages of failed programs that were programmed again."""
    unreadable_pages: int
    """Pages that became uncorrectable."""
    corrupt_pages: int
    """Pages whose checksum was wrong."""
    failed_page_reads: int
    """Page reads of the host that failed with an error."""
    unwritten_pages: int
    """Partial page writes refused because the old page could not be read."""
    unpadded_pages: int
    """Pages left out of the padding of a block because they could not be read."""
    spare_units_left: int
    """Remaining spare erase units."""
    read_only: bool
    """Whether the drive became read-only."""
    refused_requests: int
    """Writes and trims refused after the drive became read-only."""


@dataclass(frozen=True)
class EngineResult:
    """Cost of the simulation itself; the only section that differs when the run is repeated."""

    version: str
    """Version of the engine."""
    wall_seconds: float
    """Seconds of real time."""
    host_requests_per_second: float
    """Requests per second of real time."""
    page_writes_per_second: float
    """Host page writes per second of real time."""
    page_programs_per_second: float
    """Flash programs of all causes per second of real time."""
    peak_rss_bytes: int | None
    """Peak memory of the process in bytes; absent if the operating system does not report it."""


@dataclass(frozen=True)
class ResultFields:
    """One simulation: the run and its numbers."""

    floatgate: str
    """Version of Floatgate."""
    device: str
    """The preset's name, or the path of the config; "config" for a config from a dict."""
    config: dict[str, Any]
    """The resolved config, defaults included, as nested tables; `floatgate schema` describes its
    keys."""
    seed: int
    """Seed of all random choices of the run."""
    workload: WorkloadResult
    """Requests of the host."""
    drive: DriveResult
    """The simulated drive."""
    space: SpaceResult
    """Use of the drive's flash."""
    start: StartResult
    """The state of the drive before the workload, and how it was reached."""
    write_amplification: float | None
    """Bytes programmed to the flash per byte that the host wrote (JEDEC, NVMe, OCP); at least 1
    without a write buffer."""
    write_amplification_last_quarter: float | None
    """Write amplification of the last quarter of the bytes that the host wrote; absent if the run
    is too short for quarters. If it differs from `write_amplification`, the drive was not in its
    steady state, and this value is closer to the steady state."""
    amplification: AmplificationResult
    """Write amplification by cause; the components sum to the whole."""
    page_write_amplification: float | None
    """Pages programmed per page that the host's writes touched, as papers count. Pages are map
    units, of `drive.page_bytes`."""
    data_write_amplification: float | None
    """Pages programmed per page that the host's writes touched, without translation pages, journal
    and parity, as closed forms count."""
    flash: FlashResult
    """Flash operations."""
    mapping: MappingResult
    """The cache of the map."""
    merges: MergesResult
    """Merges of log blocks."""
    buffer: BufferResult
    """The write buffer."""
    slc: SlcResult
    """The SLC cache."""
    placement: PlacementResult
    """Placement: which data shared erase units."""
    host: HostResult
    """The host layer above the drive."""
    jobs: tuple[JobResult, ...]
    """The jobs of a job file, in its order; empty for other workloads."""
    latency: LatencyResult
    """Response times."""
    distributions: tuple[Distribution, ...]
    """Distributions of response times and of their components at full resolution, by kind of
    request and by cause; empty without `latency.distribution = "full"`."""
    throughput: ThroughputResult
    """Speed of the drive."""
    dies: DiesResult
    """Use of the dies' time."""
    channels: ChannelsResult
    """Use of the channels' time."""
    lanes: LanesResult
    """All activity of dies and channels in one window of time, if `lanes.window` asks for one."""
    cleaning: CleaningResult
    """Victims cleaned, by occasion."""
    wear: WearResult
    """Erases per erase unit."""
    lifetime: LifetimeResult
    """How long the flash lasts if the host continues as in this run."""
    warnings: tuple[str, ...]
    """Reasons to doubt a number."""
    notes: tuple[str, ...]
    """Guesses, omissions and changes made while the input was read, and notes on how the numbers
    were obtained."""
    faults: FaultsResult
    """Failures of the flash, if it has faults (`[faults]`)."""
    engine: EngineResult
    """Cost of the simulation itself; the only section that differs when the run is repeated."""
