"""The tour: its numbers are those of the commands it prints, and its page shows them."""

from __future__ import annotations

import csv
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import Seen, check_top
from conftest import Cli

from floatgate.analysis.tour.measured import Bar, Change, Picture, Shown, take
from floatgate.analysis.tour.stops import ASA, SEEDS, STOPS, Load, Stop
from floatgate.papers import PAPERS
from floatgate.report import write_tour

SMALL = (
    Load("a small hot set", "hotcold:span=2MiB,r=0.9,f=0.1,writes=4k"),
    Load("all pages alike", "uniform:span=2MiB,writes=4k"),
)


def shown_of(stop: Stop, *changes: Change) -> Shown:
    """Returns a stop with bars of 1, 2, 3 and so on, and these changes."""
    bars = [Bar(row, mean, 0.5) for mean, row in enumerate(stop.rows, 1)]
    first, second = (
        Picture(load, bars, change, Change(-50.0, 1.0), stop.command(load))
        for load, change in zip(stop.loads, changes, strict=True)
    )
    return Shown(stop, (first, second))


def test_each_number_is_that_of_the_command_beside_it(cli: Cli, tmp_path: Path) -> None:
    [shown] = take(stops=[replace(ASA, loads=SMALL)])
    for number, picture in enumerate(shown.pictures):
        out = tmp_path / str(number)
        cli(*shlex.split(picture.command)[1:], "--out", out).ok()
        with (out / "summary.csv").open() as file:
            rows = {row["placement.scheme"]: row for row in csv.DictReader(file)}
        assert len(rows) == len(picture.bars) == 3
        for bar in picture.bars:
            row = rows[bar.row.values[0]]
            assert (row["seeds"], float(row["write_amplification"])) == (str(SEEDS), bar.mean)
            assert float(row["write_amplification.ci95"]) == bar.half
        means = [bar.mean for bar in picture.bars]
        assert picture.change.percent == pytest.approx(100 * (means[1] / means[0] - 1), abs=2)


@pytest.mark.parametrize(
    ("percent", "half", "verdict"),
    [
        (-20.0, 1.0, "it helps: write amplification -20.0 ± 1.0 % against one stream"),
        (20.0, 1.0, "it does harm: write amplification +20.0 ± 1.0 % against"),
        (-0.4, 0.1, "it hardly makes a difference: write amplification -0.4 ± 0.1 %"),
        (-20.0, 20.0, "it makes no clear difference: write amplification -20.0 ± 20.0 %"),
        (3.0, 0.0, "write amplification +3.0 % against"),
    ],
)
def test_a_sentence_says_whether_a_system_helps(percent: float, half: float, verdict: str) -> None:
    shown = shown_of(ASA, Change(percent, half), Change(1.0, 0.1))
    first, second = shown.answer.replace("\N{MINUS SIGN}", "-").split("). ")
    assert verdict in first and first.startswith("With nine writes in ten")
    assert "(lifetimes known: -50.0 ± 1.0 %" in first and "it does harm" in second


def test_every_system_has_a_baseline_and_a_row_that_it_cannot_reach() -> None:
    assert [stop.key for stop in STOPS] == ["tlllp", "shrd", "asa", "ncq", "eti"]
    assert {stop.key for stop in STOPS} <= {paper.name for paper in PAPERS}
    for stop in STOPS:
        assert len({row.values for row in stop.rows}) == len(stop.rows) >= 3
        for row in stop.rows:
            for value, values in zip(row.values, stop.vary.values(), strict=True):
                assert value in values


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light")])
def test_the_page_shows_bars_sentences_and_commands(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    shown = [shown_of(stop, Change(-20.0, 1.0), Change(20.0, 1.0)) for stop in STOPS]
    write_tour(shown, tmp_path / "tour.html")
    with Seen(browser, tmp_path / "tour.html", width, scheme) as seen:
        page, text = seen.page, " ".join(seen.page.inner_text("body").split())
        assert seen.complaints == [] and len(seen.requests) == 1
        check_top(seen)
        rows = page.locator("table.short tbody tr").all_inner_texts()
        for one, row in zip(shown, rows, strict=True):
            assert row.startswith(one.stop.name) and row.index("20.0") < row.rindex("20.0")
            assert one.answer in text and one.stop.idea in text
            assert all(picture.command in text for picture in one.pictures)
            widths = page.locator(f"section[aria-labelledby={one.stop.key}] .fill").evaluate_all(
                "bars => bars.map(bar => bar.getBoundingClientRect().width)"
            )
            bars = len(one.stop.rows)
            assert len(widths) == 2 * bars
            for number, drawn in enumerate(widths[:bars], 1):
                assert drawn == pytest.approx(widths[0] * number, rel=0.02, abs=2)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert text.rstrip().endswith("docs/traces.md names them.")


@pytest.mark.long
def test_the_whole_tour(cli: Cli, tmp_path: Path) -> None:
    said = cli("tour", "--out", "tour", "--quiet").ok().stdout
    assert [line.partition(":")[0] for line in said.split("\n\n") if line] == [
        stop.name for stop in STOPS
    ]
    assert (tmp_path / "tour" / "tour.html").is_file()
    again = cli("tour", "--out", "tour", "--quiet")
    assert "is not empty; --force replaces" in again.refused()
    document = cli("tour", "--json", "--quiet").document()
    assert [stop["answer"] in said for stop in document["stops"]] == [True] * len(STOPS)
