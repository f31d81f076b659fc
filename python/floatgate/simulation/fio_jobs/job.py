"""A section of a job file with all numbers resolved, except shares of a file or drive."""

from __future__ import annotations

from dataclasses import dataclass, field

from .lines import TextLine
from .values import Amount

Zones = tuple[tuple[float, float], ...]
"""Pairs of a percentage of the requests and a size: in per cent of the region, or in bytes."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of requests in bytes."""

    low: int
    """Smallest size; random offsets are its multiples."""
    high: int
    split: tuple[tuple[int, float], ...] = ()
    """Sizes with percentages; empty if all multiples of `low` up to `high` are equally likely."""
    is_unaligned: bool = False
    """Whether sizes need not be multiples of `low`."""


@dataclass(frozen=True)
class Distribution:
    """Distribution of random offsets."""

    kind: str
    """uniform, zipf, pareto, normal, zoned (sizes in per cent) or zoned_abs (in bytes)."""
    shape: float = 0.0
    """Theta of zipf, h of pareto, deviation of normal in per cent."""
    center: float | None = None
    """Position of the most popular block in the region, 0 to 1; None: at random."""


@dataclass(frozen=True)
class Direction:
    """Requests of one kind."""

    kind: str
    """read, write or trim."""
    sizes: Sizes
    align: int
    """Random offsets are multiples of this, counted from the start of the region."""
    skip: int
    """Bytes between a request and the next one of a job in order."""
    random_percent: int
    """Percentage of random offsets, of a random job."""
    rate: int | None
    """Most bytes per second."""
    zones: Zones = ()


@dataclass(frozen=True)
class Handles:
    """Placement handles of a job's writes."""

    option: str = field(compare=False)
    """Option and value that ask for handles, as the job file spells them, for errors."""
    numbers: tuple[int, ...]
    """Handles; empty for all handles of the drive."""
    is_random: bool


@dataclass(frozen=True)
class FileRange:
    """Part of a file."""

    file: str
    """Name of the file; clones without `filename` have a file each."""
    offset: Amount
    offset_align: int
    size: Amount | None
    filesize: int | None


@dataclass(frozen=True)
class FioJob:
    """One clone of a section."""

    name: str
    clone: int
    source: TextLine
    phase: int
    """Jobs of a phase start when all jobs of the phases before it have ended."""
    group: int
    waits_for: str
    """Job whose clones must have ended; empty for none."""
    region: FileRange
    is_random: bool
    directions: tuple[Direction, ...]
    read_percent: int
    """Percentage of reads where a job reads and writes."""
    distribution: Distribution
    each_once: bool
    """Whether a pass has every block once."""
    repeats: bool
    """Whether all passes have the same random numbers."""
    seed: int | None
    depth: int
    refill_at: int
    """Requests outstanding at which the job sends again, below `depth`."""
    io_bytes: int | None
    """Bytes of a loop; None: as many as the region has."""
    loops: int
    requests_max: int | None
    start_delay_ns: tuple[int, int]
    ramp_ns: int
    runtime_ns: int | None
    time_based: bool
    ends_group: bool
    is_poisson: bool
    think_ns: int
    think_requests: int
    rate_ignores_think: bool
    flush_every: tuple[int, ...]
    flushes_at_end: bool
    handles: Handles | None
    notes: tuple[str, ...]
    """What differs from a run by fio."""
