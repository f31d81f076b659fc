"""Lambert W, bisection and golden section, with the standard library only."""

from __future__ import annotations

import math
from collections.abc import Callable

from .checks import ModelError

# 1/e in two doubles: near the branch point, x + 1/e needs digits beyond a single double.
_INV_E_HIGH = 0.36787944117144233
_INV_E_LOW = -1.2428753672788363e-17

# (n - 1)/n! for n = 2 ..: 1 + (v - 1) e^v is the sum of these times v^n, without cancellation.
_BRANCH_SERIES = tuple((n - 1) / math.factorial(n) for n in range(2, 20))


def lambert_w0(x: float) -> float:
    """Returns the principal branch of Lambert's W: the w >= -1 with w e^w = x.

    Range: finite x >= -1/e (the double nearest to -1/e gives -1); raises ModelError otherwise. Uses
    Halley's iteration on w - x e^-w, which cannot overflow, unlike w e^w - x. Source: Corless,
    Gonnet, Hare, Jeffrey, Knuth, "On the Lambert W function", Advances in Computational Mathematics
    5, 1996, section 4.
    """
    if not (math.isfinite(x) and x >= -_INV_E_HIGH):
        raise ModelError(f"Lambert W argument is {x!r}, expected a finite number >= -1/e")
    if x < -0.3:
        return _lambert_near_branch(x)
    if x < math.e:
        # For negative x down to -0.3, Halley's method converges from log1p(x).
        w = math.log1p(x)
    else:
        log_x = math.log(x)
        w = log_x - math.log(log_x)
    for _ in range(50):
        residual = w - x * math.exp(-w)
        step = residual / (w + 1.0 - (w + 2.0) * residual / (2.0 * w + 2.0))
        w -= step
        # Each step of Halley's method triples the digits: after a step of 1e-8, the error is far
        # below 1e-16.
        if abs(step) <= 1e-8 * abs(w):
            break
    return w


def _lambert_near_branch(x: float) -> float:
    """Returns W0 for -1/e <= x < -0.3, where w - x e^-w cancels: solves for v = 1 + w instead.

    The equation is 1 + (v - 1) e^v = 1 + e x; both sides are small and known to full precision.
    Halley's iteration starts from the first terms of the branch-point series in
    p = sqrt(2 (1 + e x)).
    """
    goal = math.e * ((x + _INV_E_HIGH) + _INV_E_LOW)
    if goal <= 0.0:
        return -1.0
    p = math.sqrt(2.0 * goal)
    v = p * (1.0 - p * (1.0 / 3.0 - p * 11.0 / 72.0))
    for _ in range(50):
        left = 0.0
        for coefficient in reversed(_BRANCH_SERIES):
            left = left * v + coefficient
        residual = left * v * v - goal
        step = residual / (v * math.exp(v) - residual * (1.0 + v) / (2.0 * v))
        v -= step
        if abs(step) <= 1e-8 * v:
            break
    return v - 1.0


def falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Returns the point in [low, high] where a decreasing function crosses zero, to the last bit.

    Uses plain bisection: the callers know a bracket, and no other property of the function is
    needed. For a function without a sign change, returns the end that is nearer to zero.
    """
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if function(middle) > 0.0:
            low = middle
        else:
            high = middle


def golden_minimum(
    function: Callable[[float], float], low: float, high: float, tolerance: float = 1e-9
) -> float:
    """Returns the lowest point in [low, high] of a function with one valley, to `tolerance` of x.

    Golden section (Kiefer 1953) needs one evaluation a step and no derivative, so kinks do not
    matter. Within about 1e-8 of a smooth minimum, the values are equal up to rounding, whatever the
    tolerance.
    """
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > tolerance:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return 0.5 * (low + high)
