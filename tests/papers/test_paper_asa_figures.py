"""ASA-FTL's figures and tables on hand-made evidence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from evidence.asa import WHOLE, point
from exhibits import by_key, cells

from floatgate.analysis.hotness import TopShare
from floatgate.papers.asa.claims import CLAIMS
from floatgate.papers.asa.figures import figures, skew
from floatgate.papers.asa.paper import PAPER
from floatgate.papers.kit.exhibits import Bars, Dots
from floatgate.papers.kit.judging import runs_of


def _figures() -> dict[str, Any]:
    """An equal number of entries has 30 % fewer copies. Seed 3 has one per cent more than seed
    1."""
    runs = {*runs_of(WHOLE, CLAIMS, full=False), *PAPER.shown(WHOLE, False)}
    return by_key(figures([point(run, **_numbers(run.line, run.seed)) for run in runs]))


def _numbers(line: str, seed: int) -> dict[str, Any]:
    copies = 700 + 5 * (seed - 2) if line == "asa-entries" else 1000
    return {
        "data_copies": copies,
        "map_copies": 0,
        "erases": 30 if line == "asa-entries" else 40,
        "mean_us": 800.0 if line == "asa-entries" else 1000.0,
    }


def test_figure_2_is_ratios_with_what_the_paper_prints() -> None:
    found = _figures()
    expected = {1: 0.70, 2: 0.75, 3: 0.80}
    for n, ratio in expected.items():
        figure = found[f"figure-2-{n}"]
        assert isinstance(figure, Bars)
        row = next(
            r for r in figure.rows if (r["trace"], r["line"]) == ("synth9/10", "asa-entries")
        )
        assert row["value"] == pytest.approx(ratio)
    stated = [dict(found[f"figure-2-{n}"].rules[None]) for n in expected]
    name = "the paper, Financial1 and synth9/10"
    assert [rules.get(name) for rules in stated] == pytest.approx([0.67, None, 0.91])
    writes = {(r["trace"], r["line"]): r for r in found["figure-2-1"].rows}
    # 4.303 standard errors of 0.005 / sqrt(3).
    half = writes["synth9/10", "asa-entries"]["half"]
    assert half == pytest.approx(0.01242, abs=1e-5)


def test_change_of_cleaning_lies_beside_change_of_response_and_the_papers() -> None:
    found = _figures()["cleaning-response"]
    assert isinstance(found, Dots)
    assert found.marks == [("the paper", -0.33, -0.09)]
    assert list(dict.fromkeys(row["spare"] for row in found.rows)) == [
        *("7% spare space", "15% spare space", "25% spare space")
    ]
    entries = [row for row in found.rows if row["line"] == "asa-entries"]
    assert [row["copies"] for row in entries] == pytest.approx([-0.3] * len(entries))
    assert {round(row["response"], 3) for row in entries} == {-0.2}
    halves = [row[found.x_spread] for row in entries]
    assert halves == pytest.approx([0.01242] * len(entries), abs=1e-5)
    assert {row[found.spread] for row in entries} == {0.0}, "they respond alike with every seed"


def test_labels_are_shown_by_zone_with_what_wrong_ones_cost() -> None:
    titles, *rows = cells(_figures()["labels"])
    assert titles[2:] == [
        *(f"{zone} zone as {label}" for zone in ("hot", "cold") for label in ("hot", "warm")),
        "GC page writes, of DFTL's",
    ]
    shown = {tuple(row[:2]): row[2:] for row in rows}
    labels = [
        "90.00\N{NO-BREAK SPACE}%",
        "7.00\N{NO-BREAK SPACE}%",
        "5.00\N{NO-BREAK SPACE}%",
        "20.00\N{NO-BREAK SPACE}%",
        "1.000",
    ]
    assert shown["synth7/10", "ASA-FTL, DFTL's map"] == labels
    assert shown["synth7/10", "DFTL, zones known"][-1] == "1.000"
    assert not any("synth5/10" in row[0] or "moving" in row[0] for row in rows), "no zones"


def test_emergency_cleans_are_told() -> None:
    titles, *rows = cells(_figures()["traffic"])
    assert titles[:5] == ["Workload", "Spare", "FTL", "data copies", "map copies"]
    assert titles[-2:] == ["samples, over other reads", "emergency cleans"]
    assert {row[-1] for row in rows} == {"0.00\N{NO-BREAK SPACE}%"}
    entries = next(row for row in rows if row[2] == "ASA-FTL, as many entries")
    assert entries[3] == "700 ± 12", "4.303 standard errors of 5 / sqrt(3)"


def test_skew_is_told_of_each_workload() -> None:
    tops = [TopShare(share, 5 * share) for share in (0.01, 0.05, 0.1, 0.2)]
    hotness: Any = SimpleNamespace(
        page_writes=300, written_pages=200, skew=SimpleNamespace(gini=0.25, top=tops)
    )
    titles, row = cells(skew({"some": hotness}, {"some": 5039.0}))
    assert dict(zip(titles, row, strict=True)) == {
        "Workload": "some",
        "bytes a write": "5 039",
        "pages written": "200",
        "writes of each": "1.500",
        "Gini": "0.250",
        "top 1%": "5.00\N{NO-BREAK SPACE}%",
        "top 10%": "50.00\N{NO-BREAK SPACE}%",
    }
