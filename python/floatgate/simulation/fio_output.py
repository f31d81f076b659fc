"""Result of a job file in the form of fio's `--output-format=json+`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate import __version__
from floatgate.result_types import JobLatency, JobResult
from floatgate.results.result import Result

from .fio_jobs.lines import GLOBAL, Section, read_sections

GROUP_BITS = 6
"""fio counts a latency in one of 2^6 bins for each power of two."""
PERCENTILES = (1, 5, *range(10, 100, 10), 95, 99, 99.5, 99.9, 99.95, 99.99)
"""fio's default percentiles."""


def fio_document(result: Result, job_file: Path) -> dict[str, Any]:
    """Returns the jobs of a result, with the options of its job file, as fio's JSON.

    The result must have full latency distributions and simulated time. Submission takes no time, so
    `slat` is 0 and `lat` equals `clat`.
    """
    sections = read_sections(job_file)
    common = [section for section in sections if section.name == GLOBAL]
    options = {section.name: _options([section]) for section in sections}
    return {
        "fio version": f"floatgate {__version__}",
        "global options": _options(common),
        "jobs": [_job(job, options.get(job.name, {})) for job in result.jobs],
    }


def _options(sections: Iterable[Section]) -> dict[str, str]:
    settings = (setting for section in sections for setting in section.settings)
    return {setting.option: setting.text or "" for setting in settings}


def _job(job: JobResult, options: Mapping[str, str]) -> dict[str, Any]:
    seconds = job.seconds or 0.0
    sides = {
        "read": _side(job.reads, job.read_bytes, seconds, job.read),
        "write": _side(job.writes, job.write_bytes, seconds, job.write),
        "trim": _side(job.trims, job.trim_bytes, seconds, job.trim),
    }
    return {
        "jobname": job.name,
        "error": 0,
        "job options": {"name": job.name, **options},
        **sides,
        "sync": {"total_ios": job.flushes},
        "job_runtime": round(seconds * 1000),
    }


def _side(count: int, size: int, seconds: float, latency: JobLatency) -> dict[str, Any]:
    rate = 1 / seconds if seconds else 0.0
    times = _times(count, latency)
    return {
        "io_bytes": size,
        "io_kbytes": size >> 10,
        "bw_bytes": round(size * rate),
        "bw": round(size * rate / 1024),
        "iops": count * rate,
        "runtime": round(seconds * 1000) if count else 0,
        "total_ios": count,
        "slat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "clat_ns": times,
        "lat_ns": times,
    }


def _times(count: int, latency: JobLatency) -> dict[str, Any]:
    if not count:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    bins = fio_bins(latency.ns, latency.counts)
    return {
        "min": min(latency.ns),
        "max": round((latency.max_us or 0.0) * 1000),
        "mean": (latency.mean_us or 0.0) * 1000,
        "stddev": (latency.stdev_us or 0.0) * 1000,
        "N": count,
        "percentile": {f"{share:.6f}": _percentile(bins, share) for share in PERCENTILES},
        "bins": {str(ns): number for ns, number in bins.items()},
    }


def fio_bins(ns: Sequence[int], counts: Sequence[int]) -> dict[int, int]:
    """Returns the middle of each of fio's bins with its count, rising."""
    bins: Counter[int] = Counter()
    for time, count in zip(ns, counts, strict=True):
        shift = max(0, time.bit_length() - 1 - GROUP_BITS)
        bins[(time >> shift << shift) + (1 << shift >> 1)] += count
    return dict(sorted(bins.items()))


def _percentile(bins: Mapping[int, int], share: float) -> int:
    needed, reached = share / 100 * sum(bins.values()), 0
    for ns, count in bins.items():
        reached += count
        if reached >= needed:
            return ns
    return max(bins)
