"""Closed forms for uniform writes: computed tables, published points, limits, a tiny simulator."""

from __future__ import annotations

import math
import random as rng
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import lambertw

from floatgate import models
from floatgate.models import ModelError

ALPHAS = st.floats(1.001, 20.0)
BLOCKS = st.integers(1, 300)

# Columns: S_f; FIFO; greedy b = 64, 128, 256; Desnoyers b = 64, 128; d = 2 and d = 10 at b = 64;
# random.
TABLE = """
0.04  12.6712 10.6301 11.5640 12.0929 10.6283 11.5589 16.3754 11.2606 25.0000
0.05  10.1724  8.8501  9.4605  9.7979  8.8206  9.4476 13.2662  9.2842 20.0000
0.07   7.3177  6.6155  6.9450  7.1240  6.6001  6.9400  9.6354  6.8939 14.2857
0.08   6.4261  5.8733  6.1364  6.2777  5.8696  6.1349  8.4822  6.1159 12.5000
1/11   5.6775  5.2471  5.4532  5.5617  5.2418  5.4507  7.5061  5.4502 11.0000
0.10   5.1787  4.8213  4.9922  5.0832  4.8159  4.9904  6.8516  5.0002 10.0000
0.13   4.0288  3.8124  3.9172  3.9720  3.8103  3.9163  5.3293  3.9423  7.6923
0.15   3.5187  3.3536  3.4344  3.4759  3.3532  3.4339  4.6475  3.4636  6.6667
0.20   2.6927  2.5993  2.6449  2.6684  2.5982  2.6446  3.5330  2.6754  5.0000
3/13   2.3642  2.2928  2.3278  2.3459  2.2927  2.3279  3.0854  2.3574  4.3333
0.25   2.2007  2.1396  2.1696  2.1851  2.1395  2.1697  2.8613  2.1980  4.0000
0.28   1.9916  1.9425  1.9667  1.9791  1.9425  1.9667  2.5732  1.9932  3.5714
0.30   1.8762  1.8333  1.8544  1.8652  1.8332  1.8544  2.4132  1.8796  3.3333
0.40   1.4798  1.4550  1.4674  1.4736  1.4551  1.4674  1.8555  1.4867  2.5000
0.50   1.2550  1.2389  1.2469  1.2509  1.2387  1.2468  1.5262  1.2612  2.0000
"""


def share(text: str) -> float:
    """Reads "0.07" or "1/11"."""
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


def greedy_wa(alpha: float, b: int) -> float:
    """Returns only the write amplification of `greedy`."""
    return models.greedy(alpha, b).write_amplification


@pytest.mark.parametrize("line", TABLE.strip().splitlines())
def test_table(line: str) -> None:
    spare, *printed = line.split()
    alpha = models.alpha_from_spare_factor(share(spare))
    computed = [
        models.fifo(alpha),
        *(greedy_wa(alpha, b) for b in (64, 128, 256)),
        *(models.greedy_desnoyers(alpha, b) for b in (64, 128)),
        *(models.d_choices(alpha, 64, d) for d in (2, 10)),
        models.random(alpha),
    ]
    assert [f"{value:.4f}" for value in computed] == printed


@pytest.mark.parametrize(
    ("b", "spare", "level", "theta", "mean"),
    [
        (64, 0.10, 51, 0.2745, 50.73),
        (128, 0.07, 110, 0.4305, 109.57),
        (64, 0.20, 40, 0.6221, 39.38),
    ],
)
def test_victim_levels(b: int, spare: float, level: int, theta: float, mean: float) -> None:
    state = models.greedy(models.alpha_from_spare_factor(spare), b)
    assert (state.level, round(state.theta, 4)) == (level, theta)
    assert round(state.mean_victim_valid, 2) == mean
    assert state.write_amplification == pytest.approx(1 / (1 - state.mean_victim_valid / b))


@pytest.mark.parametrize(
    ("b", "printed"),
    [
        (4, ["3.0968", "2.6667", "1.8000"]),
        (16, ["5.1535", "3.9814", "2.3610"]),
        (32, ["6.0571", "4.5082", "2.5136"]),
    ],
)
def test_small_blocks(b: int, printed: list[str]) -> None:
    computed = [greedy_wa(1 / (1 - spare), b) for spare in (0.07, 0.10, 0.20)]
    assert [f"{value:.4f}" for value in computed] == printed


@pytest.mark.parametrize(
    ("d", "printed"),
    [
        (1, [14.286, 10.000, 5.000]),
        (2, [9.810, 6.941, 3.556]),
        (3, [8.525, 6.063, 3.142]),
        (5, [7.663, 5.474, 2.866]),
        (10, [7.182, 5.148, 2.714]),
        (20, [7.024, 5.042, 2.666]),
        (100, [6.952, 4.997, 2.646]),
    ],
)
def test_d_sweep(d: int, printed: list[float]) -> None:
    computed = [models.d_choices(1 / (1 - spare), 128, d) for spare in (0.07, 0.10, 0.20)]
    assert [round(value, 3) for value in computed] == printed


