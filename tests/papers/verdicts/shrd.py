"""The claims of the SHRD slides: evidence for which each claim holds, fails or is ambiguous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.judging import OpenClaim, judge, runs_of
from floatgate.papers.kit.paper import HOLDS, Measured
from floatgate.papers.kit.verdicts import AMBIGUOUS, FAILS_HERE
from floatgate.papers.shrd.crash import Crashes
from floatgate.papers.shrd.reduce import BACKLOG, Point
from floatgate.papers.shrd.runs import (
    BURSTS,
    EXT4,
    F2FS,
    OPEN,
    QUICK,
    RANDOM,
    READS,
    SEQUENTIAL,
    SOURCES,
    STREAM,
    captured,
    experiment_of,
    generated,
)

MIB = 1 << 20
WORKLOADS = (
    *generated(QUICK),
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
    (SEQUENTIAL, "shrd"): {"iops": 1100.0},
    (STREAM, "shrd"): {"iops": 1100.0},
    (READS, "shrd"): {"iops": 1100.0},
    (OPEN, "dftl"): {"mean_read_us": 1000.0, "mean_write_us": 2000.0},
    (OPEN, "shrd"): {"mean_read_us": 500.0, "mean_write_us": 800.0},
}
"""Numbers for which every claim holds."""

OFFERED = {OPEN: 330.0, BURSTS: 256.0}


def point(run: Run, **numbers: Any) -> Point:
    """Returns a run with the numbers that the slides state, except for `numbers`."""
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
        "iops": 1000.0,
        "mean_us": 100.0,
        "mean_read_us": None,
        "mean_write_us": None,
        "offered": OFFERED.get(family),
        "commands": 1.0,
        "packed": None,
        "loads": 0.9,
        "write_backs": 0.5,
        "data_programs": 1.0,
        "copies": 0.0,
        "window_pages": 1024.0,
        "map_pages": 128.0,
        "write_bytes": 4096.0,
        "read_share": 0.0,
        "in_log": 0.0,
        "utilization": 0.5,
    }
    stated = dict(LINES.get(run.line, {})) | dict(STATED.get((family, run.line), {}))
    return Point(**(known | stated | numbers))


@dataclass(frozen=True)
class Case:
    """Evidence for a claim: the expected case at every point, the reason, and the differences from
    the stated numbers by line on a workload. `scatter` is the spread of a number over the seeds."""

    claim: str
    case: str
    because: str
    numbers: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    scatter: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)

    def points(self, claim: OpenClaim[Point]) -> dict[Run, Point]:
        """Returns the evidence of every run that the claim needs. All runs differ between seeds."""
        return {run: self._point(run) for run in runs_of(RANDOM_ALL, [claim], full=False)}

    def _point(self, run: Run) -> Point:
        stated = point(run)
        where = stated.family, stated.line
        numbers = dict(self.numbers.get(where, {}))
        for name, width in self.scatter.get(where, {}).items():
            numbers[name] = numbers.get(name, getattr(stated, name)) + width * (run.seed - 2)
        return replace(stated, **numbers)


RANDOM_ALL = replace(WHOLE, workloads=tuple(replace(work, random=True) for work in WORKLOADS))


def judged(
    claim: OpenClaim[Point],
    points: dict[Run, Point],
    experiment: Experiment = WHOLE,
    full: bool = False,
) -> Measured:
    return judge(experiment, claim, points, full, BACKLOG)


def losses(run: Run, lost: int) -> Crashes:
    """Returns the outcome of a run's power losses."""
    return Crashes(
        run.workload, run.line, run.at("window"), run.at("stale"), run.seed, 29, 7000, lost, 1800.0
    )


