"""The recipe: a fio job file whose jobs each measure one property of a drive.

Sizes are shares of the drive or amounts of requests, so the same jobs run on a real drive and on a
simulated one. The jobs run one after the other, from a drive without data (`blkdiscard`), because
each needs the state that the jobs above leave: data in order for the reads, fragments for cleaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from floatgate._core import ConfigError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BLOCK = 4 * KIB
"""Bytes of a small read or write."""
LARGE = 16 * KIB
"""Bytes of a large read, and of a random write: the largest flash page of common drives."""
SIZE_LEAST = 256 * MIB
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LARGE_DEPTHS = (1, 8, 32, 128)
READS, READS_DEEP = 30_000, 120_000
DEEP = 16
"""From this depth on, jobs read more, so that they take long enough on a fast drive."""
NEAR_SHARE = 32
"""Depths are measured on 1/32 of the drive, whose map entries most map caches hold."""
REACHES = 9
"""Number of spans of reads, each twice the one below; the largest is the whole drive."""
BURST, BURST_BLOCK, BURSTS = 960, 64 * KIB, 10
TAIL_RATE = 32 * MIB
"""Bytes per second that are written while reads are measured."""
SPANS = (12, 25, 50)
"""Random writes go to these percentages of the drive. To all of it they would take hours."""
ZONES, ZONE_RATIO = 6, 1.9
"""Number of zone sizes, and the ratio of two. Like the sizes, it is no power of two, as cleaning
units often are: zones in step with the units would be exceptions.
"""
ZONE_SHARE = 34
ZONE_MOST = GIB
"""Largest zone, because fio keeps a zone in memory."""
ZONE_STEP = 64 * KIB
"""Zones are multiples of this many bytes."""
PASSES = ("a", "b")


@dataclass(frozen=True)
class Job:
    """A job of the recipe, with its fio options in the order of the file."""

    name: str
    purpose: str
    options: tuple[tuple[str, str], ...]
    starts_with_previous: bool = False

    @property
    def text(self) -> str:
        """The section of the job file."""
        lines = [f"# {self.purpose}", f"[{self.name}]"]
        if not self.starts_with_previous:
            lines.append("stonewall")
        return "\n".join([*lines, *(f"{key}={value}" for key, value in self.options)]) + "\n"


def recipe(size: int) -> tuple[Job, ...]:
    """Returns the jobs for a drive of `size` bytes.

    Raises ConfigError for a drive below 256 MiB, which is too small for its zones.
    """
    if size < SIZE_LEAST:
        raise ConfigError(f"size: {size:,} bytes given; expected at least {SIZE_LEAST:,}")
    return (*_latency_jobs(size), *_write_jobs(size))


def recipe_text(size: int) -> str:
    """Returns the recipe as a fio job file. fio replaces `${DRIVE}` by the environment variable."""
    head = (
        f"# Made by floatgate calibrate --recipe for a drive of {size:,} bytes.\n"
        "# These jobs destroy all data on the drive; they begin on a discarded drive:\n"
        "#   sudo blkdiscard /dev/nvme1n1\n"
        "#   mkdir jobs\n"
        "#   sudo DRIVE=/dev/nvme1n1 fio recipe.fio --output-format=json+ --output=jobs/fio.json\n"
        "[global]\nfilename=${DRIVE}\ndirect=1\nioengine=libaio\nrandrepeat=0\n"
    )
    return "\n".join([head, *(job.text for job in recipe(size))])


def zone_sizes(size: int) -> list[int]:
    """Returns the zone sizes for a drive of `size` bytes, rising."""
    largest = min(size // ZONE_SHARE, ZONE_MOST) / ZONE_STEP
    steps = [largest / ZONE_RATIO**step for step in reversed(range(ZONES))]
    return [ZONE_STEP * round(step) for step in steps]


def span_sizes(size: int) -> list[int]:
    """Returns the spans of the reads that find the map cache, rising."""
    return [size // (1 << step) // MIB * MIB for step in reversed(range(REACHES))]


def near_size(size: int) -> int:
    """Returns the span on which depths are measured."""
    return size // NEAR_SHARE // MIB * MIB


def _latency_jobs(size: int) -> Iterator[Job]:
    near = near_size(size)
    yield _sequential("fill", "all pages, in order, on an empty drive")
    reads = {"rw": "randread", "norandommap": "1"}
    for depth in DEPTHS:
        options = {"bs": "4k", "iodepth": depth, "size": near, "io_size": _amount(depth, BLOCK)}
        yield _job(f"read-{depth}", "reads against depth: time of a read, dies", reads | options)
    for depth in LARGE_DEPTHS:
        options = {"bs": "16k", "iodepth": depth, "size": near, "io_size": _amount(depth, LARGE)}
        yield _job(f"large-{depth}", "larger reads: flash page, transfer", reads | options)
    for step, span in enumerate(span_sizes(size)):
        options = {"bs": "4k", "iodepth": 1, "size": span, "io_size": _amount(1, BLOCK)}
        yield _job(f"span-{step}", "reads of a growing span: map cache", reads | options)
    yield from _cached_jobs()
    yield _job(
        "flush",
        "a flush after each write: time of a program",
        {"rw": "write", "bs": "4k", "size": "16m", "io_size": 1000 * BLOCK, "fsync": 1},
    )
    burst = {"bs": BURST_BLOCK, "iodepth": BURST, "thinktime": "1s", "thinktime_blocks": BURST}
    amount = {"io_size": BURSTS * BURST * BURST_BLOCK}
    yield _job("burst", "bursts after a pause: write buffer", {"rw": "write"} | burst | amount)
    yield from _tail_jobs(near)


def _cached_jobs() -> Iterator[Job]:
    purpose = "writes, and reads of the data just written: time without flash"
    mixed = {"rw": "randrw", "norandommap": "1"}
    yield _job("cached", purpose, mixed | {"bs": "4k", "size": "16k", "io_size": "64m"})
    yield _job("cached-large", purpose, mixed | {"bs": "16k", "size": "16k", "io_size": "64m"})
    deep = {"bs": "4k", "size": "16k", "iodepth": DEPTHS[-1], "rwmixread": 90, "io_size": "512m"}
    yield _job("cached-deep", "the same at depth: requests without flash", mixed | deep)


def _tail_jobs(near: int) -> Iterator[Job]:
    reads = {"rw": "randread", "norandommap": "1", "bs": "4k", "size": near, "offset": "50%"}
    work = {"io_size": 2 * READS * BLOCK, "exitall": 1}
    yield _job("tail", "reads while rows are programmed: time of a program", reads | work)
    writes = {"rw": "write", "bs": "64k", "size": "40%", "loops": 100}
    writes |= {"rate": TAIL_RATE, "rate_process": "poisson"}
    yield _job("tail-writes", "the writes", writes, starts_with_previous=True)


def _write_jobs(size: int) -> Iterator[Job]:
    yield _sequential("rewrite", "speed of writes in order")
    random = {"rw": "randwrite", "norandommap": "1", "bs": "16k", "iodepth": 64}
    for percent in SPANS:
        for share in PASSES:
            name = f"random-{percent}{share}"
            yield _job(name, "random writes to a share: spare", random | {"size": f"{percent}%"})
    for step, zone in enumerate(zone_sizes(size)):
        discard = {"rw": "trim", "bs": "4m", "size": "100%"}
        yield _job(f"discard-{step}", "an empty drive", discard)
        yield _sequential(f"refill-{step}", "all pages, in order")
        for share in PASSES:
            yield zone_job(f"zone-{step}{share}", zone, size)


def zone_job(name: str, zone: int, size: int) -> Job:
    """Returns the job that overwrites every other zone of `zone` bytes, in order, on a drive of
    `size` bytes.

    The zones of the second pass begin in the middle of the first pass's zones. A pass states its
    bytes, because fio begins again where a gap ends exactly at the end of the drive.
    """
    offset = zone // 2 if name.endswith(PASSES[1]) else 0
    zones = (size - offset - zone) // (2 * zone) + 1
    options = {"rw": f"write:{zone}", "bs": zone, "iodepth": 1, "io_size": zones * zone}
    if offset:
        options["offset"] = offset
    return _job(name, "overwrites of every other zone: cleaning unit", options)


def _sequential(name: str, purpose: str) -> Job:
    return _job(name, purpose, {"rw": "write", "bs": "1m", "iodepth": 8, "size": "100%"})


def _job(
    name: str, purpose: str, options: Mapping[str, object], starts_with_previous: bool = False
) -> Job:
    texts = tuple((key, str(value)) for key, value in options.items())
    return Job(name, purpose, texts, starts_with_previous)


def _amount(depth: int, block: int) -> int:
    """Returns the bytes that a job of reads transfers."""
    return (READS_DEEP if depth >= DEEP else READS) * block
