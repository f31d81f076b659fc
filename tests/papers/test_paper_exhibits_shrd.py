"""Content of SHRD's figures and tables, with the slides' point and the intervals."""

from __future__ import annotations

from typing import Any

import pytest
from evidence.shrd import WHOLE, point
from exhibits import by_key, cells

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.judging import runs_of
from floatgate.papers.shrd import pattern as shrd_pattern
from floatgate.papers.shrd.claims import CLAIMS
from floatgate.papers.shrd.figures import contour, expected_loads, figures
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
    assert {row["line"] for row in gain.rows} >= {"64 MiB, bursts", "the whole map in memory"}
    for key in ("throughput", "loads", "log", "threshold", "latency", "benchmarks"):
        assert found[key].spread == "half"
    assert all(found[key].rows for key in ("windows", "order", "commands", "aged"))


def test_figures_say_where_the_slides_point_is() -> None:
    found = _figures()
    for key in ("throughput", "loads", "log"):
        panels = {row["trace"] for row in found[key].rows}
        assert "prototype controller, 32 GiB (the slides')" in panels
        assert "prototype controller, 4 GiB" in panels
    assert found["log"].x_text(64.0) == "64 MiB (the slides')"
    assert found["gain"].x_text(32.0) == "32 GiB (the slides')"
    assert found["gain"].x_text(4.0) == "4 GiB"


def test_the_gain_is_drawn_over_spans_at_which_no_claim_is_asked() -> None:
    spans = {row["span_gib"] for row in _figures()["gain"].rows if row["line"] == "64 MiB, 3/4"}
    assert spans == {1.0, 2.0, 4.0, 16.0, 32.0}
    asked = {run.workload for run in runs_of(WHOLE, CLAIMS, full=True)}
    assert not any(name.endswith((", 1 GiB", ", 2 GiB")) for name in asked)


def test_where_it_is_30_times_lies_between_two_spans() -> None:
    def rows(line: str, *gains: tuple[float, float]) -> list[dict[str, Any]]:
        """Returns rows for 4 and 16 GiB, with a pair of gains for each seed."""
        levels = {"controller": "c", "cache": "k", "line": line}
        return [
            levels | {"span_gib": span, "seed": seed, "value": value}
            for seed, pair in enumerate(gains)
            for span, value in zip((4.0, 16.0), pair, strict=True)
        ]

    table = cells(
        contour(
            [
                *rows("crosses", (60.0, 15.0), (60.0, 15.0)),
                *rows("scatters", (60.0, 15.0), (30.0, 15.0)),
                *rows("once", (60.0, 15.0), (20.0, 15.0)),
                *rows("below", (20.0, 10.0), (20.0, 10.0)),
                *rows("above", (60.0, 31.0), (60.0, 31.0)),
            ]
        )
    )
    # The gain falls from 60 to 15 over two doublings, and is 30 after the first. The interval is
    # 12.7 standard errors of 2.
    assert [line[2:] for line in table[1:]] == [
        ["crosses", "8.0 GiB", "60.0"],
        ["scatters", "6.0 ± 25.4 GiB", "45.0 ± 190.6"],
        ["once", "8.0 GiB, with 1 of 2 seeds", "40.0 ± 254.1"],
        ["below", "none from 4 GiB on", "20.0"],
        ["above", "16 GiB or more", "60.0"],
    ]
    assert table[0][3:] == ["30 times DFTL up to a span of", "Largest gain, times DFTL"]


def test_tables_of_counts_have_an_interval_over_the_seeds() -> None:
    claims = [BY_KEY[key] for key in ("locality", "sorted", "thirty")]
    points = [
        point(run, loads=0.1 * run.seed, iops=1000.0 * run.seed, window_pages=100.0 * run.seed)
        for run in runs_of(WHOLE, claims, full=False)
    ]
    found = by_key(figures(points))
    # 0.1, 0.2 and 0.3: 4.3027 standard errors of 0.1 / sqrt(3).
    row = next(row for row in cells(found["windows"]) if row[:3] == ["4 GiB", "64 MiB", "1/16"])
    assert row[3:8] == ["200 ± 248", "128", *["0.2000 ± 0.2484"] * 3]
    titles, *rows = cells(found["order"])
    assert titles == ["Span", "Log", "Window", "DFTL", "As written", "Sorted"]
    assert rows[0] == ["4 GiB", "64 MiB", "1/16", *["2 000 ± 2 484"] * 3]
    titles, *rows = cells(found["commands"])
    assert {row[1] for row in rows} == {"prototype", "work-conserving"}
    shown = dict(zip(titles, rows[0], strict=True))
    assert (shown["Map loads per page"], shown["Bytes per write"]) == ("0.2000 ± 0.2484", "4 KiB")


def test_the_closed_form_of_a_window() -> None:
    """1,024 pages over 1,024 map pages need 63 % of them (algorithms, 9.9)."""
    assert expected_loads(1024.0, 1024.0) == pytest.approx(0.632, abs=0.001)


def test_the_slides_worked_example_on_the_engine() -> None:
    assert cells(shrd_pattern.worked_example())[1:] == [
        ["32", "1024", "1024", "1", "1"],
        ["765", "1025", "1025", "3", "3"],
        ["128", "1026", "1026", "2", "2"],
        ["854", "1027", "1027", "4", "4"],
    ]


def test_shrd_pattern() -> None:
    """A map page has 8,192 entries. Entries 0, 1 and 8,191 are in the first, and 8,192 and later
    entries in others."""

    class Found:
        def access_pattern(self, played: Played, limit: int) -> dict[str, Any]:
            assert limit == 1234
            return {
                "without": [0, 8192, 1, 30_000],
                "unsorted": [0, 1, 8191, 8192, 8193],
                "with": list(range(6000)),
                "user_pages": 20_000,
            }

    bench: Any = Found()
    picture, numbers = shrd_pattern.pattern(bench, "postmark", Played("x"), 1234)
    assert cells(numbers) == [
        ["Order", "Entries changed", "Changes of the map page"],
        ["without SHRD", "4", "3"],
        ["with SHRD, windows as written", "5", "1"],
        ["with SHRD, windows sorted", "6,000", "0"],
    ]
    dots = [row for row in picture.rows if row["trace"] == "without SHRD"]
    assert [(row["at"], row["page"], row["line"]) for row in dots] == [
        (0, 0, "user"),
        (1, 8192, "user"),
        (2, 1, "user"),
        (3, 30_000, "log"),
    ]
    thinned = [row["at"] for row in picture.rows if row["trace"] == "with SHRD, windows sorted"]
    assert thinned == list(range(0, 6000, 2)), "every second of 6,000, for 2,500 or a few more"