def test_d_choices_against_a_second_solver() -> None:
    """Uses a free search for c, a general root finder, and write amplification from the victims'
    mean."""

    def balance(x: float, above: float, rate: float, d: int) -> float:
        return 1 - x**d - rate * (x - above)

    def shares(c: float, b: int, d: int) -> list[float]:
        found = [0.0]
        for j in range(b, 0, -1):
            found.append(brentq(balance, 0, 1, args=(found[-1], c * j, d), xtol=1e-15))
        return found[1:]

    def surplus(c: float, b: int, d: int, spare: float) -> float:
        return sum(shares(c, b, d)) - (1 - spare) * b

    for b, d, spare in [(128, 3, 0.07), (128, 5, 0.07), (128, 100, 0.20), (5, 2, 0.3), (1, 4, 0.5)]:
        c = brentq(surplus, 1e-3, 50, args=(b, d, spare), xtol=1e-14)
        victim = sum(x**d for x in shares(c, b, d))
        assert models.d_choices(1 / (1 - spare), b, d) == pytest.approx(b / (b - victim), rel=1e-9)


def test_published_points() -> None:
    alpha = models.alpha_from_over_provisioning(0.3)
    assert round(models.fifo(alpha), 3) == 2.364
    assert round(models.agarwal_marrow(alpha), 2) == 2.17


@given(st.floats(1.01, 50.0))
def test_fifo_is_its_lambert_form(alpha: float) -> None:
    w = lambertw(-alpha * math.exp(-alpha)).real
    assert models.fifo(alpha) == pytest.approx(alpha / (alpha + w), rel=1e-10)
    u = 1 - 1 / models.fifo(alpha)
    assert u == pytest.approx(math.exp(-alpha * (1 - u)), rel=1e-9, abs=1e-15)


@given(st.floats(-8.9, -2.0))
def test_fifo_keeps_digits_at_little_spare(log_spare: float) -> None:
    """The two leading terms of the series A = 1/(2 e) + 2/3 + ..., with e = alpha - 1."""
    alpha = 1.0 + 10.0**log_spare
    e = alpha - 1.0
    expected = 1 / (2 * e) + 2 / 3
    assert models.fifo(alpha) == pytest.approx(expected, rel=e * e + 1e-15 / e)


@given(st.floats(1.01, 10.0), BLOCKS)
def test_desnoyers_is_its_lambert_form(alpha: float, b: int) -> None:
    x = (1 + 1 / (2 * b)) * alpha
    x0 = 0.5 - b / alpha * lambertw(-x * math.exp(-x)).real
    expected = max(1.0, b / (b - (x0 - 1)))
    assert models.greedy_desnoyers(alpha, b) == pytest.approx(expected, rel=1e-9)


@given(ALPHAS, BLOCKS)
def test_greedy_solves_its_equation(alpha: float, b: int) -> None:
    state = models.greedy(alpha, b)
    m, theta = state.level, state.theta
    harmonic = sum(1 / n for n in range(m + 1, b + 1))
    if m == 0:
        assert alpha >= harmonic * (1 - 1e-12)
        assert state.write_amplification == 1
    else:
        assert 0 <= theta <= 1
        right = b * (harmonic + theta / m) / (b - m + theta)
        assert right == pytest.approx(alpha, rel=1e-12)


@given(ALPHAS, BLOCKS)
def test_order_of_the_laws(alpha: float, b: int) -> None:
    greedy, fifo = greedy_wa(alpha, b), models.fifo(alpha)
    slack = 1 + 1e-9
    assert 1 <= greedy <= fifo * slack
    assert 1 <= models.greedy_desnoyers(alpha, b) <= fifo * slack
    assert fifo <= models.random(alpha) * slack
    assert greedy <= b


@settings(deadline=None)
@given(ALPHAS, st.integers(1, 64), st.integers(1, 200), st.integers(1, 200))
def test_more_choices_never_cost(alpha: float, b: int, d: int, more: int) -> None:
    few, many = models.d_choices(alpha, b, d), models.d_choices(alpha, b, d + more)
    assert greedy_wa(alpha, b) <= many * (1 + 1e-9)
    assert many <= few * (1 + 1e-9)
    assert few <= models.random(alpha) * (1 + 1e-9)


@settings(deadline=None)
@given(ALPHAS, st.floats(1.0001, 3.0), st.integers(1, 64), st.integers(1, 20))
def test_spare_never_costs(alpha: float, factor: float, b: int, d: int) -> None:
    laws: list[Callable[[float], float]] = [
        models.fifo,
        models.random,
        models.agarwal_marrow,
        lambda a: greedy_wa(a, b),
        lambda a: models.greedy_desnoyers(a, b),
        lambda a: models.d_choices(a, b, d),
    ]
    for law in laws:
        assert law(alpha * factor) <= law(alpha) * (1 + 1e-9)


@given(ALPHAS, st.floats(1.0001, 2.0), BLOCKS)
def test_greedy_is_convex(alpha: float, factor: float, b: int) -> None:
    middle = (alpha + alpha * factor) / 2
    ends = greedy_wa(alpha, b) + greedy_wa(alpha * factor, b)
    assert greedy_wa(middle, b) <= ends / 2 * (1 + 1e-9)


