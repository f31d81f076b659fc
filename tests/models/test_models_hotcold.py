"""Closed forms for hot/cold traffic: computed tables, published point, properties."""

from __future__ import annotations

import random as rng

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from floatgate import models
from floatgate.models import ModelError

ALPHAS = st.floats(1.01, 5.0)
SHARES = st.floats(0.02, 0.98)

# Columns: S_f, r; FIFO mixed, FIFO optimal split with its alphas, Desnoyers greedy b = 128 optimal
# split. f = 1 - r.
TABLE = """
0.07 0.50 7.3177 7.3177 1.0753 1.0753 6.9400
0.07 0.60 7.3460 7.0527 1.0941 1.0627 6.6900
0.07 0.70 7.4453 6.2579 1.1254 1.0538 5.9404
0.07 0.80 7.6817 4.9351 1.1879 1.0471 4.6929
0.07 0.90 8.3582 3.0927 1.3739 1.0421 2.9565
0.07 0.95 9.4225 1.9949 1.7360 1.0405 1.9237
0.10 0.50 5.1787 5.1787 1.1111 1.1111 4.9904
0.10 0.60 5.2072 4.9996 1.1388 1.0926 4.8189
0.10 0.70 5.3063 4.4630 1.1849 1.0795 4.3047
0.10 0.80 5.5378 3.5712 1.2768 1.0697 3.4503
0.10 0.90 6.1676 2.3356 1.5484 1.0625 2.2675
0.10 0.95 7.0733 1.6117 2.0644 1.0609 1.5760
0.20 0.50 2.6927 2.6927 1.2500 1.2500 2.6446
0.20 0.60 2.7218 2.6147 1.3117 1.2088 2.5684
0.20 0.70 2.8201 2.3815 1.4141 1.1797 2.3408
0.20 0.80 3.0345 1.9975 1.6157 1.1586 1.9662
0.20 0.90 3.5329 1.4810 2.1878 1.1458 1.4628
0.20 0.95 4.0745 1.2010 3.1618 1.1494 1.1907
"""


@pytest.mark.parametrize("line", TABLE.strip().splitlines())
def test_table(line: str) -> None:
    spare, share, *printed = line.split()
    alpha, r = models.alpha_from_spare_factor(float(spare)), float(share)
    fifo = models.optimal_split(alpha, r, 1 - r, models.fifo)
    greedy = models.optimal_split(alpha, r, 1 - r, models.greedy_desnoyers_law(128))
    computed = [
        models.fifo_mixed(alpha, r, 1 - r),
        fifo.write_amplification,
        fifo.alpha_hot,
        fifo.alpha_cold,
        greedy.write_amplification,
    ]
    assert [f"{value:.4f}" for value in computed] == printed


@pytest.mark.parametrize(
    ("b", "spare", "r", "tie_cold", "tie_hot"),
    [
        (64, 0.10, 0.8, "4.6339", "4.8976"),
        (64, 0.10, 0.9, "4.5992", "4.9118"),
        (128, 0.07, 0.8, "6.7889", "7.0696"),
        (128, 0.07, 0.9, "6.7600", "7.0927"),
        (64, 0.20, 0.8, "2.5698", "2.6498"),
        (64, 0.20, 0.9, "2.5644", "2.6592"),
    ],
)
def test_same_pool_values(b: int, spare: float, r: float, tie_cold: str, tie_hot: str) -> None:
    alpha = 1 / (1 - spare)
    cold = models.oracle_greedy_same_pool(alpha, b, r, 1 - r, "cold")
    hot = models.oracle_greedy_same_pool(alpha, b, r, 1 - r, "hot")
    assert f"{cold.write_amplification:.4f}" == tie_cold
    assert f"{hot.write_amplification:.4f}" == tie_hot
    assert models.oracle_greedy_same_pool(alpha, b, r, 1 - r) == cold


def test_published_point() -> None:
    assert round(models.fifo_mixed(1.0914, 0.7258, 0.1420), 3) == 6.589


