"""When write amplification has become steady: rules for a series of windows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

VOLUMES = 10
"""Volumes in a row that must agree."""

SPREAD = 0.01
"""None of them is further from their mean than this share of it."""

DRIFT = 0.005
"""The line fitted to them rises or falls by at most this share of it, and means agree to this."""

SNIA_ROUNDS = 5
SNIA_RANGE = 0.20
SNIA_SLOPE = 0.10
"""The measurement window of SNIA's Solid State Storage Performance Test Specification 2.0.2,
2.1.24: so many rounds whose range is at most 20 % of their average, and over which the line fitted
to them rises or falls by at most 10 % of it."""


def is_level(values: Sequence[float], spread: float, drift: float) -> bool:
    """Whether values are level: none too far from their mean, and no slope that is too steep.

    `spread` and `drift` are shares of the mean: of the largest deviation from it, and of what the
    line of least squares rises or falls by from the first to the last.
    """
    mean = fmean(values)
    far = max(abs(value - mean) for value in values)
    return far <= spread * mean and rise(values) <= drift * mean


def rise(values: Sequence[float]) -> float:
    """By how much the line of least squares rises or falls over the values."""
    middle = (len(values) - 1) / 2
    products = sum((at - middle) * value for at, value in enumerate(values))
    squares = sum((at - middle) ** 2 for at in range(len(values)))
    return abs(products / squares) * (len(values) - 1)


def steady_from(volumes: Sequence[float]) -> int | None:
    """The first volume from which on a series is steady; None where it is not.

    `volumes` has the write amplification of each volume (drive capacity) written. Ten in a row are
    level, and all that follow has the same mean.
    """
    for first in range(len(volumes) - VOLUMES + 1):
        seen, rest = volumes[first : first + VOLUMES], volumes[first + VOLUMES :]
        if is_level(seen, SPREAD, DRIFT) and (not rest or agree(fmean(rest), fmean(seen))):
            return first
    return None


def agree(one: float, other: float) -> bool:
    """Whether two means are the same, as far as a steady state is known."""
    return abs(one - other) <= DRIFT * other


def snia_rounds(throughputs: Sequence[float]) -> int | None:
    """Rounds until SNIA's steady state, the measurement window included; None where it is not
    reached."""
    for end in range(SNIA_ROUNDS, len(throughputs) + 1):
        window = throughputs[end - SNIA_ROUNDS : end]
        spread = max(window) - min(window)
        mean = fmean(window)
        if spread <= SNIA_RANGE * mean and rise(window) <= SNIA_SLOPE * mean:
            return end
    return None