@pytest.mark.parametrize("spare", [0.04, 0.07, 0.1, 0.2, 0.28, 0.45])
def test_limits(spare: float) -> None:
    alpha = 1 / (1 - spare)
    assert models.d_choices(alpha, 64, 1) == models.random(alpha)
    assert models.d_choices(alpha, 64, 1_000_000) == pytest.approx(greedy_wa(alpha, 64), rel=2e-6)
    assert greedy_wa(alpha, 65536) == pytest.approx(models.fifo(alpha), rel=1e-3)
    by_size = [greedy_wa(alpha, b) for b in (4, 8, 16, 32, 64, 128, 256, 512, 1024)]
    assert by_size == sorted(by_size)
    assert models.fifo(alpha) < models.d_choices(alpha, 64, 2) < models.random(alpha)


def test_d_continues_to_random_just_above_one_choice() -> None:
    """The general recursion, not only the shortcut, equals `random` at d = 1."""
    from floatgate.models.uniform import _mean_valid

    assert _mean_valid(0.25, 64, 1) == pytest.approx(64 / 1.25)


def test_ten_choices_cross_fifo() -> None:
    for spare, better in [(0.10, True), (0.25, True), (0.28, False), (0.40, False)]:
        alpha = 1 / (1 - spare)
        assert (models.d_choices(alpha, 64, 10) < models.fifo(alpha)) is better


def test_smooth_level_error() -> None:
    """The documented accuracy: 12 % at b = 4, 0.1 % at b = 128 from 7 % spare, 0.2 % at 4 %."""

    def worst(b: int, low: int) -> float:
        alphas = [1000 / (1000 - s) for s in range(low, 501)]
        return max(abs(models.greedy_desnoyers(a, b) / greedy_wa(a, b) - 1) for a in alphas)

    assert 0.11 < worst(4, 70) < 0.12
    assert worst(128, 70) < 0.001
    assert 0.001 < worst(128, 40) < 0.002


@pytest.mark.parametrize("policy", ["greedy", "fifo", "d2", "random"])
def test_against_a_tiny_simulator(policy: str) -> None:
    b, data_blocks, spare_blocks = 16, 160, 40
    alpha = (data_blocks + spare_blocks) / data_blocks
    expected = {
        "greedy": greedy_wa(alpha, b),
        "fifo": models.fifo(alpha),
        "d2": models.d_choices(alpha, b, 2),
        "random": models.random(alpha),
    }[policy]
    assert simulate(policy, b, data_blocks, spare_blocks) == pytest.approx(expected, rel=0.03)


def simulate(policy: str, b: int, data_blocks: int, spare_blocks: int) -> float:
    """Returns write amplification over 8 volumes after 3 volumes of warm-up. One open unit is
    additional to the T blocks."""
    dice = rng.Random(7)
    pages = data_blocks * b
    home = [page // b for page in range(pages)]
    live = [set(range(k * b, k * b + b)) for k in range(data_blocks)]
    live += [set() for _ in range(spare_blocks)]
    sealed = list(range(data_blocks + spare_blocks))
    frontier, room, programs = len(live), b, 0
    live.append(set())
    for write in range(11 * pages):
        queue = [dice.randrange(pages)]
        live[home[queue[0]]].discard(queue[0])
        if write == 3 * pages:
            programs = 0
        while queue:
            if room == 0:
                sealed.append(frontier)
                picks = {
                    "greedy": range(len(sealed)),
                    "fifo": [0],
                    "d2": [dice.randrange(len(sealed)) for _ in range(2)],
                    "random": [dice.randrange(len(sealed))],
                }[policy]
                victim = sealed.pop(min(picks, key=lambda at: len(live[sealed[at]])))
                queue = sorted(live[victim]) + queue
                live[victim] = set()
                frontier, room = victim, b
            page = queue.pop(0)
            home[page] = frontier
            live[frontier].add(page)
            room -= 1
            programs += 1
    return programs / (8 * pages)


@pytest.mark.parametrize("alpha", [1.0, 0.5, -2.0, math.inf, math.nan])
def test_alpha_range(alpha: float) -> None:
    for law in (models.fifo, models.random, models.agarwal_marrow):
        with pytest.raises(ModelError, match=r"alpha is .*, expected"):
            law(alpha)
    for sized in (models.greedy, models.greedy_desnoyers):
        with pytest.raises(ModelError, match=r"alpha is .*, expected"):
            sized(alpha, 64)
    with pytest.raises(ModelError, match=r"alpha is .*, expected"):
        models.d_choices(alpha, 64, 2)


@pytest.mark.parametrize("b", [0, -1, 65537, 1.5, True])
def test_block_range(b: int) -> None:
    for sized in (models.greedy, models.greedy_desnoyers):
        with pytest.raises(ModelError, match=r"pages per block is .*, expected an integer"):
            sized(1.1, b)


@pytest.mark.parametrize("d", [0, -3, 2.5])
def test_choices_range(d: int) -> None:
    with pytest.raises(ModelError, match=r"d is .*, expected an integer"):
        models.d_choices(1.1, 64, d)
