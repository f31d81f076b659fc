"""Claims of the SHRD slides: evidence for each, with which it is as claimed, less or open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evidence import Case, Evidence
from floatgate.papers.kit.experiment import Run
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, MORE, STRADDLES
from floatgate.papers.shrd.claims import CLAIMS, UNCHECKED
from floatgate.papers.shrd.crash import Crashes
from floatgate.papers.shrd.domain import experiment_of
from floatgate.papers.shrd.reduce import BACKLOG, Point
from floatgate.papers.shrd.workloads import (
    BURSTS,
    EXT4,
    F2FS,
    FIO_EXT4,
    FIO_F2FS,
    FULL_F2FS,
    OPEN,
    QUICK,
    RANDOM,
    READ_F2FS,
    READS,
    READS_OFTEN,
    SEQUENTIAL,
    SOURCES,
    SPARSE,
    STREAM,
    captured,
    generated,
    recorded,
)

MIB = 1 << 20
WORKLOADS = (
    *generated(QUICK),
    *recorded(),
    *(captured(source, Path(source.spec)) for source in SOURCES),
)
WHOLE = experiment_of(WORKLOADS)

LINES: Mapping[str, Mapping[str, Any]] = {
    "dftl": {"iops": 1000.0, "mean_us": 30_000.0, "loads": 0.9},
    "dftl-2m": {"iops": 3000.0, "cache_bytes": 2 * MIB},
    "dftl-whole": {"iops": 20_000.0, "cache_bytes": 40 * MIB},
    "dftl-aged": {"iops": 900.0},
    "dftl-counted": {"copies": 0.5},
    "shrd": {"iops": 30_000.0, "mean_us": 1000.0, "loads": 0.1, "commands": 0.02},
    "shrd-2m": {"iops": 31_000.0, "cache_bytes": 2 * MIB},
    "shrd-whole": {"iops": 33_000.0, "cache_bytes": 40 * MIB},
    "shrd-unsorted": {"loads": 0.8},
    "shrd-idle": {"mean_us": 1000.0},
    "shrd-aged": {"iops": 25_000.0},
    "shrd-counted": {"copies": 0.5},
}
STATED: Mapping[tuple[str, str], Mapping[str, Any]] = {
    (SEQUENTIAL, "dftl"): {"write_bytes": 131072.0},
    (STREAM, "dftl"): {"iops": 20_000.0},
    (SEQUENTIAL, "shrd"): {"iops": 1100.0},
    (STREAM, "shrd"): {"iops": 22_000.0},
    (SPARSE, "shrd"): {"iops": 1100.0},
    (READS_OFTEN, "shrd"): {"iops": 1100.0},
    (READS, "shrd"): {"iops": 1100.0},
    (FIO_EXT4, "dftl"): {"seconds": 20.0},
    (READ_F2FS, "dftl"): {"seconds": 40.0},
    (READ_F2FS, "shrd"): {"seconds": 40.0},
    (OPEN, "dftl"): {"mean_read_us": 1000.0, "mean_write_us": 2000.0},
    (OPEN, "shrd"): {"mean_read_us": 500.0, "mean_write_us": 800.0},
}
"""Numbers with which every claim is as claimed."""

OFFERED = {OPEN: 330.0, BURSTS: 256.0}


def point(run: Run, **numbers: Any) -> Point:
    """Returns a run with the slides' numbers, except these."""
    family = WHOLE.workload(run.workload).family
    known: dict[str, Any] = {
        "trace": run.workload,
        "family": family,
        "line": run.line,
        **{axis.key: run.at(axis.key) for axis in WHOLE.axes if axis.key in Point.__annotations__},
        "spare": run.at("room") or run.at("spare"),
        "seed": run.seed,
        "span": run.workload.split(", ")[-1] if ", " in run.workload else None,
        "cache_bytes": 128 << 10,
        "seconds": 10.0,
        "iops": 1000.0,
        "mean_us": 100.0,
        "mean_read_us": None,
        "mean_write_us": None,
        "offered": OFFERED.get(family),
        "commands": 1.0,
        "loads": 0.9,
        "data_programs": 1.0,
        "copies": 0.0,
        "window_pages": 1024.0,
        "map_pages": 128.0,
        "write_bytes": 4096.0,
        "in_log": 0.0,
    }
    if run.workload.startswith(f"{FULL_F2FS} "):
        known["seconds"] = 12.0
    stated = dict(LINES.get(run.line, {})) | dict(STATED.get((family, run.line), {}))
    return Point(**(known | stated | numbers))


