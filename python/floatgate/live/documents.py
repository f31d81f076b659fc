"""What a live drive says of itself, typed. A number is None where there is none."""

from __future__ import annotations

from dataclasses import dataclass

from floatgate.result import Result
from floatgate.result_types import LatencySummary


@dataclass(frozen=True)
class Spread:
    """How a time is spread over requests, in microseconds."""

    count: int
    mean: float | None
    p50: float | None
    p99: float | None
    p999: float | None
    max: float | None


def modelled(times: LatencySummary) -> Spread:
    """The times of the modelled drive."""
    quantiles = (times.mean_us, times.p50_us, times.p99_us, times.p999_us, times.max_us)
    return Spread(times.requests, *quantiles)


@dataclass(frozen=True)
class Requests:
    """Requests that clients have made since the counters were reset, by kind."""

    read: int
    write: int
    trim: int
    zero: int
    flush: int


@dataclass(frozen=True)
class Latency:
    """From a request to its answer, as the server measures it."""

    read: Spread
    write: Spread


@dataclass(frozen=True)
class Holding:
    """How well answers are held until the modelled drive would give them."""

    error_us: Spread
    """How far answers missed the time at which the modelled drive would give them."""
    late_share: float | None
    """Share of the answers that were late by more than a tenth of what they should have taken."""
    mean_excess: float | None
    """How much longer answers took on average than they should have, as a share of that."""


@dataclass(frozen=True)
class Server:
    """What the server has to do, as opposed to the drive."""

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
    """What was done since the counters were reset: a row for `interval_s` seconds up to `at_s`.

    Rows are of single seconds at first, and of longer times the longer the drive runs: 256 to 511
    of them. What ends with `_max` or `_min` is of a single second, or of as short a time as it was
    taken of.
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
    """The least."""
    p99_us: tuple[float | None, ...]
    """The longest."""


@dataclass(frozen=True)
class Mount:
    """What finding the drive in its flash took, when it was last opened."""

    from_checkpoint: bool
    journal_reads: int
    tag_reads: int
    moved: int
    map_programs: int
    erased: int
    seconds: float


@dataclass(frozen=True)
class Power:
    """Plugs that were pulled, and how the drive was found after the last one."""

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
    """The capture of what clients do."""

    path: str
    requests: int


@dataclass(frozen=True)
class Shadow:
    """Another drive that is given the same requests."""

    name: str
    result: Result | None
    """None where it has failed."""
    behind: int
    """Requests that the drive itself has done and the shadow has not."""
    failure: str | None
    """Why it has failed, if so: a bug in it. It takes no requests from then on."""

    @property
    def warnings(self) -> list[str]:
        """Those of its result, or why it has none."""
        if self.result is None:
            return [f"it has failed: {self.failure}"]
        return list(self.result.warnings)


@dataclass(frozen=True)
class Smart:
    """What a drive's own log says, over all of its life; docs/live.md has what a crash takes."""

    host_bytes_written: int
    """Bytes of the host's writes, as they ask for them; parts of pages are not rounded up."""
    host_bytes_read: int
    media_bytes_written: int
    """What was programmed while the bytes of the host were counted, pages of the map included."""
    write_amplification: float | None
    """Media bytes written over host bytes written."""
    lifetime_media_bytes_written: int
    """What the flash itself has of that: of older images, too, and nothing goes with a crash."""
    unsafe_shutdowns: int
    """How often the drive was opened without having been shut down."""
    media_errors: int
    """Pages that could not be read, those that were made to fail included."""
    available_spare_percent: float
    available_spare_threshold_percent: float
    percentage_used: float | None
    """Of the rated erases of a unit, on average; may exceed 100."""
    endurance_erases: int
    erases_mean: float
    erases_max: int
    erases_min: int
    critical_warnings: tuple[str, ...]


@dataclass(frozen=True)
class Status:
    """Everything that is known of a live drive."""

    floatgate: str
    pid: int
    image: str | None
    """None where the image is in memory."""
    image_gone: str | None
    """What became of an image whose path does not lead to the open file any more."""
    failure: str | None
    """Why the drive reads and writes nothing any more, if so."""
    aged: bool
    """Whether it was written over before its first client."""
    bytes: int
    page_bytes: int
    device: str
    timing: str
    transport_us: float
    """How much less replies are held than the drive would take."""
    uptime_s: float
    result: Result
    """A result as `floatgate.run` gives it, of what was done since the counters were reset."""
    server: Server
    history: History
    power: Power
    faults: Faults
    free_units: int
    cleaning_begins_after_bytes: int | None
    """Bytes of whole pages that clients can write until a unit is cleaned, at most: pages of the
    map and parts of pages take room, too. None once cleaning has begun, and where units are
    merged instead."""
    record: Recording | None
    also: tuple[Shadow, ...]
    smart: Smart
    warnings: tuple[str, ...]

    @property
    def all_warnings(self) -> list[str]:
        """Those of the server and of the result, then those of shadows; each once."""
        said = [*self.warnings, *self.result.warnings]
        for shadow in self.also:
            said += [f"also {shadow.name}: {text}" for text in shadow.warnings]
        return list(dict.fromkeys(said))


@dataclass(frozen=True)
class Blocks:
    """Every erase unit; lists by the unit's number."""

    units: int
    pages_per_unit: int
    valid: tuple[int, ...]
    """Pages that hold what can still be read."""
    written: tuple[int, ...]
    """Pages programmed since the unit was erased."""
    erases: tuple[int, ...]
    stream: tuple[int, ...]
    """The stream that is written there; -1 where the unit is free."""
    sealed: tuple[bool, ...]
    """Whether nothing more is written there until it is erased."""
    streams: int


@dataclass(frozen=True)
class Snapshot:
    """A copy of the image."""

    path: str
    bytes: int
