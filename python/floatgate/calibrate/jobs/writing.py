"""Spare and cleaning unit from the speed of overwrites, by simulated candidates.

Random writes to a share of a drive slow down with the copies that cleaning makes, and the copies
depend on the spare. Overwrites of every other zone need no copies if a zone covers the units that
hold its old data, so the speed at several zone sizes depends on the unit. Each zone size begins on
a drive that was discarded and filled in order, so no order of requests is left to chance.
Candidates play the same jobs, from an empty drive on, and their speeds relative to writes in order
are compared with the measured ones.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from floatgate import api
from floatgate.models import greedy

from .device import Parameters, at_scale, config
from .recipe import LARGE, PASSES, SPANS, ZONES, Job, recipe, zone_job
from .recorded import Recording

RANDOM = tuple(f"random-{percent}{share}" for percent in SPANS for share in PASSES)
ZONE = tuple(f"zone-{step}{share}" for step in range(ZONES) for share in PASSES)
NORMAL = "rewrite"
SPARES, SPARE_GUESS = (0.03, 0.45), 0.7
SPARE_STEPS, SPARE_STEP = 5, 0.4
"""Simulations in the search for the spare, and their largest relative distance."""
SPARE_HALVINGS = 20
SPARE_UNITS = 3
"""Fewest units in the spare space, with which a drive can clean."""
COPY_COST, UNIT_PAGES = 1.4, 64
"""Usual time of a copy in programs, and pages of a unit in the closed form."""
SPARE_ENOUGH = 0.01
"""Relative error at which the search for the spare ends."""
SHOWS = 0.05
"""Least slowdown that shows cleaning."""


@dataclass(frozen=True)
class Trial:
    """A candidate with the root mean square of ln(simulated / measured slowdown)."""

    drive: Parameters
    error: float

    @property
    def unit(self) -> int:
        """Bytes of the candidate's unit."""
        return self.drive.unit


@dataclass(frozen=True)
class Speeds:
    """Slowdown of jobs: speed of writes in order over speed of the job."""

    slow: dict[str, float]

    def errors(self, measured: Speeds, names: Sequence[str]) -> list[float]:
        """Returns ln(simulated / measured) of jobs."""
        return [math.log(self.slow[name] / measured.slow[name]) for name in names]


def measured(jobs: Recording) -> Speeds:
    """Returns the slowdowns that fio reports."""
    normal = jobs.writes(NORMAL).bytes_per_second
    names = (*RANDOM, *ZONE)
    return Speeds({name: normal / jobs.writes(name).bytes_per_second for name in names})


def simulated(drive: Parameters, made_for: int, names: Sequence[str], seed: int) -> Speeds:
    """Plays the jobs up to the last of `names` on a candidate, and returns their slowdowns."""
    small, scale = at_scale(drive)
    wanted = {"fill", "flush", NORMAL, *names}
    for step in range(ZONES):
        if f"zone-{step}{PASSES[0]}" in names:
            wanted |= {f"discard-{step}", f"refill-{step}"}
    jobs = [_scaled(job, scale, small.size) for job in recipe(made_for) if job.name in wanted]
    head = "[global]\nfilename=/dev/drive\nioengine=libaio\nrandrepeat=0\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "writes.fio"
        path.write_text("\n".join([head, *(job.text for job in jobs)]), "utf-8")
        result = api.run(path, device=config(small), seed=seed)
    speeds = {job.name: job.write_mb_s or 0.0 for job in result.jobs}
    return Speeds({name: speeds[NORMAL] / speeds[name] for name in names})


def _scaled(job: Job, scale: float, size: int) -> Job:
    """Returns a job whose requests are smaller, if they are zones, for a drive of `size` bytes."""
    if not job.name.startswith("zone-"):
        return job
    block = round(int(dict(job.options)["bs"]) / scale / LARGE)
    return zone_job(job.name, max(1, block) * LARGE, size)


def first_spare(drive: Parameters, target: Speeds, made_for: int, seed: int) -> Trial:
    """Returns the drive with the spare at which random writes are as slow as measured.

    The mean of ln(simulated / measured) falls with the spare: a search by secants, from the closed
    form on.
    """
    names = [name for name in RANDOM if target.slow[name] > 1 + SHOWS]
    errors: dict[float, list[float]] = {}
    means: dict[float, float] = {}
    least = SPARE_UNITS * drive.unit / (drive.size + SPARE_UNITS * drive.unit)
    spare = max(least, _guess(target.slow[RANDOM[-1]]))
    for _ in range(SPARE_STEPS):
        candidate = replace(drive, spare=spare)
        errors[spare] = simulated(candidate, made_for, names, seed).errors(target, names)
        means[spare] = sum(errors[spare]) / len(names)
        if abs(means[spare]) < SPARE_ENOUGH:
            break
        spare = max(least, _next(means, spare))
        if spare in means:
            break
    best = min(means, key=lambda one: abs(means[one]))
    return Trial(replace(drive, spare=best), _rms(errors[best]))


def _guess(slow: float) -> float:
    """Returns the spare at which a closed form has the slowdown of the largest span.

    All spare space serves the span, as the other data stays in units of its own.
    """
    amplification = 1 + (slow - 1) / COPY_COST
    low, high = SPARES[0], SPARE_GUESS
    for _ in range(SPARE_HALVINGS):
        middle = (low + high) / 2
        is_less = greedy(1 / (1 - middle), UNIT_PAGES).write_amplification < amplification
        low, high = (low, middle) if is_less else (middle, high)
    spare = SPANS[-1] / 100 * middle / (1 - middle)
    return spare / (1 + spare)


def _next(points: dict[float, float], spare: float) -> float:
    """Returns where ln(simulated / measured) is 0 on a line through the last two points.

    With one point the slowdown is taken to fall as the spare rises.
    """
    excess, slope = points[spare], -1 / spare
    if len(points) > 1:
        other = list(points)[-2]
        slope = min((excess - points[other]) / (spare - other), slope / 4)
    step = max(-SPARE_STEP, min(SPARE_STEP, -excess / slope / spare))
    return min(max(spare * (1 + step), SPARES[0]), SPARES[1])


def scan_units(
    drive: Parameters, target: Speeds, made_for: int, units: Sequence[int], seed: int
) -> list[Trial]:
    """Returns the errors of candidates with these units, on all zone jobs."""
    trials = []
    step = drive.row * drive.dies
    for rows in dict.fromkeys(max(1, round(unit / step)) for unit in units):
        candidate = replace(drive, rows=rows)
        errors = simulated(candidate, made_for, ZONE, seed).errors(target, ZONE)
        trials.append(Trial(candidate, _rms(errors)))
    return trials


def _rms(errors: Sequence[float]) -> float:
    return math.sqrt(sum(error * error for error in errors) / len(errors))
