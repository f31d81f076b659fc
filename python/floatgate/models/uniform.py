"""Write amplification of a page-mapped device under uniform random single-page writes.

Common assumptions: there are T blocks of b pages, with T -> infinity. Every logical page is written
and never trimmed, and every host write hits each page with equal probability. One write frontier
takes both host data and cleaning copies. The state is steady. alpha = T/U is the physical/logical
ratio. Write amplification A counts data pages programmed per host page, without mapping traffic.
With u, the mean valid share of a cleaned block, A = 1/(1 - u).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from .checks import check_alpha, check_choices, check_pages_per_block
from .numeric import falling_root, lambert_w0


def fifo(alpha: float) -> float:
    """Returns the write amplification of FIFO cleaning: the victim was sealed longest ago.

    Desnoyers calls this policy "LRU". Between two cleanings of a block, the log goes round once. It
    takes alpha U b programs, hence alpha U b (1 - u) host writes. Each host write misses a given
    page with probability 1 - 1/(U b). A page survives with u = exp(-alpha (1 - u)), so
    A = alpha/(alpha + W0(-alpha e^-alpha)), for any block size. Raises ModelError unless alpha > 1.

    Source: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012; Xiang and
    Kurkoski, "An improved analytic expression for write amplification in NAND flash", ICNC 2012.
    """
    check_alpha(alpha)
    # As alpha -> 1, W0 approaches its branch point and loses half its digits. It therefore only
    # starts Newton's method on v = 1 - exp(-alpha v), with v = 1 - u. The left side minus the right
    # is convex in v, with its minimum at ln(alpha)/alpha. From any point to the right of the
    # minimum, Newton's method finds the root.
    freed = 1.0 + lambert_w0(-alpha * math.exp(-alpha)) / alpha
    freed = max(freed, 1.5 * math.log(alpha) / alpha)
    for _ in range(60):
        slope = 1.0 - alpha * math.exp(-alpha * freed)
        step = (freed + math.expm1(-alpha * freed)) / slope
        freed -= step
        if abs(step) <= 1e-15 * freed:
            break
    return 1.0 / min(freed, 1.0)


@dataclass(frozen=True)
class GreedyState:
    """Steady state of greedy cleaning: the valid pages of its victims, and their cost."""

    level: int
    """m, pages: every victim has m or m - 1 valid pages; 0 if victims are always empty."""
    theta: float
    """Position between the two levels, 0 to 1: the mean victim has m - theta valid pages."""
    pages_per_block: int
    """b, pages."""

    @property
    def mean_victim_valid(self) -> float:
        """Mean valid pages of a victim, from 0 to b - 1."""
        return self.level - self.theta

    @property
    def write_amplification(self) -> float:
        """Data pages programmed per host page, from 1 to b."""
        return self.pages_per_block / (self.pages_per_block - self.mean_victim_valid)


def greedy(alpha: float, b: int) -> GreedyState:
    """Returns the steady state of cleaning the block with the fewest valid pages.

    The result is exact as T -> infinity. With infinitely many blocks, the victim level is sharp. A
    block is sealed full and loses its n-th valid page at a rate proportional to n, so C/n blocks
    hold n pages for n > m. Of the blocks that reach m, only the share theta is left there to fall
    to m - 1, which adds theta C/m blocks. Counting blocks and valid pages gives
        alpha = b (H_b - H_m + theta/m) / (b - m + theta),   A = b/(b - m + theta)
    with harmonic numbers H. The right-hand side rises with theta, and theta = 1 at m equals
    theta = 0 at m - 1, so every alpha up to H_b has one solution. Beyond H_b, victims are empty and
    A = 1. For fixed m, A is a straight line in alpha: the law is convex and piecewise linear.

    Raises ModelError unless alpha > 1 and b is an integer from 1 to 65536. Source: the large-system
    limit of Bux and Iliadis, "Performance of greedy garbage collection in flash-based solid-state
    drives", Performance Evaluation 67(11), 2010; derived here.
    """
    check_alpha(alpha)
    check_pages_per_block(b)
    corners = greedy_corners(b)
    above = max(1, bisect_right(corners, alpha))
    level = b - above
    if level == 0:
        return GreedyState(level=0, theta=0.0, pages_per_block=b)
    freed = b - level
    theta = freed * (alpha - corners[above - 1]) / (b / level - alpha)
    return GreedyState(level=level, theta=min(max(theta, 0.0), 1.0), pages_per_block=b)


@lru_cache(maxsize=16)
def greedy_corners(b: int) -> tuple[float, ...]:
    """Returns the values of alpha where the greedy level changes.

    Entry i belongs to m = b - 1 - i and theta = 0. The values rise from 1 (each cleaning frees one
    page) to H_b (victims are empty). They are cached, because an optimal split needs the same block
    size hundreds of times.
    """
    corners = []
    harmonic_difference = 0.0
    for freed in range(1, b + 1):
        harmonic_difference += 1.0 / (b - freed + 1)
        corners.append(b * harmonic_difference / freed)
    return tuple(corners)


def greedy_desnoyers(alpha: float, b: int) -> float:
    """Returns the write amplification of greedy cleaning with a smooth victim level (Desnoyers).

    With f(n) = C/n blocks holding n pages for X0 <= n <= b, and the sums taken as integrals,
        X0 = 1/2 - (b/alpha) W0(-s alpha e^(-s alpha)),  A = b/(b - (X0 - 1)),  s = 1 + 1/(2b).
    As -W0(-x e^-x)/x is FIFO's surviving share at x, A equals fifo(s alpha)/s, and is computed that
    way. For S_f of 7 % and more, it is within 12 % of `greedy` at b = 4 and within 0.1 % at
    b = 128. With less spare the gap grows: to 0.2 % at b = 128 and S_f = 4 %. If X0 < 1, the
    victims are empty and the result is limited to 1.

    Raises ModelError unless alpha > 1 and b is an integer from 1 to 65536. Source: Desnoyers,
    "Analytic modeling of SSD write performance", SYSTOR 2012.
    """
    check_alpha(alpha)
    check_pages_per_block(b)
    stretch = 1.0 + 0.5 / b
    return max(1.0, fifo(stretch * alpha) / stretch)


def d_choices(alpha: float, b: int, d: int) -> float:
    """Returns the write amplification of cleaning the emptiest of d randomly drawn blocks.

    This is a mean field model. F_j is the share of blocks with at least j valid pages. Downward
    from F_{b+1} = 0, it solves
        1 - F_j^d = c j (F_j - F_{j+1}),
    with c such that the F_j sum to b/alpha. On the left, a cleaned block with fewer than j pages is
    replaced by a full one; on the right, pages die at equal rates. The sum of the equations over j
    shows that victims hold b - c b/alpha pages on average, so A = alpha/c. The range
    1 <= A <= alpha/(alpha - 1) brackets c. Blocks are drawn with replacement; d = 1 is `random`,
    and d -> infinity is `greedy`.

    Raises ModelError unless alpha > 1, b is an integer from 1 to 65536 and d an integer >= 1.
    Source: Van Houdt, "A mean field model for a class of garbage collection algorithms in
    flash-based solid state drives", SIGMETRICS 2013.
    """
    check_alpha(alpha)
    check_pages_per_block(b)
    check_choices(d)
    if d == 1:
        return random(alpha)
    goal = b / alpha
    rate = falling_root(lambda c: _mean_valid(c, b, d) - goal, alpha - 1.0, alpha)
    return alpha / rate


def _mean_valid(c: float, b: int, d: int) -> float:
    """Returns the mean valid pages of a block, the sum of the F_j; falls as the rate `c` rises."""
    total = 0.0
    tail = 0.0
    for j in range(b, 0, -1):
        tail = _share_at_least(c * j, tail, d)
        total += tail
    return total


def _share_at_least(rate: float, above: float, d: int) -> float:
    """Returns F with F^d + rate F = 1 + rate above, in [above, 1].

    The left side is convex and rising, and F = 1 is right of the root, so Newton's method falls
    from there onto the root. A step that does not fall is due to rounding, and ends the iteration.
    """
    share = 1.0
    while True:
        power = share ** (d - 1)
        excess = share * power + rate * (share - above) - 1.0
        lower = share - excess / (d * power + rate)
        if not lower < share * (1.0 - 1e-16):
            return share
        share = lower


def random(alpha: float) -> float:
    """Returns the write amplification of a randomly drawn victim: A = alpha/(alpha - 1) = 1/S_f.

    A random victim is as full as the average block, u = 1/alpha, whatever the traffic. Raises
    ModelError unless alpha > 1. Source: Van Houdt, SIGMETRICS 2013 (d = 1).
    """
    check_alpha(alpha)
    return alpha / (alpha - 1.0)


def agarwal_marrow(alpha: float) -> float:
    """Returns the early estimate A = (1 + OP)/(2 OP), for comparison with papers that quote it.

    If valid shares spread evenly from the victim's u up to 1, with mean 1 - S_f, then
    u = 1 - 2 S_f. The estimate is near FIFO at small spare. Beyond alpha = 2 it falls below 1,
    which no device can reach.

    Raises ModelError unless alpha > 1. Source: Agarwal and Marrow, "A closed-form expression for
    write amplification in NAND flash", GLOBECOM Workshops 2010.
    """
    check_alpha(alpha)
    return alpha / (2.0 * (alpha - 1.0))
