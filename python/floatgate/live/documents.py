"""Typed reports of a live drive. A number is None if it does not exist."""

from __future__ import annotations

from dataclasses import dataclass

from floatgate.result_types import LatencySummary
from floatgate.results.result import Result


@dataclass(frozen=True)
class Spread:
    """Distribution of a time over requests, in microseconds."""

    count: int
    mean: float | None
    p50: float | None
    p99: float | None
    p999: float | None
    max: float | None


def modelled(times: LatencySummary) -> Spread:
    """Returns the times of the simulated drive."""
    quantiles = (times.mean_us, times.p50_us, times.p99_us, times.p999_us, times.max_us)
    return Spread(times.requests, *quantiles)


@dataclass(frozen=True)
class Requests:
    """Requests of clients since the counters were reset, by kind."""

    read: int
    write: int
    trim: int
    zero: int
    flush: int


@dataclass(frozen=True)
class Latency:
    """Time from a request to its answer, as the server measures it."""

    read: Spread
    write: Spread


@dataclass(frozen=True)
class Holding:
    """Accuracy with which the server delays answers to the times of the simulated drive."""

    error_us: Spread
    """Distance of answers from the time at which the simulated drive would give them."""
    late_share: float | None
    """Share of the answers that were late by more than a tenth of their due duration."""
    mean_excess: float | None
    """Mean excess of the answers' durations over their due durations,
    as a share of the due durations.
    """


@dataclass(frozen=True)
class Server:
    """Work of the server, as opposed to the drive."""

    connections: int
    in_flight: int
    requests: Requests
    errors: int
    latency_us: Latency
    lock_wait_us: Spread
    lock_held_us: Spread
    parallel_reads: int
    holding: Holding | None


@dataclass(frozen=True)
class History:
    """Activity since the counters were reset: a row for `interval_s` seconds up to `at_s`.

    Rows cover single seconds at first. At 512 rows, each two neighbours are merged into one row. A
    column ending in `_max` or `_min` has the extreme over the original samples, so that peaks
    survive.
    """

    interval_s: float
    at_s: tuple[float, ...]
    write_amplification: tuple[float | None, ...]
    write_amplification_max: tuple[float | None, ...]
    hit_ratio: tuple[float | None, ...]
    hit_ratio_min: tuple[float | None, ...]
    host_mb_s: tuple[float | None, ...]
    host_mb_s_max: tuple[float | None, ...]
    requests_s: tuple[float | None, ...]
    requests_s_max: tuple[float | None, ...]
    free_units: tuple[float | None, ...]
    """Least in the interval."""
    p99_us: tuple[float | None, ...]
    """Longest in the interval."""


@dataclass(frozen=True)
class Mount:
    """Cost of recovering the drive from its flash when it was last opened."""

    from_checkpoint: bool
    journal_reads: int
    tag_reads: int
    moved: int
    map_programs: int
    erased: int
    seconds: float


@dataclass(frozen=True)
class Power:
    """Power cuts, and the recovery after the last one."""

    cuts: int
    mount: Mount


@dataclass(frozen=True)
class Faults:
    """Faults that are switched on."""

    read_error_share: float
    """Share of reads that fail with an I/O error, 0 to 1."""
    read_only: bool
    """Whether the drive refuses to write."""


@dataclass(frozen=True)
class Recording:
    """Recording of the clients' requests."""

    path: str
    requests: int


@dataclass(frozen=True)
class Shadow:
    """Shadow drive: another drive that gets the same requests."""

    name: str
    result: Result | None
    """None if the shadow has failed."""
    behind: int
    """Requests that the served drive has completed and the shadow has not."""
    failure: str | None
    """Error by which the shadow failed: a bug in it.

    It takes no further requests. None if it works.
    """

    @property
    def warnings(self) -> list[str]:
        """Warnings of its result, or the reason that it has none."""
        if self.result is None:
            return [f"it has failed: {self.failure}"]
        return list(self.result.warnings)


