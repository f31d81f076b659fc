"""Rules that decide when write amplification has become steady over a series of windows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

VOLUMES = 10
"""Volumes in a row that must agree."""

SPREAD = 0.01
"""Largest distance of these volumes from their mean, as a share of the mean."""

DRIFT = 0.005
"""Largest rise or fall of the line fitted to them, and largest difference of means that agree, as a
share of the mean.
"""

SNIA_ROUNDS = 5
SNIA_RANGE = 0.20
SNIA_SLOPE = 0.10
"""Measurement window of SNIA's Solid State Storage Performance Test Specification 2.0.2, 2.1.24. It
has `SNIA_ROUNDS` rounds. Their range is at most 20 % of their average, and the line fitted to them
rises or falls by at most 10 % of it.
"""


def is_level(values: Sequence[float], spread: float, drift: float) -> bool:
    """Returns whether values are level: none is too far from their mean,
    and their slope is not too steep.

    `spread` and `drift` are shares of the mean. `spread` limits the largest deviation from the
    mean. `drift` limits the rise or fall of the least-squares line from the first value to the
    last.
    """
    mean = fmean(values)
    far = max(abs(value - mean) for value in values)
    return far <= spread * mean and rise(values) <= drift * mean


def rise(values: Sequence[float]) -> float:
    """Returns the rise or fall of the least-squares line over the values."""
    middle = (len(values) - 1) / 2
    products = sum((at - middle) * value for at, value in enumerate(values))
    squares = sum((at - middle) ** 2 for at in range(len(values)))
    return abs(products / squares) * (len(values) - 1)


def steady_from(volumes: Sequence[float]) -> int | None:
    """Returns the first volume from which on a series is steady; None if it is not.

    `volumes` has the write amplification of each volume (drive capacity) written. Ten volumes in a
    row must be level, and all later volumes must have the same mean.
    """
    for first in range(len(volumes) - VOLUMES + 1):
        seen, rest = volumes[first : first + VOLUMES], volumes[first + VOLUMES :]
        if is_level(seen, SPREAD, DRIFT) and (not rest or agree(fmean(rest), fmean(seen))):
            return first
    return None


def agree(one: float, other: float) -> bool:
    """Returns whether two means are equal within the precision of a steady state."""
    return abs(one - other) <= DRIFT * other


def snia_rounds(throughputs: Sequence[float]) -> int | None:
    """Returns the rounds until SNIA's steady state, including the measurement window;
    None if it is not reached.
    """
    for end in range(SNIA_ROUNDS, len(throughputs) + 1):
        window = throughputs[end - SNIA_ROUNDS : end]
        spread = max(window) - min(window)
        mean = fmean(window)
        if spread <= SNIA_RANGE * mean and rise(window) <= SNIA_SLOPE * mean:
            return end
    return None