def test_optimal_greedy_split_quoted_beside_cost_benefit() -> None:
    for r, smooth, exact in [(0.8, "3.338", "3.340"), (0.9, "2.204", "2.204")]:
        best = models.optimal_split(1 / 0.9, r, 1 - r, models.greedy_desnoyers_law(64))
        assert f"{best.write_amplification:.3f}" == smooth
        best = models.optimal_split(1 / 0.9, r, 1 - r, models.greedy_law(64))
        assert f"{best.write_amplification:.3f}" == exact


@given(ALPHAS, SHARES)
def test_equal_shares_are_uniform(alpha: float, f: float) -> None:
    assert models.fifo_mixed(alpha, f, f) == pytest.approx(models.fifo(alpha), rel=1e-9)
    best = models.optimal_split(alpha, f, f, models.fifo)
    assert best.write_amplification == pytest.approx(models.fifo(alpha), rel=1e-9)
    for tie in ("cold", "hot"):
        pools = models.oracle_greedy_same_pool(alpha, 64, f, f, tie)
        expected = models.greedy(alpha, 64).write_amplification
        assert pools.write_amplification == pytest.approx(expected, rel=1e-9)


@given(ALPHAS, SHARES, SHARES)
def test_names_of_the_classes_do_not_matter(alpha: float, r: float, f: float) -> None:
    mixed = models.fifo_mixed(alpha, r, f)
    assert mixed == pytest.approx(models.fifo_mixed(alpha, 1 - r, 1 - f), rel=1e-9)
    one = models.optimal_split(alpha, r, f, models.fifo)
    other = models.optimal_split(alpha, 1 - r, 1 - f, models.fifo)
    assert one.write_amplification == pytest.approx(other.write_amplification, rel=1e-9)
    tie_cold = models.oracle_greedy_same_pool(alpha, 32, r, f, "cold")
    tie_hot = models.oracle_greedy_same_pool(alpha, 32, 1 - r, 1 - f, "hot")
    assert tie_cold.write_amplification == pytest.approx(tie_hot.write_amplification, rel=1e-9)


@given(ALPHAS, SHARES, SHARES)
def test_fifo_mixed_order_and_equation(alpha: float, r: float, f: float) -> None:
    mixed = models.fifo_mixed(alpha, r, f)
    assert models.fifo(alpha) * (1 - 1e-9) <= mixed <= models.random(alpha) * (1 + 1e-9)
    best = models.optimal_split(alpha, r, f, models.fifo)
    assert 1 <= best.write_amplification <= models.fifo(alpha) * (1 + 1e-9)


@given(ALPHAS, SHARES, SHARES, st.integers(1, 128))
def test_pools_share_out_the_space(alpha: float, r: float, f: float, b: int) -> None:
    splits = [
        models.optimal_split(alpha, r, f, models.greedy_law(b)),
        models.oracle_greedy_same_pool(alpha, b, r, f, "cold"),
        models.oracle_greedy_same_pool(alpha, b, r, f, "hot"),
    ]
    for split in splits:
        assert f * split.alpha_hot + (1 - f) * split.alpha_cold == pytest.approx(alpha, rel=1e-9)
    best, cold, hot = (split.write_amplification for split in splits)
    assert 1 <= best <= min(cold, hot) * (1 + 1e-6)
    if r >= f:
        assert cold <= hot * (1 + 1e-9)


@given(ALPHAS, SHARES, SHARES, st.floats(0.01, 0.99))
def test_no_split_beats_the_optimum(alpha: float, r: float, f: float, share: float) -> None:
    for law in (models.fifo, models.greedy_law(32), models.greedy_desnoyers_law(32)):
        best = models.optimal_split(alpha, r, f, law)
        alpha_h = 1 + (alpha - 1) * share / f
        some = models.separate_pools(alpha, r, f, law, alpha_h)
        assert best.write_amplification <= some.write_amplification * (1 + 1e-6)


@settings(deadline=None, max_examples=30)
@given(ALPHAS, SHARES, SHARES)
def test_optimal_split_against_scipy(alpha: float, r: float, f: float) -> None:
    def cost(share: float) -> float:
        hot, cold = 1 + (alpha - 1) * share / f, 1 + (alpha - 1) * (1 - share) / (1 - f)
        return r * models.fifo(hot) + (1 - r) * models.fifo(cold)

    found = minimize_scalar(cost, bounds=(1e-6, 1 - 1e-6), method="bounded")
    best = models.optimal_split(alpha, r, f, models.fifo)
    assert best.write_amplification == pytest.approx(found.fun, rel=1e-5)