R_DFTL, R_SHRD = (RANDOM, "dftl"), (RANDOM, "shrd")
CASES = [
    Case("thirty", FAILS_HERE, "19 times", {R_SHRD: {"iops": 19_000.0}}),
    Case("thirty", FAILS_HERE, "46 times", {R_SHRD: {"iops": 46_000.0}}),
    Case("thirty", FAILS_HERE, "half as fast is no part of 30 times", {R_SHRD: {"iops": 500.0}}),
    Case("thirty", AMBIGUOUS, "30 times, by 20", {}, {R_SHRD: {"iops": 8000.0}}),
    Case("bursts", FAILS_HERE, "as long", {(BURSTS, "shrd-idle"): {"mean_us": 30_000.0}}),
    Case("bursts", AMBIGUOUS, "by half", {}, {(BURSTS, "dftl"): {"mean_us": 9000.0}}),
    Case("steady", FAILS_HERE, "three quarters", {R_SHRD: {"iops": 23_000.0}}),
    Case("steady", AMBIGUOUS, "it scatters", {}, {R_SHRD: {"iops": 5000.0}}),
    Case("falls", FAILS_HERE, "to 60%", {R_DFTL: {"iops": 12_000.0}}),
    Case("falls", FAILS_HERE, "it rises", {R_DFTL: {"iops": 21_000.0}}),
    Case("falls", AMBIGUOUS, "it scatters", {}, {R_DFTL: {"iops": 6000.0}}),
    Case("everywhere", FAILS_HERE, "as fast", {R_SHRD: {"iops": 1000.0}}),
    Case("everywhere", FAILS_HERE, "0.4%", {R_SHRD: {"iops": 1004.0}}),
    Case("everywhere", AMBIGUOUS, "it scatters", {}, {R_SHRD: {"iops": 29_000.0}}),
    Case("sequential", FAILS_HERE, "a loss", {(SEQUENTIAL, "shrd"): {"iops": 990.0}}),
    Case("sequential", FAILS_HERE, "none", {(SEQUENTIAL, "shrd"): {"iops": 1000.0}}),
    Case(
        "sequential", FAILS_HERE, "a quarter is not small", {(SEQUENTIAL, "shrd"): {"iops": 1250.0}}
    ),
    Case("sequential", AMBIGUOUS, "it scatters", {}, {(SEQUENTIAL, "shrd"): {"iops": 100.0}}),
    Case("reads", FAILS_HERE, "a loss", {(READS, "shrd"): {"iops": 900.0}}),
    Case("reads", AMBIGUOUS, "it scatters", {}, {(READS, "shrd"): {"iops": 100.0}}),
    Case("mixed", FAILS_HERE, "reads as long", {(OPEN, "shrd"): {"mean_read_us": 1000.0}}),
    Case("mixed", FAILS_HERE, "writes longer", {(OPEN, "shrd"): {"mean_write_us": 2500.0}}),
    Case("mixed", AMBIGUOUS, "it scatters", {}, {(OPEN, "shrd"): {"mean_read_us": 400.0}}),
    Case("commands", FAILS_HERE, "two for three", {R_SHRD: {"commands": 0.67}}),
    Case("commands", AMBIGUOUS, "it scatters", {}, {R_SHRD: {"commands": 0.4}}),
    Case("locality", FAILS_HERE, "as many", {R_SHRD: {"loads": 0.9}}),
    Case("locality", AMBIGUOUS, "it scatters", {}, {R_SHRD: {"loads": 0.5}}),
    Case("sorted", FAILS_HERE, "as many", {R_SHRD: {"loads": 0.8}}),
    Case("sorted", AMBIGUOUS, "it scatters", {}, {R_SHRD: {"loads": 0.5}}),
    Case("no-copy", FAILS_HERE, "each is copied", {R_SHRD: {"data_programs": 2.0}}),
    Case("no-copy", FAILS_HERE, "1% is", {R_SHRD: {"data_programs": 1.01}}),
    Case("no-copy", AMBIGUOUS, "it scatters", {}, {R_SHRD: {"data_programs": 0.01}}),
    Case("cleaning", FAILS_HERE, "3% more", {(RANDOM, "shrd-counted"): {"copies": 0.55}}),
    Case("cleaning", AMBIGUOUS, "it scatters", {}, {(RANDOM, "shrd-counted"): {"copies": 0.1}}),
    Case("aged", FAILS_HERE, "slower", {(RANDOM, "shrd-aged"): {"iops": 800.0}}),
    Case("aged", AMBIGUOUS, "it scatters", {}, {(RANDOM, "shrd-aged"): {"iops": 24_000.0}}),
    Case("f2fs", FAILS_HERE, "as fast", {(F2FS, "shrd"): {"iops": 1000.0}}),
    Case("f2fs", AMBIGUOUS, "it scatters", {}, {(F2FS, "shrd"): {"iops": 29_000.0}}),
    Case("ext4-better", FAILS_HERE, "as fast", {(EXT4, "shrd"): {"iops": 1000.0}}),
    Case("ext4-better", AMBIGUOUS, "it scatters", {}, {(EXT4, "shrd"): {"iops": 29_000.0}}),
    Case("memory", FAILS_HERE, "1% slower", {R_SHRD: {"iops": 19_800.0}}),
    Case("memory", HOLDS, "0.4% slower", {R_SHRD: {"iops": 19_920.0}}),
    Case("memory", AMBIGUOUS, "it scatters", {}, {R_SHRD: {"iops": 9000.0}}),
    *(
        Case(claim, HOLDS, "as stated")
        for claim in (
            *("thirty", "bursts", "steady", "falls", "everywhere", "sequential", "reads", "mixed"),
            *("commands", "locality", "sorted", "no-copy", "cleaning", "aged", "f2fs"),
            *("ext4-better", "memory"),
        )
    ),
]
