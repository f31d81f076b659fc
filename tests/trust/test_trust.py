"""Every number of docs/measured-drives.md equals the engine's result on the page's measurements.

The measurements are not part of the repository. A simulation is the same on every machine, so the
tolerances cover rounding, plus a little more for the last bit of floating-point numbers.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
import trust_summary
from paths import ROOT, SHARED

from floatgate.calibrate import calibrate, scaled
from floatgate.simulation import configs

DRIVES = Path(os.environ.get("FLOATGATE_DRIVES", SHARED / "drives"))
PAGE = (ROOT / "docs" / "measured-drives.md").read_text("utf-8")
needs_drives = pytest.mark.skipif(
    not DRIVES.is_dir(), reason="the measurements are not here: they are no part of the repository"
)


def _tool(name: str = "trust") -> ModuleType:
    return importlib.import_module(name)


def _rows(name: str) -> list[list[str]]:
    return trust_summary.table(PAGE, name)


def _assert_same(
    ours: Sequence[str], page: Sequence[str], *, points: float = 0.3, share: float = 0.002
) -> None:
    """Compares two rows: errors within some percentage points, other numbers within a share.

    Latencies need more than write amplification, because the last bit of a number may change the
    order of two events.
    """
    assert len(ours) == len(page)
    for one, other in zip(ours, page, strict=True):
        numbers = [re.fullmatch(r"([+-]?[\d.]+)( %)?", text) for text in (one, other)]
        if not all(numbers):
            assert one == other
            continue
        a, b = (float(match[1]) for match in numbers if match)
        tolerance = {"abs": points} if one.endswith("%") else {"rel": share}
        assert a == pytest.approx(b, **tolerance), page


@needs_drives
@pytest.mark.parametrize(
    ("drive", "table"), [("micron7450max", 0), ("micron7450max", 1), ("p5520", 0)]
)
def test_runs(drive: str, table: int) -> None:
    tool = _tool()
    name, scale = tool.FILES[drive][table]
    study, config = tool.study(drive, DRIVES / name), tool.config(drive, {})
    page = {row[0]: row for row in _rows("runs")}
    for run in study.names:
        [row] = tool.run_rows([study.tell(run, config, scale, tool.SEED)])
        _assert_same(row, page[row[0]])


def test_the_first_table_has_the_ranges_of_the_others() -> None:
    rows = _rows("summary")
    assert rows == trust_summary.rows(PAGE)
    points = list(trust_summary.points(PAGE))
    outside = [one for one in points if abs(one.percent) > MEDIAN]
    assert len(points) == 140 and len(outside) == 4
    assert "140 errors as dots" in PAGE and "except three of p99 and one of a median" in PAGE
    assert [one.quantity for one in outside].count("read p99") == 3


def test_what_the_runs_are_held_to() -> None:
    """Limits of the page: uniform runs are steady within 3 % and their curve's mean within 5 %; all
    others within 10 %."""
    rows = _rows("runs")
    assert len(rows) == 14
    for name, _, _, _, _, steady, curve, _ in rows:
        error, mean = abs(float(steady.rstrip(" %"))), float(curve.rstrip(" %"))
        uniform = "cap" in name or "uniform" in name
        assert error < (3 if uniform else 10), name
        assert mean < (5 if uniform else 10), name


@needs_drives
def test_some_separations() -> None:
    tool = _tool()
    page = {tuple(row[:2]): row for row in _rows("separation")}
    assert len(page) == len(tool.SEPARATIONS) == len(_rows("separation"))
    for settings in (tool.SEPARATIONS[0], tool.SEPARATIONS[1]):
        [row] = tool.separation_rows(DRIVES, [settings])
        _assert_same(row, page[tuple(row[:2])])


@pytest.mark.long
@needs_drives
def test_all_separations() -> None:
    tool = _tool()
    for row, page in zip(
        tool.separation_rows(DRIVES, tool.SEPARATIONS), _rows("separation"), strict=True
    ):
        _assert_same(row, page)


@needs_drives
def test_a_size_of_units() -> None:
    rows = _rows("units")
    [measured, ours] = _tool().unit_rows(DRIVES, [1024])
    _assert_same(measured, rows[0])
    _assert_same(ours, next(row for row in rows if row[0] == "1024 MiB"))


@pytest.mark.long
@needs_drives
def test_all_sizes_of_units() -> None:
    tool = _tool()
    for row, page in zip(tool.unit_rows(DRIVES, tool.UNITS_MIB), _rows("units"), strict=True):
        _assert_same(row, page)


def _number(text: str) -> float:
    return float(text.rstrip(" %"))


def test_what_the_page_says_of_its_tables() -> None:
    """The statements of the prose agree with the numbers of the tables."""
    for run, _, base, *_ in _rows("runs"):
        assert round(_number(base), 2) == (1.03 if "mp0" in run else 1.1)
    runs = {row[0].strip("`"): row for row in _rows("runs")}
    ratio = _number(runs["i1-shuffled-uniform"][3]) / _number(runs["i1-seq-uniform"][3])
    assert ratio == pytest.approx(1.026, abs=0.0005)
    large = [runs[f"mp0-zone{mib}-active1"] for mib in (2048, 2642, 4096, 16384)]
    assert {min(_number(row[3]) for row in large), max(_number(row[3]) for row in large)} == {
        1.007,
        1.023,
    }
    assert all(_number(row[4]) <= 1.003 for row in large)
    separations = {tuple(row[:2]): row for row in _rows("separation")}
    alone = [
        _number(row[3]) for (placement, _), row in separations.items() if placement == "single"
    ]
    assert len(alone) == 8 and min(alone) > 30
    assert round(_number(separations["length copies cold", "greedy"][3])) == 12
    within = {name for name, row in separations.items() if row[-1] == "yes"}
    assert {("dac", "greedy"), ("sepbit", "greedy"), ("dac dac.regions 4", "greedy")} <= within
    assert not {("dac dac.regions 2", "greedy"), ("dac dac.regions 3", "greedy")} & within
    measured, *units = _rows("units")
    small = [row for row in units if row[0] in ("256 MiB", "512 MiB")]
    assert len(small) == 2 and all(cell == "1.000" for row in small for cell in row[1:])
    [chosen] = [row for row in units if row[0] == "2048 MiB"]
    for ours, theirs in zip(chosen[1:], measured[1:], strict=True):
        assert _number(ours) == pytest.approx(_number(theirs), rel=0.1)


@needs_drives
@pytest.mark.parametrize(
    ("drive", "table", "run", "most"),
    [
        ("micron7450max", 0, "mp0-cap670", 0.005),
        ("micron7450max", 1, "mp0-zone1024-active1", 0.025),
        pytest.param("p5520", 0, "i1-seq-uniform", 0.005, marks=pytest.mark.long),
    ],
)
def test_the_scale_does_not_matter(drive: str, table: int, run: str, most: float) -> None:
    tool = _tool()
    name, scale = tool.FILES[drive][table]
    study, config = tool.study(drive, DRIVES / name), tool.config(drive, {})
    found = [
        study.tell(run, config, at, tool.SEED).numbers["steady_simulated"]
        for at in (scale, scale / 2, scale * 2)
    ]
    assert found[1:] == pytest.approx([found[0]] * 2, rel=most)


@pytest.mark.long
@needs_drives
def test_one_zone_run_does_not_tell_spare_from_unit() -> None:
    start = ROOT / "docs" / "trust" / "micron7450max-start.toml"
    found = calibrate(
        [DRIVES / "wa-micron7450max-zones.csv"],
        device=start,
        fit_keys=["flash.pages_per_block=1024..16384", "capacity.spare_factor=0.2..0.4"],
        run=["mp0-zone1024-active1"],
        holdout=[],
        scale=128,
    )
    unit, spare = found.fit.fitted
    assert spare.is_idle and unit.interval is not None
    assert unit.interval.high > 2.5 * unit.interval.low
    words = "capacity.spare_factor: every value from 0.2 to 0.4"
    assert any(text.startswith(words) for text in found.fit.indistinct)


FITS = [
    ("p5520", "wa-p5520-start.csv", "i1-seq-uniform", "capacity.spare_factor=0.1..0.25", 256),
    (
        "micron7450max",
        "wa-micron7450max-capacity.csv",
        "mp0-cap670",
        "capacity.spare_factor=0.2..0.4",
        256,
    ),
    (
        "micron7450max",
        "wa-micron7450max-zones.csv",
        "mp0-zone1024-active1",
        "flash.pages_per_block=1024..16384",
        64,
    ),
]


@pytest.mark.long
@needs_drives
@pytest.mark.parametrize(("drive", "file", "run", "fit", "scale"), FITS)
def test_the_fits_are_those_of_the_files(
    drive: str, file: str, run: str, fit: str, scale: int
) -> None:
    start = configs.resolve(ROOT / "docs" / "trust" / f"{drive}-start.toml", {}).table()
    fitted = configs.resolve(ROOT / "docs" / "trust" / f"{drive}.toml", {}).table()
    key = fit.partition("=")[0]
    if key == "flash.pages_per_block":
        # The unit was fitted to the drive with the spare factor fitted first.
        capacity = scaled.capacity_of(start)
        start = {**start, "capacity": fitted["capacity"]}
        start = scaled.full_size(start, capacity)
    found = calibrate(
        [DRIVES / file], device=start, fit_keys=[fit], run=[run], holdout=[], scale=scale
    )
    table, name = key.split(".")
    assert found.fit.fitted[0].value == pytest.approx(fitted[table][name], rel=0.01)


@pytest.mark.parametrize("drive", ["p5520", "micron7450max"])
def test_the_table_of_fitted_values_is_that_of_the_files(drive: str) -> None:
    text = (ROOT / "docs" / "trust" / f"{drive}.toml").read_text("utf-8")
    found = re.findall(r"; ([\d.]+) to ([\d.]+) explain the data as well\.\n(\w+) = ([\d.]+)", text)
    assert found and text.count("# Fitted, to") == len(found)
    for low, high, key, value in found:
        if key == "pages_per_block":
            # A unit has 64 blocks of 4 KiB pages: a quarter of a MiB for each page of a block.
            low, high, value = (f"{int(text) // 4:,} MiB" for text in (low, high, value))
        assert f"| {value} | {low} to {high} |" in PAGE


NAMES = ("h0", "k4", "k5")
MEAN, MEDIAN, TAIL, KNEE = 15.0, 15.0, 30.0, 15.0
"""Largest errors of the tables, in percent."""
MISSED = {("k5", "200000"): 15.3}
"""Medians with a larger error, in percent."""


def _hold(name: str, rates: list[str] | None) -> None:
    page = {row[0]: row for row in _rows(f"latency {name}")}
    tool = _tool("trust_latency")
    for row in tool.rows(name, tool.tell(name, DRIVES, rates)):
        _assert_same(row, page[row[0]], points=2.0, share=0.02)


@needs_drives
@pytest.mark.parametrize(("name", "rate"), [("h0", "50000"), ("k4", "100000")])
def test_a_rate(name: str, rate: str) -> None:
    _hold(name, [rate])


@pytest.mark.long
@needs_drives
@pytest.mark.parametrize("name", NAMES)
def test_all_rates(name: str) -> None:
    assert [row[0] for row in _rows(f"latency {name}")] == _tool("trust_latency").shown(
        _tool("trust_latency").study(name, DRIVES)
    )
    _hold(name, None)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_rates_are_held_to(name: str) -> None:
    """Below the knee, mean and median of reads are within 15 %, the tail within 30 %. The knee is
    within 15 %."""
    rows = _rows(f"latency {name}")
    assert len(rows) >= 8
    below = [row for row in rows if row[7]]
    assert len(below) >= len(rows) - 2
    for row in below:
        mean, median, tail = (abs(float(row[at].rstrip(" %"))) for at in (7, 10, 13))
        assert mean <= MEAN and median <= MISSED.get((name, row[0]), MEDIAN) and tail <= TAIL, row
    assert abs(float(rows[-1][4].rstrip(" %"))) <= KNEE


@needs_drives
@pytest.mark.parametrize("is_paced", [False, True])
@pytest.mark.parametrize(
    "name",
    ["m0", *(pytest.param(name, marks=pytest.mark.long) for name in ("h0", "i0", "k4", "k5"))],
)
def test_saturated_writes(name: str, is_paced: bool) -> None:
    ours = _tool("trust_writes").row(name, DRIVES, is_paced=is_paced)
    page = {tuple(row[:2]): row for row in _rows("writes")}
    _assert_same(ours, page[tuple(ours[:2])], points=2.0, share=0.02)


@pytest.mark.long
@needs_drives
def test_partly_filled_rows() -> None:
    tool = _tool("trust_writes")
    for rate, page in zip(tool.PLATEAU, _rows("plateau"), strict=True):
        _assert_same(tool.plateau_row(DRIVES, rate), page, share=0.02)


@needs_drives
@pytest.mark.parametrize(
    "run", ["mp0-zone2048-active1", pytest.param(None, marks=pytest.mark.long)]
)
def test_discarded_zones(run: str | None) -> None:
    page = {row[0]: row for row in _rows("discards")}
    for row in _tool("trust_writes").discard_rows(DRIVES, [run] if run else ()):
        _assert_same(row, page[row[0]])


def test_what_saturated_writes_are_held_to() -> None:
    """With paced cleaning, means are within 16 %, and medians of the three drives whose writes wait
    alike are within 13 %."""
    rows = [row for row in _rows("writes") if row[1] == "proportional"]
    assert len(rows) == 5
    for name, _, _, *cells in rows:
        mean, median = (abs(_number(cells[at])) for at in (5, 8))
        assert mean <= 16, name
        assert median <= 13 or name in ("k4", "k5"), name
    for row in _rows("discards"):
        assert all(abs(_number(row[at])) <= 9 for at in (3, 5, 7)), row[0]


@pytest.mark.parametrize("drive", ["latency-pe8110", "latency-cm7"])
def test_the_table_of_fitted_times_is_that_of_the_files(drive: str) -> None:
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
