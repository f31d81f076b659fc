"""Results of the recipe's jobs, from the JSON that fio wrote."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from floatgate._core import ConfigError
from floatgate.files.reading import parse_json, read_text

from .recipe import Job, recipe

VERSION_LEAST = 3
"""First version of fio whose times are nanoseconds."""
SIZE_TOLERANCE = 0.05
NOT_COMPARED = ("size", "io_size", "offset", "rate")
"""Amounts, which a user may change."""
HOW_TO_RUN = "expected the output of the whole recipe: fio recipe.fio --output-format=json+"


@dataclass(frozen=True)
class Times:
    """Requests of one kind of a job: their number, their rate and their completion latencies."""

    count: int
    bytes: int
    per_second: float
    mean_ns: float
    bins: tuple[tuple[float, int], ...]
    """Latencies in nanoseconds with the number of requests, rising. Empty with `json`."""

    @property
    def bytes_per_second(self) -> float:
        """Data per second."""
        return self.per_second * self.bytes / self.count

    def quantile(self, share: float) -> float:
        """Returns the latency in nanoseconds that this share of the requests does not exceed."""
        total = sum(count for _, count in self.bins)
        reached = accumulate(count for _, count in self.bins)
        pairs = zip(self.bins, reached, strict=True)
        return next(ns for (ns, _), sum_ in pairs if sum_ >= share * total)


@dataclass(frozen=True)
class Recorded:
    """A job of the recipe as fio ran it."""

    name: str
    options: Mapping[str, str]
    read: Times | None
    write: Times | None

    @property
    def reads(self) -> Times:
        """Reads of a job that has some."""
        if self.read is None:
            raise ConfigError(f"job {self.name}: has no reads; {HOW_TO_RUN}")
        return self.read

    @property
    def writes(self) -> Times:
        """Writes of a job that has some."""
        if self.write is None:
            raise ConfigError(f"job {self.name}: has no writes; {HOW_TO_RUN}")
        return self.write


@dataclass(frozen=True)
class Recording:
    """All jobs of the recipe, and the bytes of the drive that they filled."""

    size: int
    jobs: Mapping[str, Recorded]

    @property
    def made_for(self) -> int:
        """Bytes for which the recipe was made: its largest span of reads."""
        spans = [job for name, job in self.jobs.items() if name.startswith("span-")]
        return max(_bytes(job.options.get("size", "0")) for job in spans)

    def reads(self, name: str) -> Times:
        """Returns the reads of a job."""
        return self.jobs[name].reads

    def writes(self, name: str) -> Times:
        """Returns the writes of a job."""
        return self.jobs[name].writes


def read_recording(directory: Path) -> Recording:
    """Reads the results of the recipe from the JSON files of a directory.

    Raises ConfigError for a directory without them, a missing job, a failed job, an option that
    differs from the recipe, an old version of fio, and results without histograms.
    """
    if not directory.is_dir():
        raise ConfigError(f"{directory}: no directory; expected one with fio's JSON")
    jobs: dict[str, Recorded] = {}
    for path in sorted(directory.glob("*.json")):
        for job in read_jobs(path):
            if job.name in jobs:
                raise ConfigError(f"{path}: job {job.name} is there twice; expected each job once")
            jobs[job.name] = job
    if not jobs:
        raise ConfigError(f"{directory}: has no JSON of fio; {HOW_TO_RUN}")
    for needed in ("fill", "span-0"):
        if needed not in jobs:
            raise ConfigError(f"{directory}: job {needed} is missing; {HOW_TO_RUN}")
    found = Recording(jobs["fill"].writes.bytes, jobs)
    _check(found, directory)
    return found


def _check(found: Recording, directory: Path) -> None:
    """Raises ConfigError for jobs of another recipe."""
    if not abs(found.made_for / found.size - 1) < SIZE_TOLERANCE:
        raise ConfigError(
            f"the recipe is for {found.made_for:,} bytes, and job fill wrote {found.size:,}; "
            "expected --recipe with the --size of the drive"
        )
    for job in recipe(found.made_for):
        recorded = found.jobs.get(job.name)
        if recorded is None:
            raise ConfigError(f"{directory}: job {job.name} is missing; {HOW_TO_RUN}")
        _check_options(recorded, job)
        if any(times and not times.bins for times in (recorded.read, recorded.write)):
            raise ConfigError(
                f"job {job.name}: has no histogram; expected fio's --output-format=json+"
            )


def _check_options(recorded: Recorded, job: Job) -> None:
    for option, expected in job.options:
        if option in NOT_COMPARED or option.startswith("norandom") or job.name.startswith("zone-"):
            continue
        given = recorded.options.get(option)
        if given is None or given.lower() not in (expected, f"{expected}%"):
            raise ConfigError(
                f"job {job.name}: {option}={given or 'nothing'} given; expected {option}={expected}"
            )


def read_jobs(path: Path) -> list[Recorded]:
    """Returns the jobs of a JSON file; none if it is no output of fio."""
    try:
        text = read_text(path)
        # fio prints messages before its JSON.
        begin = re.search(r"^\{", text, re.MULTILINE)
        document = parse_json(text[begin.start() :] if begin else text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}; expected JSON of fio") from error
    if not isinstance(document, dict) or "fio version" not in document:
        return []
    version = re.match(r"fio-(\d+)", str(document["fio version"]))
    if version and int(version[1]) < VERSION_LEAST:
        raise ConfigError(
            f"{path}: {document['fio version']}; expected fio {VERSION_LEAST} or later"
        )
    try:
        return [_job(job) for job in document["jobs"]]
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}; {HOW_TO_RUN}") from error
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise ConfigError(f"{path}: {type(error).__name__}: {error}; {HOW_TO_RUN}") from error


def _job(job: Mapping[str, Any]) -> Recorded:
    if job.get("error"):
        raise ConfigError(f"job {job['jobname']}: ended with error {job['error']}")
    options = {name: str(text) for name, text in job.get("job options", {}).items()}
    return Recorded(str(job["jobname"]), options, _times(job["read"]), _times(job["write"]))


def _times(side: Mapping[str, Any]) -> Times | None:
    if not side["total_ios"]:
        return None
    clat = side["clat_ns"]
    bins = sorted((float(ns), int(count)) for ns, count in clat.get("bins", {}).items())
    count, bytes = int(side["total_ios"]), int(side["io_bytes"])
    rate, mean = float(side["iops"]), float(clat["mean"])
    for number in (count, bytes, rate, mean, *(count for _, count in bins)):
        if not 0 < number < math.inf:
            raise ValueError(f"{number} given; expected a number above 0")
    return Times(count, bytes, rate, mean, tuple(bins))


def _bytes(text: str) -> int:
    """Returns bytes of a fio size without a unit, or with k, m or g."""
    match = re.fullmatch(r"(\d+)([kmg]?)", text.lower())
    if match is None:
        raise ConfigError(f"size={text}: expected bytes, as the recipe has them")
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2]]
