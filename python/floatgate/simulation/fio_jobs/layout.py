"""Positions of the jobs' files on the drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from floatgate._core import ConfigError

from .job import FioJob
from .values import Amount

ALIGNMENT = 4096
"""Files begin at multiples of this many bytes."""


@dataclass(frozen=True)
class Extent:
    """Bytes of the drive on which a job works."""

    offset: int
    size: int


def needs_capacity(jobs: Sequence[FioJob]) -> bool:
    """Returns whether a size or an offset is a share of the drive."""
    return any(_is_share(job) for job in jobs if job.region.filesize is None)


def _is_share(job: FioJob) -> bool:
    size, offset = job.region.size, job.region.offset
    return size is None or size.is_percent or offset.is_percent


def lay_out(jobs: Sequence[FioJob], capacity: int | None) -> list[Extent]:
    """Returns the extent of each job on a drive of `capacity` bytes, None for any size.

    Jobs with one file share its bytes. Files follow one another in the order of the jobs. Raises
    ConfigError for a share of a drive of unknown size, and for an empty region.
    """
    of_file: dict[str, list[FioJob]] = {}
    for job in jobs:
        of_file.setdefault(job.region.file, []).append(job)
    sizes = {file: _file_bytes(users, capacity, len(of_file)) for file, users in of_file.items()}
    starts, next_start = {}, 0
    for file, size in sizes.items():
        starts[file] = next_start
        next_start += -(-size // ALIGNMENT) * ALIGNMENT
    return [_extent(job, starts, sizes) for job in jobs]


def _file_bytes(users: Sequence[FioJob], capacity: int | None, files: int) -> int:
    """Returns the bytes of a file: those given, those of the drive, or those that its jobs need."""
    given = [job.region.filesize for job in users if job.region.filesize is not None]
    if given:
        return max(given)
    shared = next((job for job in users if _is_share(job)), None)
    if shared is None:
        regions = (job.region for job in users)
        return max(one.offset.number + (one.size.number if one.size else 0) for one in regions)
    if capacity is None:
        raise _no_capacity(shared)
    if files > 1:
        raise shared.source.error(
            f"size: a share of the drive, but the jobs have {files} files; expected bytes, "
            "filesize, or one filename for all jobs"
        )
    return capacity


def _no_capacity(job: FioJob) -> ConfigError:
    size = job.region.size
    given = "not given" if size is None else f"{size.number}%" if size.is_percent else "given"
    what = "size" if given != "given" else "offset"
    return job.source.error(
        f"{what}: {'a percentage' if given == 'given' else given}, and the drive has no size of "
        "its own; expected bytes, or flash.blocks to be set"
    )


def _bytes(amount: Amount, file_bytes: int) -> int:
    """Returns the bytes of an amount; a percentage is a share of `file_bytes`."""
    return file_bytes * amount.number // 100 if amount.is_percent else amount.number


def _extent(job: FioJob, starts: Mapping[str, int], sizes: Mapping[str, int]) -> Extent:
    region, file_bytes = job.region, sizes[job.region.file]
    offset = _bytes(region.offset, file_bytes)
    smallest = min(direction.sizes.low for direction in job.directions)
    if region.offset.is_percent:
        step = region.offset_align or smallest
        offset = -(-offset // step) * step
    wanted = file_bytes if region.size is None else _bytes(region.size, file_bytes)
    size = min(wanted, file_bytes - offset)
    if size < smallest:
        raise job.source.error(
            f"size: {max(size, 0):,} bytes from offset {offset:,} in a file of {file_bytes:,}; "
            f"expected at least a request of {smallest:,}"
        )
    return Extent(starts[region.file] + offset, size)
