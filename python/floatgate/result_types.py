"""The parts of a result. Made from the engine's schema by tools/result_types.py.

Times are of the simulated clock if nothing else is said, pages are flash pages. A number is None
where it does not exist.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any


@dataclass(frozen=True)
class WorkloadResult:
    """What the host asked for."""

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
    """Bytes written over the capacity: drive capacities (volumes) written."""
    trimmed_pages: int
    """Pages unmapped by trims."""
    unwritten_pages_read: int
    """Pages read that held nothing, as they had never been written, or were trimmed; they cost no
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
    """The drive that was simulated. T is the flash in service, U what the host can address."""

    units: int
    """Erase units in service: T, without the reserve."""
    units_added: int
    """Of these, units that were added to what the spare factor gives, because the drive could not
    have worked without them."""
    reserve_units: int
    """Erase units on top of T that cleaning, or merging log blocks, needs to work."""
    slc_units: int
    """Erase units on top of these that only the SLC cache uses (`slc.static`)."""
    pages_per_unit: int
    """Pages in an erase unit, without those of parity."""
    page_bytes: int
    """Bytes of data in a page."""
    logical_pages: int
    """U in pages."""
    log_pages: int
    """Logical pages of the host's log (SHRD), in addition to U."""
    translation_pages: int
    """Flash pages that hold the map; 0 where the map is not kept on flash."""
    physical_bytes: int
    """Flash of T and the reserve in bytes, parity included."""
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
    """Channels."""
    dies: int
    """Dies on a channel."""
    planes: int
    """Planes in a die."""


@dataclass(frozen=True)
class SpaceResult:
    """What the flash is used for, in bytes: the parts add up to `raw_bytes`."""

    raw_bytes: int
    """All flash there is."""
    user_bytes: int
    """What the host can address: the capacity on the data sheet."""
    log_bytes: int
    """The host's log (SHRD)."""
    map_bytes: int
    """The map."""
    spare_bytes: int
    """The rest of the erase units in service: what cleaning lives on."""
    cleaning_bytes: int
    """Erase units without which cleaning, or merging log blocks, cannot begin
    (`drive.reserve_units`)."""
    slc_bytes: int
    """Erase units that only the SLC cache uses, as they are with all bits of a cell."""
    journal_bytes: int
    """Erase units of the journal."""
    fault_bytes: int
    """Erase units that replace those that break in the simulation (`[faults]`)."""
    reserve_bytes: int
    """Erase units that are kept for others that break and are not used here
    (`capacity.reserve`)."""
    parity_bytes: int
    """Parity in all erase units."""


@dataclass(frozen=True)
class StartResult:
    """The state of the drive before the workload, and how it was reached."""

    fill: str
    """What was written beforehand."""
    volumes: float
    """Volumes (drive capacities) of random page writes."""
    played_volumes: float
    """Volumes that the generators of `start.play` wrote after that."""
    settled: bool | None
    """For "steady": whether write amplification settled."""
    write_amplification: float | None
    """Write amplification at its end: of the last volume, or of all random writes."""


@dataclass(frozen=True)
class AmplificationResult:
    """Bytes programmed to the flash for each byte that the host wrote, by cause; together, the
    write amplification. All are absent if the host wrote nothing."""

    host: float | None
    """Bytes of the host: 1 without a write buffer, which may take in bytes that never reach the
    flash, or that a block is padded with."""
    partial: float | None
    """The rest of map pages that a write covered in part: the page is programmed as a whole."""
    map: float | None
    """Translation pages, on behalf of the host."""
    gc: float | None
    """Moves of data by cleaning."""
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
    """Pages moved out of retired erase units, and pages of programs that failed once more."""
    pad: float | None
    """Padding of rows that had to be programmed before they were full."""
    fold: float | None
    """Moves out of the SLC cache."""
    parity: float | None
    """Parity over dies."""


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
    """Pages moved out of retired erase units, and those of programs that failed once more."""
    pad: int
    """Padding of rows that had to be programmed before they were full."""
    fold: int
    """Moves out of the SLC cache."""
    parity: int
    """Parity over dies."""

    @property
    def total(self) -> int:
        """Operations of all causes."""
        return sum(vars(self).values())


