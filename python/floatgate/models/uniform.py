"""Write amplification of a page-mapped device under uniform random single-page writes.

Common assumptions: T blocks of b pages with T -> infinity, every logical page written and never
trimmed, every host write hits each of them with equal chance, one write frontier takes host data
and cleaning copies alike, steady state. alpha = T/U is the physical/logical ratio. Write
amplification A counts data pages programmed per host page, without mapping traffic; with u the
mean valid share of a cleaned block, A = 1/(1 - u).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from .checks import check_alpha, check_choices, check_pages_per_block
from .numeric import falling_root, lambert_w0


def fifo(alpha: float) -> float:
    """Write amplification when the block sealed longest ago is cleaned ("LRU" in Desnoyers).

    Between two cleanings of a block the log goes round once: alpha U b programs, hence
    alpha U b (1 - u) host writes, each missing a given page with chance 1 - 1/(U b). A page
    survives with u = exp(-alpha (1 - u)), and so A = alpha/(alpha + W0(-alpha e^-alpha)),
    whatever the block size. Raises ModelError unless alpha > 1.
    Source: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012; Xiang and
    Kurkoski, "An improved analytic expression for write amplification in NAND flash", ICNC 2012.
    """
    check_alpha(alpha)
    # W0 stands at its branch point as alpha -> 1 and sheds half its digits, so it only starts
    # Newton's method on v = 1 - exp(-alpha v), v = 1 - u. That difference is convex in v, with
    # its least value at ln(alpha)/alpha: from anywhere right of that, Newton finds the root.
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
    """Steady state of greedy cleaning: what its victims hold and what that costs."""

    level: int
    """m, pages: every victim holds m or m - 1 valid pages; 0 when victims are always empty."""
    theta: float
    """Position between the two levels, 0 to 1: the mean victim holds m - theta valid pages."""
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
    """Steady state when the block with the fewest valid pages is cleaned; exact as T -> infinity.

    With infinitely many blocks the victim level is sharp. A block is sealed full and loses its
    n-th valid page at a rate proportional to n, so blocks holding n pages number C/n for n > m;
    of those that reach m, only the share theta is left there to fall to m - 1, and adds theta C/m.
    Counting blocks and valid pages:
        alpha = b (H_b - H_m + theta/m) / (b - m + theta),   A = b/(b - m + theta)
    with harmonic numbers H. The right-hand side rises with theta, and theta = 1 at m is theta = 0
    at m - 1, so every alpha up to H_b has one solution; beyond H_b victims are empty and A = 1.
    For fixed m, A is a straight line in alpha: the law is convex and piecewise linear.
    Raises ModelError unless alpha > 1 and b is an integer from 1 to 65536.
    Source: the large-system limit of Bux and Iliadis, "Performance of greedy garbage collection
    in flash-based solid-state drives", Performance Evaluation 67(11), 2010; derived here.
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
    """Values of alpha where the greedy level changes: entry i belongs to m = b - 1 - i, theta = 0.

    Rises from 1 (one page freed a cleaning) to H_b (victims empty). Kept, because an optimal
    split asks for the same block size hundreds of times.
    """
    corners = []
    harmonic_difference = 0.0
    for freed in range(1, b + 1):
        harmonic_difference += 1.0 / (b - freed + 1)
        corners.append(b * harmonic_difference / freed)
    return tuple(corners)


def greedy_desnoyers(alpha: float, b: int) -> float:
    """Write amplification of greedy cleaning with a smooth victim level (Desnoyers).

    With f(n) = C/n blocks holding n pages for X0 <= n <= b and the sums taken as integrals,
        X0 = 1/2 - (b/alpha) W0(-s alpha e^(-s alpha)),  A = b/(b - (X0 - 1)),  s = 1 + 1/(2b).
    As -W0(-x e^-x)/x is FIFO's surviving share at x, this is the same as fifo(s alpha)/s, which
    is how it is computed. From S_f = 7 % up it is within 12 % of `greedy` at b = 4 and 0.1 % at
    b = 128; with less spare the gap grows (0.2 % at b = 128 and 4 %). Where X0 < 1 the victims
    are empty and the result is held at 1.
    Raises ModelError unless alpha > 1 and b is an integer from 1 to 65536.
    Source: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012.
    """
    check_alpha(alpha)
    check_pages_per_block(b)
    stretch = 1.0 + 0.5 / b
    return max(1.0, fifo(stretch * alpha) / stretch)


def d_choices(alpha: float, b: int, d: int) -> float:
    """Write amplification when the emptiest of d randomly drawn blocks is cleaned (mean field).

    F_j, the share of blocks with at least j valid pages, solves downward from F_{b+1} = 0
        1 - F_j^d = c j (F_j - F_{j+1}),
    (left: a cleaned block with fewer than j pages is replaced by a full one; right: pages die at
    equal rates), with c such that the F_j sum to b/alpha. Summing the equations over j shows that
    victims hold b - c b/alpha pages on average, so A = alpha/c, and 1 <= A <= alpha/(alpha - 1)
    brackets c. Blocks are drawn with replacement; d = 1 is `random`, d -> infinity is `greedy`.
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
    """Mean valid pages of a block (the sum of the F_j) for death rate `c`; falls as c rises."""
    total = 0.0
    tail = 0.0
    for j in range(b, 0, -1):
        tail = _share_at_least(c * j, tail, d)
        total += tail
    return total


def _share_at_least(rate: float, above: float, d: int) -> float:
    """F with F^d + rate F = 1 + rate above, in [above, 1].

    The left side is convex and rising and F = 1 is right of the root, so Newton's method from
    there falls onto it; the first step that does not fall is rounding, and ends it.
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
    """Write amplification when the victim is drawn blindly: A = alpha/(alpha - 1) = 1/S_f.

    A blind victim is as full as the average block, u = 1/alpha, whatever the traffic.
    Raises ModelError unless alpha > 1. Source: Van Houdt, SIGMETRICS 2013 (d = 1).
    """
    check_alpha(alpha)
    return alpha / (alpha - 1.0)


def agarwal_marrow(alpha: float) -> float:
    """Early estimate A = (1 + OP)/(2 OP), kept for comparison with papers that quote it.

    Valid shares spread evenly from the victim's u up to 1, with mean 1 - S_f, give u = 1 - 2 S_f.
    Near FIFO at small spare; falls below 1, which no device can, beyond alpha = 2.
    Raises ModelError unless alpha > 1. Source: Agarwal and Marrow, "A closed-form expression for
    write amplification in NAND flash", GLOBECOM Workshops 2010.
    """
    check_alpha(alpha)
    return alpha / (2.0 * (alpha - 1.0))
