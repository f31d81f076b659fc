"""Jobs in fio's JSON as loads, with names that distinguish equal jobs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from floatgate.files.reading import parse_json, read_text

from .. import _core
from .._core import ConfigError
from .loads import READS, WRITES, Load

SEQUENTIAL = ("read", "write", "rw", "readwrite")
"""Values of fio's `rw` for jobs with sequential addresses."""


def read_fio(path: Path) -> list[Load]:
    """Returns the jobs in fio's JSON; the clones of one job from `numjobs` become one load.

    Raises `ConfigError`, which names the file and the job, for a missing value or a value that is
    not a number.
    """
    try:
        document = parse_json(read_text(path))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: is no JSON of fio (--output-format=json): {error}") from error
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list) or not jobs:
        raise ConfigError(f"{path}: jobs is missing; expected fio's --output-format=json")
    common = document.get("global options") or {}
    parsed = [(_job(path, n, job, common), _options(job, common)) for n, job in enumerate(jobs)]
    loads: list[Load] = []
    for _, same in groupby(parsed, lambda one: (one[0].name, one[0].group, one[1])):
        entries = list(same)
        loads += _merged([load for load, _ in entries], "group_reporting" in entries[0][1])
    return loads


def names_apart(loads: Sequence[Load]) -> list[Load]:
    """Returns the loads with unique names: equal names get their depth, their file, or a number."""
    equal = Counter(load.name for load in loads)
    numbers: Counter[str] = Counter()
    ways: tuple[Callable[[Load], str], ...] = (_shape, lambda load: _stem(load.file))
    way = {
        name: next((one for one in ways if _tells_apart(one, loads, name)), None) for name in equal
    }
    renamed = []
    for load in loads:
        numbers[load.name] += 1
        suffix = ""
        if equal[load.name] > 1:
            tell = way[load.name]
            suffix = "-" + (tell(load) if tell else f"{_stem(load.file)}#{numbers[load.name]}")
        renamed.append(replace(load, name=load.name + suffix))
    return renamed


def _tells_apart(way: Callable[[Load], str], loads: Sequence[Load], name: str) -> bool:
    texts = [way(load) for load in loads if load.name == name]
    return len({*texts}) == len(texts)


def _shape(load: Load) -> str:
    depth = load.depth // load.jobs
    return f"qd{depth}" if load.jobs == 1 else f"qd{depth}x{load.jobs}"


def _stem(file: Path) -> str:
    """Returns a file's name for use in a run's name, which must not contain commas."""
    return file.stem.replace(",", "_")


def _options(job: Any, common: Mapping[str, str]) -> dict[str, str]:
    return {**common, **job.get("job options", {})}


def _job(path: Path, n: int, job: Any, common: Mapping[str, str]) -> Load:
    where = f"{path}: job {n}"
    try:
        options = _options(job, common)
        read, write = job["read"], job["write"]
        iops = float(read["iops"]) + float(write["iops"])
        measured = {"iops": iops}
        for names, side in ((READS, read), (WRITES, write)):
            if side["total_ios"]:
                measured |= dict(zip(names, _times(side), strict=True))
        share = read["total_ios"] / (read["total_ios"] + write["total_ios"])
        rates = [float(part) for part in str(options.get("rate_iops", "")).split(",") if part]
        jobs = int(options.get("numjobs", 1))
        size = _core.parse_size("bs", _fio_size(options.get("bs", "4k")))
        load = Load(
            name=f"fio-{job['jobname']}",
            file=path,
            offered=sum(rates) * jobs,
            read_share=share,
            size=size,
            depth=int(options.get("iodepth", 1)) * jobs,
            probe=False,
            constant=options.get("rate_process", "linear") != "poisson",
            measured=measured,
            jobs=jobs,
            pattern="sequential" if _mode(options) in SEQUENTIAL else "uniform",
            group=job.get("groupid"),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise ConfigError(
            f"{where}: {_reason(error)}; expected a job of fio's --output-format=json that read "
            "or wrote, with percentiles of clat or lat"
        ) from error
    if not all(math.isfinite(value) and value > 0 for value in measured.values()):
        raise ConfigError(f"{where}: a rate or a time is not above 0; expected a measurement")
    if load.depth < 1:
        raise ConfigError(f"{where}: iodepth x numjobs is {load.depth}; expected at least 1")
    return load


def _mode(options: Mapping[str, str]) -> str:
    """Returns fio's `rw` without the number that may follow a colon."""
    return str(options.get("rw", options.get("readwrite", "read"))).partition(":")[0]


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"has no {error.args[0]}"
    if isinstance(error, ZeroDivisionError):
        return "has no request"
    return f"{type(error).__name__}: {error}"


def _merged(loads: Sequence[Load], is_group: bool) -> Iterator[Load]:
    """Merges the `numjobs` clones of a job that follow each other.

    Loads stay as they are if each is already a group.
    """
    jobs = loads[0].jobs
    if is_group or jobs == 1 or len(loads) % jobs:
        yield from loads
        return
    for first in range(0, len(loads), jobs):
        yield _one(loads[first : first + jobs])


def _one(clones: Sequence[Load]) -> Load:
    """Combines the clones of a job into one load.

    Percentiles are means over the clones, weighted by rate: they ran the same job on the same
    drive.
    """
    rates = [load.measured["iops"] for load in clones]
    shares = [rate / sum(rates) for rate in rates]

    def mean(values: Sequence[float]) -> float:
        return sum(share * value for share, value in zip(shares, values, strict=True))

    names = [name for name in clones[0].measured if all(name in one.measured for one in clones)]
    measured = {name: mean([load.measured[name] for load in clones]) for name in names}
    measured["iops"] = sum(rates)
    share = mean([load.read_share for load in clones])
    return replace(clones[0], read_share=share, measured=measured)


def _times(side: Mapping[str, Any]) -> tuple[float, float, float]:
    """Returns mean, median and 99th percentile in microseconds.

    They cover the total latency if fio kept its percentiles, else the completion latency.
    """
    kept = side["lat_ns"] if "percentile" in side.get("lat_ns", {}) else side["clat_ns"]
    at = kept["percentile"]
    return kept["mean"] / 1e3, at["50.000000"] / 1e3, at["99.000000"] / 1e3


def _fio_size(text: str) -> str:
    """Converts fio's sizes, in which 4k is 4096 bytes."""
    lower = text.lower().split(",")[0].removesuffix("ib")
    for letter in "kmg":
        if lower.endswith(letter):
            return f"{lower[:-1]}{letter.upper()}iB"
    return lower