@dataclass(frozen=True)
class FlashResult:
    """Pages read, pages programmed, erase units erased: pages of the map, of `mapping.unit`
    bytes."""

    reads: CauseCounts
    """Pages read."""
    programs: CauseCounts
    """Pages programmed."""
    erases: CauseCounts
    """Erase units erased."""
    senses: int
    """Flash pages read by the cells: the pages of the map in one are read at once."""
    program_operations: int
    """Programs: of a page each, or of a row of them (`flash.program_pages`)."""
    memory_reads: int
    """Pages read from the controller's memory, as they were not programmed yet; not in `reads`."""
    emergency_cleans: int
    """Victims that the victim policy did not choose, as free units were short."""


@dataclass(frozen=True)
class MappingResult:
    """The cache of the map."""

    hit_ratio: float | None
    """Hits per look-up, 0 to 1."""
    hits: int
    """Look-ups that found their entry in the cache."""
    misses: int
    """Look-ups that did not."""
    evictions: int | None
    """Entries, or pages of them, that left the cache; None, here and below, if a policy in Python
    does not tell."""
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
    hits: int
    """Pages read or written that were in the buffer."""
    misses: int
    """Pages read or written that were not."""
    write_hits: int
    """Hits of writes."""
    read_hits: int
    """Of the hits, those of pages that were read."""
    flushed_pages: int
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
class SlcResult:
    """What the SLC cache took and gave; zeros without one."""

    cached_pages: int
    """Pages of the host that were written to the cache."""
    direct_pages: int
    """Pages of the host that went past it, as it was full."""
    folds: int
    """Units folded: what was valid in them was moved to units in native mode."""
    idle_folds: int
    """Of these, units folded while the host was idle."""
    programs: int
    """Pages programmed in SLC mode; a part of `flash.programs`."""
    program_operations: int
    """Programs in SLC mode; a part of `flash.program_operations`."""
    units: int
    """Units that the cache has at the end."""
    valid_pages: int
    """Valid pages in them."""


@dataclass(frozen=True)
class StreamPages:
    """What was written to one stream."""

    host_pages: int
    """Pages of the host."""
    gc_pages: int
    """Pages that cleaning moved."""


@dataclass(frozen=True)
class PlacementResult:
    """Which data shared erase units."""

    streams: tuple[StreamPages, ...]
    """The streams, cold to hot."""
    memory_bytes: int
    """Memory of the policy in bytes."""
    extents: int | None
    """Extents that the policy tracks at the end; None, here and below, if it has none."""
    extents_mean: float | None
    """Mean of the extents that there were at the end of a write command."""
    extents_most: int | None
    """The most extents that there were at the end of a write command."""
    sample_reads: int
    """Translation pages read to sample page ages."""
    unknown_handles: int
    """Writes of the host with a placement handle that the drive does not have: they went to 0."""


@dataclass(frozen=True)
class HostResult:
    """The layer above the drive."""

    commands: int
    """Commands sent to the drive: without a layer every request is one. A write to the log is two,
    its header and its data."""
    remaps: int
    """Remap commands."""
    remapped_pages: int
    """Pages that they remapped."""
    redirected_reads: int
    """Reads with a page in the log."""
    windows: int
    """Windows of the log remapped."""
    twrites: int
    """Writes to the log."""
    packed_requests: int
    """Requests packed into these."""
    packed_pages: int
    """Pages of these requests."""
    dropped_pages: int
    """Pages in the log invalidated by larger writes and trims."""
    log_full: int
    """Small writes that found no room in the log."""
    log_pages_used: int
    """Slots of the log in use at the end."""
    memory_bytes: int
    """Bytes of the host's memory."""


@dataclass(frozen=True)
class LatencySummary:
    """Response times of one kind of request in microseconds, from arrival to completion; absent
    where there was none."""

    requests: int
    """How many requests there were."""
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
    """The longest."""
    cdf: tuple[tuple[float, float], ...]
    """Response time in microseconds and share of requests (0 to 1) that took no longer, rising:
    every 1 % up to 99 %, every 0.1 % up to 99.9 %, in the tail as finely as there are requests, and
    the longest at 1."""


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
    """Transfers of its own, and of other requests."""
    die: float | None
    """The flash operations of requests."""
    merge: float | None
    """Merges of log blocks."""
    buffer: float | None
    """Waiting for the write buffer, and copying to and from it."""
    remap: float | None
    """Remapping by command of the host."""
    controller: float | None
    """The controller's cores."""
    link: float | None
    """The host's link."""


