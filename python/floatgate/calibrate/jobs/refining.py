"""Spare and cleaning unit together, with intervals, by a linear fit around a first estimate.

Candidates around the estimate play all overwrites, each with another seed. Over this small range
the logarithm of each job's slowdown is linear in the spare and in the logarithm of the unit. The
residuals of these lines are chance: the order of the random writes, and how zones and units happen
to overlap. Weighted least squares then gives the spare and the unit at which the lines pass through
the measurement, and the chance gives their intervals. Jobs that disagree by more than chance widen
the intervals by as much (Birge, Phys. Rev. 40, 1932).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .device import Parameters
from .estimate import Estimate
from .writing import RANDOM, ZONE, Speeds, simulated

NAMES = (*RANDOM, *ZONE)
SPARE_REACH, UNIT_REACH = 0.15, 0.2
"""Largest relative distance of a candidate from the first estimate."""
CANDIDATES, ROUNDS = 12, 2
NEAR = 0.6
"""A result this far out, as a share of the range, is the start of the next fit."""
MODEL_NOISE = 0.015
"""Error of a slowdown that is not chance: properties of drives that no job measures."""
SIGMAS = 4.0
"""Half of an interval, in standard deviations. The model lacks what no job measures: on nine random
drives the errors were 1.3 standard deviations (rms) of a unit, and once 3.9 of a spare."""


@dataclass(frozen=True)
class Value:
    """A value with half of its interval, relative to the value for a unit."""

    value: float
    half: float
    is_relative: bool

    def estimate(self, name: str, unit: str, jobs: str) -> Estimate:
        """Returns the value as an estimate."""
        if self.is_relative:
            factor = math.exp(self.half)
            return Estimate(name, unit, self.value, self.value / factor, self.value * factor, jobs)
        low, high = max(0.0, self.value - self.half), self.value + self.half
        return Estimate(name, unit, self.value, low, high, jobs)


@dataclass(frozen=True)
class Refined:
    """Spare and cleaning unit."""

    spare: Value
    unit: Value


def refine(drive: Parameters, target: Speeds, made_for: int, seed: int) -> Refined:
    """Returns the best spare and unit for all overwrites, near the drive's values.

    Their intervals are infinite if the fits lead on and on.
    """
    for at in range(ROUNDS):
        found = _round(drive, target, made_for, seed + at * CANDIDATES)
        if _is_near(found, drive):
            return found
        rows = max(1, round(found.unit.value / drive.row / drive.dies))
        drive = replace(drive, spare=found.spare.value, rows=rows)
    return Refined(replace(found.spare, half=math.inf), replace(found.unit, half=math.inf))


def _is_near(found: Refined, drive: Parameters) -> bool:
    """Returns whether a result is well within the candidates around the drive."""
    spare = abs(found.spare.value / drive.spare - 1) / SPARE_REACH
    return max(spare, abs(math.log(found.unit.value / drive.unit)) / UNIT_REACH) < NEAR


def _round(drive: Parameters, target: Speeds, made_for: int, seed: int) -> Refined:
    import numpy as np

    points, logs = [], []
    for at, one in enumerate(_candidates(drive)):
        speeds = simulated(one, made_for, NAMES, seed + at)
        points.append([1.0, one.spare - drive.spare, math.log(one.unit / drive.unit)])
        logs.append(speeds.errors(target, NAMES))
    design, errors = np.array(points), np.array(logs)
    lines, *_ = np.linalg.lstsq(design, errors, rcond=None)
    left = errors - design @ lines
    chance = (left**2).sum(axis=0) / (len(points) - design.shape[1])
    # Chance is in the measurement, and to a lesser part in the line.
    weights = 1 / (chance * (1 + 1 / len(points)) + MODEL_NOISE**2)
    slopes = lines[1:].T * np.sqrt(weights)[:, None]
    solution, *_ = np.linalg.lstsq(slopes, -lines[0] * np.sqrt(weights), rcond=None)
    rest = lines[0] * np.sqrt(weights) + slopes @ solution
    disagreement = max(1.0, math.sqrt(float(rest @ rest) / (len(rest) - 2)))
    halves = SIGMAS * disagreement * np.sqrt(np.diag(np.linalg.pinv(slopes.T @ slopes)))
    if np.ptp(design[:, 2]) < UNIT_REACH:
        halves[1] = np.inf  # Units of one or two rows hardly differ.
    d_spare = _within(float(solution[0]), drive.spare * SPARE_REACH)
    d_unit = _within(float(solution[1]), UNIT_REACH)
    return Refined(
        Value(drive.spare + d_spare, float(halves[0]), False),
        Value(drive.unit * math.exp(d_unit), float(halves[1]), True),
    )


def _within(value: float, most: float) -> float:
    return min(max(value, -most), most)


def _candidates(drive: Parameters) -> Iterator[Parameters]:
    """Yields drives whose spares and units fill the range evenly (a Kronecker sequence)."""
    for at in range(CANDIDATES):
        x, y = (2 * ((at + 0.5) * step % 1.0) - 1 for step in (0.7548776662, 0.5698402910))
        spare = drive.spare * (1 + SPARE_REACH * x)
        rows = max(1, round(drive.rows * math.exp(UNIT_REACH * y)))
        yield replace(drive, spare=spare, rows=rows)