RANDOM_ALL = replace(WHOLE, workloads=tuple(replace(work, random=True) for work in WORKLOADS))


def losses(lost: int) -> Crashes:
    """Returns the results of the power losses in a run."""
    return Crashes(29, lost)


R_DFTL, R_SHRD = (RANDOM, "dftl"), (RANDOM, "shrd")
CASES = [
    Case("thirty", LESS, "19 times", {R_SHRD: {"iops": 19_000.0}}),
    Case("thirty", MORE, "46 times", {R_SHRD: {"iops": 46_000.0}}),
    Case("thirty", LESS, "half as fast is no part of 30 times", {R_SHRD: {"iops": 500.0}}),
    Case("thirty", STRADDLES, "30 times, by 20", {}, {R_SHRD: {"iops": 8000.0}}),
    Case("bursts", LESS, "as long", {(BURSTS, "shrd-idle"): {"mean_us": 30_000.0}}),
    Case("bursts", MORE, "50 times", {(BURSTS, "shrd-idle"): {"mean_us": 600.0}}),
    Case("bursts", STRADDLES, "by half", {}, {(BURSTS, "dftl"): {"mean_us": 9000.0}}),
    Case("steady", LESS, "three quarters", {R_SHRD: {"iops": 23_000.0}}),
    Case("steady", STRADDLES, "it scatters", {}, {R_SHRD: {"iops": 5000.0}}),
    Case("falls", LESS, "to 60%", {R_DFTL: {"iops": 12_000.0}}),
    Case("falls", LESS, "it rises", {R_DFTL: {"iops": 21_000.0}}),
    Case("falls", STRADDLES, "it scatters", {}, {R_DFTL: {"iops": 6000.0}}),
    Case("everywhere", LESS, "as fast", {R_SHRD: {"iops": 1000.0}}),
    Case("everywhere", LESS, "0.4%", {R_SHRD: {"iops": 1004.0}}),
    Case("everywhere", STRADDLES, "it scatters", {}, {R_SHRD: {"iops": 29_000.0}}),
    Case("slow", LESS, "as fast as one of two", {(STREAM, "dftl"): {"iops": 1000.0}}),
    Case("slow", STRADDLES, "it scatters", {}, {(STREAM, "dftl"): {"iops": 19_000.0}}),
    Case("sequential", LESS, "a loss", {(SPARSE, "shrd"): {"iops": 990.0}}),
    Case("sequential", LESS, "none", {(SPARSE, "shrd"): {"iops": 1000.0}}),
    Case("sequential", MORE, "a quarter is not small", {(SPARSE, "shrd"): {"iops": 1250.0}}),
    Case("sequential", STRADDLES, "it scatters", {}, {(SPARSE, "shrd"): {"iops": 100.0}}),
    Case("reads", LESS, "a loss", {(READS, "shrd"): {"iops": 900.0}}),
    Case("reads", MORE, "a quarter is not small", {(READS, "shrd"): {"iops": 1250.0}}),
    Case("reads", STRADDLES, "it scatters", {}, {(READS, "shrd"): {"iops": 100.0}}),
    Case("mixed", LESS, "reads as long", {(OPEN, "shrd"): {"mean_read_us": 1000.0}}),
    Case("mixed", LESS, "writes longer", {(OPEN, "shrd"): {"mean_write_us": 2500.0}}),
    Case("mixed", STRADDLES, "it scatters", {}, {(OPEN, "shrd"): {"mean_read_us": 400.0}}),
    Case("commands", LESS, "two for three", {R_SHRD: {"commands": 0.67}}),
    Case("commands", STRADDLES, "it scatters", {}, {R_SHRD: {"commands": 0.4}}),
    Case("locality", LESS, "as many", {R_SHRD: {"loads": 0.9}}),
    Case("locality", STRADDLES, "it scatters", {}, {R_SHRD: {"loads": 0.5}}),
    Case("sorted", LESS, "as many", {R_SHRD: {"loads": 0.8}}),
    Case("sorted", STRADDLES, "it scatters", {}, {R_SHRD: {"loads": 0.5}}),
    Case("no-copy", LESS, "each is copied", {R_SHRD: {"data_programs": 2.0}}),
    Case("no-copy", LESS, "1% is", {R_SHRD: {"data_programs": 1.01}}),
    Case("no-copy", STRADDLES, "it scatters", {}, {R_SHRD: {"data_programs": 0.01}}),
    Case("cleaning", LESS, "3% more", {(RANDOM, "shrd-counted"): {"copies": 0.55}}),
    Case("cleaning", STRADDLES, "it scatters", {}, {(RANDOM, "shrd-counted"): {"copies": 0.1}}),
    Case("aged", LESS, "slower", {(RANDOM, "shrd-aged"): {"iops": 800.0}}),
    Case("aged", STRADDLES, "it scatters", {}, {(RANDOM, "shrd-aged"): {"iops": 24_000.0}}),
    Case("f2fs", LESS, "as fast", {(F2FS, "shrd"): {"iops": 1000.0}}),
    Case("f2fs", STRADDLES, "it scatters", {}, {(F2FS, "shrd"): {"iops": 29_000.0}}),
    Case("ext4-better", LESS, "as fast", {(EXT4, "shrd"): {"iops": 1000.0}}),
    Case("ext4-better", STRADDLES, "it scatters", {}, {(EXT4, "shrd"): {"iops": 29_000.0}}),
    Case("ext4-random", LESS, "as fast", {(FIO_EXT4, "dftl"): {"seconds": 10.0}}),
    Case("ext4-random", STRADDLES, "it scatters", {}, {(FIO_EXT4, "dftl"): {"seconds": 11.0}}),
    Case("ext4", LESS, "a third slower", {(FIO_EXT4, "shrd"): {"seconds": 15.0}}),
    Case("ext4", LESS, "a third faster", {(FIO_EXT4, "shrd"): {"seconds": 7.5}}),
    Case("ext4", STRADDLES, "it scatters", {}, {(FIO_EXT4, "shrd"): {"seconds": 2.0}}),
    Case("f2fs-full", LESS, "as fast", {(FULL_F2FS, "dftl"): {"seconds": 10.0}}),
    Case("f2fs-full", STRADDLES, "it scatters", {}, {(FULL_F2FS, "dftl"): {"seconds": 6.0}}),
    Case("f2fs-aged", LESS, "as fast", {(FIO_F2FS, "shrd"): {"iops": 1000.0}}),
    Case("f2fs-aged", STRADDLES, "it scatters", {}, {(FIO_F2FS, "shrd"): {"iops": 29_000.0}}),
    Case("reads-after", LESS, "a fifth faster", {(READ_F2FS, "dftl"): {"seconds": 12.0}}),
    Case("reads-after", STRADDLES, "it scatters", {}, {(READ_F2FS, "dftl"): {"seconds": 29.0}}),
    Case("memory", LESS, "1% slower", {R_SHRD: {"iops": 19_800.0}}),
    Case("memory", AS_CLAIMED, "0.4% slower", {R_SHRD: {"iops": 19_920.0}}),
    Case("memory", STRADDLES, "it scatters", {}, {R_SHRD: {"iops": 9000.0}}),
    *(
        Case(claim, AS_CLAIMED, "as stated")
        for claim in (
            *("thirty", "slow", "bursts", "steady", "falls", "everywhere", "sequential", "reads"),
            *("mixed", "ext4-random", "ext4", "f2fs-full", "f2fs-aged", "reads-after"),
            *("commands", "locality", "sorted", "no-copy", "cleaning", "aged", "f2fs"),
            *("ext4-better", "memory"),
        )
    ),
]


def _keys(run: Run) -> list[tuple[str, str]]:
    """Returns the keys of a run's numbers: a file system at its utilization, and any workload."""
    full = [(FULL_F2FS, run.line)] if run.workload.startswith(f"{FULL_F2FS} ") else []
    return [*full, (point(run).family, run.line)]


EVIDENCE = Evidence(
    claims=CLAIMS,
    experiment=WHOLE,
    scattering=RANDOM_ALL,
    filter=BACKLOG,
    point=point,
    where=_keys,
    cases=CASES,
    rejected={"offered": 1e9},
    unchecked=UNCHECKED,
)
