"""TLLLP's figures, tables and examples, from hand-made evidence and on the engine."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from evidence.tlllp import EVIDENCE, WHOLE, point
from exhibits import by_key, cells

from floatgate.papers.kit.exhibits import Bars
from floatgate.papers.kit.experiment import Run
from floatgate.papers.kit.judging import runs_of
from floatgate.papers.tlllp.claims import CLAIMS
from floatgate.papers.tlllp.domain import FITTED
from floatgate.papers.tlllp.figures import figures, tables
from floatgate.papers.tlllp.paper import PAPER

BY_KEY = {claim.key: claim for claim in CLAIMS}


def _figures() -> dict[str, Any]:
    chosen = runs_of(WHOLE, CLAIMS, full=False)
    return by_key(figures([point(run, mean_us=_us(run)) for run in chosen]))


def _us(run: Run) -> float:
    """TLLLP saves a quarter, with seed 1 a little less, and with seed 3 a little more."""
    if run.line == "dftl":
        return 1000.0
    return 750.0 - (10.0 * (run.seed - 2) if run.at("start") == "aged" else 0.0)


def test_what_is_saved_is_drawn_with_what_the_paper_prints() -> None:
    found = _figures()
    saved = found["figure-3"]
    assert isinstance(saved, Bars)
    assert saved.rules["aged"] == (
        *(("the paper, on average", 0.12), ("the paper, Financial1", 0.1664)),
    )
    rows = [row for row in saved.rows if row["line"] == "dftl" and row["trace"][:3] == "Fin"]
    aged, fresh = (next(r for r in rows if r["start"] == start) for start in ("aged", "fresh"))
    # 4.303 standard errors of 10 / sqrt(3), in thousands.
    assert (aged["value"], aged["half"]) == (
        pytest.approx(0.25),
        pytest.approx(0.02484, abs=1e-5),
    )
    assert fresh["half"] is None, "nothing is random"
    assert found["figure-4"].rules["fresh"][1] == ("the paper, Financial1", -0.10)


def test_readings_are_drawn_side_by_side() -> None:
    """Prefetching beside the missed entry has 20 points more hits than the default."""
    chosen = [
        point(run, hit_ratio=0.5 + 0.2 * (run.at("prefetch") == "beside the missed"))
        for run in dict.fromkeys(PAPER.shown(WHOLE, False))
        if run.line in ("tlllp", "dftl")
    ]
    rows = by_key(figures(chosen))["readings"].rows
    gains = {row["line"]: row["value"] for row in rows if row["trace"] == FITTED.name}
    assert gains == pytest.approx(
        {
            "as built": 0.0,
            "prefetch beside the missed": 20.0,
            "least recent page": 0.0,
            "both": 20.0,
            "most visited page": 0.0,
            "entries leave": 0.0,
        }
    )


def test_data_and_translation_are_apart() -> None:
    titles, *rows = cells(_tables()["traffic"])
    assert titles[3:] == [
        *("data reads", "data programs", "data copies"),
        *("map reads", "map programs", "map copies"),
    ]
    exact = ["0.600", "0.400", "0.050", "0.300", "0.100", "0.020"]
    known = {tuple(row[:3]): row[3:] for row in rows}
    dftl = known["Financial1, 10k requests", "fresh", "DFTL"]
    assert dftl == ["0.600", "0.400", "0.050", "0.900", "0.300", "0.020"]
    assert known["WebSearch, 25k requests", "fresh", "TLLLP"] == exact
    aged = known["MSR, 20% reads, 10k requests", "aged", "TLLLP"]
    # 4.303 standard errors of 0.01 / sqrt(3).
    assert (aged[0], aged[5]) == ("0.600", "0.020 ± 0.025")


@cache
def _tables(**numbers: float) -> dict[str, Any]:
    """Returns tables of evidence with which every claim is as claimed. Cleaning's map traffic
    scatters on aged drives."""
    evidence = {
        run: replace(
            point(run, **numbers),
            map_copies=0.02 + (0.01 * (run.seed - 2) if run.at("start") == "aged" else 0.0),
        )
        for run in runs_of(WHOLE, CLAIMS, full=False)
    }
    return by_key(tables(EVIDENCE.findings(evidence, CLAIMS)))


def test_how_many_of_the_four_numbers_are_met_at_once() -> None:
    found = _tables()
    titles, *rows = cells(found["met"])
    assert titles[:4] == ["the start", "the spare space", "the cache", "the arrival"]
    assert titles[-2:] == ["victim alone", "batches"]
    # A quick run has the second baseline only where all other axes are at their defaults.
    assert {tuple(row[-2:]) for row in rows} == {("4", "4"), ("4", "–")}
    left = _tables(utilization=0.99, queue_share=0.5)
    assert {row[-2] for row in cells(left["met"])[1:]} == {"4 (left out)"}
