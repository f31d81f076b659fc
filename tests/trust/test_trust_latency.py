"""Latency under load in docs/trust.md equals the engine's result on the measurements."""

from __future__ import annotations

import importlib
import os
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from paths import ROOT

DRIVES = Path(os.environ.get("FLOATGATE_DRIVES", ROOT.parent / "shared" / "drives"))
PAGE = (ROOT / "docs" / "trust.md").read_text("utf-8")
NAMES = ("h0", "k4", "k5")
MEAN, MEDIAN, TAIL, KNEE = 15.0, 15.0, 30.0, 15.0
"""Largest errors of the tables, in percent."""
MISSED = {("k5", "200000"): 15.3}
"""Medians with a larger error, in percent."""

needs_drives = pytest.mark.skipif(
    not DRIVES.is_dir(), reason="the measurements are not here: they are no part of the repository"
)


@cache
def _tool() -> ModuleType:
    return importlib.import_module("trust_latency")


def _rows(name: str) -> list[list[str]]:
    """Returns the rows of a drive's table, below its head."""
    table = PAGE.partition(f"<!-- latency {name} -->\n")[2].partition("\n<!-- end of")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:]]


def _assert_same(ours: list[str], page: list[str]) -> None:
    """Compares numbers within a fiftieth and errors within 2 points, because the last bit of a
    number may change the order of two events."""
    assert len(ours) == len(page)
    for one, other in zip(ours, page, strict=True):
        numbers = [re.fullmatch(r"([+-]?[\d.]+)( %)?", text) for text in (one, other)]
        if not all(numbers):
            assert one == other
            continue
        a, b = (float(match[1]) for match in numbers if match)
        tolerance = {"abs": 2.0} if one.endswith("%") else {"rel": 0.02}
        assert a == pytest.approx(b, **tolerance), page


def _hold(name: str, rates: list[str] | None) -> None:
    page = {row[0]: row for row in _rows(name)}
    tool = _tool()
    for row in tool.rows(name, tool.tell(name, DRIVES, rates)):
        _assert_same(row, page[row[0]])


@needs_drives
@pytest.mark.parametrize(("name", "rate"), [("h0", "50000"), ("k4", "100000")])
def test_a_rate(name: str, rate: str) -> None:
    _hold(name, [rate])


@pytest.mark.long
@needs_drives
@pytest.mark.parametrize("name", NAMES)
def test_all_rates(name: str) -> None:
    assert [row[0] for row in _rows(name)] == _tool().shown(_tool().study(name, DRIVES))
    _hold(name, None)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_rates_are_held_to(name: str) -> None:
    """Below the knee, mean and median of reads are within 15 %, the tail within 30 %. The knee is
    within 15 %."""
    rows = _rows(name)
    assert len(rows) >= 8
    below = [row for row in rows if row[7]]
    assert len(below) >= len(rows) - 2
    for row in below:
        mean, median, tail = (abs(float(row[at].rstrip(" %"))) for at in (7, 10, 13))
        assert mean <= MEAN and median <= MISSED.get((name, row[0]), MEDIAN) and tail <= TAIL, row
    assert abs(float(rows[-1][4].rstrip(" %"))) <= KNEE


@pytest.mark.parametrize("drive", ["latency-pe8110", "latency-cm7"])
def test_the_table_of_fitted_values_is_that_of_the_files(drive: str) -> None:
    text = (ROOT / "docs" / "trust" / f"{drive}.toml").read_text("utf-8")
    found = re.findall(
        r"; (\w+) to (\w+) explain the data as well\.\n(?:#.*\n)*(\w+) = \"(\w+)\"", text
    )
    assert found and text.count("# Fitted, to") == len(found)
    for low, high, _, value in found:
        us = [_microseconds(one) for one in (value, low, high)]
        assert f"| {us[0]} | {us[1]} to {us[2]} |" in PAGE


def _microseconds(text: str) -> str:
    """Returns a time of a config in us. It may be given in ns or us."""
    number = int(re.sub(r"\D", "", text))
    return f"{number / 1000:.0f} us" if text.endswith("ns") else f"{number} us"
