"""Rows for the jobs of a job file: counts, speed, latencies and placement handles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from floatgate.result_types import JobHandle, JobLatency, JobResult

from .result import Result
from .tables import Cell, Column, Table, Unit, beside, in_unit_of, written
from .values import ABSENT, TIMES, count, measured, ratio

KINDS = ("read", "write", "trim")


class JobKind(NamedTuple):
    """Requests of one kind of a job."""

    job: JobResult
    kind: str

    @property
    def requests(self) -> int:
        """Number of the requests."""
        number: int = getattr(self.job, f"{self.kind}s")
        return number

    @property
    def mb_s(self) -> float | None:
        """Speed in 10^6 bytes per second."""
        speed: float | None = getattr(self.job, f"{self.kind}_mb_s")
        return speed

    @property
    def iops(self) -> float | None:
        """Requests per second."""
        seconds = self.job.seconds
        return self.requests / seconds if seconds else None

    @property
    def latency(self) -> JobLatency:
        """Completion latencies."""
        latency: JobLatency = getattr(self.job, self.kind)
        return latency


def names(jobs: Sequence[JobResult]) -> list[str]:
    """Returns names that distinguish the jobs: clones have their number, and other jobs of one name
    their position.
    """
    given = [job.name for job in jobs]
    have_clones = {job.name for job in jobs if job.clone}
    numbered = [f"{job.name}.{job.clone}" if job.name in have_clones else job.name for job in jobs]
    if len({*numbered}) == len(numbered):
        return numbered
    return [f"{name} #{at}" if given.count(name) > 1 else name for at, name in enumerate(given)]


def kinds(jobs: Sequence[JobResult]) -> list[tuple[str, JobKind]]:
    """Returns the kinds of requests that each job has, with the name of the job. A job without a
    request counts as its first kind.
    """
    rows = []
    for name, job in zip(names(jobs), jobs, strict=True):
        every = [JobKind(job, kind) for kind in KINDS]
        sent = [one for one in every if one.requests] or every[:1]
        rows += [(name, one) for one in sent]
    return rows


def columns(rows: Sequence[JobKind], units: Sequence[Unit] = TIMES) -> list[Column]:
    """Returns the numbers of rows of `kinds`; without times if no time was simulated."""
    flushes = [one.job.flushes for one in rows]
    columns = [written(count)("Requests", [one.requests for one in rows])]
    if any(flushes):
        columns.append(written(count)("Flushes", flushes))
    if any(one.iops is not None for one in rows):
        times = in_unit_of(units)
        latencies = [one.latency for one in rows]
        columns += [
            written(count)("IOPS", [one.iops for one in rows]),
            written(measured)("MB/s", [one.mb_s for one in rows]),
            times("clat mean", [one.mean_us for one in latencies]),
            times("clat p50", [one.p50_us for one in latencies]),
            times("clat p95", [one.p95_us for one in latencies]),
            times("clat p99", [one.p99_us for one in latencies]),
            times("clat p99.9", [one.p999_us for one in latencies]),
            times("clat max", [one.max_us for one in latencies]),
        ]
    if any(one.job.handles for one in rows):
        columns += [_handles(rows), _amplification(rows)]
    return columns


def job_table(runs: Sequence[tuple[str, Result]], units: Sequence[Unit] = TIMES) -> Table:
    """Returns a row for each kind of request of each job of runs with names. A single run needs no
    name.
    """
    rows = [(run, name, one) for run, result in runs for name, one in kinds(result.jobs)]
    texts = {"Run": [run for run, _, _ in rows]} if len(runs) > 1 else {}
    texts |= {"Job": [name for _, name, _ in rows], "Kind": [one.kind for _, _, one in rows]}
    return beside("Jobs", texts, columns([one for _, _, one in rows], units))


def _handles(rows: Sequence[JobKind]) -> Column:
    """Returns the placement handles of writes, in one cell for each row."""
    return _of_writes("Handles", rows, lambda handle: str(handle.handle))


def _amplification(rows: Sequence[JobKind]) -> Column:
    """Returns the write amplification of the handles, in their order."""
    return _of_writes("WA of handles", rows, lambda handle: ratio(handle.write_amplification))


def _of_writes(title: str, rows: Sequence[JobKind], write: Callable[[JobHandle], str]) -> Column:
    cells = []
    for one in rows:
        handles = one.job.handles if one.kind == "write" else ()
        cells.append(Cell(", ".join(map(write, handles)) or ABSENT))
    return Column(title, cells)
