"""Placements against measured drives: verdicts on hand-made evidence, and the hits by chance."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from floatgate.calibrate.measured import SkewMeasurements
from floatgate.papers.kit import outcome as summary
from floatgate.papers.kit.claims import Measured
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES
from floatgate.papers.together import drives as together_drives
from floatgate.papers.together.drives import (
    THETA,
    THETAS,
    UNIFORM,
    key_of,
)
from floatgate.papers.together.drives import zipf_name as zipf
from floatgate.simulation import configs

TRUTH = SkewMeasurements(3.0, 3.2, {"h0": {0.2: 1.0, 0.8: 0.9375}, "m0": {0.2: 1.0, 0.8: 5.0}})
DAC, ALONE = (key_of(placement, "greedy") for placement in ("dac", "single"))
Evidence = dict[tuple[str, str], list[float]]


def evidence(dac: list[float], alone: float = 3.52) -> Evidence:
    """Three seeds. Of `dac` those at 0.8 are given, of one stream what all have; all else is right:
    one is right for every drive if it has 3.0."""
    found = {(UNIFORM, line): [3.2] * 3 for line in (DAC, ALONE)}
    for theta in THETAS:
        found |= {(zipf(theta), line): [3.2] * 3 for line in (DAC, ALONE)}
    return found | {(zipf(THETA), DAC): dac, (zipf(THETA), ALONE): [alone] * 3}


def verdicts(found: Any, truth: SkewMeasurements | None = TRUTH) -> dict[str, Measured]:
    return {claim.key: ours for claim, ours in together_drives.judged(found, truth)}


def one(found: Evidence, key: str = "measured-one") -> tuple[str, str, str]:
    """Returns the case, the verdict, and the kind in the index of all papers."""
    ours = verdicts(found)[key]
    [row] = ours.rows
    return row["case"], ours.verdict, summary.kind_of(ours.counts)


def test_one_policy_for_all_measured_drives() -> None:
    assert one(evidence([3.0] * 3)) == (AS_CLAIMED, "1 of 1 as claimed", summary.EVERYWHERE)
    assert one(evidence([3.0 * 1.024] * 3)) == (AS_CLAIMED, "1 of 1 as claimed", summary.EVERYWHERE)
    assert one(evidence([3.0 * 1.026] * 3)) == (LESS, "0 of 1 as claimed, 1 less", summary.NOWHERE)
    case, verdict, kind = one(evidence([2.9, 3.0, 3.1]))
    assert (case, kind) == (STRADDLES, summary.UNCLEAR)
    assert verdict == "0 of 1 as claimed, 1 open"


def test_uniform_writes_and_every_drive_count_and_the_best_policy_decides() -> None:
    right = evidence([3.0] * 3)
    assert one(right | {(UNIFORM, DAC): [3.3] * 3})[0] == LESS
    rates = SkewMeasurements(3.0, 3.2, TRUTH.ratios | {"k4": {0.2: 1.04}})
    found = verdicts(right, rates)["measured-one"]
    assert found.verdict == "0 of 1 as claimed, 1 less"
    assert found.ours.endswith("(rates of k4)"), "what it is farthest from"
    assert found.number == pytest.approx(math.log(1.04))
    both = verdicts(evidence([9.0] * 3, alone=3.0))["measured-one"]
    assert both.verdict == "1 of 1 as claimed", "one stream explains all, and no other has to"
    assert both.ours.startswith("single, greedy")


def test_no_separation() -> None:
    fine, off = evidence([3.0] * 3, alone=3.0), evidence([3.0] * 3, alone=3.52)
    assert one(fine, "measured-single") == (AS_CLAIMED, "1 of 1 as claimed", summary.EVERYWHERE)
    assert one(off, "measured-single") == (LESS, "0 of 1 as claimed, 1 less", summary.NOWHERE)
    apart = off | {(zipf(THETA), ALONE): [2.9, 3.0, 3.1]}
    assert one(apart, "measured-single")[::2] == (STRADDLES, summary.UNCLEAR)
    assert one(off | {(UNIFORM, ALONE): [9.0] * 3}, "measured-single")[0] == LESS


def test_what_was_not_run_at_other_skews_decides_nothing_unless_it_fails() -> None:
    def quick(dac: float) -> Measured:
        known = (UNIFORM, zipf(THETA))
        found = {at: v for at, v in evidence([dac] * 3).items() if at[0] in known}
        return verdicts(found)["measured-one"]

    unknown = quick(3.0)
    assert unknown.verdict == "not checked"
    assert unknown.why.startswith("1 policies were not run at other skews")
    assert quick(3.3).verdict == "0 of 1 as claimed, 1 less", "neither explains the one drive"
    partly = evidence([3.3] * 3, alone=3.0)
    partly.pop((zipf(0.2), ALONE))
    assert verdicts(partly)["measured-one"].verdict == "not checked"


def test_without_measurements_nothing_is_judged() -> None:
    for found in (verdicts({}, None), verdicts({})):
        assert {ours.verdict for ours in found.values()} == {"not checked"}


def test_a_doubted_rate_does_not_count() -> None:
    found = together_drives.distance(evidence([3.0] * 3), TRUTH.ratios["m0"], "m0", ALONE)
    assert found is not None
    assert found.mean == 0, "five times as slow at 0.8, which is in doubt"


def test_a_distance_is_the_root_mean_square_over_skews() -> None:
    found = together_drives.distance(evidence([3.3] * 3), TRUTH.ratios["h0"], "h0", DAC)
    assert found is not None
    assert found.mean == pytest.approx(math.log(1.1) / math.sqrt(2)), "of two skews one is right"


def test_steady_is_the_last_fifth() -> None:
    timeline = pl.DataFrame(
        {"host_pages": [50, 90, 100], "page_write_amplification": [9.0, 2.0, 4.0]}
    )
    result: Any = SimpleNamespace(timeline=timeline)
    assert together_drives.steady(result) == pytest.approx(3.0), "ten pages of each"


def test_the_measured_drive_has_its_share_of_spare_space() -> None:
    [levels] = together_drives.EXPERIMENT.points((), True)
    run = together_drives.EXPERIMENT.run_of(levels, UNIFORM, ALONE, 1)
    config = configs.resolve(together_drives.DEVICE, together_drives.EXPERIMENT.settings(run, 1))
    assert config.logical_bytes(0) == together_drives.SPAN_PAGES * 4096
