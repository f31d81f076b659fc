"""Write amplification under hot/cold traffic: a share r of the writes to a share f of the pages.

Inside each class, hot or cold, writes are uniform and memoryless. The classes are fixed. The ratio
of the whole device is alpha = T/U. A pool's own alpha is its blocks over its logical data, so
f alpha_h + (1 - f) alpha_c = alpha. Other assumptions are as in `uniform`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .checks import MIN_ALPHA, ModelError, check_alpha, check_mix, check_pages_per_block
from .numeric import falling_root, golden_minimum
from .uniform import greedy, greedy_corners, greedy_desnoyers

Law = Callable[[float], float]
"""Uniform law with all parameters fixed except alpha (> 1); gives write amplification (>= 1)."""

# The search for a split leaves each pool at least this share of the spare that it has in an even
# split.
_LEAST_SPARE_SHARE = 1e-6


@dataclass(frozen=True)
class PoolSplit:
    """Split of hot and cold data into separate blocks, and its cost."""

    alpha_hot: float
    """Physical/logical ratio of the hot pool, at least 1."""
    alpha_cold: float
    """Physical/logical ratio of the cold pool, at least 1."""
    write_amplification: float
    """Data pages programmed per host page over both pools, at least 1."""


def greedy_law(b: int) -> Law:
    """Returns exact greedy cleaning (`greedy`) with blocks of `b` pages as a law of alpha."""
    check_pages_per_block(b)
    return lambda alpha: greedy(alpha, b).write_amplification


def greedy_desnoyers_law(b: int) -> Law:
    """Returns Desnoyers' smooth greedy cleaning with blocks of `b` pages as a law of alpha."""
    check_pages_per_block(b)
    return lambda alpha: greedy_desnoyers(alpha, b)


def fifo_mixed(alpha: float, r: float, f: float) -> float:
    """Returns the write amplification of FIFO cleaning with hot and cold pages mixed in one log.

    The log goes round once in alpha U b / A host writes. A hot page therefore survives with
    probability p = exp(-r alpha/(f A)), and is programmed 1/(1 - p) times per host write of its
    class. With the same for cold pages,
        A = r/(1 - exp(-r alpha/(f A))) + (1 - r)/(1 - exp(-(1 - r) alpha/((1 - f) A))).
    The right-hand side minus A is convex in A, positive at 1 and falls without bound. It has one
    root, which is at most alpha/(alpha - 1), because 1/(1 - e^-t) <= 1 + 1/t.

    Raises ModelError unless alpha > 1 and 1e-9 <= r, f <= 1 - 1e-9. Source: Desnoyers, "Analytic
    modeling of SSD write performance", SYSTOR 2012.
    """
    check_alpha(alpha)
    check_mix(r, f)
    hot_rate, cold_rate = r * alpha / f, (1.0 - r) * alpha / (1.0 - f)

    def excess(a: float) -> float:
        hot = r / -math.expm1(-hot_rate / a)
        cold = (1.0 - r) / -math.expm1(-cold_rate / a)
        return hot + cold - a

    return falling_root(excess, 1.0, alpha / (alpha - 1.0))


def separate_pools(alpha: float, r: float, f: float, law: Law, alpha_h: float) -> PoolSplit:
    """Returns the cost of pools of fixed size, each cleaned alone.

    It is A = r law(alpha_h) + (1 - r) law(alpha_c). A pool sees uniform writes to its own pages, so
    any uniform law applies to it. The cold pool gets the remaining blocks:
    alpha_c = (alpha - f alpha_h)/(1 - f).

    Raises ModelError unless alpha > 1, 1e-9 <= r, f <= 1 - 1e-9, alpha_h > 1 and alpha_c > 1.
    Source: Desnoyers, SYSTOR 2012.
    """
    check_alpha(alpha)
    check_mix(r, f)
    check_alpha(alpha_h, "alpha of the hot pool")
    alpha_c = (alpha - f * alpha_h) / (1.0 - f)
    if alpha_c < MIN_ALPHA:
        most = (alpha - (1.0 - f)) / f
        raise ModelError(
            f"alpha of the hot pool is {alpha_h!r}, expected less than {most:.6g}, "
            "beyond which the cold data do not fit"
        )
    cost = r * law(alpha_h) + (1.0 - r) * law(alpha_c)
    return PoolSplit(alpha_h, alpha_c, cost)