@dataclass(frozen=True)
class LatencyResult:
    """Response times in microseconds."""

    all: LatencySummary
    """Of reads and writes together."""
    read: LatencySummary
    """Of reads."""
    write: LatencySummary
    """Of writes."""
    blame_us: BlameTimes
    """What the mean of all went into."""

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
    """How long requests of one kind took, or how much of that one cause took, at full resolution: a
    histogram of three significant digits with every bucket that counts any."""

    operation: str
    """Which requests: "read", "write", or "all" of these."""
    cause: str
    """What took the time: an entry of `latency.blame_us` such as "gc", or "response", all of it."""
    requests: int
    """How many requests there were."""
    none: int
    """How many of them spent no time on it; they are in no bucket."""
    mean_us: float | None
    """Mean over all of the requests in microseconds, exact."""
    ns: tuple[int, ...]
    """The longest time that each bucket counts in nanoseconds, rising; what it counts is longer
    than the entry before, and shorter than its own by at most 0.1 %."""
    counts: tuple[int, ...]
    """How many requests each bucket counts."""

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
    """How fast the drive was."""

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
    """Share of the time in which a die was busy, mean over the dies: 0 to 1."""


@dataclass(frozen=True)
class DiesResult:
    """What each die did: shares of the time, 0 to 1, that together are 1. One entry per die; those
    of the first channel come first. Empty if time is not simulated."""

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
    """Nothing."""


@dataclass(frozen=True)
class ChannelsResult:
    """For what each channel transferred pages: shares of the time, 0 to 1, that together are 1. One
    entry per channel. Empty if time is not simulated."""

    host: tuple[float, ...]
    """Data of the host."""
    map: tuple[float, ...]
    """Translation pages, and the journal."""
    gc: tuple[float, ...]
    """Cleaning, and wear levelling."""
    merge: tuple[float, ...]
    """Merges of log blocks."""
    remap: tuple[float, ...]
    """Remapping by command of the host."""
    idle: tuple[float, ...]
    """Nothing."""


@dataclass(frozen=True)
class LookedAtResult:
    """The read or write that took longest, the first of them; with a time as `lanes.around` of
    those that were under way then. Nothing is in it if there was none."""

    number: int | None
    """Its place in the workload, from 0."""
    op: str | None
    """"read" or "write"."""
    offset: int | None
    """Its first byte."""
    length: int | None
    """How many bytes."""
    arrival_ns: int | None
    """When it arrived, in nanoseconds of simulated time from the start of the run."""
    done_ns: int | None
    """When it was complete."""
    latency_us: float | None
    """Its response time in microseconds."""
    blame_us: BlameTimes
    """What it waited for, in microseconds."""
    dies: tuple[int, ...]
    """The dies of its own operations, its translation pages included; not those of cleaning, merges
    and evictions that it waited for."""


@dataclass(frozen=True)
class SpansResult:
    """What dies and channels did: an entry per span, in which a lane did the same for the same
    cause. By lane, and then by time; no two of a lane overlap, and in what is between them it was
    idle."""

    lane: tuple[int, ...]
    """Which lane: the dies are numbered as in `dies`, and the channels follow."""
    doing: tuple[str, ...]
    """"read", "program" or "erase" of cells, "transfer" of a page or a command, or "wait" for the
    channel; a channel transfers."""
    cause: tuple[str, ...]
    """For what: "host", "map", "gc", "merge" or "remap"."""
    from_ns: tuple[int, ...]
    """From when, in nanoseconds of simulated time from the start of the run."""
    to_ns: tuple[int, ...]
    """Until when."""


@dataclass(frozen=True)
class LanesResult:
    """What each die and each channel did in a window of the run, and the request that it is around.
    Nothing is in it if none was asked for, or if the run had ended before."""

    from_ns: int | None
    """Begin of the window, in nanoseconds of simulated time from the start of the run."""
    to_ns: int | None
    """Its end."""
    left_out_ns: int
    """Nanoseconds that it should be longer, and would have more than `lanes.spans` spans."""
    request: LookedAtResult
    """The request that the window is around."""
    spans: SpansResult
    """What dies and channels did."""


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
class WearMap:
    """Wear and validity over the flash: at most 4096 cells of equally many erase units, in the
    order of their number; the last may have fewer."""

    units_per_cell: int
    """Erase units in a cell."""
    erases: tuple[float, ...]
    """Mean erases of the units of each cell."""
    valid: tuple[float, ...]
    """Share of valid pages in each cell, 0 to 1."""


@dataclass(frozen=True)
class WearResult:
    """Erases per erase unit: how many, how evenly, and where."""

    erases_min: int | None
    """Erases of the unit that has the fewest."""
    erases_mean: float
    """Mean erases of a unit."""
    erases_max: int | None
    """Erases of the unit that has the most."""
    erases_stdev: float
    """Standard deviation of the erases of a unit."""
    histogram: tuple[tuple[int, int], ...]
    """Pairs of erases and how many units have as many, rising."""
    map: WearMap
    """Wear and validity over the flash."""


