"""`floatgate devices NAME --measure`: closed forms, published numbers of each class, the
process."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Cli

import floatgate as fg
from floatgate import _core
from floatgate.analysis import datasheet
from floatgate.analysis.datasheet import CLASS, DataSheet, LatencyLine, Line

READ, PROGRAM, ERASE, TRANSFER = 25.0, 200.0, 1500.0, 4096 / 40
"""Microseconds on the drive below: a page of 4096 bytes at 40 MB/s takes 102.4 us."""

ONE_DIE = {
    "flash": {"read": "25us", "program": "200us", "erase": "1500us", "bus": "40MB/s"},
    "capacity": {"spare_factor": 0.2},
}


@pytest.fixture(scope="module")
def sheet() -> DataSheet:
    return fg.measure_device(ONE_DIE, quick=True)


def _line(sheet: DataSheet, name: str) -> Line:
    return next(line for line in sheet.lines if line.name == name)


def test_reads_on_one_die_are_the_sum_of_their_parts(sheet: DataSheet) -> None:
    whole = READ + TRANSFER
    for depth, latency in ((1, whole), (32, 32 * whole)):
        line = next(
            one
            for one in sheet.latencies
            if one.name == "read latency" and one.conditions == f"4 KiB, QD{depth}"
        )
        # The first commands find an empty queue.
        assert line.mean_us == pytest.approx(latency, rel=1e-9 if depth == 1 else 0.001)
        assert line.p50_us == pytest.approx(latency, rel=0.001)
        assert line.p999_us == pytest.approx(latency, rel=0.001)
    random, in_order = _line(sheet, "random read"), _line(sheet, "sequential read")
    assert random.fresh == pytest.approx(1e6 / whole, rel=1e-9)
    assert random.steady == random.fresh
    assert in_order.fresh == pytest.approx(4096 / whole, rel=1e-9)
    assert in_order.steady == in_order.fresh


def test_writes_on_one_die_are_the_sum_of_their_parts(sheet: DataSheet) -> None:
    page = PROGRAM + TRANSFER
    random, in_order = _line(sheet, "random write"), _line(sheet, "sequential write")
    assert random.fresh == pytest.approx(1e6 / page, rel=1e-9)
    assert in_order.fresh == pytest.approx(4096 / page, rel=1e-9)
    # In the steady state a unit is erased for every 64 pages programmed, within one unit.
    assert in_order.steady == pytest.approx(4096 / (page + ERASE / 64), rel=0.01)
    wa = sheet.write_amplification
    host = wa * (page + ERASE / 64) + (wa - 1) * (READ + TRANSFER)
    assert random.steady == pytest.approx(1e6 / host, rel=0.01)
    assert wa == pytest.approx(2.6, rel=0.05)
    assert _line(sheet, "random mixed").fresh is None


def test_the_scale_and_the_capacities_are_told(sheet: DataSheet) -> None:
    assert sheet.blocks == 128
    assert sheet.blocks_full is None
    assert sheet.user_bytes == int(128 * 64 * 0.8) * 4096
    assert sheet.raw_bytes > 128 * 64 * 4096
    assert sheet.spare_factor == pytest.approx(0.2, abs=1e-4)
    # The config names no size, so the sheet accounts for the measured drive.
    assert (sheet.space.raw_bytes, sheet.space.user_bytes) == (sheet.raw_bytes, sheet.user_bytes)
    assert sheet.notes == (
        "scaled: measured with 128 blocks (it names no size); spare, dies and buses as they are",
    )
    assert sheet.warnings == ()
    assert sheet.source is None


def test_a_drive_that_is_small_is_measured_whole() -> None:
    found = fg.measure_device({**ONE_DIE, "flash": {"blocks": 100}}, quick=True)
    assert (found.blocks, found.blocks_full) == (100, 100)
    assert found.space.user_bytes == found.user_bytes
    assert found.notes == ("measured on the whole drive, 100 blocks",)


def test_a_short_queue_is_the_device_s_own() -> None:
    found = fg.measure_device({**ONE_DIE, "queue": {"depth": 4, "queues": 2}}, quick=True)
    conditions = {line.conditions for line in found.lines}
    assert conditions == {"128 KiB, QD8", "4 KiB, QD8", "4 KiB, QD8, 70% reads"}
    depths = [line.conditions for line in found.latencies]
    assert depths == ["4 KiB, QD1"] * 2 + ["4 KiB, QD8"] * 2


CLASS_TEXT = """
preset = "classic"