def optimal_split(alpha: float, r: float, f: float, law: Law) -> PoolSplit:
    """Returns the pool sizes with the least write amplification under `separate_pools`.

    The uniform laws here are convex in alpha, so the cost has one valley along the split. Golden
    section finds it on a log-odds scale, where tiny pools are as easy to resolve as large pools.
    With `greedy`, the law is piecewise linear, so the valley may be a corner or a flat floor; then
    one point of the floor is returned.

    Raises ModelError unless alpha > 1 and 1e-9 <= r, f <= 1 - 1e-9. Source: Desnoyers, SYSTOR 2012
    (the optimisation over the split).
    """
    check_alpha(alpha)
    check_mix(r, f)
    spare = alpha - 1.0

    def split(log_odds: float) -> PoolSplit:
        hot_spare, cold_spare = 1.0 / (1.0 + math.exp(-log_odds)), 1.0 / (1.0 + math.exp(log_odds))
        alpha_h = max(MIN_ALPHA, 1.0 + spare * hot_spare / f)
        alpha_c = max(MIN_ALPHA, 1.0 + spare * cold_spare / (1.0 - f))
        return PoolSplit(alpha_h, alpha_c, r * law(alpha_h) + (1.0 - r) * law(alpha_c))

    least_hot, least_cold = _LEAST_SPARE_SHARE * f, _LEAST_SPARE_SHARE * (1.0 - f)
    best = golden_minimum(
        lambda log_odds: split(log_odds).write_amplification,
        math.log(least_hot / (1.0 - least_hot)),
        math.log((1.0 - least_cold) / least_cold),
    )
    return split(best)


def oracle_greedy_same_pool(
    alpha: float, b: int, r: float, f: float, tie: Literal["cold", "hot"] = "cold"
) -> PoolSplit:
    """Returns the cost of perfect separation under one greedy cleaner over all blocks.

    Copies stay in their pool. Every pool is cleaned at the same victim level, so the pools' alphas
    are equal up to one level. Separation repairs the damage of mixing, but does not reach the
    optimal split. If a hot and a cold block tie, `tie` names the pool that is cleaned first. That
    pool stays at level m (theta = 0) until the other pool has moved to m - 1 (theta = 1), and only
    then follows. The result is the point on this path where f alpha_h + (1 - f) alpha_c = alpha. If
    r > f, `tie` = "cold" is better.

    Raises ModelError unless alpha > 1, b is an integer from 1 to 65536, 1e-9 <= r, f <= 1 - 1e-9
    and tie is "cold" or "hot". Source: derived here; the tie rule follows Desnoyers' published
    simulator (ssl-ftlsim).
    """
    check_alpha(alpha)
    check_pages_per_block(b)
    check_mix(r, f)
    if tie not in ("cold", "hot"):
        raise ModelError(f"tie is {tie!r}, expected 'cold' or 'hot'")
    corners = greedy_corners(b)
    above = max(1, bisect_right(corners, alpha))
    if above == b:
        return PoolSplit(alpha, alpha, 1.0)
    here, below = corners[above - 1], corners[above]
    late_share = f if tie == "cold" else 1.0 - f
    if alpha <= late_share * below + (1.0 - late_share) * here:
        first, late = here, (alpha - (1.0 - late_share) * here) / late_share
    else:
        first, late = (alpha - late_share * below) / (1.0 - late_share), below
    alpha_h, alpha_c = (late, first) if tie == "cold" else (first, late)
    cost = r * _greedy_from_one(alpha_h, b) + (1.0 - r) * _greedy_from_one(alpha_c, b)
    return PoolSplit(alpha_h, alpha_c, cost)


def _greedy_from_one(alpha: float, b: int) -> float:
    """Returns exact greedy write amplification; the limit b for a pool without spare, alpha = 1."""
    return float(b) if alpha < MIN_ALPHA else greedy(alpha, b).write_amplification
