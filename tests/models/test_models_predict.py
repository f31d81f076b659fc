"""Conversions, Lambert W, the demand-paging identities and `predict`."""

from __future__ import annotations

import json
import math
import sys
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw

from floatgate import models
from floatgate.models import ModelError

SPARES = st.floats(1e-6, 0.999)


@given(SPARES)
def test_conversions_round_trip(spare: float) -> None:
    alpha = models.alpha_from_spare_factor(spare)
    op = models.over_provisioning_from_spare_factor(spare)
    assert models.alpha_from_over_provisioning(op) == pytest.approx(alpha, rel=1e-12)
    assert models.spare_factor_from_alpha(alpha) == pytest.approx(spare, rel=1e-9)
    assert models.over_provisioning_from_alpha(alpha) == pytest.approx(op, rel=1e-9)
    assert models.spare_factor_from_over_provisioning(op) == pytest.approx(spare, rel=1e-12)


def test_seven_and_twenty_eight_percent() -> None:
    assert round(models.over_provisioning_from_spare_factor(0.07), 4) == 0.0753
    assert round(models.spare_factor_from_over_provisioning(0.28), 3) == 0.219


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.0, math.nan])
def test_conversion_ranges(bad: float) -> None:
    with pytest.raises(ModelError, match=r"spare factor is .*, expected"):
        models.alpha_from_spare_factor(bad)
    with pytest.raises(ModelError, match=r"spare factor is .*, expected"):
        models.over_provisioning_from_spare_factor(bad)
    with pytest.raises(ModelError, match=r"alpha is .*, expected"):
        models.spare_factor_from_alpha(bad)
    with pytest.raises(ModelError, match=r"alpha is .*, expected"):
        models.over_provisioning_from_alpha(bad)
    for wrong in (-abs(bad), math.inf):
        with pytest.raises(ModelError, match=r"over-provisioning is .*, expected"):
            models.alpha_from_over_provisioning(wrong)
        with pytest.raises(ModelError, match=r"over-provisioning is .*, expected"):
            models.spare_factor_from_over_provisioning(wrong)


def test_least_spare_is_accepted_everywhere() -> None:
    alpha = models.alpha_from_spare_factor(1.0000001e-9)
    assert models.fifo(alpha) > 1e8
    assert models.fifo(models.alpha_from_over_provisioning(1.0000001e-9)) > 1e8


@given(st.one_of(st.floats(-0.36, 50.0), st.floats(50.0, 1e300)))
def test_lambert_against_scipy(x: float) -> None:
    assert models.lambert_w0(x) == pytest.approx(lambertw(x).real, rel=3e-15, abs=1e-300)


@given(st.one_of(st.floats(-0.36787944117144, -0.2), st.floats(-0.2, 3.0), st.floats(3.0, 1e9)))
def test_lambert_to_the_last_bits(x: float) -> None:
    """Compares with Newton's method at fifty decimal digits. scipy itself loses digits near
    -1/e."""
    with localcontext() as context:
        context.prec = 50
        w, exact_x = Decimal(models.lambert_w0(x)), Decimal(x)
        exact = w
        for _ in range(5):
            power = exact.exp()
            exact -= (exact * power - exact_x) / (power * (exact + 1))
        assert abs(w - exact) <= Decimal("5e-16") * abs(exact)


def test_lambert_ends() -> None:
    assert models.lambert_w0(0.0) == 0.0
    assert models.lambert_w0(-0.36787944117144233) == -1.0
    assert models.lambert_w0(math.e) == pytest.approx(1.0, rel=1e-15)
    top = models.lambert_w0(sys.float_info.max)
    assert top + math.log(top) == pytest.approx(math.log(sys.float_info.max), rel=1e-15)
    assert models.lambert_w0(5e-324) == 5e-324
    for bad in (-0.3678794411714424, -1.0, math.inf, math.nan):
        with pytest.raises(ModelError, match=r"Lambert W argument is .*, expected"):
            models.lambert_w0(bad)


def test_translation_time() -> None:
    assert models.average_translation_time(0.75, 0.5, 25.0, 200.0) == pytest.approx(34.375)
    assert models.average_translation_time(1.0, 1.0, 25.0, 200.0) == 0.0
    assert models.average_translation_time(0.0, 0.0, 25.0, 200.0) == 25.0


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e4), st.floats(0, 1e4))
def test_translation_time_is_its_traffic(h: float, dirty: float, read: float, prog: float) -> None:
    traffic = models.map_traffic_per_access(h, dirty)
    expected = traffic.reads * read + traffic.programs * prog
    time = models.average_translation_time(h, dirty, read, prog)
    assert time == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.integers(0, 10**6), st.data())
def test_map_traffic_totals(accesses: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, accesses))
    dirty = data.draw(st.integers(0, accesses - hits))
    total = models.map_traffic(accesses, hits, dirty)
    assert (total.reads, total.programs) == (accesses - hits + dirty, dirty)
    if hits < accesses:
        mean = models.map_traffic_per_access(hits / accesses, dirty / (accesses - hits))
        assert mean.reads * accesses == pytest.approx(total.reads)
        assert mean.programs * accesses == pytest.approx(total.programs, abs=1e-6)


