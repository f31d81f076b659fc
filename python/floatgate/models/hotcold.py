"""Write amplification under hot/cold traffic: a share r of the writes to a share f of the pages.

Inside the hot and inside the cold class, writes are uniform and memoryless; the classes are
fixed. alpha = T/U of the whole device; a pool's own alpha is its blocks over its logical data,
so f alpha_h + (1 - f) alpha_c = alpha. Other assumptions as in `uniform`.
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
"""A uniform law with everything but alpha fixed: alpha (> 1) to write amplification (>= 1)."""

# The search for a split leaves each pool at least this share of the spare an even split gives.
_LEAST_SPARE_SHARE = 1e-6


@dataclass(frozen=True)
class PoolSplit:
    """Hot and cold data in blocks of their own, and what that costs."""

    alpha_hot: float
    """Physical/logical ratio of the hot pool, at least 1."""
    alpha_cold: float
    """Physical/logical ratio of the cold pool, at least 1."""
    write_amplification: float
    """Data pages programmed per host page over both pools, at least 1."""


def greedy_law(b: int) -> Law:
    """Exact greedy cleaning (`greedy`) with blocks of `b` pages, as a law of alpha alone."""
    check_pages_per_block(b)
    return lambda alpha: greedy(alpha, b).write_amplification


def greedy_desnoyers_law(b: int) -> Law:
    """Desnoyers' smooth greedy cleaning with blocks of `b` pages, as a law of alpha alone."""
    check_pages_per_block(b)
    return lambda alpha: greedy_desnoyers(alpha, b)


def fifo_mixed(alpha: float, r: float, f: float) -> float:
    """Write amplification of FIFO cleaning with hot and cold pages mixed in one log.

    The log goes round once in alpha U b / A host writes, so a hot page survives with
    exp(-r alpha/(f A)) and is programmed 1/(1 - that) times per host write of its class:
        A = r/(1 - exp(-r alpha/(f A))) + (1 - r)/(1 - exp(-(1 - r) alpha/((1 - f) A))).
    The right-hand side minus A is convex in A, positive at 1 and falling without end: one root,
    no greater than alpha/(alpha - 1) because 1/(1 - e^-t) <= 1 + 1/t.
    Raises ModelError unless alpha > 1 and 1e-9 <= r, f <= 1 - 1e-9.
    Source: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012.
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
    """Pools of fixed size, each cleaned on its own: A = r law(alpha_h) + (1 - r) law(alpha_c).

    A pool sees uniform writes to its own pages, so any uniform law holds in it. The cold pool
    gets what is left: alpha_c = (alpha - f alpha_h)/(1 - f).
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
    """The pool sizes with the least write amplification under `separate_pools`.

    The uniform laws here are convex in alpha, so the cost has one valley along the split; golden
    section finds it on a log-odds scale, where tiny pools are as easy to resolve as large ones.
    With `greedy` the law is piecewise linear, so the valley may be a corner or a flat floor, of
    which one point is returned.
    Raises ModelError unless alpha > 1 and 1e-9 <= r, f <= 1 - 1e-9.
    Source: Desnoyers, SYSTOR 2012 (the optimisation over the split).
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
    """Perfect separation, one greedy cleaner over all blocks, copies stay in their pool.

    Every pool is cleaned at the same victim level, hence at the same alpha up to one level:
    separation repairs the damage of mixing but does not reach the optimal split. When a hot and
    a cold block tie, `tie` names the pool cleaned first. That pool stays at level m (theta = 0)
    until the other has moved to m - 1 (theta = 1), and only then follows; the point on the way
    is the one with f alpha_h + (1 - f) alpha_c = alpha. A tie to cold is the better one when
    r > f.
    Raises ModelError unless alpha > 1, b is an integer from 1 to 65536, 1e-9 <= r, f <= 1 - 1e-9
    and tie is "cold" or "hot".
    Source: derived here; the tie rule follows Desnoyers' published simulator (ssl-ftlsim).
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
    """Exact greedy write amplification, taking alpha = 1 (a pool without spare) as its limit b."""
    return float(b) if alpha < MIN_ALPHA else greedy(alpha, b).write_amplification
