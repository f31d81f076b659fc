"""Content of SHRD's figures and tables, with the slides' point and the intervals."""

from __future__ import annotations

from typing import Any

import pytest
from evidence.shrd import WHOLE, point
from exhibits import by_key, cells

from floatgate.papers.kit.judging import runs_of
from floatgate.papers.shrd.claims import CLAIMS
from floatgate.papers.shrd.figures import expected_loads, figures
from floatgate.papers.shrd.paper import PAPER

BY_KEY = {claim.key: claim for claim in CLAIMS}


def _figures() -> dict[str, Any]:
    runs = [*runs_of(WHOLE, CLAIMS, full=True), *PAPER.shown(WHOLE, True)]
    return by_key(figures([point(run) for run in dict.fromkeys(runs)]))


def test_the_gain_is_drawn_with_the_slides_factor() -> None:
    found = _figures()
    gain = found["gain"]
    assert gain.rules == (("the slides", 30.0),)
    [row] = [
        row
        for row in gain.rows
        if (row["trace"], row["line"], row["span_gib"])
        == ("prototype controller, cache of 128 KiB", "64 MiB, 1/16", 32.0)
    ]
    assert (row["value"], row["half"]) == (pytest.approx(30.0), pytest.approx(0.0))
    assert {row["line"] for row in gain.rows} >= {"64 MiB, bursts", "64 MiB, 3/4"}
    for key in ("throughput", "benchmarks"):
        assert found[key].rows and found[key].spread == "half"


def test_figures_say_where_the_slides_point_is() -> None:
    found = _figures()
    panels = {row["trace"] for row in found["throughput"].rows}
    assert "prototype controller, 32 GiB (the slides')" in panels
    assert "prototype controller, 4 GiB" in panels
    assert found["gain"].x_text(32.0) == "32 GiB (the slides')"
    assert found["gain"].x_text(4.0) == "4 GiB"


def test_loads_by_window_have_an_interval_over_the_seeds() -> None:
    claims = [BY_KEY[key] for key in ("locality", "sorted")]
    points = [
        point(run, loads=0.1 * run.seed, window_pages=100.0 * run.seed)
        for run in runs_of(WHOLE, claims, full=False)
    ]
    found = by_key(figures(points))
    # 0.1, 0.2 and 0.3: 4.3027 standard errors of 0.1 / sqrt(3).
    row = next(row for row in cells(found["windows"]) if row[:3] == ["4 GiB", "64 MiB", "1/16"])
    assert row[3:8] == ["200 ± 248", "128", *["0.2000 ± 0.2484"] * 3]


def test_the_closed_form_of_a_window() -> None:
    """1,024 pages over 1,024 map pages need 63 % of them (algorithms, 9.9)."""
    assert expected_loads(1024.0, 1024.0) == pytest.approx(0.632, abs=0.001)