def test_uniform_writes_through_a_small_cache() -> None:
    h = models.uniform_hit_ratio(8192, 1 << 20)
    assert h == 8192 / (1 << 20)
    traffic = models.map_traffic_per_access(h)
    assert (traffic.reads, traffic.programs) == (2 * (1 - h), 1 - h)
    assert models.uniform_hit_ratio(100, 10) == 1.0
    assert models.map_traffic(1000, 0, 0).reads == 1000


def test_dftl_ranges() -> None:
    with pytest.raises(ModelError, match=r"hit ratio is 1.5, expected"):
        models.map_traffic_per_access(1.5)
    with pytest.raises(ModelError, match=r"dirty share is -1, expected"):
        models.average_translation_time(0.5, -1, 1, 1)
    with pytest.raises(ModelError, match=r"read time is nan, expected"):
        models.average_translation_time(0.5, 0.5, math.nan, 1)
    with pytest.raises(ModelError, match=r"pages is 0, expected"):
        models.uniform_hit_ratio(1, 0)
    with pytest.raises(ModelError, match=r"cache hits is 11, expected"):
        models.map_traffic(10, 11, 0)
    with pytest.raises(ModelError, match=r"dirty evictions is 6, expected 0 to 5 \(the misses\)"):
        models.map_traffic(10, 5, 6)


def test_predict_uniform() -> None:
    prediction = models.predict(spare_factor=0.10, pages_per_block=64)
    by_policy = {row.policy: row for row in prediction.rows}
    assert f"{by_policy['fifo'].write_amplification:.4f}" == "5.1787"
    assert f"{by_policy['greedy'].write_amplification:.4f}" == "4.8213"
    assert by_policy["greedy"].details["victim level"] == 51
    assert by_policy["random"].write_amplification == pytest.approx(10)
    assert f"{by_policy['d-choices, d = 10'].write_amplification:.4f}" == "5.0002"
    assert prediction.hot is None
    assert not any("optimal split" in policy for policy in by_policy)


def test_predict_hot_cold() -> None:
    prediction = models.predict(spare_factor=0.10, pages_per_block=64, hot=(0.8, 0.2))
    values = {row.policy: f"{row.write_amplification:.4f}" for row in prediction.rows}
    assert values["fifo, one log"] == "5.5378"
    assert values["fifo, optimal split"] == "3.5712"
    assert values["greedy, separated, ties to cold"] == "4.6339"
    assert values["greedy, separated, ties to hot"] == "4.8976"
    assert values["greedy, optimal split"] == "3.3399"
    uniform = models.predict(spare_factor=0.10, pages_per_block=64).rows
    assert prediction.rows[: len(uniform)] == uniform


def test_prediction_forms() -> None:
    prediction = models.predict(hot=(0.9, 0.1))
    tree = json.loads(json.dumps(prediction.to_dict()))
    assert (tree["spare_factor"], tree["pages_per_block"]) == (0.07, 128)
    assert tree["hot"] == {"writes": 0.9, "pages": 0.1}
    assert json.loads(json.dumps(models.predict().to_dict()))["hot"] is None
    headers, rows = prediction.table()
    assert len(rows) == len(tree["rows"]) == len(prediction.rows)
    assert all(len(row) == len(headers) for row in rows)
    assert len({row[0] for row in rows}) == len(rows)
    for row in prediction.rows:
        assert row.source
        assert row.assumption


def test_estimate_below_one_is_left_out() -> None:
    policies = [row.policy for row in models.predict(spare_factor=0.6).rows]
    assert "early estimate" not in policies
    assert "early estimate" in [row.policy for row in models.predict(spare_factor=0.4).rows]


@given(st.floats(1e-6, 0.95), st.integers(1, 96), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_every_prediction_is_possible(spare: float, b: int, r: float, f: float) -> None:
    for row in models.predict(spare_factor=spare, pages_per_block=b, hot=(r, f)).rows:
        assert 1.0 - 1e-9 <= row.write_amplification <= (1 + 1e-6) / spare


def test_parse_hot() -> None:
    assert models.parse_hot("0.9/0.1") == (0.9, 0.1)
    assert models.parse_hot("80/20") == (0.8, 0.2)
    for bad in ("", "0.9", "a/b", "0.9/0.1/0", "100/10", "0.9/10", "0/0.5", "nan/0.1"):
        with pytest.raises(ModelError, match=r"hot is .*, expected"):
            models.parse_hot(bad)


def test_predict_ranges() -> None:
    with pytest.raises(ModelError, match=r"spare factor is 0, expected"):
        models.predict(spare_factor=0)
    with pytest.raises(ModelError, match=r"pages per block is 0, expected"):
        models.predict(pages_per_block=0)
    with pytest.raises(ModelError, match=r"hot share of writes r is 2, expected"):
        models.predict(hot=(2, 0.5))