def test_separate_pools_repeat_the_optimum() -> None:
    best = models.optimal_split(1 / 0.9, 0.9, 0.1, models.fifo)
    again = models.separate_pools(1 / 0.9, 0.9, 0.1, models.fifo, best.alpha_hot)
    assert again.alpha_cold == pytest.approx(best.alpha_cold)
    assert again.write_amplification == pytest.approx(best.write_amplification)


@pytest.mark.parametrize("r", [1e-9, 0.5, 1 - 1e-9])
@pytest.mark.parametrize("f", [1e-9, 0.5, 1 - 1e-9])
@pytest.mark.parametrize("alpha", [1 + 2e-9, 1.1, 1e6])
def test_corners_of_the_range(alpha: float, r: float, f: float) -> None:
    values = [
        models.fifo_mixed(alpha, r, f),
        models.optimal_split(alpha, r, f, models.fifo).write_amplification,
        models.optimal_split(alpha, r, f, models.greedy_law(64)).write_amplification,
        models.oracle_greedy_same_pool(alpha, 64, r, f, "cold").write_amplification,
        models.oracle_greedy_same_pool(alpha, 64, r, f, "hot").write_amplification,
    ]
    assert all(1 - 1e-9 <= value <= models.random(alpha) * (1 + 1e-6) for value in values)


def test_plenty_of_space_costs_nothing() -> None:
    """Beyond H_b every victim is empty, whether hot or cold units are cleaned first."""
    pools = models.oracle_greedy_same_pool(10.0, 64, 0.9, 0.1)
    assert pools.write_amplification == 1
    assert models.oracle_greedy_same_pool(1.2, 1, 0.9, 0.1).write_amplification == 1


def test_mixed_log_against_a_tiny_simulator() -> None:
    """FIFO is a ring: copy the valid pages at the tail, then continue writing at the head."""
    dice, pages, slots = rng.Random(3), 3000, 3750
    ring: list[int | None] = [*range(pages), *[None] * (slots - pages)]
    where, head, programs = list(range(pages)), pages, 0
    for write in range(12 * pages):
        if write == 4 * pages:
            programs = 0
        hot = dice.random() < 0.8
        page = dice.randrange(600) if hot else dice.randrange(600, pages)
        ring[where[page]] = None
        while (kept := ring[head]) is not None:
            programs += 1
            where[kept] = head
            head = (head + 1) % slots
        ring[head], where[page] = page, head
        head = (head + 1) % slots
        programs += 1
    assert programs / (8 * pages) == pytest.approx(models.fifo_mixed(1.25, 0.8, 0.2), rel=0.03)


@pytest.mark.parametrize(("r", "f"), [(0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, 1.2)])
def test_share_range(r: float, f: float) -> None:
    with pytest.raises(ModelError, match=r"hot share of .* is .*, expected a number from"):
        models.fifo_mixed(1.1, r, f)
    with pytest.raises(ModelError, match=r"hot share of .* is .*, expected a number from"):
        models.optimal_split(1.1, r, f, models.fifo)
    with pytest.raises(ModelError, match=r"hot share of .* is .*, expected a number from"):
        models.oracle_greedy_same_pool(1.1, 64, r, f)


def test_pool_and_tie_range() -> None:
    with pytest.raises(ModelError, match=r"alpha of the hot pool is 3.0, expected less than 2"):
        models.separate_pools(1.1, 0.9, 0.1, models.fifo, 3.0)
    with pytest.raises(ModelError, match=r"alpha of the hot pool is 0.9, expected"):
        models.separate_pools(1.1, 0.9, 0.1, models.fifo, 0.9)
    with pytest.raises(ModelError, match=r"tie is 'both', expected"):
        models.oracle_greedy_same_pool(1.1, 64, 0.9, 0.1, "both")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"pages per block is 0"):
        models.greedy_law(0)