[class]
source = "made up for a test"
random_read_iops = [30000, 50000]
random_write_iops = [85000, 145000]
sequential_read_mb_s = [100, 200]
read_latency_us = [25, 25.5]
write_latency_us = [1, 2]
"""


def test_what_is_outside_its_class_is_marked(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "mine.toml").write_text(CLASS_TEXT, "utf-8")
    done = cli("devices", "mine.toml", "--measure", "--quick", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["source"] == "made up for a test"
    outside = {line["name"]: line["outside"] for line in document["lines"]}
    assert outside.pop("random write") is True
    assert set(outside.values()) == {False}
    assert [line["outside"] for line in document["latencies"]] == [False, True, False, False]
    shown = cli("devices", "mine.toml", "--measure", "--quick").stdout
    marked = re.findall(r"^(\w+) .* (below|above) ", shown, re.MULTILINE)
    assert marked == [("random", "below"), ("write", "above")]
    assert "85 000 to" in shown.replace("\N{NARROW NO-BREAK SPACE}", " ")
    # The table changes no other run, and a file with the table is a valid drive.
    assert cli("run", "uniform:span=1MiB,writes=10", "--device", "mine.toml").returncode == 0


def test_a_class_of_fresh_drives_is_held_to_fresh_numbers(tmp_path: Path, cli: Cli) -> None:
    ranges = "sequential_write_mb_s = [13, 14]\nread_latency_us = [127, 128]"
    text = json.dumps(ONE_DIE["flash"])[1:-1].replace('": ', '" = ')
    for state, is_outside in (("fresh", False), ("steady", True)):
        table = f'[class]\nsource = "x"\nstate = "{state}"\n{ranges}\n[flash]\n'
        (tmp_path / "mine.toml").write_text(table + text.replace(", ", "\n"), "utf-8")
        found = fg.measure_device(tmp_path / "mine.toml", quick=True)
        assert found.class_state == state
        # 4096 bytes in 302.4 us are 13.5 MB/s. In the steady state, erases take additional time.
        assert _line(found, "sequential write").outside is is_outside
        assert not any(line.outside for line in found.latencies)
    shown = cli("devices", "mine.toml", "--measure", "--quick").stdout
    assert "below" in next(line for line in shown.splitlines() if "sequential write" in line)


def test_random_writes_have_the_size_of_the_class(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'preset = "classic"\n[class]\nrandom_write_size = "16KiB"', "utf-8"
    )
    found = fg.measure_device(tmp_path / "mine.toml", quick=True)
    small, large = "4 KiB, QD256", "16 KiB, QD256"
    assert _line(found, "random read").conditions == small
    assert _line(found, "random write").conditions == large
    assert _line(found, "random mixed").conditions == f"{large}, 70% reads"
    depths = [line.conditions for line in found.latencies]
    assert depths == [f"{size} KiB, QD{depth}" for depth in (1, 32) for size in (4, 16)]
    page = fg.measure_device("classic", quick=True)
    fresh, paged = (_line(one, "random write").fresh for one in (found, page))
    assert fresh is not None and paged is not None
    assert 4 * fresh == pytest.approx(paged, rel=0.01)


def test_large_units_are_measured_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    half = {"flash": {**ONE_DIE["flash"], "pages_per_block": 32, "erase": "750us"}}
    expected = fg.measure_device({**ONE_DIE, **half}, quick=True)
    monkeypatch.setattr(datasheet, "UNIT_PAGES", 32)
    found = fg.measure_device(ONE_DIE, quick=True)
    assert (found.lines, found.latencies) == (expected.lines, expected.latencies)
    less = "scaled: its blocks have 32 pages instead of 64, erased in as much less time"
    assert less in found.notes and less not in expected.notes


def test_command_prints_a_sheet(cli: Cli) -> None:
    done = cli("devices", "classic", "--measure", "--quick")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "classic, measured on the model"
    names = ["raw capacity", "user capacity", "write amplification", "fresh", "sequential read"]
    for name in [*names, "random mixed", "latency", "read", "write", "note: scaled"]:
        assert any(line.startswith(name) for line in lines), name
    assert "class" not in done.stdout.replace("classic", "")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("random_iops = [1, 2]", "class.random_iops: is not known; expected one of source, "),
        ("mixed_iops = 5", "class.mixed_iops = 5: expected [least, most]"),
        ("mixed_iops = [5, 4]", "class.mixed_iops = [5, 4]: expected [least, most]"),
        ("mixed_iops = [4, 5]", "class.source: is missing"),
        ("class = 5", "class = 5: expected a table"),
        ('state = "worn"', "class.state = 'worn': expected one of steady, fresh"),
        ("random_write_size = 8192", "class.random_write_size"),
        ('random_write_size = "2KiB"', 'class.random_write_size = "2KiB": expected 4KiB or more'),
        ('random_write_size = "48KiB"', 'class.random_write_size = "48KiB": expected 4KiB or'),
    ],
)
def test_a_class_that_is_wrong_is_named(tmp_path: Path, table: str, words: str) -> None:
    file = tmp_path / "wrong.toml"
    source = "" if "[4, 5]" in table else 'source = "x"\n'
    file.write_text(table if table == "class = 5" else f"[class]\n{source}{table}\n", "utf-8")
    with pytest.raises(fg.ConfigError) as error:
        fg.measure_device(file)
    assert words in str(error.value)


def test_memory_that_is_not_scaled_is_told() -> None:
    cached = {**ONE_DIE, "mapping": {"scheme": "dftl", "cache": "1KiB"}}
    assert fg.measure_device(cached, quick=True).notes[1].startswith("the map cache and")


def test_every_preset_s_class_is_right() -> None:
    for preset in fg.devices():
        said = json.loads(_core.said(preset["name"], None)).get("class", {})
        assert set(said) <= set(CLASS)


CLASSED = ("small-nvme", "tlc-enterprise", "qlc-capacity", "tlc-client")

OUTSIDE = {"qlc-capacity": {"random read"}}
"""Lines known to be outside their class. docs/drives.md gives the reasons."""


@pytest.mark.long
@pytest.mark.parametrize("name", CLASSED)
def test_a_preset_is_within_its_class(name: str) -> None:
    found = fg.measure_device(name, quick=True)
    held: list[Line | LatencyLine] = [*found.lines, *found.latencies]
    told = [line for line in held if line.published]
    assert len(told) >= 5
    assert {line.name for line in told if line.outside} == OUTSIDE.get(name, set()), told


def test_every_preset_with_a_class_is_measured() -> None:
    known = {preset["name"] for preset in fg.devices()}
    assert {name for name in known if "class" in json.loads(_core.said(name, None))} == {*CLASSED}
