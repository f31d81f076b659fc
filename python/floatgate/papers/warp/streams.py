"""Requests of the WARP paper's fio jobs, on a namespace that is scaled down.

A page of the small namespace stands for many pages of the drive. The jobs run side by side as
closed loops; here a draw decides whose request is next, so each job has a fixed share of the pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from floatgate.traces.model import SCHEMA, STREAM, WRITE

PAGE = 4096
CHUNK = 4
"""Pages of a request of a job that writes in order. The paper's fill and stream have 128 KiB, 32
pages of the drive."""
RANKS = 10**7
"""Ranks after which fio ends the sum that normalises its Zipf law."""
FILL_LEAD = 16
"""Pages of the ordered fill for each page of the random fill, while both run. Measured on the
emulated drive WARP_A2."""

Pages = np.ndarray
Pick = Callable[[np.random.Generator, int, int, float], Pages]
"""Draws pages: a generator of random numbers, the number of draws, the pages of the range, and the
pages of the drive for each of them."""


def zipf(theta: float) -> Pick:
    """Returns fio's Zipf law, each rank on one page of the drive, ranks scattered over the range.

    A page here takes the writes of as many consecutive ranks as it stands for.
    """

    def pick(rng: np.random.Generator, number: int, pages: int, scale: float) -> Pages:
        order = rng.permutation(pages)
        ranks = _ranks(theta, rng.random(number), pages * scale)
        return order[np.minimum(ranks / scale, pages - 1).astype(np.int64)]

    return pick


def _ranks(theta: float, drawn: np.ndarray, n: float) -> np.ndarray:
    """Returns ranks from 0 for numbers drawn from 0 to 1 (Gray et al., SIGMOD 1994, as in fio)."""
    total = float((np.arange(1, RANKS + 1, dtype=float) ** -theta).sum())
    first_two = 1 + 0.5**theta
    eta = (1 - (2 / n) ** (1 - theta)) / (1 - first_two / total)
    tail = np.floor(n * (eta * drawn - eta + 1) ** (1 / (1 - theta)))
    below = drawn * total
    ranks: np.ndarray = np.where(below < 1, 0, np.where(below < first_two, 1, tail))
    return ranks


def uniform(rng: np.random.Generator, number: int, pages: int, scale: float) -> Pages:
    """Every page is as likely as any other."""
    return rng.integers(0, pages, number)


ZONES = ((0.8, 0.0, 0.2), (0.1, 0.2, 0.4), (0.1, 0.4, 1.0))
"""Zones of the job 80-20: share of the writes, and where the zone begins and ends, as shares of the
range."""


def zoned(rng: np.random.Generator, number: int, pages: int, scale: float) -> Pages:
    """80 % of the writes to the first fifth of the range, 10 % to the next fifth, 10 % to the rest;
    uniform inside each."""
    zone = rng.choice(len(ZONES), number, p=[share for share, _, _ in ZONES])
    begin, end = (np.array([one[at] for one in ZONES])[zone] for at in (1, 2))
    places = (begin + rng.random(number) * (end - begin)) * pages
    zoned_pages: Pages = np.minimum(places, pages - 1).astype(np.int64)
    return zoned_pages


@dataclass(frozen=True)
class Job:
    """A job of fio: writes in a range of the namespace, in order or as `pick` draws them."""

    begin: float
    """Start of the range, as a share of the namespace."""
    end: float
    share: float
    """Weight of the job's pages among the pages of all jobs."""
    pick: Pick | None = None
    """None: in order, from the start of the range, over and over."""
    fills: bool = True
    """Whether a job with this range and order belongs to the fill."""


@dataclass(frozen=True)
class Jobs:
    """Jobs that run together until they have written the namespace `volumes` times.

    The handle of a request is the number of its job. With `fill`, each job that fills first
    writes as many pages as its range has; these pages count, too. Draws are with replacement, so
    a fill at random leaves 37 % of its pages unwritten.
    """

    pages: int
    """Pages of the small namespace."""
    drive_pages: float
    """Pages of the drive's namespace."""
    volumes: float
    jobs: tuple[Job, ...]
    fill: bool = False

    def __call__(self, seed: int) -> pl.DataFrame:
        """Returns the requests: columns of a trace, with the handle as `stream`."""
        rng = np.random.default_rng(seed)
        parts = [self._filled(rng)] if self.fill else []
        written = sum(int(part[1].sum()) for part in parts)
        parts.append(self._together(rng, round(self.volumes * self.pages) - written))
        first, length, handle = (np.concatenate(column) for column in zip(*parts, strict=True))
        columns = {
            "at_ns": np.zeros(len(first), np.uint64),
            "op": np.full(len(first), WRITE, np.uint8),
            "device": np.zeros(len(first), np.uint32),
            "offset": first.astype(np.uint64) * PAGE,
            "length": length.astype(np.uint64) * PAGE,
            "stream": handle.astype(np.uint16),
        }
        return pl.DataFrame(columns, schema={**SCHEMA, **STREAM})

    def _range(self, job: Job) -> tuple[int, int]:
        """Returns the first page of a job's range and its pages, whole requests."""
        begin, end = (round(at * self.pages / CHUNK) * CHUNK for at in (job.begin, job.end))
        return begin, end - begin

    def _together(self, rng: np.random.Generator, pages: int) -> tuple[Pages, Pages, Pages]:
        """Returns first pages, lengths and handles of the jobs' requests."""
        sizes = np.array([CHUNK if job.pick is None else 1 for job in self.jobs])
        weights = np.array([job.share for job in self.jobs]) / sizes
        chances = weights / weights.sum()
        handle = rng.choice(len(self.jobs), round(pages / float(chances @ sizes)), p=chances)
        first = np.zeros(len(handle), np.int64)
        for number, job in enumerate(self.jobs):
            of_job = np.flatnonzero(handle == number)
            begin, size = self._range(job)
            if job.pick is None:
                places = np.arange(len(of_job)) * CHUNK % size
            else:
                places = job.pick(rng, len(of_job), size, self.drive_pages / self.pages)
            first[of_job] = begin + places
        return first, sizes[handle], handle

    def _filled(self, rng: np.random.Generator) -> tuple[Pages, Pages, Pages]:
        """Returns the requests of the jobs that fill the namespace, all together."""
        parts = []
        for number, job in enumerate(self.jobs):
            if not job.fills:
                continue
            begin, size = self._range(job)
            if job.pick is None:
                places = due = np.arange(0, size, CHUNK)
            else:
                due = np.arange(size) * FILL_LEAD
                places = job.pick(rng, size, size, self.drive_pages / self.pages)
            pages = CHUNK if job.pick is None else 1
            same = (np.full(len(due), value) for value in (pages, number))
            parts.append((due, begin + places, *same))
        due, *requests = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(due, kind="stable")
        first, length, handle = (column[order] for column in requests)
        return first, length, handle