@dataclass(frozen=True)
class LifetimeResult:
    """How long the flash lasts if the host goes on as in this run, and wear is as even."""

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
    """What broke, on flash that breaks (`[faults]`); else all zero."""

    factory_bad_units: int
    """Erase units that were bad from the factory."""
    program_failures: int
    """Programs that failed, of a page or of a whole program unit."""
    erase_failures: int
    """Erases that failed."""
    worn_out_units: int
    """Erase units that were erased as often as they last."""
    retired_units: int
    """Erase units replaced by spares."""
    moved_pages: int
    """Pages moved out of these."""
    rewritten_pages: int
    """Pages of failed programs, programmed once more."""
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
    """Spare erase units that are left."""
    read_only: bool
    """Whether the drive could not be written to any more."""
    refused_requests: int
    """Writes and trims after the drive had become read-only."""


@dataclass(frozen=True)
class EngineResult:
    """What the simulation itself took; the only part that differs when it is repeated."""

    version: str
    """Version of the engine."""
    wall_seconds: float
    """Seconds of real time."""
    host_requests_per_second: float
    """Requests per second of real time."""
    page_writes_per_second: float
    """Host page writes per second of real time."""
    page_programs_per_second: float
    """Flash programs, whatever the cause, per second of real time."""
    peak_rss_bytes: int | None
    """Most memory that the process has had, in bytes; absent where the system does not say."""


@dataclass(frozen=True)
class ResultFields:
    """One simulation: what was run, and what came of it."""

    floatgate: str
    """Version of Floatgate."""
    device: str
    """The preset's name or the path that the config is from; "config" where it was a dict."""
    config: dict[str, Any]
    """The resolved config, defaults included, as nested tables; `floatgate schema` says what is in
    them."""
    seed: int
    """What all that is random came from."""
    workload: WorkloadResult
    """What the host asked for."""
    drive: DriveResult
    """The drive that was simulated."""
    space: SpaceResult
    """What its flash is used for."""
    start: StartResult
    """The state of the drive before the workload, and how it was reached."""
    write_amplification: float | None
    """Bytes programmed to the flash per byte that the host wrote (JEDEC, NVMe, OCP); at least 1
    without a write buffer."""
    write_amplification_last_quarter: float | None
    """Write amplification of the last quarter of the bytes that the host wrote; absent if the run
    is too short for quarters. Where it differs from `write_amplification`, the drive was not in its
    steady state, and this is the nearer to it."""
    amplification: AmplificationResult
    """Write amplification by cause; the parts sum to it."""
    page_write_amplification: float | None
    """Pages programmed per page that the host's writes touched, as papers count: pages of the map,
    of `drive.page_bytes`."""
    data_write_amplification: float | None
    """Pages programmed per page that the host's writes touched, without translation pages and
    parity, as closed forms count."""
    flash: FlashResult
    """Operations of the flash."""
    mapping: MappingResult
    """The cache of the map."""
    merges: MergesResult
    """Merges of log blocks."""
    buffer: BufferResult
    """The write buffer."""
    slc: SlcResult
    """The SLC cache."""
    placement: PlacementResult
    """Which data shared erase units."""
    host: HostResult
    """The layer above the drive."""
    latency: LatencyResult
    """Response times."""
    distributions: tuple[Distribution, ...]
    """Response times and what they went into at full resolution, by kind of request and by cause;
    empty without `latency.distribution = "full"`."""
    throughput: ThroughputResult
    """How fast the drive was."""
    dies: DiesResult
    """What the dies did."""
    channels: ChannelsResult
    """What the channels did."""
    lanes: LanesResult
    """All that dies and channels did in a window of time, if one was asked for (`lanes.window`)."""
    cleaning: CleaningResult
    """Erase units cleaned, by occasion."""
    wear: WearResult
    """Erases per erase unit."""
    lifetime: LifetimeResult
    """How long the flash lasts if the host goes on as in this run."""
    warnings: tuple[str, ...]
    """Why the numbers might not mean what they seem to."""
    notes: tuple[str, ...]
    """What was guessed, left out or changed on the way in, and how the numbers came about."""
    faults: FaultsResult
    """What broke, on flash that breaks (`[faults]`)."""
    engine: EngineResult
    """What the simulation itself took; the only part that differs when it is repeated."""