@dataclass(frozen=True)
class Smart:
    """The drive's own log over its whole life; docs/live.md states which counts a crash loses."""

    host_bytes_written: int
    """Bytes of the host's writes as requested; partial pages are not rounded up."""
    host_bytes_read: int
    host_writes: int
    """Write requests. These, `host_reads`, `media_bytes_read`, `media_bytes_erased` and
    `power_cycles` begin at 0 in an image of an older version.
    """
    host_reads: int
    media_bytes_written: int
    """Bytes programmed while the host's bytes were counted, including pages of the map."""
    media_bytes_read: int
    media_bytes_erased: int
    """Bytes of the units that were erased during that time."""
    write_amplification: float | None
    """Media bytes written over host bytes written."""
    lifetime_media_bytes_written: int
    """Bytes programmed according to the flash itself. They include the time in older images, and a
    crash loses none of them.
    """
    power_cycles: int
    """How often the drive was opened."""
    unsafe_shutdowns: int
    """How often the drive was opened without an earlier shutdown."""
    media_errors: int
    """Pages that could not be read, including pages with injected faults."""
    available_spare_percent: float
    available_spare_threshold_percent: float
    percentage_used: float | None
    """Rated erases of a unit that are used up, on average; may exceed 100."""
    endurance_erases: int
    erases_mean: float
    erases_max: int
    erases_min: int
    critical_warnings: tuple[str, ...]


@dataclass(frozen=True)
class ZoneStates:
    """Number of zones in each state."""

    empty: int
    implicitly_open: int
    explicitly_open: int
    closed: int
    full: int


@dataclass(frozen=True)
class Zones:
    """Zones of a drive, all alike."""

    bytes: int
    """Bytes from the start of a zone to the next."""
    capacity_bytes: int
    """Bytes of a zone that can be written."""
    active_max: int
    """Most zones that are open or closed at a time."""
    states: ZoneStates


@dataclass(frozen=True)
class Status:
    """Full status of a live drive."""

    floatgate: str
    pid: int
    image: str | None
    """None if the image is in memory."""
    image_gone: str | None
    """Reason that the image's path no longer leads to the open file; None if it does."""
    failure: str | None
    """Reason that the drive no longer reads or writes; None if it works."""
    aged: bool
    """Whether the drive was overwritten before its first client."""
    bytes: int
    page_bytes: int
    device: str
    timing: str
    transport_us: float
    """Time by which the server sends replies earlier than the simulated drive would."""
    uptime_s: float
    result: Result
    """A result as `floatgate.run` returns it, since the counters were reset."""
    server: Server
    history: History
    power: Power
    faults: Faults
    free_units: int
    cleaning_begins_after_bytes: int | None
    """Maximum bytes of whole pages that clients can write until cleaning begins. Pages of the map
    and partial pages take room, too. None once cleaning has begun, and if units are merged instead.
    """
    zones: Zones | None
    """None if the drive has random writes."""
    record: Recording | None
    also: tuple[Shadow, ...]
    smart: Smart
    warnings: tuple[str, ...]

    @property
    def all_warnings(self) -> list[str]:
        """Warnings of the server and of the result, then of shadows; each once."""
        said = [*self.warnings, *self.result.warnings]
        for shadow in self.also:
            said += [f"also {shadow.name}: {text}" for text in shadow.warnings]
        return list(dict.fromkeys(said))


@dataclass(frozen=True)
class Blocks:
    """Report on every erase unit; lists are indexed by the unit's number."""

    units: int
    pages_per_unit: int
    valid: tuple[int, ...]
    """Pages whose data can still be read."""
    written: tuple[int, ...]
    """Pages programmed since the unit was erased."""
    erases: tuple[int, ...]
    stream: tuple[int, ...]
    """Stream that writes to the unit; -1 if the unit is free."""
    sealed: tuple[bool, ...]
    """Whether the unit takes no more writes until it is erased."""
    streams: int


@dataclass(frozen=True)
class Snapshot:
    """Copy of the image."""

    path: str
    bytes: int
